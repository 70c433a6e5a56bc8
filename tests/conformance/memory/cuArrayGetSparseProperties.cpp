#include "conformance/memory/array_case.h"

namespace limen::conform {

CONFORM(cuArrayGetSparseProperties, of_a_plain_array) {
  CUDA_ARRAY_SPARSE_PROPERTIES properties{};
  expect_code("not sparse", cuArrayGetSparseProperties(&properties, plain_array()),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no result", cuArrayGetSparseProperties(nullptr, plain_array()),
              CUDA_ERROR_INVALID_VALUE);
}

}  // namespace limen::conform
