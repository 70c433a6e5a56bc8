#include "conformance/memory/array_case.h"

namespace limen::conform {

CONFORM(cuMemMapArrayAsync, an_array_that_is_not_sparse) {
  CUarrayMapInfo info{};
  info.resourceType = CU_RESOURCE_TYPE_ARRAY;
  info.resource.array = plain_array();
  info.memOperationType = CU_MEM_OPERATION_TYPE_UNMAP;
  info.deviceBitMask = 1;
  expect_code("refused", cuMemMapArrayAsync(&info, 1, nullptr), CUDA_ERROR_INVALID_VALUE);
}

CONFORM(cuMemMapArrayAsync, wrong_arguments) {
  expect_code("no list", cuMemMapArrayAsync(nullptr, 1, nullptr), CUDA_ERROR_INVALID_VALUE);
  expect_code("nothing", cuMemMapArrayAsync(nullptr, 0, nullptr), CUDA_ERROR_INVALID_VALUE);
}

}  // namespace limen::conform
