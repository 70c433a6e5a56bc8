#include "conformance/copy/boxes.h"

namespace limen::conform {

using Copy = CUDA_MEMCPY3D_PEER;

/// With the current context on both sides.
static CUresult copy_now(Copy* copy) {
  CUcontext context = nullptr;
  REQUIRE(cuCtxGetCurrent(&context));
  copy->srcContext = copy->dstContext = context;
  return cuMemcpy3DPeerAsync(copy, nullptr);
}

CONFORM(cuMemcpy3DPeerAsync, every_kind_of_memory_to_every_kind) {
  copy_between_all_kinds<Copy>(copy_now);
}

CONFORM(cuMemcpy3DPeerAsync, empty_boxes) { copy_empty_boxes<Copy>(copy_now); }

CONFORM(cuMemcpy3DPeerAsync, linear_boxes_that_cannot_be) {
  copy_wrong_linear_boxes<Copy>(copy_now);
}

CONFORM(cuMemcpy3DPeerAsync, array_boxes_that_cannot_be) { copy_wrong_array_boxes<Copy>(copy_now); }

CONFORM(cuMemcpy3DPeerAsync, no_pitch_means_packed_rows) { copy_packed_rows<Copy>(copy_now); }

CONFORM(cuMemcpy3DPeerAsync, large_boxes_of_odd_sizes) { copy_large_odd_boxes<Copy>(copy_now); }

CONFORM(cuMemcpy3DPeerAsync, layers_and_levels_of_arrays) {
  copy_layers_and_levels<Copy>(copy_now);
}

CONFORM(cuMemcpy3DPeerAsync, waits_for_the_stream) {
  Place<Copy> source(Kind::device, 1), target(Kind::pinned, 1000);
  Copy copy{};
  source.as_source(copy);
  target.as_target(copy);
  set_inner_box(copy);
  REQUIRE(cuCtxGetCurrent(&copy.srcContext));
  copy.dstContext = copy.srcContext;
  HeldStream stream;
  expect_code("queued", cuMemcpy3DPeerAsync(&copy, stream), CUDA_SUCCESS);
  expect("not before its turn", target.words()[19], 1019u);
  stream.open();
  expect_true("in its turn", target.words() == inner_box_result<Copy>());
}

CONFORM(cuMemcpy3DPeerAsync, streams_that_are_none) {
  Place<Copy> source(Kind::device, 1), target(Kind::device, 1000);
  Copy copy{};
  source.as_source(copy);
  target.as_target(copy);
  set_inner_box(copy);
  REQUIRE(cuCtxGetCurrent(&copy.srcContext));
  copy.dstContext = copy.srcContext;
  expect_code("destroyed", cuMemcpy3DPeerAsync(&copy, destroyed_stream()),
              CUDA_ERROR_INVALID_HANDLE);
  expect_code("made up", cuMemcpy3DPeerAsync(&copy, foreign_handle<CUstream>()),
              CUDA_ERROR_INVALID_HANDLE);
}

CONFORM(cuMemcpy3DPeerAsync, contexts) {
  Place<Copy> source(Kind::device, 1), target(Kind::device, 1000);
  Copy copy{};
  source.as_source(copy);
  target.as_target(copy);
  set_inner_box(copy);
  CUcontext context = nullptr;
  REQUIRE(cuCtxGetCurrent(&context));
  copy.srcContext = foreign_handle<CUcontext>(), copy.dstContext = context;
  expect_code("no source context", cuMemcpy3DPeerAsync(&copy, nullptr),
              CUDA_ERROR_CONTEXT_IS_DESTROYED);
  copy.srcContext = context, copy.dstContext = foreign_handle<CUcontext>();
  expect_code("no target context", cuMemcpy3DPeerAsync(&copy, nullptr),
              CUDA_ERROR_CONTEXT_IS_DESTROYED);
  Place<Copy> array(Kind::array, 1000);
  array.as_target(copy);
  expect_code("an array's context is not looked at", cuMemcpy3DPeerAsync(&copy, nullptr),
              CUDA_SUCCESS);
  REQUIRE(cuStreamSynchronize(nullptr));
  expect_true("its words", array.words() == inner_box_result<Copy>());
}

CONFORM_WITH(cuMemcpy3DPeerAsync, needs_a_context, initialised) {
  const Copy copy = small_copy<Copy>();
  expect_code("no context", cuMemcpy3DPeerAsync(&copy, nullptr), CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM_WITH(cuMemcpy3DPeerAsync, needs_cuInit, nothing) {
  const Copy copy = small_copy<Copy>();
  expect_code("not initialised", cuMemcpy3DPeerAsync(&copy, nullptr), CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
