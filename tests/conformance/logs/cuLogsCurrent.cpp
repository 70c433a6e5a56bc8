#include "conformance/conform.h"

namespace limen::conform {

CONFORM(cuLogsCurrent, stands_at_the_end) {
  CUlogIterator before = 0, after = 0;
  expect_code("before", cuLogsCurrent(&before, 0), CUDA_SUCCESS);
  CUstream stream = nullptr;
  expect_true("a call fails", cuStreamCreate(&stream, 99) != CUDA_SUCCESS);
  expect_code("after", cuLogsCurrent(&after, 0), CUDA_SUCCESS);
  expect_true("moved on", after != before);
  expect_code("no result", cuLogsCurrent(nullptr, 0), CUDA_ERROR_INVALID_VALUE);
  expect_code("flags", cuLogsCurrent(&after, 1), CUDA_SUCCESS);
}

}  // namespace limen::conform
