#include "conformance/conform.h"

namespace limen::conform {

CONFORM(cuProfilerInitialize, is_no_more) {
  expect_code("call", cuProfilerInitialize("config", "output", CU_OUT_CSV),
              CUDA_ERROR_NOT_SUPPORTED);
}

}  // namespace limen::conform
