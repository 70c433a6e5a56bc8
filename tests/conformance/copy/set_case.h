// What every fill must do, for any element and for rows. The cases say which call. Thread rule: as
// conform.h.
#pragma once
#include "conformance/conform.h"

namespace limen::conform {

constexpr size_t set_bytes = 64 << 10;

inline CUstream set_stream() {
  CUstream stream = nullptr;
  REQUIRE(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  return stream;
}

inline void settle() { REQUIRE(cuCtxSynchronize(nullptr)); }

/// A run of elements: all of them, and nothing beside them.
template <typename T, typename Call>
void fills_a_run(const Call& call) {
  Buffer buffer(set_bytes);
  const T old = static_cast<T>(0x11111111u), value = static_cast<T>(0xa1b2c3d4u);
  for (size_t at : {size_t{0}, 16 * sizeof(T), 5000 * sizeof(T), 5016 * sizeof(T)})
    write<T>(buffer.at(at), old);
  expect_code("fills", call(buffer.at(16 * sizeof(T)), value, 5000), CUDA_SUCCESS);
  settle();
  expect("the first", read<T>(buffer.at(16 * sizeof(T))), value);
  expect("the middle", read<T>(buffer.at(2345 * sizeof(T))), value);
  expect("the last", read<T>(buffer.at(5015 * sizeof(T))), value);
  expect("before", read<T>(buffer.at(0)), old);
  expect("behind", read<T>(buffer.at(5016 * sizeof(T))), old);
}

template <typename T, typename Call>
void refuses_a_run(const Call& call) {
  Buffer buffer(set_bytes);
  const auto bad = CUDA_ERROR_INVALID_VALUE;
  expect_code("no elements", call(buffer.at(), T{1}, 0), CUDA_SUCCESS);
  expect_code("no address", call(0, T{1}, 4), bad);
  expect_code("too many", call(buffer.at(), T{1}, (size_t{1} << 40) / sizeof(T)), bad);
  if (sizeof(T) > 1) expect_code("between elements", call(buffer.at(1), T{1}, 4), bad);
}

/// Rows with a pitch: each row, and nothing between rows.
template <typename T, typename Call>
void fills_rows(const Call& call) {
  Buffer buffer(set_bytes);
  REQUIRE(cuMemsetD8(buffer, 0x22, set_bytes));
  settle();
  const T old = static_cast<T>(0x22222222u), value = static_cast<T>(0x9182a3b4u);
  constexpr size_t pitch = 512, width = 10, height = 7;
  expect_code("fills", call(buffer.at(pitch), pitch, value, width, height), CUDA_SUCCESS);
  settle();
  expect("first row", read<T>(buffer.at(pitch)), value);
  expect("end of a row", read<T>(buffer.at(3 * pitch + (width - 1) * sizeof(T))), value);
  expect("last row", read<T>(buffer.at(height * pitch + (width - 1) * sizeof(T))), value);
  expect("behind a row", read<T>(buffer.at(3 * pitch + width * sizeof(T))), old);
  expect("before the first row", read<T>(buffer.at(0)), old);
  expect("behind the last row", read<T>(buffer.at((height + 1) * pitch)), old);
}

template <typename T, typename Call>
void refuses_rows(const Call& call) {
  Buffer buffer(set_bytes);
  const auto bad = CUDA_ERROR_INVALID_VALUE;
  expect_code("no width", call(buffer.at(), 512, T{1}, 0, 4), CUDA_SUCCESS);
  expect_code("no height", call(buffer.at(), 512, T{1}, 4, 0), CUDA_SUCCESS);
  expect_code("no address", call(0, 512, T{1}, 4, 4), bad);
  expect_code("rows overlap", call(buffer.at(), 8, T{1}, 16, 4), bad);
  expect_code("too many rows", call(buffer.at(), 512, T{1}, 4, size_t{1} << 31), bad);
}

/// After what is in the stream already, and before what follows.
template <typename T, typename Call>
void keeps_to_the_stream(const Call& call) {
  CUstream stream = set_stream();
  Buffer buffer(4096);
  CUfunction store = common_kernel("store");
  REQUIRE(launch(store, 1, 1, stream, buffer.at(0), 0x77777777u));
  REQUIRE(launch(store, 1, 1, stream, buffer.at(64), 0x77777777u));
  expect_code("fills", call(buffer.at(), static_cast<T>(0x01020304u), stream), CUDA_SUCCESS);
  REQUIRE(launch(store, 1, 1, stream, buffer.at(128), 0x66666666u));
  REQUIRE(cuStreamSynchronize(stream));
  expect("over the kernel before it", read<T>(buffer.at(64)), static_cast<T>(0x01020304u));
  expect("under the kernel behind it", read<uint32_t>(buffer.at(128)), 0x66666666u);
}

}  // namespace limen::conform
