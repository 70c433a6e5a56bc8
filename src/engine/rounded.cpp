// Directed rounding by the float control word; see rounded.h.
#include "engine/rounded.h"

#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>

#include "devlib/kernel_abi.h"
#if defined(__x86_64__)
#include "engine/directed_x86_64.h"
#elif defined(__aarch64__)
#include "engine/directed_aarch64.h"
#endif

namespace limen::engine {
namespace {

using kernel::RoundedOp;

/// u64 above 2^63 are halved with a sticky last bit, which keeps every rounding decision.
int64_t halved(uint64_t value) { return static_cast<int64_t>((value >> 1) | (value & 1)); }

/// The 64 bits that conversions get: one f64, or two f32, the lower one first.
uint64_t argument_bits(double value, double) { return std::bit_cast<uint64_t>(value); }
uint64_t argument_bits(float low, float high) {
  return std::bit_cast<uint32_t>(low) | uint64_t{std::bit_cast<uint32_t>(high)} << 32;
}

template <typename T>
T compute(RoundedOp op, uint32_t mode, T a, T b, T c) {
  const Directed directed(mode);
  T result = 0;
  switch (op) {
    case RoundedOp::add:
      return directed.add(a, b);
    case RoundedOp::sub:
      return directed.sub(a, b);
    case RoundedOp::mul:
      return directed.mul(a, b);
    case RoundedOp::div:
      return directed.div(a, b);
    case RoundedOp::rcp:
      return directed.div(T{1}, a);
    case RoundedOp::sqrt:
      return directed.sqrt(a);
    case RoundedOp::fma:
      return directed.fma(a, b, c);
    case RoundedOp::from_s64:
      directed.convert(static_cast<int64_t>(argument_bits(a, b)), result);
      return result;
    case RoundedOp::from_u64: {
      const uint64_t bits = argument_bits(a, b);
      const bool large = bits >> 63 != 0;
      directed.convert(large ? halved(bits) : static_cast<int64_t>(bits), result);
      return large ? result * 2 : result;
    }
    case RoundedOp::from_f64:
      if constexpr (std::is_same_v<T, double>)
        return a;
      else
        return directed.narrow(std::bit_cast<double>(argument_bits(a, b)));
  }
  return std::numeric_limits<T>::quiet_NaN();
}

}  // namespace

float rounded_f32(uint32_t op, uint32_t mode, float a, float b, float c) {
  const float result = compute(static_cast<RoundedOp>(op), mode, a, b, c);
  // PTX: a NaN result of an f32 operation is the canonical one.
  return std::isnan(result) ? std::bit_cast<float>(0x7fffffffu) : result;
}

double rounded_f64(uint32_t op, uint32_t mode, double a, double b, double c) {
  return compute(static_cast<RoundedOp>(op), mode, a, b, c);
}

}  // namespace limen::engine
