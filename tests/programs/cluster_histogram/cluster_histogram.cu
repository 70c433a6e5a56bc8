// A histogram whose bins lie in the shared memory of the blocks of a cluster, by cooperative_groups:
// map_shared_rank, cluster.sync, atomics on another block's memory. Fixed and launch-time cluster
// dimensions, special registers, rank queries, and the launches that must be refused.
#include <cooperative_groups.h>

#include <vector>

#include "check.h"

namespace cg = cooperative_groups;

constexpr int bins = 1024;

__global__ void histogram(const int* in, int n, int* out) {
  extern __shared__ int part[];
  cg::cluster_group cluster = cg::this_cluster();
  const int each = bins / cluster.num_blocks();
  for (int i = threadIdx.x; i < each; i += blockDim.x) part[i] = 0;
  cluster.sync();
  int stride = gridDim.x * blockDim.x;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
    int* there = cluster.map_shared_rank(part, in[i] / each);
    atomicAdd(there + in[i] % each, 1);
  }
  cluster.sync();
  for (int i = threadIdx.x; i < each; i += blockDim.x)
    atomicAdd(out + cluster.block_rank() * each + i, part[i]);
}

struct Seen {
  unsigned rank, blocks, x, y, z, queried, in_cluster, own, specified;
};

__global__ void __cluster_dims__(2, 3, 1) look(Seen* out, int* exchanged) {
  __shared__ int mine;
  cg::cluster_group cluster = cg::this_cluster();
  unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  unsigned next = (cluster.block_rank() + 1) % cluster.num_blocks();
  int* there = cluster.map_shared_rank(&mine, next);
  if (threadIdx.x == 0) mine = block * 10;
  cluster.sync();
  if (threadIdx.x == 5) {
    dim3 index = cluster.block_index();
    out[block] = {cluster.block_rank(), cluster.num_blocks(),
                  index.x,              index.y,
                  index.z,              cluster.query_shared_rank(there),
                  (unsigned)__isClusterShared(there), (unsigned)__isShared(there),
                  __clusterDimIsSpecified()};
    exchanged[block] = *there;
  }
  // Nobody leaves while another block may still read its memory.
  cluster.barrier_arrive();
  cluster.barrier_wait();
}

static void counts(Verdict& verdict, int size) {
  const int n = 50000;
  std::vector<int> in(n), want(bins, 0), got(bins);
  Random random(size);
  for (int i = 0; i < n; ++i) ++want[in[i] = random.below(bins)];
  int *din, *out;
  CHECK(cudaMalloc(&din, n * sizeof(int)));
  CHECK(cudaMalloc(&out, bins * sizeof(int)));
  CHECK(cudaMemcpy(din, in.data(), n * sizeof(int), cudaMemcpyHostToDevice));
  CHECK(cudaMemset(out, 0, bins * sizeof(int)));
  cudaLaunchConfig_t config = {};
  config.gridDim = 3 * size;
  config.blockDim = 160;
  config.dynamicSmemBytes = bins / size * sizeof(int);
  cudaLaunchAttribute attribute;
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim.x = size;
  attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
  config.attrs = &attribute;
  config.numAttrs = 1;
  int clusters = 0;
  CHECK(cudaOccupancyMaxActiveClusters(&clusters, histogram, &config));
  verdict.expect(clusters > 0, "cudaOccupancyMaxActiveClusters", clusters);
  CHECK(cudaLaunchKernelEx(&config, histogram, (const int*)din, n, out));
  CHECK(cudaMemcpy(got.data(), out, bins * sizeof(int), cudaMemcpyDeviceToHost));
  for (int i = 0; i < bins; ++i) verdict.equal(got[i], want[i], "bin", i);
  CHECK(cudaFree(din));
  CHECK(cudaFree(out));
}

static cudaError_t try_size(int grid, int size) {
  cudaLaunchConfig_t config = {};
  config.gridDim = grid;
  config.blockDim = 32;
  config.dynamicSmemBytes = bins * sizeof(int);
  cudaLaunchAttribute attribute;
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim.x = size;
  attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
  config.attrs = &attribute;
  config.numAttrs = 1;
  cudaError_t code = cudaLaunchKernelEx(&config, histogram, (const int*)nullptr, 0, (int*)nullptr);
  (void)cudaGetLastError();
  return code;
}

int main() {
  Verdict verdict;
  for (int size : {1, 2, 4, 8}) counts(verdict, size);

  const dim3 grid(4, 6, 2);
  const int blocks = 48;
  Seen* seen;
  int* exchanged;
  CHECK(cudaMallocManaged(&seen, blocks * sizeof(Seen)));
  CHECK(cudaMallocManaged(&exchanged, blocks * sizeof(int)));
  look<<<grid, 64>>>(seen, exchanged);
  CHECK(cudaDeviceSynchronize());
  for (int b = 0; b < blocks; ++b) {
    unsigned x = b % 4, y = b / 4 % 6, z = b / 24, rank = x % 2 + 2 * (y % 3);
    unsigned next = (rank + 1) % 6;
    unsigned nx = x / 2 * 2 + next % 2, ny = y / 3 * 3 + next / 2;
    verdict.equal(seen[b].rank, rank, "rank", b);
    verdict.equal(seen[b].blocks, 6u, "blocks", b);
    verdict.equal(seen[b].x, x % 2, "x", b);
    verdict.equal(seen[b].y, y % 3, "y", b);
    verdict.equal(seen[b].z, 0u, "z", b);
    verdict.equal(seen[b].queried, next, "rank of an address", b);
    verdict.equal(seen[b].in_cluster, 1u, "__isClusterShared", b);
    verdict.equal(seen[b].own, 0u, "__isShared of another block's", b);
    verdict.equal(seen[b].specified, 1u, "cluster dimensions are specified", b);
    verdict.equal<int>(exchanged[b], (nx + 4 * (ny + 6 * z)) * 10, "neighbour", b);
  }
  verdict.expect(try_size(6, 4) != cudaSuccess, "a grid that is no multiple");
  verdict.expect(try_size(16, 16) != cudaSuccess, "16 blocks without permission");
  int most = 0;
  cudaLaunchConfig_t config = {};
  config.gridDim = 16;
  config.blockDim = 128;
  CHECK(cudaOccupancyMaxPotentialClusterSize(&most, histogram, &config));
  verdict.equal(most, 8, "cudaOccupancyMaxPotentialClusterSize");
  CHECK(cudaFuncSetAttribute(histogram, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
  counts(verdict, 16);
  return verdict.finish();
}
