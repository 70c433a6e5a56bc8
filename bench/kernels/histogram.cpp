// 256 bins over 2^25 bytes: atomics on shared memory, then on global memory.
#include "bench.h"

constexpr int count = 1 << 25;
constexpr int groups = 128, block = 256;

static std::vector<unsigned char> values() {
  bench::Random random(6);
  std::vector<unsigned char> out(count);
  // Two dice make some bins fuller than others.
  for (unsigned char& value : out) {
    uint32_t bits = random.bits();
    value = static_cast<unsigned char>(((bits >> 8 & 255) + (bits >> 16 & 255)) / 2);
  }
  return out;
}

#if defined(PEER_CUDA)

__global__ void histogram(unsigned* bins, const unsigned char* in, int n) {
  __shared__ unsigned part[256];
  part[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    atomicAdd(&part[in[i]], 1u);
  __syncthreads();
  atomicAdd(&bins[threadIdx.x], part[threadIdx.x]);
}

int main(int argc, char** argv) {
  unsigned char* in = bench::to_device(values());
  unsigned* bins = bench::on_device<unsigned>(256);
  return bench::measure(
      argc, argv,
      [&] {
        CUDA_OK(cudaMemsetAsync(bins, 0, 256 * sizeof(unsigned)));
        histogram<<<groups, block>>>(bins, in, count);
        bench::finish();
      },
      [&] { return bench::from_device(bins, 256); });
}

#elif defined(PEER_OPENMP)

int main(int argc, char** argv) {
  std::vector<unsigned char> in = values();
  std::vector<unsigned> bins(256);
  return bench::measure(
      argc, argv,
      [&] {
        std::fill(bins.begin(), bins.end(), 0u);
        const unsigned char* from = in.data();
        unsigned* to = bins.data();
#pragma omp parallel for reduction(+ : to[:256])
        for (int i = 0; i < count; ++i) ++to[from[i]];
      },
      [&] { return bins; });
}

#else

int main(int argc, char** argv) {
  bench::OpenCl cl(R"(
    kernel void histogram(global uint* bins, global const uchar* in, int n) {
      local uint part[256];
      int id = get_local_id(0);
      part[id] = 0;
      barrier(CLK_LOCAL_MEM_FENCE);
      for (int i = get_global_id(0); i < n; i += get_global_size(0)) atomic_add(&part[in[i]], 1u);
      barrier(CLK_LOCAL_MEM_FENCE);
      atomic_add(&bins[id], part[id]);
    })");
  cl_mem bins = cl.on_device<unsigned>(256);
  cl_kernel histogram = cl.kernel("histogram", bins, cl.to_device(values()), count);
  return bench::measure(
      argc, argv,
      [&] {
        cl.clear(bins, 256 * sizeof(unsigned));
        cl.launch(histogram, groups * block, block);
        cl.finish();
      },
      [&] { return cl.from_device<unsigned>(bins, 256); });
}

#endif
