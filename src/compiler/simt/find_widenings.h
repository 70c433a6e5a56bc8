// Shifts that cut a 64-bit value to 32 bits and widen it again become the conversions they are.
#pragma once
#include "compiler/ptx/ir.h"

namespace limen::simt {

/// `shl.b64 t, x, 32` whose only readers are `shr.s64 d, t, k` becomes `cvt.s64.s32 t, x` and
/// `shl.b64 d, t, 32 - k`; with shr.u64 likewise, without a sign. (nvcc's `p[i]` where i is the low
/// half of a 64-bit index: cooperative groups' `thread_rank()`.) Of a conversion the analysis knows
/// that lanes stay side by side, of the shifts it does not.
void find_widenings(ptx::Function& function);

}  // namespace limen::simt
