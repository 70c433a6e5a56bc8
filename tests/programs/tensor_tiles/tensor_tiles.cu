// A transpose by tensor copies, written as the programming guide writes them: libcu++'s barrier with its
// tensor wrappers, two buffers in turns, tiles with the 128-byte swizzle, all threads waiting. The tensor's
// edges cut tiles, so that loads fill and stores drop.
#include <cuda.h>

#include <cuda/barrier>
#include <vector>

#include "check.h"

using Barrier = cuda::barrier<cuda::thread_scope_block>;
namespace tensor = cuda::device::experimental;

constexpr int side = 32;  // of a tile of floats: a row is 128 bytes

/// Where element (row, column) of a tile lies under the 128-byte swizzle.
__device__ int place(int row, int column) { return row * side + ((column / 4 ^ row % 8) * 4 + column % 4); }

__global__ void transpose(const __grid_constant__ CUtensorMap in, const __grid_constant__ CUtensorMap out,
                          int tiles) {
  __shared__ alignas(1024) float from[2][side * side];
  __shared__ alignas(1024) float to[side * side];
#pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ Barrier full[2];
  const bool leader = threadIdx.x == 0;
  if (leader) {
    init(&full[0], blockDim.x);
    init(&full[1], blockDim.x);
    tensor::fence_proxy_async_shared_cta();
  }
  __syncthreads();
  const int y = (int)blockIdx.x * side;
  auto arrive = [&](int tile) {
    Barrier& barrier = full[tile % 2];
    if (!leader || tile >= tiles) return barrier.arrive();
    tensor::cp_async_bulk_tensor_2d_global_to_shared(from[tile % 2], &in, tile * side, y, barrier);
    return cuda::device::barrier_arrive_tx(barrier, 1, sizeof from[0]);
  };
  Barrier::arrival_token tokens[2] = {arrive(0), Barrier::arrival_token{}};
  for (int tile = 0; tile < tiles; ++tile) {
    tokens[(tile + 1) % 2] = arrive(tile + 1);
    full[tile % 2].wait(std::move(tokens[tile % 2]));
    for (int i = threadIdx.x; i < side * side; i += blockDim.x)
      to[place(i % side, i / side)] = from[tile % 2][place(i / side, i % side)] + 1;
    tensor::fence_proxy_async_shared_cta();
    __syncthreads();
    if (leader) {
      tensor::cp_async_bulk_tensor_2d_shared_to_global(&out, y, tile * side, to);
      tensor::cp_async_bulk_commit_group();
      tensor::cp_async_bulk_wait_group_read<0>();
    }
    __syncthreads();
  }
}

static CUtensorMap map_of(float* at, uint64_t width, uint64_t height, uint64_t pitch) {
  cudaDriverEntryPointQueryResult how;
  void* found = nullptr;
  CHECK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &found, 12000, cudaEnableDefault, &how));
  const cuuint64_t sizes[2] = {width, height}, strides[1] = {pitch * 4};
  const cuuint32_t box[2] = {side, side}, steps[2] = {1, 1};
  CUtensorMap map{};
  const CUresult code = ((decltype(&cuTensorMapEncodeTiled))found)(
      &map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, at, sizes, strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
      CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (code != CUDA_SUCCESS) std::printf("encode: %d\nFAILED\n", code), std::exit(1);
  return map;
}

int main() {
  Verdict verdict;
  const int width = 1000, height = 710, pitch_in = 1004, pitch_out = 720;
  float *in, *out;
  CHECK(cudaMallocManaged(&in, sizeof(float) * pitch_in * height));
  CHECK(cudaMallocManaged(&out, sizeof(float) * pitch_out * width));
  for (int i = 0; i < pitch_in * height; ++i) in[i] = (float)i;
  for (int i = 0; i < pitch_out * width; ++i) out[i] = -5;
  const CUtensorMap from = map_of(in, width, height, pitch_in), to = map_of(out, height, width, pitch_out);
  transpose<<<(height + side - 1) / side, 128>>>(from, to, (width + side - 1) / side);
  CHECK(cudaDeviceSynchronize());
  for (int x = 0; x < width; ++x)
    for (int y = 0; y < pitch_out; ++y)
      // A store fills up the 16 bytes that a row ends in: two zeros of the load, plus one.
      verdict.equal(out[x * pitch_out + y],
                    y < height ? in[y * pitch_in + x] + 1 : y < (height + 3) / 4 * 4 ? 1.0f : -5.0f,
                    "transposed", x * pitch_out + y);
  return verdict.finish();
}
