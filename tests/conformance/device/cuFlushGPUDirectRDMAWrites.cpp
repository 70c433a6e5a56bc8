#include "conformance/conform.h"

namespace limen::conform {

CONFORM(cuFlushGPUDirectRDMAWrites, follows_the_attribute) {
  int options = 0;
  REQUIRE(
      cuDeviceGetAttribute(&options, CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_FLUSH_WRITES_OPTIONS, 0));
  const CUresult expected = options & CU_FLUSH_GPU_DIRECT_RDMA_WRITES_OPTION_HOST
                                ? CUDA_SUCCESS
                                : CUDA_ERROR_NOT_SUPPORTED;
  CUresult code = cuFlushGPUDirectRDMAWrites(CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TARGET_CURRENT_CTX,
                                             CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TO_OWNER);
  expect_true("to the owner", code == expected);
  expect_code("no scope",
              cuFlushGPUDirectRDMAWrites(CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TARGET_CURRENT_CTX,
                                         static_cast<CUflushGPUDirectRDMAWritesScope>(0)),
              CUDA_ERROR_INVALID_VALUE);
}

CONFORM_WITH(cuFlushGPUDirectRDMAWrites, needs_a_context, initialised) {
  expect_code("no context",
              cuFlushGPUDirectRDMAWrites(CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TARGET_CURRENT_CTX,
                                         CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TO_OWNER),
              CUDA_ERROR_INVALID_CONTEXT);
}

}  // namespace limen::conform
