// The demo where there is no nvcc: the same kernels, as PTX text (kernels.ptx), through the driver
// API of whatever libcuda.so.1 the system finds. The few declarations it needs are its own.
#include <dlfcn.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <string>

#include "device.h"

namespace {

// Shapes of the driver API's functions (CUDA Driver API 13.0): results are ints, 0 is success;
// device addresses are 64-bit; contexts, modules, functions and streams are opaque pointers.
using Handle = void*;
using Address = uint64_t;

struct Api {
  int (*cuInit)(unsigned flags);
  int (*cuGetErrorName)(int error, const char** name);
  int (*cuDeviceGet)(int* device, int ordinal);
  int (*cuDeviceGetName)(char* name, int length, int device);
  int (*cuDevicePrimaryCtxRetain)(Handle* context, int device);
  int (*cuCtxSetCurrent)(Handle context);
  int (*cuCtxSynchronize)();
  int (*cuModuleLoadData)(Handle* module, const void* image);
  int (*cuModuleGetFunction)(Handle* function, Handle module, const char* name);
  int (*cuMemAlloc_v2)(Address* address, size_t bytes);
  int (*cuMemFree_v2)(Address address);
  int (*cuMemcpyHtoD_v2)(Address to, const void* from, size_t bytes);
  int (*cuMemcpyDtoH_v2)(void* to, Address from, size_t bytes);
  int (*cuMemsetD8_v2)(Address to, unsigned char value, size_t bytes);
  int (*cuLaunchKernel)(Handle function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                        unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                        Handle stream, void** parameters, void** extra);
};

[[noreturn]] void fail(const std::string& text) {
  std::fprintf(stderr, "demo: %s\n", text.c_str());
  std::exit(1);
}

template <typename Function>
void find(void* library, const char* name, Function& out) {
  out = reinterpret_cast<Function>(dlsym(library, name));
  if (!out) fail(std::string("libcuda.so.1 has no ") + name);
}

Api open_driver() {
  void* library = dlopen("libcuda.so.1", RTLD_NOW);
  if (!library) fail(dlerror());
  Api api;
#define FIND(name) find(library, #name, api.name)
  FIND(cuInit);
  FIND(cuGetErrorName);
  FIND(cuDeviceGet);
  FIND(cuDeviceGetName);
  FIND(cuDevicePrimaryCtxRetain);
  FIND(cuCtxSetCurrent);
  FIND(cuCtxSynchronize);
  FIND(cuModuleLoadData);
  FIND(cuModuleGetFunction);
  FIND(cuMemAlloc_v2);
  FIND(cuMemFree_v2);
  FIND(cuMemcpyHtoD_v2);
  FIND(cuMemcpyDtoH_v2);
  FIND(cuMemsetD8_v2);
  FIND(cuLaunchKernel);
#undef FIND
  return api;
}

Address address(const void* pointer) { return reinterpret_cast<Address>(pointer); }

class DriverDevice : public Device {
 public:
  explicit DriverDevice(const std::string& ptx_path) : api_(open_driver()) {
    std::ifstream file(ptx_path);
    std::string text{std::istreambuf_iterator<char>(file), {}};
    if (text.empty()) fail("cannot read " + ptx_path);
    check(api_.cuInit(0), "cuInit");
    check(api_.cuDeviceGet(&device_, 0), "cuDeviceGet");
    Handle context = nullptr;
    check(api_.cuDevicePrimaryCtxRetain(&context, device_), "cuDevicePrimaryCtxRetain");
    check(api_.cuCtxSetCurrent(context), "cuCtxSetCurrent");
    check(api_.cuModuleLoadData(&module_, text.c_str()), "cuModuleLoadData");
  }

