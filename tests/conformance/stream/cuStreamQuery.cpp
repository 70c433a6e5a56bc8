#include "conformance/conform.h"

namespace limen::conform {

CONFORM(cuStreamQuery, tells_running_from_done) {
  CUstream stream = nullptr;
  REQUIRE(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  expect_code("nothing queued", cuStreamQuery(stream), CUDA_SUCCESS);
  void* flag = nullptr;
  REQUIRE(cuMemHostAlloc(&flag, 4, CU_MEMHOSTALLOC_DEVICEMAP));
  auto* open = static_cast<volatile uint32_t*>(flag);
  *open = 0;
  REQUIRE(launch(common_kernel("spin"), 1, 1, stream, flag));
  expect_code("kernel runs", cuStreamQuery(stream), CUDA_ERROR_NOT_READY);
  *open = 1;
  REQUIRE(cuStreamSynchronize(stream));
  expect_code("kernel has ended", cuStreamQuery(stream), CUDA_SUCCESS);
}

CONFORM(cuStreamQuery, destroyed_stream) {
  CUstream stream = nullptr;
  REQUIRE(cuStreamCreate(&stream, CU_STREAM_DEFAULT));
  REQUIRE(cuStreamDestroy(stream));
  expect_code("after its destruction", cuStreamQuery(stream), CUDA_ERROR_INVALID_HANDLE);
}

}  // namespace limen::conform
