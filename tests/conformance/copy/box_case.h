// Boxes of two and three dimensions between rows of device memory, pinned memory and arrays. The
// cases say by which call. Thread rule: as conform.h.
#pragma once
#include <vector>

#include "conformance/conform.h"
#include "conformance/memory/array_case.h"

namespace limen::conform {

constexpr size_t box_bytes = 64 << 10;

inline CUstream box_stream() {
  CUstream stream = nullptr;
  REQUIRE(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  return stream;
}

/// Byte i is i modulo 251.
inline CUdeviceptr numbered_bytes() {
  std::vector<uint8_t> bytes(box_bytes);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<uint8_t>(i % 251);
  CUdeviceptr address = 0;
  REQUIRE(cuMemAlloc(&address, box_bytes));
  REQUIRE(cuMemcpyHtoD(address, bytes.data(), box_bytes));
  return address;
}

inline int numbered(size_t index) { return static_cast<int>(index % 251); }

inline CUDA_MEMCPY2D flat_copy(CUdeviceptr to, size_t to_pitch, CUdeviceptr from, size_t from_pitch,
                               size_t width, size_t height) {
  CUDA_MEMCPY2D copy{};
  copy.srcMemoryType = copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.srcDevice = from, copy.srcPitch = from_pitch;
  copy.dstDevice = to, copy.dstPitch = to_pitch;
  copy.WidthInBytes = width, copy.Height = height;
  return copy;
}

/// call(const CUDA_MEMCPY2D*).
template <typename Call>
void flat_boxes(const Call& call) {
  const CUdeviceptr from = numbered_bytes();
  Buffer to(box_bytes);
  REQUIRE(cuMemsetD8(to, 255, box_bytes));
  CUDA_MEMCPY2D copy = flat_copy(to, 512, from, 256, 30, 5);
  copy.srcXInBytes = 7, copy.srcY = 2, copy.dstXInBytes = 11, copy.dstY = 1;
  expect_code("copies", call(&copy), CUDA_SUCCESS);
  REQUIRE(cuCtxSynchronize(nullptr));
  auto at = [&](size_t x, size_t y) { return int{read<uint8_t>(to.at(y * 512 + x))}; };
  expect("first", at(11, 1), numbered(2 * 256 + 7));
  expect("last", at(11 + 29, 5), numbered(6 * 256 + 7 + 29));
  expect("left of it", at(10, 3), 255);
  expect("right of it", at(11 + 30, 3), 255);
  expect("above it", at(11, 0), 255);
  expect("below it", at(11, 6), 255);
}

template <typename Call>
void flat_boxes_of_arrays(const Call& call) {
  const CUdeviceptr from = numbered_bytes();
  CUarray array = plain_array(16, 8);
  CUDA_MEMCPY2D in = flat_copy(0, 0, from, 256, 16, 3);
  in.dstMemoryType = CU_MEMORYTYPE_ARRAY;
  in.dstArray = array;
  in.dstXInBytes = 8, in.dstY = 2;
  expect_code("into the array", call(&in), CUDA_SUCCESS);
  void* host = nullptr;
  REQUIRE(cuMemAllocHost(&host, 256));
  std::memset(host, 0, 256);
  CUDA_MEMCPY2D out{};
  out.srcMemoryType = CU_MEMORYTYPE_ARRAY;
  out.srcArray = array;
  out.srcXInBytes = 12, out.srcY = 3;
  out.dstMemoryType = CU_MEMORYTYPE_HOST;
  out.dstHost = host;
  out.dstPitch = 16;
  out.WidthInBytes = 8, out.Height = 2;
  expect_code("out of it", call(&out), CUDA_SUCCESS);
  REQUIRE(cuCtxSynchronize(nullptr));
  const auto* bytes = static_cast<const uint8_t*>(host);
  expect("its first row", int{bytes[0]}, numbered(256 + 4));
  expect("its second row", int{bytes[16 + 7]}, numbered(512 + 11));
  expect("not between rows", int{bytes[8]}, 0);
}

template <typename Call>
void refuses_flat_boxes(const Call& call) {
  const CUdeviceptr from = numbered_bytes();
  Buffer to(4096);
  const auto bad = CUDA_ERROR_INVALID_VALUE;
  expect_code("nothing", call(nullptr), bad);
  CUDA_MEMCPY2D copy = flat_copy(to, 64, from, 64, 0, 4);
  expect_code("no width", call(&copy), CUDA_SUCCESS);
  copy = flat_copy(to, 16, from, 64, 32, 4);
  expect_code("pitch below the width", call(&copy), bad);
  copy = flat_copy(0, 64, from, 64, 32, 4);
  expect_code("no destination", call(&copy), bad);
  copy = flat_copy(to, 64, from, 64, 32, size_t{1} << 30);
  expect_code("too many rows", call(&copy), bad);
  copy = flat_copy(to, 64, from, 64, 32, 4);
  copy.srcMemoryType = static_cast<CUmemorytype>(9);
  expect_code("no such memory", call(&copy), bad);
}

template <typename Copy>
Copy deep_copy(CUdeviceptr to, size_t to_pitch, size_t to_height, CUdeviceptr from,
               size_t from_pitch, size_t from_height) {
  Copy copy{};
  copy.srcMemoryType = copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.srcDevice = from, copy.srcPitch = from_pitch, copy.srcHeight = from_height;
  copy.dstDevice = to, copy.dstPitch = to_pitch, copy.dstHeight = to_height;
  copy.WidthInBytes = 12, copy.Height = 3, copy.Depth = 4;
  return copy;
}

/// call(const Copy*), Copy being CUDA_MEMCPY3D or CUDA_MEMCPY3D_PEER.
template <typename Copy, typename Call>
void deep_boxes(const Call& call) {
  const CUdeviceptr from = numbered_bytes();
  Buffer to(box_bytes);
  REQUIRE(cuMemsetD8(to, 255, box_bytes));
  Copy copy = deep_copy<Copy>(to, 64, 8, from, 32, 6);
  copy.srcXInBytes = 3, copy.srcY = 1, copy.srcZ = 2;
  copy.dstXInBytes = 5, copy.dstY = 2, copy.dstZ = 1;
  expect_code("copies", call(&copy), CUDA_SUCCESS);
  REQUIRE(cuCtxSynchronize(nullptr));
  auto at = [&](size_t x, size_t y, size_t z) {
    return int{read<uint8_t>(to.at((z * 8 + y) * 64 + x))};
  };
  auto source = [](size_t x, size_t y, size_t z) { return numbered((z * 6 + y) * 32 + x); };
  expect("first", at(5, 2, 1), source(3, 1, 2));
  expect("last", at(16, 4, 4), source(14, 3, 5));
  expect("inside", at(9, 3, 2), source(7, 2, 3));
  expect("beside it", at(17, 3, 2), 255);
  expect("above it", at(9, 1, 2), 255);
  expect("before it", at(9, 3, 0), 255);
  expect("behind it", at(9, 3, 5), 255);
}

template <typename Copy, typename Call>
void refuses_deep_boxes(const Call& call) {
  const CUdeviceptr from = numbered_bytes();
  Buffer to(box_bytes);
  const auto bad = CUDA_ERROR_INVALID_VALUE;
  Copy copy = deep_copy<Copy>(to, 64, 8, from, 32, 6);
  copy.Depth = 0;
  expect_code("no depth", call(&copy), CUDA_SUCCESS);
  copy = deep_copy<Copy>(to, 8, 8, from, 32, 6);
  expect_code("pitch below the width", call(&copy), bad);
  copy = deep_copy<Copy>(to, 64, 2, from, 32, 6);
  expect_code("slices overlap", call(&copy), bad);
  copy = deep_copy<Copy>(to, 64, 8, 0, 32, 6);
  expect_code("no source", call(&copy), bad);
  copy = deep_copy<Copy>(to, 64, 8, from, 32, 6);
  copy.Depth = size_t{1} << 30;
  expect_code("too deep", call(&copy), bad);
}

/// call(&copy, stream): in order with kernels of the stream.
template <typename Copy, typename Call>
void boxes_in_stream_order(Copy copy, CUdeviceptr from, CUdeviceptr to, const Call& call) {
  CUstream stream = box_stream();
  CUfunction store = common_kernel("store");
  REQUIRE(launch(store, 1, 1, stream, from, 81u));
  expect_code("queues", call(&copy, stream), CUDA_SUCCESS);
  REQUIRE(launch(store, 1, 1, stream, from, 82u));
  REQUIRE(cuStreamSynchronize(stream));
  expect("what the first kernel stored", read<uint32_t>(to), 81u);
}

}  // namespace limen::conform
