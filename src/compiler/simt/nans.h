// Which NaNs a program can tell apart. The device makes one NaN of every f32 NaN that goes through
// arithmetic (0x7fffffff); this machine keeps payloads and makes 0xffc00000. So that the difference
// never shows and costs little, results are put right where their bits are looked at, not where
// they are computed. Measured: H200, driver 580.x, tests/golden of the float forms.
#pragma once
#include "compiler/simt/graph.h"

namespace limen::simt {

struct NanPlan {
  Bits raw;  ///< registers that only ever hold f32 results or copies of them: put right when read
  Bits compared;  ///< registers that are only compared or made integers: which NaN never matters
  Bits summed;  ///< registers that only go into sums: there a sign folds away without touching NaNs
};

NanPlan plan_nans(const Graph& graph);

/// An f32 instruction whose NaN result is the canonical one, whatever NaNs went in.
bool makes_canonical_nan(const ptx::Instruction& inst);

/// Reads of its floating-point operands tell one NaN from another.
bool reads_nan_bits(const NanPlan& plan, const ptx::Instruction& inst);

}  // namespace limen::simt
