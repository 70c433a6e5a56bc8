#include "conformance/conform.h"

namespace limen::conform {

CONFORM(cuCtxGetExecAffinity, is_not_supported) {
  CUexecAffinityParam param{};
  expect_code("get", cuCtxGetExecAffinity(&param, CU_EXEC_AFFINITY_TYPE_SM_COUNT),
              CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY);  // to measure on H200
  expect_code("no result", cuCtxGetExecAffinity(nullptr, CU_EXEC_AFFINITY_TYPE_SM_COUNT),
              CUDA_ERROR_INVALID_VALUE);
}

CONFORM_WITH(cuCtxGetExecAffinity, needs_a_context, initialised) {
  CUexecAffinityParam param{};
  expect_code("none", cuCtxGetExecAffinity(&param, CU_EXEC_AFFINITY_TYPE_SM_COUNT),
              CUDA_ERROR_INVALID_CONTEXT);
}

}  // namespace limen::conform
