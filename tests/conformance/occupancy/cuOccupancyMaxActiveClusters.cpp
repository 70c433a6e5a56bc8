#include "conformance/conform.h"

namespace limen::conform {
namespace {

constexpr const char* ptx = R"(
.version 8.0
.target sm_90
.address_size 64
.visible .entry count(.param .u64 out) {
  .reg .b64 %a; .reg .b32 %n, %one;
  ld.param.u64 %a, [out];
  mov.u32 %one, 1;
  red.global.add.u32 [%a], %one;
  ret;
}
)";

CUlaunchConfig config_of(CUlaunchAttribute& cluster, unsigned size, unsigned threads) {
  cluster = {};
  cluster.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
  cluster.value.clusterDim = {size, 1, 1};
  CUlaunchConfig config{};
  config.gridDimX = size;
  config.gridDimY = config.gridDimZ = config.blockDimY = config.blockDimZ = 1;
  config.blockDimX = threads;
  config.attrs = &cluster;
  config.numAttrs = 1;
  return config;
}

}  // namespace

CONFORM(cuOccupancyMaxActiveClusters, what_it_counts_can_be_launched) {
  CUfunction kernel = load_kernel(ptx, "count");
  CUlaunchAttribute cluster;
  CUlaunchConfig config = config_of(cluster, 4, 128);
  int clusters = -1;
  expect_code("clusters of 4", cuOccupancyMaxActiveClusters(&clusters, kernel, &config),
              CUDA_SUCCESS);
  expect_true("some", clusters > 0);
  Buffer out(4);
  write<uint32_t>(out, 0);
  CUdeviceptr address = out;
  void* params[] = {&address};
  REQUIRE(cuLaunchKernelEx(&config, kernel, params, nullptr));
  expect("launched", read<uint32_t>(out), 512u);
  int larger = -1;
  config = config_of(cluster, 8, 128);
  expect_code("clusters of 8", cuOccupancyMaxActiveClusters(&larger, kernel, &config),
              CUDA_SUCCESS);
  expect_true("not more of them", larger <= clusters);
}

CONFORM(cuOccupancyMaxActiveClusters, non_portable_sizes) {
  CUfunction kernel = load_kernel(ptx, "count");
  CUlaunchAttribute cluster;
  CUlaunchConfig config = config_of(cluster, 16, 128);
  int clusters = -1;
  expect_code("16 without leave", cuOccupancyMaxActiveClusters(&clusters, kernel, &config),
              CUDA_ERROR_INVALID_CLUSTER_SIZE);
  REQUIRE(cuFuncSetAttribute(kernel, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1));
  expect_code("16 with leave", cuOccupancyMaxActiveClusters(&clusters, kernel, &config),
              CUDA_SUCCESS);
  expect_true("some", clusters > 0);
}

CONFORM(cuOccupancyMaxActiveClusters, without_a_cluster) {
  CUfunction kernel = load_kernel(ptx, "count");
  CUlaunchAttribute cluster;
  CUlaunchConfig config = config_of(cluster, 1, 128);
  int clusters = -1;
  config.numAttrs = 0;
  expect_code("none asked for", cuOccupancyMaxActiveClusters(&clusters, kernel, &config),
              CUDA_SUCCESS);
  expect("none", clusters, 0);
}

CONFORM(cuOccupancyMaxActiveClusters, wrong_arguments) {
  CUfunction kernel = load_kernel(ptx, "count");
  CUlaunchAttribute cluster;
  CUlaunchConfig config = config_of(cluster, 4, 128);
  int clusters = -1;
  expect_code("no result", cuOccupancyMaxActiveClusters(nullptr, kernel, &config),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no configuration", cuOccupancyMaxActiveClusters(&clusters, kernel, nullptr),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no function", cuOccupancyMaxActiveClusters(&clusters, nullptr, &config),
              CUDA_ERROR_INVALID_VALUE);
}

}  // namespace limen::conform
