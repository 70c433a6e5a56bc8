// 4096 arrays of 1024 integers, each sorted by a bitonic network in shared memory, a block of 512
// an array, a barrier a step. The OpenMP peer calls std::sort.
#include "bench.h"

constexpr int arrays = 4096, length = 1024;

static std::vector<unsigned> keys() {
  bench::Random random(22);
  std::vector<unsigned> out(size_t{arrays} * length);
  for (unsigned& key : out) key = random.bits();
  return out;
}

#if defined(PEER_CUDA)

__global__ void sort(unsigned* out, const unsigned* in) {
  __shared__ unsigned keys[length];
  int id = threadIdx.x;
  keys[id] = in[blockIdx.x * length + id];
  keys[id + length / 2] = in[blockIdx.x * length + id + length / 2];
  for (int size = 2; size <= length; size *= 2) {
    for (int stride = size / 2; stride > 0; stride /= 2) {
      __syncthreads();
      int low = 2 * id - (id & (stride - 1)), high = low + stride;
      bool ascending = (low & size) == 0;
      unsigned a = keys[low], b = keys[high];
      if ((a > b) == ascending) {
        keys[low] = b;
        keys[high] = a;
      }
    }
  }
  __syncthreads();
  out[blockIdx.x * length + id] = keys[id];
  out[blockIdx.x * length + id + length / 2] = keys[id + length / 2];
}

int main(int argc, char** argv) {
  unsigned* in = bench::to_device(keys());
  unsigned* out = bench::on_device<unsigned>(size_t{arrays} * length);
  return bench::measure(
      argc, argv,
      [&] {
        sort<<<arrays, length / 2>>>(out, in);
        bench::finish();
      },
      [&] { return bench::from_device(out, size_t{arrays} * length); });
}

#elif defined(PEER_OPENMP)

int main(int argc, char** argv) {
  std::vector<unsigned> in = keys(), out(in.size());
  return bench::measure(
      argc, argv,
      [&] {
        const unsigned* from = in.data();
        unsigned* to = out.data();
#pragma omp parallel for
        for (int i = 0; i < arrays; ++i) {
          unsigned* part = to + i * length;
          std::copy(from + i * length, from + (i + 1) * length, part);
          std::sort(part, part + length);
        }
      },
      [&] { return out; });
}

#else

int main(int argc, char** argv) {
  bench::OpenCl cl(R"(
    #define LENGTH 1024
    kernel void sort(global uint* out, global const uint* in) {
      local uint keys[LENGTH];
      int id = get_local_id(0), base = get_group_id(0) * LENGTH;
      keys[id] = in[base + id];
      keys[id + LENGTH / 2] = in[base + id + LENGTH / 2];
      for (int size = 2; size <= LENGTH; size *= 2) {
        for (int stride = size / 2; stride > 0; stride /= 2) {
          barrier(CLK_LOCAL_MEM_FENCE);
          int low = 2 * id - (id & (stride - 1)), high = low + stride;
          bool ascending = (low & size) == 0;
          uint a = keys[low], b = keys[high];
          if ((a > b) == ascending) {
            keys[low] = b;
            keys[high] = a;
          }
        }
      }
      barrier(CLK_LOCAL_MEM_FENCE);
      out[base + id] = keys[id];
      out[base + id + LENGTH / 2] = keys[id + LENGTH / 2];
    })");
  cl_mem out = cl.on_device<unsigned>(size_t{arrays} * length);
  cl_kernel sort = cl.kernel("sort", out, cl.to_device(keys()));
  return bench::measure(
      argc, argv,
      [&] {
        cl.launch(sort, arrays * length / 2, length / 2);
        cl.finish();
      },
      [&] { return cl.from_device<unsigned>(out, size_t{arrays} * length); });
}

#endif
