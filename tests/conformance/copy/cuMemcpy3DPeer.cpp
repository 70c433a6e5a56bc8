#include "conformance/copy/box_case.h"

namespace limen::conform {

static CUresult call(const CUDA_MEMCPY3D_PEER* copy) {
  CUDA_MEMCPY3D_PEER named = *copy;
  REQUIRE(cuCtxGetCurrent(&named.srcContext));
  named.dstContext = named.srcContext;
  return cuMemcpy3DPeer(&named);
}

CONFORM(cuMemcpy3DPeer, boxes) { deep_boxes<CUDA_MEMCPY3D_PEER>(call); }
CONFORM(cuMemcpy3DPeer, what_cannot_be) { refuses_deep_boxes<CUDA_MEMCPY3D_PEER>(call); }

}  // namespace limen::conform
