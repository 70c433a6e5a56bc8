// 10,000 launches on 1024 floats, each waiting for the one before by the stream's order: what a launch
// costs. OpenMP runs 10,000 parallel loops.
#include "bench.h"

constexpr int count = 1024, launches = 10000;

static std::vector<float> values() { return bench::random_floats(count, 32); }

#if defined(PEER_CUDA)

__global__ void step(float* x, float a, float b, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = a * x[i] + b;
}

int main(int argc, char** argv) {
  float *in = bench::to_device(values()), *x = bench::on_device<float>(count);
  return bench::measure(
      argc, argv,
      [&] {
        CUDA_OK(cudaMemcpyAsync(x, in, count * sizeof(float), cudaMemcpyDeviceToDevice));
        for (int k = 0; k < launches; ++k)
          step<<<count / 256, 256>>>(x, 0.9999f, k % 16 * 1e-4f, count);
        bench::finish();
      },
      [&] { return bench::from_device(x, count); });
}

#elif defined(PEER_OPENMP)

int main(int argc, char** argv) {
  std::vector<float> in = values(), out(count);
  return bench::measure(
      argc, argv,
      [&] {
        out = in;
        float* x = out.data();
        for (int k = 0; k < launches; ++k) {
          float a = 0.9999f, b = k % 16 * 1e-4f;
#pragma omp parallel for simd
          for (int i = 0; i < count; ++i) x[i] = a * x[i] + b;
        }
      },
      [&] { return out; });
}

#else

int main(int argc, char** argv) {
  bench::OpenCl cl(R"(
    kernel void advance(global float* x, float a, float b) {
      int i = get_global_id(0);
      x[i] = a * x[i] + b;
    }
    kernel void start(global float* x, global const float* in) {
      int i = get_global_id(0);
      x[i] = in[i];
    })");
  cl_mem x = cl.on_device<float>(count);
  cl_kernel start = cl.kernel("start", x, cl.to_device(values()));
  cl_kernel advance = cl.kernel("advance", x, 0.9999f, 0.0f);
  return bench::measure(
      argc, argv,
      [&] {
        cl.launch(start, count, 256);
        for (int k = 0; k < launches; ++k) {
          cl.set_argument(advance, 2, k % 16 * 1e-4f);
          cl.launch(advance, count, 256);
        }
        cl.finish();
      },
      [&] { return cl.from_device<float>(x, count); });
}

#endif
