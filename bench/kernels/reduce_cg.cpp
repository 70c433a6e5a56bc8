// Sum of squares of 2^25 floats with cooperative groups: a grid-stride loop, a reduction of tiles of 32
// and of the block, then the grid waits and block 0 adds up what the blocks found. OpenCL has no
// barrier of the grid: its peer adds up on the host.
#include "bench.h"

constexpr int count = 1 << 25, block = 256;

static std::vector<float> values() { return bench::random_floats(count, 27, -1.0f, 1.0f); }

#if defined(PEER_CUDA)

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;

__device__ float sum_of_block(const cg::thread_block& threads, float mine) {
  __shared__ float part[32];
  cg::thread_block_tile<32> warp = cg::tiled_partition<32>(threads);
  float sum = cg::reduce(warp, mine, cg::plus<float>());
  if (warp.thread_rank() == 0) part[warp.meta_group_rank()] = sum;
  threads.sync();
  if (warp.meta_group_rank() == 0) {
    sum = warp.thread_rank() < warp.meta_group_size() ? part[warp.thread_rank()] : 0.0f;
    sum = cg::reduce(warp, sum, cg::plus<float>());
  }
  threads.sync();
  return sum;
}

__global__ void sum_squares(float* out, float* parts, const float* in, int n) {
  cg::grid_group grid = cg::this_grid();
  cg::thread_block threads = cg::this_thread_block();
  float sum = 0.0f;
  for (int i = grid.thread_rank(); i < n; i += grid.size()) sum += in[i] * in[i];
  sum = sum_of_block(threads, sum);
  if (threads.thread_rank() == 0) parts[blockIdx.x] = sum;
  grid.sync();
  if (blockIdx.x != 0) return;
  sum = 0.0f;
  for (unsigned i = threads.thread_rank(); i < gridDim.x; i += threads.size()) sum += parts[i];
  sum = sum_of_block(threads, sum);
  if (threads.thread_rank() == 0) *out = sum;
}

int main(int argc, char** argv) {
  float* in = bench::to_device(values());
  float* out = bench::on_device<float>(1);
  int processors = 0, blocks = 0, n = count;
  CUDA_OK(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0));
  CUDA_OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, sum_squares, block, 0));
  int groups = processors * blocks;
  float* parts = bench::on_device<float>(groups);
  void* arguments[] = {&out, &parts, &in, &n};
  return bench::measure(
      argc, argv,
      [&] {
        CUDA_OK(cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(sum_squares), dim3(groups),
                                            dim3(block), arguments));
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
        for (int i = 0; i < count; ++i) sum += from[i] * from[i];
        out[0] = sum;
      },
      [&] { return out; });
}

#else

int main(int argc, char** argv) {
  constexpr int groups = 256;
  bench::OpenCl cl(R"(
    kernel void sum_squares(global float* out, global const float* in, int n) {
      local float part[256];
      int id = get_local_id(0);
      float sum = 0.0f;
      for (int i = get_global_id(0); i < n; i += get_global_size(0)) sum += in[i] * in[i];
      part[id] = sum;
      for (int stride = 128; stride > 0; stride /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (id < stride) part[id] += part[id + stride];
      }
      if (id == 0) out[get_group_id(0)] = part[0];
    })");
  cl_mem out = cl.on_device<float>(groups);
  cl_kernel sum_squares = cl.kernel("sum_squares", out, cl.to_device(values()), count);
  return bench::measure(
      argc, argv,
      [&] {
        cl.launch(sum_squares, groups * block, block);
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
