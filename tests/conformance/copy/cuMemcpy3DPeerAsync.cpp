#include "conformance/copy/box_case.h"

namespace limen::conform {

static CUresult call(const CUDA_MEMCPY3D_PEER* copy) {
  CUDA_MEMCPY3D_PEER named = *copy;
  REQUIRE(cuCtxGetCurrent(&named.srcContext));
  named.dstContext = named.srcContext;
  return cuMemcpy3DPeerAsync(&named, nullptr);
}

CONFORM(cuMemcpy3DPeerAsync, boxes) { deep_boxes<CUDA_MEMCPY3D_PEER>(call); }
CONFORM(cuMemcpy3DPeerAsync, what_cannot_be) { refuses_deep_boxes<CUDA_MEMCPY3D_PEER>(call); }

CONFORM(cuMemcpy3DPeerAsync, in_stream_order) {
  Buffer from(4096), to(4096);
  auto copy = deep_copy<CUDA_MEMCPY3D_PEER>(to, 64, 8, from, 32, 6);
  REQUIRE(cuCtxGetCurrent(&copy.srcContext));
  copy.dstContext = copy.srcContext;
  boxes_in_stream_order(copy, from, to, cuMemcpy3DPeerAsync);
}

}  // namespace limen::conform
