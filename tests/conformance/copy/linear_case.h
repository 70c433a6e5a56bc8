// What every copy of a run of bytes must do; the cases say between what and by which call. Thread
// rule: as conform.h.
#pragma once
#include <vector>

#include "conformance/conform.h"

namespace limen::conform {

constexpr size_t run_bytes = 3 << 20;

inline CUstream copy_stream() {
  CUstream stream = nullptr;
  REQUIRE(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  return stream;
}

inline uint32_t pattern(size_t index) { return static_cast<uint32_t>(index) * 2654435761u; }

inline std::vector<uint32_t> pattern_words(size_t bytes = run_bytes) {
  std::vector<uint32_t> words(bytes / 4);
  for (size_t i = 0; i < words.size(); ++i) words[i] = pattern(i);
  return words;
}

inline CUdeviceptr address_of(const void* pointer) {
  return reinterpret_cast<CUdeviceptr>(pointer);
}

/// Device memory that holds the pattern.
inline CUdeviceptr pattern_on_device() {
  CUdeviceptr address = 0;
  REQUIRE(cuMemAlloc(&address, run_bytes));
  const auto words = pattern_words();
  REQUIRE(cuMemcpyHtoD(address, words.data(), run_bytes));
  return address;
}

/// Copies all but the edges to `to`: whether exactly that arrived.
inline void check_run(const std::vector<uint32_t>& got) {
  constexpr size_t words = run_bytes / 4;
  size_t wrong = 0;
  for (size_t i = 1; i + 1 < words; ++i) wrong += got[i] != pattern(i);
  expect("words that are wrong", wrong, size_t{0});
  expect("the word before", got[0], 0xeeeeeeeeu);
  expect("the word behind", got[words - 1], 0xeeeeeeeeu);
}

/// call(dst, src, bytes) from device to device.
template <typename Call>
void device_to_device(const Call& call) {
  const CUdeviceptr from = pattern_on_device();
  Buffer to(run_bytes);
  REQUIRE(cuMemsetD8(to, 0xee, run_bytes));
  expect_code("copies", call(to.at(4), from + 4, run_bytes - 8), CUDA_SUCCESS);
  REQUIRE(cuCtxSynchronize(nullptr));
  std::vector<uint32_t> got(run_bytes / 4);
  REQUIRE(cuMemcpyDtoH(got.data(), to, run_bytes));
  check_run(got);
}

/// call(dst, src, bytes) from host memory, pageable or pinned.
template <typename Call>
void host_to_device(const Call& call, bool pinned) {
  auto words = pattern_words();
  const void* from = words.data();
  if (pinned) {
    void* host = nullptr;
    REQUIRE(cuMemAllocHost(&host, run_bytes));
    std::memcpy(host, words.data(), run_bytes);
    from = host;
  }
  Buffer to(run_bytes);
  REQUIRE(cuMemsetD8(to, 0xee, run_bytes));
  REQUIRE(cuCtxSynchronize(nullptr));
  const char* start = static_cast<const char*>(from) + 4;
  expect_code("copies", call(to.at(4), start, run_bytes - 8), CUDA_SUCCESS);
  REQUIRE(cuCtxSynchronize(nullptr));
  std::vector<uint32_t> got(run_bytes / 4);
  REQUIRE(cuMemcpyDtoH(got.data(), to, run_bytes));
  check_run(got);
}

/// call(dst, src, bytes) to host memory, pageable or pinned.
template <typename Call>
void device_to_host(const Call& call, bool pinned) {
  const CUdeviceptr from = pattern_on_device();
  std::vector<uint32_t> got(run_bytes / 4, 0xeeeeeeeeu);
  uint32_t* to = got.data();
  if (pinned) {
    void* host = nullptr;
    REQUIRE(cuMemAllocHost(&host, run_bytes));
    std::memset(host, 0xee, run_bytes);
    to = static_cast<uint32_t*>(host);
  }
  expect_code("copies", call(to + 1, from + 4, run_bytes - 8), CUDA_SUCCESS);
  REQUIRE(cuCtxSynchronize(nullptr));
  if (pinned) std::memcpy(got.data(), to, run_bytes);
  check_run(got);
}

/// call(bytes, spoil_dst, spoil_src): which operands are null.
template <typename Call>
void refuses_runs(const Call& call) {
  expect_code("no bytes", call(0, false, false), CUDA_SUCCESS);
  expect_code("no destination", call(16, true, false), CUDA_ERROR_INVALID_VALUE);
  expect_code("no source", call(16, false, true), CUDA_ERROR_INVALID_VALUE);
  expect_code("too long", call(size_t{1} << 40, false, false), CUDA_ERROR_INVALID_VALUE);
}

/// copy(stream) of `from` to `to` (one word): after the kernel before it, before the one behind.
template <typename Call>
void ordered_in_stream(CUdeviceptr from, const volatile uint32_t* to, const Call& copy) {
  CUstream stream = copy_stream();
  void* flag = nullptr;
  REQUIRE(cuMemAllocHost(&flag, 4));
  *static_cast<volatile uint32_t*>(flag) = 0;
  CUfunction spin = common_kernel("spin"), store = common_kernel("store");
  REQUIRE(launch(spin, 1, 1, stream, address_of(flag)));
  REQUIRE(launch(store, 1, 1, stream, from, 71u));
  expect_code("queues", copy(stream), CUDA_SUCCESS);
  expect_code("and does not wait", cuStreamQuery(stream), CUDA_ERROR_NOT_READY);
  REQUIRE(launch(store, 1, 1, stream, from, 72u));
  *static_cast<volatile uint32_t*>(flag) = 1;
  REQUIRE(cuStreamSynchronize(stream));
  expect("what the first kernel stored", uint32_t{*to}, 71u);
}

/// A word of pinned memory that `copy(address, stream)` fills from device memory.
inline volatile uint32_t* pinned_word() {
  void* host = nullptr;
  REQUIRE(cuMemAllocHost(&host, 64));
  std::memset(host, 0, 64);
  return static_cast<volatile uint32_t*>(host);
}

}  // namespace limen::conform
