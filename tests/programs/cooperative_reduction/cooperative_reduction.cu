// cudaLaunchCooperativeKernel and grid.sync(): a reduction in two phases and a stencil that reads
// neighbours' blocks between grid barriers; grids larger than fit are refused, and by the number
// that occupancy gives.
#include <cooperative_groups.h>

#include <vector>

#include "check.h"

namespace cg = cooperative_groups;

__global__ void reduce(const int* in, int n, int* partial, int* out) {
  cg::grid_group grid = cg::this_grid();
  __shared__ int sum;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  int mine = 0;
  for (int i = grid.thread_rank(); i < n; i += grid.size()) mine += in[i];
  atomicAdd(&sum, mine);
  __syncthreads();
  if (threadIdx.x == 0) partial[blockIdx.x] = sum;
  grid.sync();
  if (grid.thread_rank() == 0) {
    int total = 0;
    for (unsigned b = 0; b < gridDim.x; ++b) total += partial[b];
    *out = total;
  }
}

__global__ void smooth(int* a, int* b, int n, int rounds) {
  cg::grid_group grid = cg::this_grid();
  int i = grid.thread_rank();
  for (int r = 0; r < rounds; ++r) {
    int* from = r % 2 ? b : a;
    int* to = r % 2 ? a : b;
    if (i < n) to[i] = from[(i + n - 1) % n] + from[(i + 1) % n] - from[i];
    grid.sync();
  }
}

int main() {
  Verdict verdict;
  cudaDeviceProp properties;
  CHECK(cudaGetDeviceProperties(&properties, 0));
  verdict.expect(properties.cooperativeLaunch == 1, "cooperativeLaunch");
  const int threads = 128;
  int per_sm = 0;
  CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, reduce, threads, 0));
  int most = per_sm * properties.multiProcessorCount;
  verdict.expect(most > 0, "occupancy", most);
  int blocks = most < 48 ? most : 48, n = 100000;
  std::vector<int> in(n);
  int want = 0;
  for (int i = 0; i < n; ++i) want += in[i] = i * 7 % 1000 - 300;
  int *din, *partial, *out;
  CHECK(cudaMalloc(&din, n * sizeof(int)));
  CHECK(cudaMalloc(&partial, (most + 1) * sizeof(int)));
  CHECK(cudaMalloc(&out, sizeof(int)));
  CHECK(cudaMemcpy(din, in.data(), n * sizeof(int), cudaMemcpyHostToDevice));
  void* arguments[] = {&din, &n, &partial, &out};
  for (int repeat = 0; repeat < 3; ++repeat) {
    int got = 0;
    CHECK(cudaMemset(out, 0, sizeof(int)));
    CHECK(cudaLaunchCooperativeKernel((void*)reduce, blocks, threads, arguments, 0, 0));
    CHECK(cudaMemcpy(&got, out, sizeof got, cudaMemcpyDeviceToHost));
    verdict.equal(got, want, "sum", repeat);
  }
  cudaError_t code =
      cudaLaunchCooperativeKernel((void*)reduce, most + 1, threads, arguments, 0, 0);
  verdict.equal<int>(code, cudaErrorCooperativeLaunchTooLarge, "one block too many");
  (void)cudaGetLastError();

  // The attribute of cudaLaunchKernelEx asks for the same.
  const int size = 1000, rounds = 7;
  std::vector<int> state(size), next(size), got(size);
  for (int i = 0; i < size; ++i) state[i] = i * i % 17;
  int *a, *b;
  CHECK(cudaMalloc(&a, size * sizeof(int)));
  CHECK(cudaMalloc(&b, size * sizeof(int)));
  CHECK(cudaMemcpy(a, state.data(), size * sizeof(int), cudaMemcpyHostToDevice));
  for (int r = 0; r < rounds; ++r) {
    for (int i = 0; i < size; ++i)
      next[i] = state[(i + size - 1) % size] + state[(i + 1) % size] - state[i];
    std::swap(state, next);
  }
  cudaLaunchConfig_t config = {};
  config.gridDim = (size + 95) / 96;
  config.blockDim = 96;
  cudaLaunchAttribute attribute;
  attribute.id = cudaLaunchAttributeCooperative;
  attribute.val.cooperative = 1;
  config.attrs = &attribute;
  config.numAttrs = 1;
  CHECK(cudaLaunchKernelEx(&config, smooth, a, b, size, rounds));
  CHECK(cudaMemcpy(got.data(), rounds % 2 ? b : a, size * sizeof(int), cudaMemcpyDeviceToHost));
  for (int i = 0; i < size; ++i) verdict.equal(got[i], state[i], "stencil", i);
  return verdict.finish();
}
