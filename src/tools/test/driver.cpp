// Calls the driver through pointers found by name. Everything is freed after each run except the
// context: kernels are small and a fault must not reach the next one.
#include "tools/test/driver.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>

namespace limen::golden {

using Address = unsigned long long;

struct Driver::Functions {
  int (*init)(unsigned);
  int (*driver_version)(int*);
  int (*device_get)(int*, int);
  int (*device_name)(char*, int, int);
  int (*retain)(void**, int);
  int (*reset)(int);
  int (*set_current)(void*);
  int (*synchronize)();
  int (*alloc)(Address*, size_t);
  int (*free)(Address);
  int (*to_device)(Address, const void*, size_t);
  int (*to_host)(void*, Address, size_t);
  int (*fill)(Address, unsigned char, size_t);
  int (*load)(void**, const void*, unsigned, int*, void**);
  int (*unload)(void*);
  int (*function)(void**, void*, const char*);
  int (*launch)(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*,
                void**, void**);
  int (*error_name)(int, const char**);
};

namespace {

constexpr unsigned char unwritten = 0xcd;  // shows as such where a kernel stores nothing

std::string nvidia_version() {
  std::ifstream file("/sys/module/nvidia/version");
  std::string text;
  std::getline(file, text);
  return text;
}

}  // namespace

Result<void> Driver::find_functions(void* library) {
  api_ = new Functions();
  const char* missing = nullptr;
  auto find = [&](auto& pointer, const char* name) {
    pointer = reinterpret_cast<std::remove_reference_t<decltype(pointer)>>(dlsym(library, name));
    if (!pointer) missing = name;
  };
  find(api_->init, "cuInit");
  find(api_->driver_version, "cuDriverGetVersion");
  find(api_->device_get, "cuDeviceGet");
  find(api_->device_name, "cuDeviceGetName");
  find(api_->retain, "cuDevicePrimaryCtxRetain");
  find(api_->reset, "cuDevicePrimaryCtxReset_v2");
  find(api_->set_current, "cuCtxSetCurrent");
  find(api_->synchronize, "cuCtxSynchronize");
  find(api_->alloc, "cuMemAlloc_v2");
  find(api_->free, "cuMemFree_v2");
  find(api_->to_device, "cuMemcpyHtoD_v2");
  find(api_->to_host, "cuMemcpyDtoH_v2");
  find(api_->fill, "cuMemsetD8_v2");
  find(api_->load, "cuModuleLoadDataEx");
  find(api_->unload, "cuModuleUnload");
  find(api_->function, "cuModuleGetFunction");
  find(api_->launch, "cuLaunchKernel");
  find(api_->error_name, "cuGetErrorName");
  if (missing) return Error{Code::not_found, fmt::format("libcuda.so.1 has no {}", missing), ""};
  return {};
}

Result<Driver> Driver::open() {
  Driver driver;
  if (!getenv("LIMEN_LOG")) {
    // Limen says on its log which line of a kernel it refuses; other drivers ignore the variable.
    // In memory, so that nothing is left behind.
    driver.log_path_ = fmt::format("/proc/self/fd/{}", memfd_create("limen-test-log", MFD_CLOEXEC));
    setenv("LIMEN_LOG", ("error:" + driver.log_path_).c_str(), 1);
  }
  void* library = dlopen("libcuda.so.1", RTLD_NOW);
  if (!library)
    return Error{Code::file_not_found, dlerror(), "set LD_LIBRARY_PATH to the driver's folder"};
  LIMEN_CHECK(driver.find_functions(library));
  LIMEN_CHECK(driver.begin());
  return driver;
}

Result<void> Driver::begin() {
  int code = api_->init(0);
  if (code == 0) code = api_->device_get(&device_, 0);
  char name[128] = "";
  if (code == 0) code = api_->device_name(name, sizeof(name), device_);
  void* context = nullptr;
  if (code == 0) code = api_->retain(&context, device_);
  if (code == 0) code = api_->set_current(context);
  int version = 0;
  if (code == 0) code = api_->driver_version(&version);
  if (code != 0) return Error{static_cast<Code>(code), error_text("no device", code, ""), ""};
  device_name_ = name;
  std::string own = nvidia_version();
  version_ = fmt::format("{}CUDA {}.{}", own.empty() ? "" : own + ", ", version / 1000,
                         version % 1000 / 10);
  return {};
}

void Driver::begin_again() {
  api_->reset(device_);
  void* context = nullptr;
  if (api_->retain(&context, device_) == 0) api_->set_current(context);
}

std::string Driver::error_text(const char* what, int code, const std::string& log) {
  const char* name = nullptr;
  if (!api_->error_name || api_->error_name(code, &name) != 0 || !name) name = "unknown error";
  std::string own = log;
  std::ifstream file(log_path_);
  if (!log_path_.empty() && file) {
    std::stringstream content;
    content << file.rdbuf();
    std::string all = content.str();
    if (own.empty() && all.size() > log_read_) own = all.substr(log_read_);
    log_read_ = all.size();
  }
  std::string text = fmt::format("{}: {} ({})", what, name, code);
  if (!own.empty()) text += ": " + own.substr(0, own.find('\n'));
  return text;
}

Result<std::vector<uint8_t>> Driver::run(const std::string& ptx, const std::string& name,
                                         const std::vector<uint8_t>& input, size_t output_bytes,
                                         unsigned tuples) {
  Run launch;
  launch.kernel = name;
  launch.block_x = std::min(tuples, block_threads_);
  launch.blocks = tuples / launch.block_x;
  launch.input = input.data();
  launch.input_bytes = input.size();
  launch.output_bytes = output_bytes;
  launch.fill = unwritten;
  return run(ptx, launch);
}

Result<std::vector<uint8_t>> Driver::run(const std::string& ptx, const Run& launch) {
  std::vector<char> log(8192, 0);
  int options[] = {5, 6, 7};  // CU_JIT_ERROR_LOG_BUFFER, its size, CU_JIT_OPTIMIZATION_LEVEL
  void* values[] = {log.data(), reinterpret_cast<void*>(log.size()),
                    reinterpret_cast<void*>(static_cast<intptr_t>(launch.jit_level))};
  void *module = nullptr, *kernel = nullptr;
  Address in = 0, out = 0;
  std::vector<uint8_t> output(launch.output_bytes);
  const char* step = "the module does not load";
  int code = api_->load(&module, ptx.c_str(), 3, options, values);
  auto next = [&](const char* what, auto&& call) {
    if (code != 0) return;
    step = what;
    code = call();
  };
  next("the module has no such kernel",
       [&] { return api_->function(&kernel, module, launch.kernel.c_str()); });
  next("no memory", [&] { return api_->alloc(&in, std::max<size_t>(launch.input_bytes, 1)); });
  next("no memory", [&] { return api_->alloc(&out, launch.output_bytes); });
  next("no copy", [&] { return api_->to_device(in, launch.input, launch.input_bytes); });
  next("no fill", [&] { return api_->fill(out, launch.fill, launch.output_bytes); });
  next("the launch fails", [&] {
    uint32_t count = launch.count;
    void* arguments[] = {&in, &out, &count};
    return api_->launch(kernel, launch.blocks, 1, 1, launch.block_x, launch.block_y, 1, 0, nullptr,
                        arguments, nullptr);
  });
  bool launched = code == 0;
  next("the kernel fails", [&] { return api_->synchronize(); });
  next("no copy", [&] { return api_->to_host(output.data(), out, launch.output_bytes); });
  if (code != 0) {
    Error error{static_cast<Code>(code), error_text(step, code, log.data()), ""};
    if (launched) {
      begin_again();
      return error;
    }
    if (in) api_->free(in);
    if (out) api_->free(out);
    if (module) api_->unload(module);
    return error;
  }
  api_->free(in);
  api_->free(out);
  api_->unload(module);
  return output;
}

}  // namespace limen::golden
