// Floating-point numbers of any format, exactly: taken apart, rounded and put together by integer
// arithmetic. f16, bf16, tf32, fp8 and f32 operations are computed in double with the last bit
// "odd" when anything was lost, which makes the second rounding exact; f64 uses the machine's
// rounding modes. NaN results of all but f64 are the device's one NaN (H200: 0x7fffffff, 0x7fff).
#pragma once
#include <cstdint>

#include "compiler/ptx/ir.h"

namespace limen::oracle {

using Wide = unsigned __int128;

enum class Rounding : uint8_t { nearest, zero, down, up, away };

struct Format {
  int exponent_bits, fraction_bits;
  bool has_infinity;
  int bits() const { return 1 + exponent_bits + fraction_bits; }
  int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  uint64_t sign() const { return uint64_t{1} << (exponent_bits + fraction_bits); }
  uint64_t infinity() const { return ((uint64_t{1} << exponent_bits) - 1) << fraction_bits; }
  uint64_t largest() const;
  uint64_t nan() const;
  uint64_t one() const { return static_cast<uint64_t>(bias()) << fraction_bits; }
};

inline constexpr Format f64{11, 52, true}, f32{8, 23, true}, f16{5, 10, true}, bf16{8, 7, true},
    tf32{8, 10, true}, e5m2{5, 2, true}, e4m3{4, 3, false};

/// sig * 2^exponent, plus less than one unit of sig when `more`.
struct Number {
  enum class Kind : uint8_t { zero, finite, infinite, nan };
  Kind kind = Kind::zero;
  bool negative = false;
  bool more = false;
  Wide sig = 0;
  int exponent = 0;
};

/// The format of a scalar floating-point type; of a packed one that of its elements.
const Format& format_of(ptx::Type type);
bool has_format(ptx::Type type);

Number take_apart(const Format& f, uint64_t bits);
/// Rounds once; overflow gives infinity or the largest number as the mode says.
uint64_t put_together(const Format& f, const Number& n, Rounding mode);
Number from_integer(bool negative, uint64_t magnitude);
/// Rounded to an integer: the magnitude, saturated at 2^64 (which does not fit) by `huge`.
struct Integer {
  bool negative = false, huge = false;
  uint64_t magnitude = 0;
};
Integer round_to_integer(const Number& n, Rounding mode);

bool is_nan(const Format& f, uint64_t bits);
bool is_subnormal(const Format& f, uint64_t bits);
bool is_zero(const Format& f, uint64_t bits);
double to_double(const Format& f, uint64_t bits);
/// Zero of the same sign where the value is subnormal.
uint64_t flush(const Format& f, uint64_t bits);

enum class Arithmetic : uint8_t { add, sub, mul, fma, div, sqrt };

/// One operation, rounded to `f` once; unused operands are ignored. No flushing, no saturation.
uint64_t compute(const Format& f, Arithmetic op, Rounding mode, uint64_t a, uint64_t b, uint64_t c);
/// The same with operands of other formats (mixed precision), none of them f64.
uint64_t compute_mixed(const Format& to, Arithmetic op, Rounding mode, double a, double b,
                       double c);

/// -1, 0, 1, or 2 when unordered.
int compare(const Format& f, uint64_t a, uint64_t b);

/// [0, 1], NaN gives +0.
uint64_t saturate(const Format& f, uint64_t bits);
/// Negative numbers and -0 give +0, NaN stays the canonical NaN.
uint64_t relu(const Format& f, uint64_t bits);

}  // namespace limen::oracle
