#include "conformance/copy/boxes.h"

namespace limen::conform {

using Copy = CUDA_MEMCPY3D;

static CUresult copy_now(const Copy* copy) { return cuMemcpy3D(copy); }

CONFORM(cuMemcpy3D, every_kind_of_memory_to_every_kind) { copy_between_all_kinds<Copy>(copy_now); }

CONFORM(cuMemcpy3D, empty_boxes) { copy_empty_boxes<Copy>(copy_now); }

CONFORM(cuMemcpy3D, linear_boxes_that_cannot_be) { copy_wrong_linear_boxes<Copy>(copy_now); }

CONFORM(cuMemcpy3D, array_boxes_that_cannot_be) { copy_wrong_array_boxes<Copy>(copy_now); }

CONFORM(cuMemcpy3D, no_pitch_means_packed_rows) { copy_packed_rows<Copy>(copy_now); }

CONFORM(cuMemcpy3D, large_boxes_of_odd_sizes) { copy_large_odd_boxes<Copy>(copy_now); }

CONFORM(cuMemcpy3D, layers_and_levels_of_arrays) { copy_layers_and_levels<Copy>(copy_now); }

CONFORM(cuMemcpy3D, no_descriptor) {
  expect_code("null", cuMemcpy3D(nullptr), CUDA_ERROR_INVALID_VALUE);
}

CONFORM_WITH(cuMemcpy3D, needs_a_context, initialised) {
  const Copy copy = small_copy<Copy>();
  expect_code("no context", cuMemcpy3D(&copy), CUDA_ERROR_INVALID_CONTEXT);
  expect_code("no context, no descriptor", cuMemcpy3D(nullptr), CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM_WITH(cuMemcpy3D, needs_cuInit, nothing) {
  const Copy copy = small_copy<Copy>();
  expect_code("not initialised", cuMemcpy3D(&copy), CUDA_ERROR_NOT_INITIALIZED);
}

CONFORM(cuMemcpy3D, abi_of_32_bit_addresses_has_no_context) {
  auto* old = reinterpret_cast<CUresult (*)(const void*)>(driver_symbol("cuMemcpy3D"));
  expect_code("old ABI", old(nullptr), CUDA_ERROR_INVALID_CONTEXT);
}

}  // namespace limen::conform
