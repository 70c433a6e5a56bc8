#include "conformance/places.h"

namespace limen::conform {

CONFORM(cuProfilerStop, without_a_profiler_nothing_happens) {
  expect_code("without a start", cuProfilerStop(), CUDA_SUCCESS);
  expect_code("once more", cuProfilerStop(), CUDA_SUCCESS);
  Buffer memory(4);
  REQUIRE(launch(common_kernel("store"), 1, 1, nullptr, memory.at(), 5u));
  expect("kernels run", read<uint32_t>(memory), 5u);
}

CONFORM_WITH(cuProfilerStop, needs_a_context, initialised) {
  expect_code("no context", cuProfilerStop(), CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM(cuProfilerStop, a_new_thread_has_no_context) {
  expect_code("elsewhere", on_a_bare_thread([] { return cuProfilerStop(); }),
              CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM_WITH(cuProfilerStop, needs_cuInit, nothing) {
  expect_code("not initialised", cuProfilerStop(), CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
