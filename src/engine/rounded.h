// Single operations with a directed rounding mode, exact: the control word is switched inside one
// assembly block, which no compiler can move code into or out of. Flushing stays as the caller has
// it.
// Thread rule: any thread.
#pragma once
#include <cstdint>

namespace limen::engine {

/// source: kernel_abi.h, Runtime::rounded_f32: `op` is a kernel::RoundedOp, mode 0 rn, 1 rz, 2 rm,
/// 3 rp.
float rounded_f32(uint32_t op, uint32_t mode, float a, float b, float c);
double rounded_f64(uint32_t op, uint32_t mode, double a, double b, double c);

}  // namespace limen::engine
