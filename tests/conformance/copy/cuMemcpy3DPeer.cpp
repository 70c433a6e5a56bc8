#include "conformance/copy/boxes.h"

namespace limen::conform {

using Copy = CUDA_MEMCPY3D_PEER;

/// With the current context on both sides.
static CUresult copy_now(Copy* copy) {
  CUcontext context = nullptr;
  REQUIRE(cuCtxGetCurrent(&context));
  copy->srcContext = copy->dstContext = context;
  return cuMemcpy3DPeer(copy);
}

CONFORM(cuMemcpy3DPeer, every_kind_of_memory_to_every_kind) {
  copy_between_all_kinds<Copy>(copy_now);
}

CONFORM(cuMemcpy3DPeer, empty_boxes) { copy_empty_boxes<Copy>(copy_now); }

CONFORM(cuMemcpy3DPeer, linear_boxes_that_cannot_be) { copy_wrong_linear_boxes<Copy>(copy_now); }

CONFORM(cuMemcpy3DPeer, array_boxes_that_cannot_be) { copy_wrong_array_boxes<Copy>(copy_now); }

CONFORM(cuMemcpy3DPeer, no_pitch_means_packed_rows) { copy_packed_rows<Copy>(copy_now); }

CONFORM(cuMemcpy3DPeer, large_boxes_of_odd_sizes) { copy_large_odd_boxes<Copy>(copy_now); }

CONFORM(cuMemcpy3DPeer, layers_and_levels_of_arrays) { copy_layers_and_levels<Copy>(copy_now); }

CONFORM(cuMemcpy3DPeer, contexts) {
  Place<Copy> source(Kind::device, 1), target(Kind::device, 1000);
  Copy copy{};
  source.as_source(copy);
  target.as_target(copy);
  set_inner_box(copy);
  CUcontext context = nullptr;
  REQUIRE(cuCtxGetCurrent(&context));
  copy.srcContext = foreign_handle<CUcontext>(), copy.dstContext = context;
  expect_code("no source context", cuMemcpy3DPeer(&copy), CUDA_ERROR_CONTEXT_IS_DESTROYED);
  copy.srcContext = context, copy.dstContext = foreign_handle<CUcontext>();
  expect_code("no target context", cuMemcpy3DPeer(&copy), CUDA_ERROR_CONTEXT_IS_DESTROYED);
  Place<Copy> array(Kind::array, 1000);
  array.as_target(copy);
  expect_code("an array's context is not looked at", cuMemcpy3DPeer(&copy), CUDA_SUCCESS);
  REQUIRE(cuStreamSynchronize(nullptr));
  expect_true("its words", array.words() == inner_box_result<Copy>());
}

CONFORM_WITH(cuMemcpy3DPeer, needs_a_context, initialised) {
  const Copy copy = small_copy<Copy>();
  expect_code("no context", cuMemcpy3DPeer(&copy), CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM_WITH(cuMemcpy3DPeer, needs_cuInit, nothing) {
  const Copy copy = small_copy<Copy>();
  expect_code("not initialised", cuMemcpy3DPeer(&copy), CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
