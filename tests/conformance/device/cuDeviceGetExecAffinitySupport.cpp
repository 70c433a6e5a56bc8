#include "conformance/conform.h"

namespace limen::conform {

CONFORM_WITH(cuDeviceGetExecAffinitySupport, none_without_mps, initialised) {
  int supported = -1;
  expect_code("get", cuDeviceGetExecAffinitySupport(&supported, CU_EXEC_AFFINITY_TYPE_SM_COUNT, 0),
              CUDA_SUCCESS);
  expect("no", supported, 0);
  expect_code("unknown", cuDeviceGetExecAffinitySupport(&supported, CU_EXEC_AFFINITY_TYPE_MAX, 0),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no device",
              cuDeviceGetExecAffinitySupport(&supported, CU_EXEC_AFFINITY_TYPE_SM_COUNT, 99),
              CUDA_ERROR_INVALID_DEVICE);
}

}  // namespace limen::conform
