#include "conformance/conform.h"

namespace limen::conform {

CONFORM_WITH(cuDeviceGetExecAffinitySupport, none_without_mps, initialised) {
  int supported = -1;
  expect_code("get", cuDeviceGetExecAffinitySupport(&supported, CU_EXEC_AFFINITY_TYPE_SM_COUNT, 0),
              CUDA_SUCCESS);
  expect("no", supported, 0);
  expect_code("unknown", cuDeviceGetExecAffinitySupport(&supported, CU_EXEC_AFFINITY_TYPE_MAX, 0),
              CUDA_SUCCESS);
  expect_code("no device",
              cuDeviceGetExecAffinitySupport(&supported, CU_EXEC_AFFINITY_TYPE_SM_COUNT, 99),
              CUDA_ERROR_INVALID_DEVICE);
}

CONFORM_WITH(cuDeviceGetExecAffinitySupport, answers_and_errors, initialised) {
  int value = -1;
  expect_code("asks", cuDeviceGetExecAffinitySupport(&value, CU_EXEC_AFFINITY_TYPE_SM_COUNT, 0),
              CUDA_SUCCESS);
  expect("not without MPS", value, 0);
  expect_code("no result",
              cuDeviceGetExecAffinitySupport(nullptr, CU_EXEC_AFFINITY_TYPE_SM_COUNT, 0),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("unknown type", cuDeviceGetExecAffinitySupport(&value, CU_EXEC_AFFINITY_TYPE_MAX, 0),
              CUDA_SUCCESS);
  expect_code("no device",
              cuDeviceGetExecAffinitySupport(&value, CU_EXEC_AFFINITY_TYPE_SM_COUNT, 99),
              CUDA_ERROR_INVALID_DEVICE);
}

CONFORM_WITH(cuDeviceGetExecAffinitySupport, needs_cuInit, nothing) {
  int value;
  expect_code("not initialised",
              cuDeviceGetExecAffinitySupport(&value, CU_EXEC_AFFINITY_TYPE_SM_COUNT, 0),
              CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
