// Sum of 2^25 floats: grid-stride loop, then shuffles within a warp, one atomic a warp. OpenCL 1.2
// has no shuffles: its peer reduces in local memory.
#include "bench.h"

constexpr int count = 1 << 25;
constexpr int groups = 256, block = 256;

static std::vector<float> values() { return bench::random_floats(count, 4, -1.0f, 3.0f); }

#if defined(PEER_CUDA)

__global__ void reduce(float* out, const float* in, int n) {
  float sum = 0.0f;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    sum += in[i];
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffffu, sum, offset);
  if (threadIdx.x % 32 == 0) atomicAdd(out, sum);
}

int main(int argc, char** argv) {
  float* in = bench::to_device(values());
  float* out = bench::on_device<float>(1);
  return bench::measure(
      argc, argv,
      [&] {
        CUDA_OK(cudaMemsetAsync(out, 0, sizeof(float)));
        reduce<<<groups, block>>>(out, in, count);
        bench::finish();
      },
      [&] { return bench::from_device(out, 1); });
}

#elif defined(PEER_OPENMP)

int main(int argc, char** argv) {
  std::vector<float> in = values(), out(1);
  return bench::measure(
      argc, argv,
      [&] {
        const float* from = in.data();
        float sum = 0.0f;
#pragma omp parallel for simd reduction(+ : sum)
        for (int i = 0; i < count; ++i) sum += from[i];
        out[0] = sum;
      },
      [&] { return out; });
}

#else

int main(int argc, char** argv) {
  bench::OpenCl cl(R"(
    kernel void reduce(global float* out, global const float* in, int n) {
      local float part[256];
      int id = get_local_id(0);
      float sum = 0.0f;
      for (int i = get_global_id(0); i < n; i += get_global_size(0)) sum += in[i];
      part[id] = sum;
      for (int stride = 128; stride > 0; stride /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (id < stride) part[id] += part[id + stride];
      }
      if (id == 0) out[get_group_id(0)] = part[0];
    })");
  cl_mem out = cl.on_device<float>(groups);
  cl_kernel reduce = cl.kernel("reduce", out, cl.to_device(values()), count);
  return bench::measure(
      argc, argv,
      [&] {
        cl.launch(reduce, groups * block, block);
        cl.finish();
      },
      [&] {
        std::vector<float> parts = cl.from_device<float>(out, groups);
        double sum = 0;
        for (float part : parts) sum += part;
        return std::vector<float>{static_cast<float>(sum)};
      });
}

#endif
