// 2^20 bins over 2^24 random keys: atomics on global memory. OpenMP counts into bins of each thread's
// own and adds them up, which is what good native code does.
#include "bench.h"

constexpr int count = 1 << 24, bins = 1 << 20;

static std::vector<unsigned> keys() {
  bench::Random random(28);
  std::vector<unsigned> out(count);
  for (unsigned& key : out) key = random.bits() >> 12;
  return out;
}

#if defined(PEER_CUDA)

__global__ void histogram(unsigned* to, const unsigned* in, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&to[in[i]], 1u);
}

int main(int argc, char** argv) {
  unsigned *in = bench::to_device(keys()), *out = bench::on_device<unsigned>(bins);
  return bench::measure(
      argc, argv,
      [&] {
        CUDA_OK(cudaMemsetAsync(out, 0, bins * sizeof(unsigned)));
        histogram<<<count / 256, 256>>>(out, in, count);
        bench::finish();
      },
      [&] { return bench::from_device(out, bins); });
}

#elif defined(PEER_OPENMP)

int main(int argc, char** argv) {
  std::vector<unsigned> in = keys(), out(bins);
  std::vector<std::vector<unsigned>> own(omp_get_max_threads(), std::vector<unsigned>(bins));
  return bench::measure(
      argc, argv,
      [&] {
        const unsigned* from = in.data();
        unsigned* to = out.data();
#pragma omp parallel
        {
          int threads = omp_get_num_threads();
          unsigned* mine = own[omp_get_thread_num()].data();
          std::fill(mine, mine + bins, 0u);
#pragma omp for
          for (int i = 0; i < count; ++i) ++mine[from[i]];
          bench::Part part(bins);
          std::copy(own[0].data() + part.begin, own[0].data() + part.end, to + part.begin);
          for (int thread = 1; thread < threads; ++thread) {
            const unsigned* other = own[thread].data();
            for (size_t i = part.begin; i < part.end; ++i) to[i] += other[i];
          }
        }
      },
      [&] { return out; });
}

#else

int main(int argc, char** argv) {
  bench::OpenCl cl(R"(
    kernel void histogram(global uint* to, global const uint* in) {
      atomic_inc(&to[in[get_global_id(0)]]);
    })");
  cl_mem out = cl.on_device<unsigned>(bins);
  cl_kernel histogram = cl.kernel("histogram", out, cl.to_device(keys()));
  return bench::measure(
      argc, argv,
      [&] {
        cl.clear(out, bins * sizeof(unsigned));
        cl.launch(histogram, count, 256);
        cl.finish();
      },
      [&] { return cl.from_device<unsigned>(out, bins); });
}

#endif
