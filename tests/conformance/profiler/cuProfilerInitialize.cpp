#include "conformance/conform.h"

namespace limen::conform {

// Taken out of NVIDIA's driver with CUDA 11: every use answers so.
CONFORM(cuProfilerInitialize, is_not_supported) {
  expect_code("no files", cuProfilerInitialize(nullptr, nullptr, CUoutput_mode(0)),
              CUDA_ERROR_NOT_SUPPORTED);
  expect_code("two files", cuProfilerInitialize("in", "out", CU_OUT_CSV), CUDA_ERROR_NOT_SUPPORTED);
  expect_code("wrong mode", cuProfilerInitialize("in", "out", CUoutput_mode(7)),
              CUDA_ERROR_NOT_SUPPORTED);
}

CONFORM_WITH(cuProfilerInitialize, without_a_context, initialised) {
  expect_code("no context", cuProfilerInitialize("in", "out", CU_OUT_CSV),
              CUDA_ERROR_NOT_SUPPORTED);
}

}  // namespace limen::conform
