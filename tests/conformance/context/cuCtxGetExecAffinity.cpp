#include "conformance/conform.h"

namespace limen::conform {

CONFORM(cuCtxGetExecAffinity, counts_the_multiprocessors) {
  CUexecAffinityParam param{};
  expect_code("get", cuCtxGetExecAffinity(&param, CU_EXEC_AFFINITY_TYPE_SM_COUNT), CUDA_SUCCESS);
  int all = 0;
  REQUIRE(cuDeviceGetAttribute(&all, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 0));
  expect("of its type", param.type, CU_EXEC_AFFINITY_TYPE_SM_COUNT);
  expect_true("all of them", param.param.smCount.val == static_cast<unsigned>(all));
  expect_code("no result", cuCtxGetExecAffinity(nullptr, CU_EXEC_AFFINITY_TYPE_SM_COUNT),
              CUDA_ERROR_INVALID_VALUE);
}

CONFORM_WITH(cuCtxGetExecAffinity, needs_a_context, initialised) {
  CUexecAffinityParam param{};
  expect_code("none", cuCtxGetExecAffinity(&param, CU_EXEC_AFFINITY_TYPE_SM_COUNT),
              CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM(cuCtxGetExecAffinity, without_MPS) {
  CUexecAffinityParam affinity;
  std::memset(&affinity, 0, sizeof affinity);
  expect_code("asks", cuCtxGetExecAffinity(&affinity, CU_EXEC_AFFINITY_TYPE_SM_COUNT),
              CUDA_SUCCESS);
  expect_code("unknown type", cuCtxGetExecAffinity(&affinity, CU_EXEC_AFFINITY_TYPE_MAX),
              CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY);
  expect_code("no result", cuCtxGetExecAffinity(nullptr, CU_EXEC_AFFINITY_TYPE_SM_COUNT),
              CUDA_ERROR_INVALID_VALUE);
}

CONFORM_WITH(cuCtxGetExecAffinity, needs_a_context_too, initialised) {
  CUexecAffinityParam affinity;
  expect_code("no context", cuCtxGetExecAffinity(&affinity, CU_EXEC_AFFINITY_TYPE_SM_COUNT),
              CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM_WITH(cuCtxGetExecAffinity, needs_cuInit, nothing) {
  CUexecAffinityParam affinity;
  expect_code("not initialised", cuCtxGetExecAffinity(&affinity, CU_EXEC_AFFINITY_TYPE_SM_COUNT),
              CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
