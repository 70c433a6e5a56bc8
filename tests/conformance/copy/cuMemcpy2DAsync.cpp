#include "conformance/copy/boxes.h"

namespace limen::conform {

using Copy = CUDA_MEMCPY2D;

static CUresult copy_now(const Copy* copy) { return cuMemcpy2DAsync(copy, nullptr); }

CONFORM(cuMemcpy2DAsync, every_kind_of_memory_to_every_kind) {
  copy_between_all_kinds<Copy>(copy_now);
}

CONFORM(cuMemcpy2DAsync, empty_boxes) { copy_empty_boxes<Copy>(copy_now); }

CONFORM(cuMemcpy2DAsync, linear_boxes_that_cannot_be) { copy_wrong_linear_boxes<Copy>(copy_now); }

CONFORM(cuMemcpy2DAsync, array_boxes_that_cannot_be) { copy_wrong_array_boxes<Copy>(copy_now); }

CONFORM(cuMemcpy2DAsync, no_pitch_means_packed_rows) {
  Buffer source(64), target(64);
  write_list<uint32_t>(source, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16});
  REQUIRE(cuMemsetD8(target, 0, 64));
  Copy copy{};
  copy.srcMemoryType = copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.srcDevice = source, copy.dstDevice = target;
  copy.WidthInBytes = 8, copy.Height = 2;
  copy.srcPitch = 16;
  expect_code("pitch of the target 0", copy_now(&copy), CUDA_SUCCESS);
  REQUIRE(cuStreamSynchronize(nullptr));
  expect("words", listed(read_list<uint32_t>(target, 9)), "1 2 5 6 0 0 0 0 0");
}

CONFORM(cuMemcpy2DAsync, large_boxes_of_odd_sizes) {
  constexpr size_t pitch = 2055, rows = 120, slices = 1, all = pitch * rows * slices;
  std::vector<uint8_t> bytes(all), got(all);
  for (size_t i = 0; i < all; ++i) bytes[i] = static_cast<uint8_t>(i * 13 + i / 241);
  Buffer memory(all);
  REQUIRE(cuMemsetD8(memory, 0, all));
  Copy copy{};
  copy.srcMemoryType = CU_MEMORYTYPE_HOST, copy.srcHost = bytes.data();
  copy.dstMemoryType = CU_MEMORYTYPE_DEVICE, copy.dstDevice = memory;
  copy.srcPitch = copy.dstPitch = pitch;
  copy.srcXInBytes = copy.dstXInBytes = 3;
  copy.WidthInBytes = 2049, copy.Height = rows;
  expect_code("copies", copy_now(&copy), CUDA_SUCCESS);
  REQUIRE(cuStreamSynchronize(nullptr));
  REQUIRE(cuMemcpyDtoH(got.data(), memory, all));
  size_t right = 0;
  for (size_t i = 0; i < all; ++i) {
    const bool inside = i % pitch >= 3 && i % pitch < 2052;
    right += got[i] == (inside ? bytes[i] : 0);
  }
  expect("right bytes", right, all);
}

CONFORM(cuMemcpy2DAsync, waits_for_the_stream) {
  Place<Copy> source(Kind::device, 1), target(Kind::pinned, 1000);
  Copy copy{};
  source.as_source(copy);
  target.as_target(copy);
  set_inner_box(copy);
  HeldStream stream;
  expect_code("queued", cuMemcpy2DAsync(&copy, stream), CUDA_SUCCESS);
  expect("not before its turn", target.words()[19], 1019u);
  stream.open();
  expect_true("in its turn", target.words() == inner_box_result<Copy>());
}

CONFORM(cuMemcpy2DAsync, streams_that_are_none) {
  Place<Copy> source(Kind::device, 1), target(Kind::device, 1000);
  Copy copy{};
  source.as_source(copy);
  target.as_target(copy);
  set_inner_box(copy);
  expect_code("destroyed", cuMemcpy2DAsync(&copy, destroyed_stream()), CUDA_ERROR_INVALID_HANDLE);
  expect_code("made up", cuMemcpy2DAsync(&copy, foreign_handle<CUstream>()),
              CUDA_ERROR_INVALID_HANDLE);
}

CONFORM(cuMemcpy2DAsync, no_descriptor) {
  expect_code("null", cuMemcpy2DAsync(nullptr, nullptr), CUDA_ERROR_INVALID_VALUE);
}

CONFORM_WITH(cuMemcpy2DAsync, needs_a_context, initialised) {
  const Copy copy = small_copy<Copy>();
  expect_code("no context", cuMemcpy2DAsync(&copy, nullptr), CUDA_ERROR_INVALID_CONTEXT);
  expect_code("no context, no descriptor", cuMemcpy2DAsync(nullptr, nullptr),
              CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM_WITH(cuMemcpy2DAsync, needs_cuInit, nothing) {
  const Copy copy = small_copy<Copy>();
  expect_code("not initialised", cuMemcpy2DAsync(&copy, nullptr), CUDA_ERROR_NOT_INITIALIZED);
}

CONFORM(cuMemcpy2DAsync, abi_of_32_bit_addresses_has_no_context) {
  auto* old =
      reinterpret_cast<CUresult (*)(const void*, CUstream)>(driver_symbol("cuMemcpy2DAsync"));
  expect_code("old ABI", old(nullptr, nullptr), CUDA_ERROR_INVALID_CONTEXT);
}

}  // namespace limen::conform
