// Inclusive prefix sums of 2^24 unsigned integers in three kernels: sums within blocks of 2048 (eight
// values a thread, Hillis and Steele's scan of the threads' sums in shared memory), a scan of the
// blocks' sums by one block, and their addition.
#include "bench.h"

constexpr int count = 1 << 24;
constexpr int block = 256, each = 8, tile = block * each, tiles = count / tile;
constexpr int wide = 1024;  // threads of the one block that scans the blocks' sums
static_assert(tiles == wide * each, "one block scans all blocks' sums");

static std::vector<unsigned> values() {
  bench::Random random(26);
  std::vector<unsigned> out(count);
  for (unsigned& value : out) value = random.bits() >> 24;
  return out;
}

#if defined(PEER_CUDA)

template <int threads>
__device__ unsigned scan_threads(unsigned* shared, unsigned mine) {
  int id = threadIdx.x;
  shared[id] = mine;
  __syncthreads();
  for (int offset = 1; offset < threads; offset *= 2) {
    unsigned before = id >= offset ? shared[id - offset] : 0;
    __syncthreads();
    shared[id] += before;
    __syncthreads();
  }
  return shared[id];
}

template <int threads>
__global__ void scan_tiles(unsigned* out, unsigned* sums, const unsigned* in) {
  __shared__ unsigned shared[threads];
  int first = (blockIdx.x * threads + threadIdx.x) * each;
  unsigned value[each], sum = 0;
#pragma unroll
  for (int k = 0; k < each; ++k) value[k] = sum += in[first + k];
  unsigned upto = scan_threads<threads>(shared, sum);
#pragma unroll
  for (int k = 0; k < each; ++k) out[first + k] = value[k] + upto - sum;
  if (sums && threadIdx.x == threads - 1) sums[blockIdx.x] = upto;
}

__global__ void add_sums(unsigned* out, const unsigned* sums) {
  if (blockIdx.x == 0) return;
  unsigned before = sums[blockIdx.x - 1];
  for (int i = threadIdx.x; i < tile; i += block) out[blockIdx.x * tile + i] += before;
}

int main(int argc, char** argv) {
  unsigned *in = bench::to_device(values()), *out = bench::on_device<unsigned>(count);
  unsigned *sums = bench::on_device<unsigned>(tiles), *before = bench::on_device<unsigned>(tiles);
  return bench::measure(
      argc, argv,
      [&] {
        scan_tiles<block><<<tiles, block>>>(out, sums, in);
        scan_tiles<wide><<<1, wide>>>(before, nullptr, sums);
        add_sums<<<tiles, block>>>(out, before);
        bench::finish();
      },
      [&] { return bench::from_device(out, count); });
}

#elif defined(PEER_OPENMP)

int main(int argc, char** argv) {
  std::vector<unsigned> in = values(), out(count), sums(omp_get_max_threads() + 1);
  return bench::measure(
      argc, argv,
      [&] {
        const unsigned* from = in.data();
        unsigned *to = out.data(), *before = sums.data();
#pragma omp parallel
        {
          bench::Part part(count);
          unsigned sum = 0;
#pragma omp simd reduction(+ : sum)
          for (size_t i = part.begin; i < part.end; ++i) sum += from[i];
          before[omp_get_thread_num() + 1] = sum;
#pragma omp barrier
          sum = 0;
          for (int i = 0; i <= omp_get_thread_num(); ++i) sum += before[i];
          for (size_t i = part.begin; i < part.end; ++i) to[i] = sum += from[i];
        }
      },
      [&] { return out; });
}

#else

int main(int argc, char** argv) {
  bench::OpenCl cl(R"(
    #define EACH 8
    kernel void scan_tiles(global uint* out, global uint* sums, global const uint* in,
                           local uint* shared) {
      int id = get_local_id(0), threads = get_local_size(0), first = get_global_id(0) * EACH;
      uint value[EACH], sum = 0;
      for (int k = 0; k < EACH; ++k) value[k] = sum += in[first + k];
      shared[id] = sum;
      barrier(CLK_LOCAL_MEM_FENCE);
      for (int offset = 1; offset < threads; offset *= 2) {
        uint before = id >= offset ? shared[id - offset] : 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        shared[id] += before;
        barrier(CLK_LOCAL_MEM_FENCE);
      }
      uint upto = shared[id];
      for (int k = 0; k < EACH; ++k) out[first + k] = value[k] + upto - sum;
      if (id == threads - 1) sums[get_group_id(0)] = upto;
    }
    kernel void add_sums(global uint* out, global const uint* sums) {
      int group = get_group_id(0), size = get_local_size(0) * EACH;
      if (group == 0) return;
      uint before = sums[group - 1];
      for (int i = get_local_id(0); i < size; i += get_local_size(0)) out[group * size + i] += before;
    })");
  cl_mem in = cl.to_device(values()), out = cl.on_device<unsigned>(count);
  cl_mem sums = cl.on_device<unsigned>(tiles), before = cl.on_device<unsigned>(tiles);
  cl_mem total = cl.on_device<unsigned>(1);
  cl_kernel first = cl.kernel("scan_tiles", out, sums, in);
  cl_kernel second = cl.kernel("scan_tiles", before, total, sums);
  cl.local_argument(first, 3, block * sizeof(unsigned));
  cl.local_argument(second, 3, wide * sizeof(unsigned));
  cl_kernel third = cl.kernel("add_sums", out, before);
  return bench::measure(
      argc, argv,
      [&] {
        cl.launch(first, size_t{block} * tiles, block);
        cl.launch(second, wide, wide);
        cl.launch(third, size_t{block} * tiles, block);
        cl.finish();
      },
      [&] { return cl.from_device<unsigned>(out, count); });
}

#endif
