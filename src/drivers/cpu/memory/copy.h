// What copies and fills share with graphs: operands checked and turned into a job of bytes.
// Invariant: a plan's ranges lay in live memory when it was made; who runs it later checks again.
// Thread rule: any thread.
#pragma once
#include "abi/cuda_abi.h"
#include "drivers/cpu/memory/pointer.h"
#include "drivers/cpu/memory/transfer.h"

namespace limen::cpu {

struct CopyPlan {
  Transfer job;  ///< of no bytes where the copy has none
  PointerInfo dst, src;
};
/// errors: 1.
CUresult plan_copy(const CUDA_MEMCPY3D& copy, CopyPlan* out);

/// errors: 1.
CUresult plan_fill(const CUDA_MEMSET_NODE_PARAMS& fill, Fill* out, PointerInfo* info);

}  // namespace limen::cpu
