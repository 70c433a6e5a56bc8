#include "conformance/conform.h"

namespace limen::conform {

CONFORM(cuStreamWriteValue32, writes_in_stream_order) {
  CUstream stream = nullptr;
  REQUIRE(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  Buffer words(16);
  write<uint64_t>(words, 0);
  write<uint64_t>(words.at(8), 0);
  void* flag = nullptr;
  REQUIRE(cuMemHostAlloc(&flag, 4, CU_MEMHOSTALLOC_DEVICEMAP));
  auto* open = static_cast<volatile uint32_t*>(flag);
  *open = 0;
  REQUIRE(launch(common_kernel("spin"), 1, 1, stream, flag));
  expect_code("behind a kernel", cuStreamWriteValue32(stream, words.at(4), 0x12345678, 0),
              CUDA_SUCCESS);
  expect_code("stream is busy", cuStreamQuery(stream), CUDA_ERROR_NOT_READY);
  *open = 1;
  REQUIRE(cuStreamSynchronize(stream));
  expect("value", read<uint32_t>(words.at(4)), 0x12345678u);
  expect("word before", read<uint32_t>(words), 0u);
  expect("word after", read<uint32_t>(words.at(8)), 0u);
}

CONFORM(cuStreamWriteValue32, pinned_host_memory) {
  void* memory = nullptr;
  REQUIRE(cuMemHostAlloc(&memory, 64, CU_MEMHOSTALLOC_DEVICEMAP));
  auto* word = static_cast<volatile uint32_t*>(memory);
  word[0] = 1;
  word[1] = 1;
  auto address = reinterpret_cast<CUdeviceptr>(memory);
  expect_code("default stream", cuStreamWriteValue32(nullptr, address, 77, 0), CUDA_SUCCESS);
  REQUIRE(cuStreamSynchronize(nullptr));
  expect("value", uint32_t{word[0]}, 77u);
  expect("neighbour", uint32_t{word[1]}, 1u);
}

CONFORM(cuStreamWriteValue32, wrong_arguments) {
  Buffer words(16);
  expect_code("null", cuStreamWriteValue32(nullptr, 0, 1, 0), CUDA_ERROR_INVALID_VALUE);
  expect_code("misaligned", cuStreamWriteValue32(nullptr, words.at(2), 1, 0),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("unknown flag", cuStreamWriteValue32(nullptr, words, 1, 0x100),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no memory barrier", cuStreamWriteValue32(nullptr, words, 1, 1),
              CUDA_ERROR_INVALID_VALUE);
  uint32_t local = 0;
  expect_code("pageable memory",
              cuStreamWriteValue32(nullptr, reinterpret_cast<CUdeviceptr>(&local), 1, 0),
              CUDA_ERROR_INVALID_VALUE);
  CUdeviceptr managed = 0;
  REQUIRE(cuMemAllocManaged(&managed, 16, CU_MEM_ATTACH_GLOBAL));
  expect_code("managed memory", cuStreamWriteValue32(nullptr, managed, 1, 0),
              CUDA_ERROR_INVALID_VALUE);
  CUstream gone = nullptr;
  REQUIRE(cuStreamCreate(&gone, CU_STREAM_NON_BLOCKING));
  REQUIRE(cuStreamDestroy(gone));
  expect_code("destroyed stream", cuStreamWriteValue32(gone, words, 1, 0),
              CUDA_ERROR_INVALID_HANDLE);
}

CONFORM_WITH(cuStreamWriteValue32, needs_a_context, initialised) {
  expect_code("no context", cuStreamWriteValue32(nullptr, 16, 1, 0), CUDA_ERROR_INVALID_CONTEXT);
}

}  // namespace limen::conform
