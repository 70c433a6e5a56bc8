// The demo as an ordinary CUDA program: kernels launched with <<<>>>, through NVIDIA's runtime.
// Built with plain `nvcc`; nothing in it knows of Limen.
#include <cstdio>
#include <cstdlib>

#include "device.h"
#include "kernels.cu"

namespace {

void check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "demo: %s: %s (%s)\n", what, cudaGetErrorString(error),
               cudaGetErrorName(error));
  std::exit(1);
}

class RuntimeDevice : public Device {
 public:
  std::string describe() override {
    cudaDeviceProp properties;
    check(cudaGetDeviceProperties(&properties, 0), "cudaGetDeviceProperties");
    return std::string(properties.name) + ", kernels built by nvcc into the program";
  }
  void* allocate(size_t bytes) override {
    void* memory = nullptr;
    check(cudaMalloc(&memory, bytes), "cudaMalloc");
    return memory;
  }
  void release(void* memory) override { check(cudaFree(memory), "cudaFree"); }
  void upload(void* to, const void* from, size_t bytes) override {
    check(cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice), "cudaMemcpy to the device");
  }
  void download(void* to, const void* from, size_t bytes) override {
    check(cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost), "cudaMemcpy from the device");
  }
  void clear(void* memory, size_t bytes) override {
    check(cudaMemset(memory, 0, bytes), "cudaMemset");
  }
  void finish() override { check(cudaDeviceSynchronize(), "cudaDeviceSynchronize"); }

#define LAUNCH(kernel, ...)                                      \
  ::kernel<<<dim3(g.x, g.y), dim3(b.x, b.y)>>>(__VA_ARGS__);     \
  check(cudaGetLastError(), "launch of " #kernel)

  void fractal_samples(Grid g, Block b, float* counts, int width, int height, float centre_x,
                       float centre_y, float step, int iterations_max) override {
    LAUNCH(fractal_samples, counts, width, height, centre_x, centre_y, step, iterations_max);
  }
  void fractal_colours(Grid g, Block b, unsigned char* rgb, const float* counts, int width,
                       int height, int scale) override {
    LAUNCH(fractal_colours, rgb, counts, width, height, scale);
  }
  void split(Grid g, Block b, float* out, const unsigned char* rgb, int pixels,
             int channel) override {
    LAUNCH(split, out, rgb, pixels, channel);
  }
  void merge(Grid g, Block b, unsigned char* rgb, const float* in, int pixels,
             int channel) override {
    LAUNCH(merge, rgb, in, pixels, channel);
  }
  void brightness(Grid g, Block b, float* out, const unsigned char* rgb, int pixels) override {
    LAUNCH(brightness, out, rgb, pixels);
  }
  void blur(Grid g, Block b, float* out, const float* in, int width, int height, int along_x,
            const float* weights, int radius) override {
    LAUNCH(blur, out, in, width, height, along_x, weights, radius);
  }
  void edges(Grid g, Block b, unsigned char* rgb, const float* in, int width,
             int height) override {
    LAUNCH(edges, rgb, in, width, height);
  }
  void gravity(Grid g, Block b, Body* next, const Body* bodies, int count, float dt,
               float softening) override {
    LAUNCH(gravity, next, bodies, count, dt, softening);
  }
  void splat(Grid g, Block b, unsigned* density, const Body* bodies, int count, int width,
             int height, float scale, unsigned weight) override {
    LAUNCH(splat, density, bodies, count, width, height, scale, weight);
  }
  void develop(Grid g, Block b, unsigned char* rgb, const unsigned* density, int width, int height,
               float gain) override {
    LAUNCH(develop, rgb, density, width, height, gain);
  }
};

}  // namespace

int main(int argc, char** argv) {
  RuntimeDevice device;
  return render_pictures(device, argc, argv);
}
