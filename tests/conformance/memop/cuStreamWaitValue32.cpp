#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <ctime>
#include <thread>

#include "conformance/conform.h"

namespace limen::conform {
namespace {

struct Word {
  Word() {
    REQUIRE(cuMemHostAlloc(&memory, 64, CU_MEMHOSTALLOC_DEVICEMAP));
    std::memset(memory, 0, 64);
  }
  void set(uint32_t value) { *static_cast<volatile uint32_t*>(memory) = value; }
  CUdeviceptr at() const { return reinterpret_cast<CUdeviceptr>(memory); }
  void* memory = nullptr;
};

/// Waits with `flags`, then says whether the stream is still held with `first` in memory and goes
/// on with `second`.
void try_condition(const char* name, unsigned flags, uint32_t value, uint32_t first,
                   uint32_t second) {
  CUstream stream = nullptr;
  REQUIRE(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  Word word;
  word.set(first);
  std::string label = name;
  expect_code(label, cuStreamWaitValue32(stream, word.at(), value, flags), CUDA_SUCCESS);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  expect_code(label + ": held", cuStreamQuery(stream), CUDA_ERROR_NOT_READY);
  word.set(second);
  expect_code(label + ": goes on", cuStreamSynchronize(stream), CUDA_SUCCESS);
}

}  // namespace

CONFORM(cuStreamWaitValue32, conditions) {
  try_condition("equal", CU_STREAM_WAIT_VALUE_EQ, 5, 6, 5);
  try_condition("greater or equal", CU_STREAM_WAIT_VALUE_GEQ, 5, 4, 7);
  try_condition("greater or equal, cyclic", CU_STREAM_WAIT_VALUE_GEQ, 0xfffffffe, 0xfffffff0, 3);
  try_condition("and", CU_STREAM_WAIT_VALUE_AND, 6, 9, 12);
  try_condition("nor", CU_STREAM_WAIT_VALUE_NOR, 0xfffffff0, 0xf, 0xe);
}

CONFORM(cuStreamWaitValue32, satisfied_at_once) {
  Word word;
  word.set(5);
  expect_code("equal", cuStreamWaitValue32(nullptr, word.at(), 5, CU_STREAM_WAIT_VALUE_EQ),
              CUDA_SUCCESS);
  expect_code("greater", cuStreamWaitValue32(nullptr, word.at(), 4, 0), CUDA_SUCCESS);
  expect_code("synchronise", cuStreamSynchronize(nullptr), CUDA_SUCCESS);
}

CONFORM(cuStreamWaitValue32, holds_what_follows_only) {
  CUstream held = nullptr, free = nullptr;
  REQUIRE(cuStreamCreate(&held, CU_STREAM_NON_BLOCKING));
  REQUIRE(cuStreamCreate(&free, CU_STREAM_NON_BLOCKING));
  Word word;
  Buffer result(8);
  write<uint64_t>(result, 0);
  CUfunction store = common_kernel("store");
  expect_code("wait", cuStreamWaitValue32(held, word.at(), 1, CU_STREAM_WAIT_VALUE_EQ),
              CUDA_SUCCESS);
  REQUIRE(launch(store, 1, 1, held, result.at(), 7u));
  REQUIRE(launch(store, 1, 1, free, result.at(4), 8u));
  expect_code("another stream goes on", cuStreamSynchronize(free), CUDA_SUCCESS);
  uint32_t seen[2];
  REQUIRE(cuMemcpyDtoHAsync(seen, result, 8, free));
  REQUIRE(cuStreamSynchronize(free));
  expect("its kernel ran", seen[1], 8u);
  expect("the held one did not", seen[0], 0u);
  word.set(1);
  REQUIRE(cuStreamSynchronize(held));
  expect("it does after", read<uint32_t>(result), 7u);
}

CONFORM(cuStreamWaitValue32, released_by_another_stream) {
  CUstream one = nullptr, two = nullptr;
  REQUIRE(cuStreamCreate(&one, CU_STREAM_NON_BLOCKING));
  REQUIRE(cuStreamCreate(&two, CU_STREAM_NON_BLOCKING));
  Buffer words(8);
  write<uint64_t>(words, 0);
  expect_code("ping", cuStreamWaitValue32(one, words, 1, CU_STREAM_WAIT_VALUE_EQ), CUDA_SUCCESS);
  REQUIRE(cuStreamWriteValue32(one, words.at(4), 2, 0));
  expect_code("pong", cuStreamWaitValue32(two, words.at(4), 2, CU_STREAM_WAIT_VALUE_EQ),
              CUDA_SUCCESS);
  REQUIRE(cuStreamWriteValue32(nullptr, words, 1, 0));
  expect_code("first", cuStreamSynchronize(one), CUDA_SUCCESS);
  expect_code("second", cuStreamSynchronize(two), CUDA_SUCCESS);
  expect("last write", read<uint32_t>(words.at(4)), 2u);
}

CONFORM(cuStreamWaitValue32, released_by_a_kernel) {
  CUstream one = nullptr, two = nullptr;
  REQUIRE(cuStreamCreate(&one, CU_STREAM_NON_BLOCKING));
  REQUIRE(cuStreamCreate(&two, CU_STREAM_NON_BLOCKING));
  Buffer word(4);
  write<uint32_t>(word, 0);
  CUfunction store = common_kernel("store");
  expect_code("wait", cuStreamWaitValue32(one, word, 3, CU_STREAM_WAIT_VALUE_EQ), CUDA_SUCCESS);
  expect_code("held", cuStreamQuery(one), CUDA_ERROR_NOT_READY);
  REQUIRE(launch(store, 1, 1, two, word.at(), 3u));
  expect_code("goes on", cuStreamSynchronize(one), CUDA_SUCCESS);
}

CONFORM(cuStreamWaitValue32, registered_memory) {
  alignas(4096) static uint32_t words[1024];
  REQUIRE(cuMemHostRegister(words, sizeof words, CU_MEMHOSTREGISTER_DEVICEMAP));
  CUdeviceptr address = 0;
  REQUIRE(cuMemHostGetDevicePointer(&address, words, 0));
  CUstream stream = nullptr;
  REQUIRE(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  expect_code("wait", cuStreamWaitValue32(stream, address + 8, 4, CU_STREAM_WAIT_VALUE_EQ),
              CUDA_SUCCESS);
  expect_code("held", cuStreamQuery(stream), CUDA_ERROR_NOT_READY);
  const_cast<volatile uint32_t*>(words)[2] = 4;
  expect_code("goes on", cuStreamSynchronize(stream), CUDA_SUCCESS);
}

// No more waits than leave a GPU's queues (8 unless told otherwise) to others: a wait holds its
// queue.
CONFORM(cuStreamWaitValue32, waits_take_no_thread) {
  Word word;
  Buffer sum(4);
  write<uint32_t>(sum, 0);
  CUfunction add = common_kernel("add");
  CUstream waiting[3] = {}, free = nullptr;
  REQUIRE(cuStreamCreate(&free, CU_STREAM_NON_BLOCKING));
  for (CUstream& stream : waiting) REQUIRE(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  for (CUstream stream : waiting)
    REQUIRE(cuStreamWaitValue32(stream, word.at(), 1, CU_STREAM_WAIT_VALUE_EQ));
  // Other work runs meanwhile, and the waiting itself costs next to nothing.
  REQUIRE(launch(add, 64, 64, free, sum.at(), 1u));
  expect_code("a kernel runs", cuStreamSynchronize(free), CUDA_SUCCESS);
  const clock_t before = clock();
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  const double seconds = double(clock() - before) / CLOCKS_PER_SEC;
  expect_true("less than half a core", seconds < 0.25);
  expect_code("they wait", cuStreamQuery(waiting[2]), CUDA_ERROR_NOT_READY);
  word.set(1);
  expect_code("all go on", cuCtxSynchronize(nullptr), CUDA_SUCCESS);
  expect_code("the last is idle", cuStreamQuery(waiting[2]), CUDA_SUCCESS);
  expect("sum", read<uint32_t>(sum), 4096u);
}

CONFORM(cuStreamWaitValue32, wrong_arguments) {
  Buffer words(16);
  expect_code("null", cuStreamWaitValue32(nullptr, 0, 1, 0), CUDA_ERROR_INVALID_VALUE);
  expect_code("misaligned", cuStreamWaitValue32(nullptr, words.at(1), 1, 0),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("unknown condition", cuStreamWaitValue32(nullptr, words, 1, 4),
              CUDA_ERROR_INVALID_VALUE);
  int flush = -1;
  REQUIRE(cuDeviceGetAttribute(&flush, CU_DEVICE_ATTRIBUTE_CAN_FLUSH_REMOTE_WRITES, 0));
  expect("no flush", flush, 0);
  expect_code("flush", cuStreamWaitValue32(nullptr, words, 0, CU_STREAM_WAIT_VALUE_FLUSH),
              CUDA_ERROR_NOT_SUPPORTED);
  expect_code("foreign stream", cuStreamWaitValue32(foreign_handle<CUstream>(), words, 1, 0),
              CUDA_ERROR_INVALID_HANDLE);
}

CONFORM_WITH(cuStreamWaitValue32, needs_a_context, initialised) {
  expect_code("no context", cuStreamWaitValue32(nullptr, 16, 1, 0), CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM(cuStreamWaitValue32, released_by_another_process) {
  void* shared = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  REQUIRE(cuMemHostRegister(shared, 4096, CU_MEMHOSTREGISTER_DEVICEMAP));
  CUdeviceptr address = 0;
  REQUIRE(cuMemHostGetDevicePointer(&address, shared, 0));
  CUstream stream = nullptr;
  REQUIRE(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  expect_code("wait", cuStreamWaitValue32(stream, address, 3, CU_STREAM_WAIT_VALUE_EQ),
              CUDA_SUCCESS);
  pid_t child = fork();
  if (child == 0) {
    usleep(20000);
    *static_cast<volatile uint32_t*>(shared) = 3;
    _exit(0);
  }
  expect_code("held", cuStreamQuery(stream), CUDA_ERROR_NOT_READY);
  expect_code("goes on", cuStreamSynchronize(stream), CUDA_SUCCESS);
  waitpid(child, nullptr, 0);
}

}  // namespace limen::conform
