// out = a + b over 2^24 floats: bound by memory.
#include "bench.h"

constexpr int count = 1 << 24;

#if defined(PEER_CUDA)

__global__ void add(float* out, const float* a, const float* b, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = a[i] + b[i];
}

int main(int argc, char** argv) {
  float* a = bench::to_device(bench::random_floats(count, 1));
  float* b = bench::to_device(bench::random_floats(count, 2));
  float* out = bench::on_device<float>(count);
  return bench::measure(
      argc, argv,
      [&] {
        add<<<(count + 255) / 256, 256>>>(out, a, b, count);
        bench::finish();
      },
      [&] { return bench::from_device(out, count); });
}

#elif defined(PEER_OPENMP)

int main(int argc, char** argv) {
  std::vector<float> a = bench::random_floats(count, 1), b = bench::random_floats(count, 2);
  std::vector<float> out(count);
  return bench::measure(
      argc, argv,
      [&] {
        float* to = out.data();
        const float *x = a.data(), *y = b.data();
#pragma omp parallel for simd
        for (int i = 0; i < count; ++i) to[i] = x[i] + y[i];
      },
      [&] { return out; });
}

#else

int main(int argc, char** argv) {
  bench::OpenCl cl(R"(
    kernel void add(global float* out, global const float* a, global const float* b, int n) {
      int i = get_global_id(0);
      if (i < n) out[i] = a[i] + b[i];
    })");
  cl_mem out = cl.on_device<float>(count);
  cl_kernel add = cl.kernel("add", out, cl.to_device(bench::random_floats(count, 1)),
                            cl.to_device(bench::random_floats(count, 2)), count);
  return bench::measure(
      argc, argv,
      [&] {
        cl.launch(add, count, 256);
        cl.finish();
      },
      [&] { return cl.from_device<float>(out, count); });
}

#endif
