// Steps of the Collatz sequence of each number up to 2^19, 64-bit integers: divergent, no memory.
#include "bench.h"

constexpr int count = 1 << 19;

#if defined(PEER_CUDA)

__global__ void collatz(int* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned long long value = i + 1;
  int steps = 0;
  while (value != 1) {
    if (value % 2 == 0)
      value /= 2;
    else
      value = 3 * value + 1;
    ++steps;
  }
  out[i] = steps;
}

int main(int argc, char** argv) {
  int* out = bench::on_device<int>(count);
  return bench::measure(
      argc, argv,
      [&] {
        collatz<<<count / 256, 256>>>(out, count);
        bench::finish();
      },
      [&] { return bench::from_device(out, count); });
}

#elif defined(PEER_OPENMP)

int main(int argc, char** argv) {
  std::vector<int> out(count);
  return bench::measure(
      argc, argv,
      [&] {
        int* to = out.data();
#pragma omp parallel for schedule(dynamic, 1024)
        for (int i = 0; i < count; ++i) {
          unsigned long long value = i + 1;
          int steps = 0;
          while (value != 1) {
            if (value % 2 == 0)
              value /= 2;
            else
              value = 3 * value + 1;
            ++steps;
          }
          to[i] = steps;
        }
      },
      [&] { return out; });
}

#else

int main(int argc, char** argv) {
  bench::OpenCl cl(R"(
    kernel void collatz(global int* out, int n) {
      int i = get_global_id(0);
      if (i >= n) return;
      ulong value = i + 1;
      int steps = 0;
      while (value != 1) {
        if (value % 2 == 0)
          value /= 2;
        else
          value = 3 * value + 1;
        ++steps;
      }
      out[i] = steps;
    })");
  cl_mem out = cl.on_device<int>(count);
  cl_kernel collatz = cl.kernel("collatz", out, count);
  return bench::measure(
      argc, argv,
      [&] {
        cl.launch(collatz, count, 256);
        cl.finish();
      },
      [&] { return cl.from_device<int>(out, count); });
}

#endif