  std::string describe() override {
    char name[256];
    check(api_.cuDeviceGetName(name, sizeof name, device_), "cuDeviceGetName");
    return std::string(name) + ", kernels from PTX text";
  }
  void* allocate(size_t bytes) override {
    Address memory = 0;
    check(api_.cuMemAlloc_v2(&memory, bytes), "cuMemAlloc");
    return reinterpret_cast<void*>(memory);
  }
  void release(void* memory) override { check(api_.cuMemFree_v2(address(memory)), "cuMemFree"); }
  void upload(void* to, const void* from, size_t bytes) override {
    check(api_.cuMemcpyHtoD_v2(address(to), from, bytes), "cuMemcpyHtoD");
  }
  void download(void* to, const void* from, size_t bytes) override {
    check(api_.cuMemcpyDtoH_v2(to, address(from), bytes), "cuMemcpyDtoH");
  }
  void clear(void* memory, size_t bytes) override {
    check(api_.cuMemsetD8_v2(address(memory), 0, bytes), "cuMemsetD8");
  }
  void finish() override { check(api_.cuCtxSynchronize(), "cuCtxSynchronize"); }

  void fractal_samples(Grid g, Block b, float* counts, int width, int height, float centre_x,
                       float centre_y, float step, int iterations_max) override {
    launch("fractal_samples", g, b, counts, width, height, centre_x, centre_y, step,
           iterations_max);
  }
  void fractal_colours(Grid g, Block b, unsigned char* rgb, const float* counts, int width,
                       int height, int scale) override {
    launch("fractal_colours", g, b, rgb, counts, width, height, scale);
  }
  void split(Grid g, Block b, float* out, const unsigned char* rgb, int pixels,
             int channel) override {
    launch("split", g, b, out, rgb, pixels, channel);
  }
  void merge(Grid g, Block b, unsigned char* rgb, const float* in, int pixels,
             int channel) override {
    launch("merge", g, b, rgb, in, pixels, channel);
  }
  void brightness(Grid g, Block b, float* out, const unsigned char* rgb, int pixels) override {
    launch("brightness", g, b, out, rgb, pixels);
  }
  void blur(Grid g, Block b, float* out, const float* in, int width, int height, int along_x,
            const float* weights, int radius) override {
    launch("blur", g, b, out, in, width, height, along_x, weights, radius);
  }
  void edges(Grid g, Block b, unsigned char* rgb, const float* in, int width,
             int height) override {
    launch("edges", g, b, rgb, in, width, height);
  }
  void gravity(Grid g, Block b, Body* next, const Body* bodies, int count, float dt,
               float softening) override {
    launch("gravity", g, b, next, bodies, count, dt, softening);
  }
  void splat(Grid g, Block b, unsigned* density, const Body* bodies, int count, int width,
             int height, float scale, unsigned weight) override {
    launch("splat", g, b, density, bodies, count, width, height, scale, weight);
  }
  void develop(Grid g, Block b, unsigned char* rgb, const unsigned* density, int width, int height,
               float gain) override {
    launch("develop", g, b, rgb, density, width, height, gain);
  }

 private:
  void check(int error, const std::string& what) {
    if (error == 0) return;
    const char* name = nullptr;
    api_.cuGetErrorName(error, &name);
    fail(what + ": " + (name ? name : "unknown error") + " (" + std::to_string(error) + ")");
  }

  template <typename... Arguments>
  void launch(const char* name, Grid g, Block b, Arguments... arguments) {
    Handle& function = functions_[name];
    if (!function) check(api_.cuModuleGetFunction(&function, module_, name), name);
    void* parameters[] = {&arguments...};
    check(api_.cuLaunchKernel(function, g.x, g.y, 1, b.x, b.y, 1, 0, nullptr, parameters, nullptr),
          std::string("launch of ") + name);
  }

  Api api_;
  int device_ = 0;
  Handle module_ = nullptr;
  std::map<std::string, Handle> functions_;
};

}  // namespace

int main(int argc, char** argv) {
  const char* ptx = std::getenv("LIMEN_DEMO_PTX");
  DriverDevice device(ptx ? ptx : DEMO_PTX);
  return render_pictures(device, argc, argv);
}
