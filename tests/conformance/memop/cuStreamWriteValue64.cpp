#include "conformance/conform.h"

namespace limen::conform {

CONFORM(cuStreamWriteValue64, writes_eight_bytes) {
  CUstream stream = nullptr;
  REQUIRE(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  Buffer words(24);
  for (size_t i = 0; i < 3; ++i) write<uint64_t>(words.at(8 * i), 0);
  expect_code("write", cuStreamWriteValue64(stream, words.at(8), 0x123456789abcdef0u, 0),
              CUDA_SUCCESS);
  REQUIRE(cuStreamSynchronize(stream));
  expect("value", read<uint64_t>(words.at(8)), 0x123456789abcdef0u);
  expect("before", read<uint64_t>(words), 0u);
  expect("after", read<uint64_t>(words.at(16)), 0u);
}

CONFORM(cuStreamWriteValue64, wrong_arguments) {
  Buffer words(24);
  expect_code("null", cuStreamWriteValue64(nullptr, 0, 1, 0), CUDA_ERROR_INVALID_VALUE);
  expect_code("aligned to four bytes only", cuStreamWriteValue64(nullptr, words.at(4), 1, 0),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("unknown flag", cuStreamWriteValue64(nullptr, words, 1, 2), CUDA_ERROR_INVALID_VALUE);
}

CONFORM(cuStreamWriteValue64, attribute_says_so) {
  int supported = 0;
  REQUIRE(cuDeviceGetAttribute(&supported, CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS, 0));
  expect("64-bit operations", supported, 1);
  Buffer word(8);
  expect_code("write", cuStreamWriteValue64(nullptr, word, 9, 0), CUDA_SUCCESS);
  expect("value", read<uint64_t>(word), 9u);
}

CONFORM_WITH(cuStreamWriteValue64, needs_a_context, initialised) {
  expect_code("no context", cuStreamWriteValue64(nullptr, 16, 1, 0), CUDA_ERROR_INVALID_CONTEXT);
}

}  // namespace limen::conform
