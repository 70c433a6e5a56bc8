#include "conformance/conform.h"

namespace limen::conform {

CONFORM(cuMemBatchDecompressAsync, without_an_engine) {
  expect_code("refused", cuMemBatchDecompressAsync(nullptr, 0, 0, nullptr, nullptr),
              CUDA_ERROR_NOT_SUPPORTED);
}

CONFORM_WITH(cuMemBatchDecompressAsync, needs_a_context, initialised) {
  expect_code("no context", cuMemBatchDecompressAsync(nullptr, 0, 0, nullptr, nullptr),
              CUDA_ERROR_INVALID_CONTEXT);
}

}  // namespace limen::conform
