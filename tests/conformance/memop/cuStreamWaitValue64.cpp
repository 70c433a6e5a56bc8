#include <thread>

#include "conformance/conform.h"

namespace limen::conform {
namespace {

void try_condition(const char* name, unsigned flags, uint64_t value, uint64_t first,
                   uint64_t second) {
  CUstream stream = nullptr;
  REQUIRE(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  void* memory = nullptr;
  REQUIRE(cuMemHostAlloc(&memory, 64, CU_MEMHOSTALLOC_DEVICEMAP));
  auto* word = static_cast<volatile uint64_t*>(memory);
  *word = first;
  std::string label = name;
  expect_code(label,
              cuStreamWaitValue64(stream, reinterpret_cast<CUdeviceptr>(memory), value, flags),
              CUDA_SUCCESS);
  std::this_thread::sleep_for(std::chrono::milliseconds(10));
  expect_code(label + ": held", cuStreamQuery(stream), CUDA_ERROR_NOT_READY);
  *word = second;
  expect_code(label + ": goes on", cuStreamSynchronize(stream), CUDA_SUCCESS);
}

}  // namespace

CONFORM(cuStreamWaitValue64, conditions_look_at_all_bits) {
  try_condition("equal", CU_STREAM_WAIT_VALUE_EQ, uint64_t{1} << 40, 0, uint64_t{1} << 40);
  try_condition("greater or equal", CU_STREAM_WAIT_VALUE_GEQ, (uint64_t{1} << 32) + 1, 9,
                (uint64_t{2} << 32));
  try_condition("and", CU_STREAM_WAIT_VALUE_AND, uint64_t{1} << 63, 1, uint64_t{1} << 63);
  try_condition("nor", CU_STREAM_WAIT_VALUE_NOR, ~uint64_t{0} >> 1, uint64_t{1} << 63, 0);
}

CONFORM(cuStreamWaitValue64, wrong_arguments) {
  Buffer words(16);
  expect_code("null", cuStreamWaitValue64(nullptr, 0, 1, 0), CUDA_ERROR_INVALID_VALUE);
  expect_code("aligned to four bytes only", cuStreamWaitValue64(nullptr, words.at(4), 0, 0),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("unknown condition", cuStreamWaitValue64(nullptr, words, 1, 7),
              CUDA_ERROR_INVALID_VALUE);
}

CONFORM_WITH(cuStreamWaitValue64, needs_a_context, initialised) {
  expect_code("no context", cuStreamWaitValue64(nullptr, 16, 1, 0), CUDA_ERROR_INVALID_CONTEXT);
}

}  // namespace limen::conform
