#include "conformance/conform.h"

namespace limen::conform {
namespace {

struct Seen {
  volatile int count = 0;
  CUresult status = CUDA_ERROR_UNKNOWN;
  CUstream stream = nullptr;
};

void see(CUstream stream, CUresult status, void* data) {
  auto* seen = static_cast<Seen*>(data);
  seen->stream = stream;
  seen->status = status;
  seen->count = 1;
}

}  // namespace

CONFORM(cuStreamAddCallback, in_stream_order) {
  CUstream stream = nullptr;
  REQUIRE(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  Seen seen;
  Buffer word(4);
  REQUIRE(launch(common_kernel("store"), 1, 1, stream, word.at(), 1u));
  expect_code("add", cuStreamAddCallback(stream, see, &seen, 0), CUDA_SUCCESS);
  REQUIRE(cuStreamSynchronize(stream));
  expect("called", int{seen.count}, 1);
  expect_code("told of success", seen.status, CUDA_SUCCESS);
  expect_true("and of its stream", seen.stream == stream);
  expect_code("flags", cuStreamAddCallback(stream, see, &seen, 1), CUDA_ERROR_INVALID_VALUE);
  expect_code("no function", cuStreamAddCallback(stream, nullptr, &seen, 0),
              CUDA_ERROR_INVALID_VALUE);
}

}  // namespace limen::conform
