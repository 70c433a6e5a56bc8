// The whole version of a node is its code for a warp whose lanes are all active there: real
// branches, no masks, no blends, plain loads and stores. A warp takes it until its lanes part and
// comes back where they meet. docs/design/simt.md, "Whole versions". Pure analysis.
#pragma once
#include "compiler/simt/plan.h"

namespace limen::simt {

/// A test of whether a number is negative (`lt 0`) or not (`ge 0`): `(x | y) < 0` is how nvcc asks
/// whether one of two is.
bool tests_sign(const ptx::Instruction& setp);

/// Nodes of a region that are worth a whole version. `none_left`: nodes before which no lane can
/// have left; outside of masked nodes their code is as good already.
Bits choose_whole(const Plan& plan, const RegionPlan& rp, const Bits& none_left);

}  // namespace limen::simt
