#include "conformance/copy/boxes.h"

namespace limen::conform {

using Copy = CUDA_MEMCPY3D;

static CUresult copy_now(const Copy* copy) { return cuMemcpy3DAsync(copy, nullptr); }

CONFORM(cuMemcpy3DAsync, every_kind_of_memory_to_every_kind) {
  copy_between_all_kinds<Copy>(copy_now);
}

CONFORM(cuMemcpy3DAsync, empty_boxes) { copy_empty_boxes<Copy>(copy_now); }

CONFORM(cuMemcpy3DAsync, linear_boxes_that_cannot_be) { copy_wrong_linear_boxes<Copy>(copy_now); }

CONFORM(cuMemcpy3DAsync, array_boxes_that_cannot_be) { copy_wrong_array_boxes<Copy>(copy_now); }

CONFORM(cuMemcpy3DAsync, no_pitch_means_packed_rows) { copy_packed_rows<Copy>(copy_now); }

CONFORM(cuMemcpy3DAsync, large_boxes_of_odd_sizes) { copy_large_odd_boxes<Copy>(copy_now); }

CONFORM(cuMemcpy3DAsync, layers_and_levels_of_arrays) { copy_layers_and_levels<Copy>(copy_now); }

CONFORM(cuMemcpy3DAsync, waits_for_the_stream) {
  Place<Copy> source(Kind::device, 1), target(Kind::pinned, 1000);
  Copy copy{};
  source.as_source(copy);
  target.as_target(copy);
  set_inner_box(copy);
  HeldStream stream;
  expect_code("queued", cuMemcpy3DAsync(&copy, stream), CUDA_SUCCESS);
  expect("not before its turn", target.words()[19], 1019u);
  stream.open();
  expect_true("in its turn", target.words() == inner_box_result<Copy>());
}

CONFORM(cuMemcpy3DAsync, streams_that_are_none) {
  Place<Copy> source(Kind::device, 1), target(Kind::device, 1000);
  Copy copy{};
  source.as_source(copy);
  target.as_target(copy);
  set_inner_box(copy);
  expect_code("destroyed", cuMemcpy3DAsync(&copy, destroyed_stream()), CUDA_ERROR_INVALID_HANDLE);
  expect_code("made up", cuMemcpy3DAsync(&copy, foreign_handle<CUstream>()),
              CUDA_ERROR_INVALID_HANDLE);
}

CONFORM(cuMemcpy3DAsync, no_descriptor) {
  expect_code("null", cuMemcpy3DAsync(nullptr, nullptr), CUDA_ERROR_INVALID_VALUE);
}

CONFORM_WITH(cuMemcpy3DAsync, needs_a_context, initialised) {
  const Copy copy = small_copy<Copy>();
  expect_code("no context", cuMemcpy3DAsync(&copy, nullptr), CUDA_ERROR_INVALID_CONTEXT);
  expect_code("no context, no descriptor", cuMemcpy3DAsync(nullptr, nullptr),
              CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM_WITH(cuMemcpy3DAsync, needs_cuInit, nothing) {
  const Copy copy = small_copy<Copy>();
  expect_code("not initialised", cuMemcpy3DAsync(&copy, nullptr), CUDA_ERROR_NOT_INITIALIZED);
}

CONFORM(cuMemcpy3DAsync, abi_of_32_bit_addresses_has_no_context) {
  auto* old =
      reinterpret_cast<CUresult (*)(const void*, CUstream)>(driver_symbol("cuMemcpy3DAsync"));
  expect_code("old ABI", old(nullptr, nullptr), CUDA_ERROR_INVALID_CONTEXT);
}

}  // namespace limen::conform
