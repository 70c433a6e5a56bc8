// mov, cvt, cvta and isspacep. Source: PTX ISA 9.0 #data-movement-and-conversion-instructions-cvt
// and its neighbours. A NaN becomes the integer 0, or the top bit alone where the source is f64 or
// the result has 64 bits.
#include <algorithm>
#include <bit>
#include <cmath>

#include "compiler/ptx/table.h"
#include "machine.h"

namespace limen::oracle {
namespace {

bool has_integer_rounding(const Instruction& i) {
  return i.has(Tok::rni) || i.has(Tok::rzi) || i.has(Tok::rmi) || i.has(Tok::rpi);
}

uint64_t clamp_integer(Type type, bool negative, bool huge, uint64_t magnitude) {
  const uint32_t width = bits_of(type);
  if (!ptx::is_signed(type)) {
    const uint64_t top = static_cast<uint64_t>(mask_of(width));
    if (negative) return 0;
    return huge || magnitude > top ? top : magnitude;
  }
  const uint64_t limit = uint64_t{1} << (width - 1);
  if (negative) return 0 - (huge || magnitude > limit ? limit : magnitude);
  return huge || magnitude > limit - 1 ? limit - 1 : magnitude;
}

uint64_t float_to_integer(const Format& from, Type to, uint64_t bits, Rounding mode) {
  if (is_nan(from, bits))
    return from.bits() == 64 || bits_of(to) == 64 ? uint64_t{1} << (bits_of(to) - 1) : 0;
  const Integer v = round_to_integer(take_apart(from, bits), mode);
  return clamp_integer(to, v.negative, v.huge, v.magnitude);
}

/// f32 with a tf32 number in its upper bits.
uint64_t to_tf32(const Instruction& i, uint64_t bits) {
  uint64_t d = put_together(tf32, take_apart(f32, bits), rounding_of(i, Rounding::nearest));
  if (is_nan(f32, bits)) {
    // Measured, H200: .rna cuts NaNs as any bits (and .satfinite takes one step off), others have one.
    const uint64_t cut = bits & ~uint64_t{0x1fff};
    if (i.has(Tok::rna)) return i.has(Tok::satfinite) ? cut - 0x2000 : cut;
    return 0x7fffe000;
  }
  if (i.has(Tok::satfinite) && (d & ~tf32.sign()) == tf32.infinity())
    d = (d & tf32.sign()) | tf32.largest();
  if (i.has(Tok::relu)) d = relu(tf32, d);
  return d << 13;
}

}  // namespace

bool Machine::convert(Thread& t, const Instruction& i) {
  switch (i.op) {
    case Op::mov:
      move(t, i);
      return true;
    case Op::cvt:
      return convert_number(t, i);
    case Op::cvta:
    case Op::isspacep:
      return convert_address(t, i);
    default:
      return false;
  }
}

void Machine::move(Thread& t, const Instruction& i) {
  const Type type = i.type();
  const uint32_t width = bits_of(type);
  const Operand& from = i.ops[1];
  Wide v = 0;
  if (from.kind == Operand::Kind::vector) {
    const uint32_t each = width / static_cast<uint32_t>(from.elems.size());
    for (size_t n = 0; n < from.elems.size(); ++n) {
      const Operand& e = from.elems[n];
      const Wide part = e.kind == Operand::Kind::reg ? read_register(t, i, e.index, e.component)
                                                     : static_cast<Wide>(e.bits);
      v |= (part & mask_of(each)) << each * n;
    }
  } else {
    v = read(t, i, from, type);
  }
  const Operand& to = i.ops[0];
  if (to.kind != Operand::Kind::vector) {
    write(t, to, v);
    return;
  }
  const uint32_t each = width / static_cast<uint32_t>(to.elems.size());
  for (size_t n = 0; n < to.elems.size(); ++n) write(t, to.elems[n], v >> each * n);
}

bool Machine::convert_number(Thread& t, const Instruction& i) {
  if (i.type_count < 2 || i.has(Tok::rs) || i.has(Tok::pack)) return false;
  const Type to = i.type(0), from = i.type(1);
  if (to == Type::ue8m0x2 || from == Type::ue8m0x2) return convert_ue8m0(t, i);
  if (ptx::size_of(to) < 2 && !ptx::is_int(to)) return false;
  const bool scalar_float_to =
      to == Type::f16 || to == Type::bf16 || to == Type::f32 || to == Type::f64;
  const bool scalar_float_from =
      from == Type::f16 || from == Type::bf16 || from == Type::f32 || from == Type::f64;
  const Rounding mode = rounding_of(i, Rounding::nearest);
  if (ptx::is_int(to) && ptx::is_int(from)) {
    __int128 v = extend(from, read(t, i, i.ops[1], from));
    if (i.has(Tok::sat)) {
      const bool negative = v < 0;
      v = static_cast<__int128>(
          clamp_integer(to, negative, false, static_cast<uint64_t>(negative ? -v : v)));
    }
    write_extended(t, i.ops[0], to, static_cast<Wide>(v));
    return true;
  }
  if (ptx::is_int(to) && scalar_float_from) {
    const Format& f = format_of(from);
    uint64_t v = read64(t, i, i.ops[1], from);
    if (i.has(Tok::ftz)) v = flush(f, v);
    write_extended(t, i.ops[0], to, float_to_integer(f, to, v, mode));
    return true;
  }
  if (scalar_float_to && ptx::is_int(from)) {
    const Format& f = format_of(to);
    const __int128 v = extend(from, read(t, i, i.ops[1], from));
    const uint64_t magnitude = static_cast<uint64_t>(v < 0 ? -v : v);
    uint64_t d = put_together(f, from_integer(v < 0, magnitude), mode);
    if (i.has(Tok::sat)) d = saturate(f, d);
    write(t, i.ops[0], d);
    return true;
  }
  if (scalar_float_to && scalar_float_from) {
    const uint64_t d =
        convert_float(i, format_of(from), format_of(to), read64(t, i, i.ops[1], from));
    write(t, i.ops[0], d);
    return true;
  }
  if (to == Type::tf32) {
    write(t, i.ops[0], to_tf32(i, read64(t, i, i.ops[1], Type::f32)));
    return true;
  }
  return convert_packed(t, i);
}

uint64_t Machine::convert_float(const Instruction& i, const Format& from, const Format& to,
                                uint64_t bits) const {
  const bool ftz = i.has(Tok::ftz);
  if (ftz && from.bits() == 32) bits = flush(from, bits);
  const bool moves = !ftz && !has_integer_rounding(i) && to.bits() == 32 &&
                     (from.bits() == 32 || &from == &format_of(Type::bf16));
  if (ftz && from.bits() == 32 && is_nan(from, bits)) bits = from.nan();
  uint64_t d;
  if (is_nan(from, bits) && moves) {
    d = bits << (from.bits() == 32 ? 0 : 16);
  } else if (is_nan(from, bits) && from.bits() == 64 && to.bits() < 64) {
    // Narrower, the upper bits of the payload stay.
    const uint64_t fraction = bits & ((uint64_t{1} << 52) - 1);
    d = (bits & from.sign() ? to.sign() : 0) | to.infinity() |
        uint64_t{1} << (to.fraction_bits - 1) | fraction >> (52 - to.fraction_bits);
  } else if (is_nan(from, bits) && to.bits() == 64 && from.bits() == 64) {
    d = bits | uint64_t{1} << 51;
  } else if (is_nan(from, bits) && to.bits() == 64) {
    // The payload goes along, at the top of the wider fraction, and is quiet.
    const uint64_t fraction = bits & ((uint64_t{1} << from.fraction_bits) - 1);
    d = (bits & from.sign() ? f64.sign() : 0) | f64.infinity() | uint64_t{1} << 51 |
        fraction << (52 - from.fraction_bits);
  } else if (has_integer_rounding(i)) {
    const Number n = take_apart(from, bits);
    d = put_together(to, n, Rounding::nearest);
    // Numbers without a fraction stay: beyond 2^52 there is none.
    if (n.kind == Number::Kind::finite && n.exponent < 0) {
      const Integer v = round_to_integer(n, rounding_of(i, Rounding::nearest));
      d = v.magnitude ? put_together(to, from_integer(v.negative, v.magnitude), Rounding::nearest)
                      : (v.negative ? to.sign() : 0);
    }
  } else {
    d = put_together(to, take_apart(from, bits), rounding_of(i, Rounding::nearest));
  }
  if (i.has(Tok::satfinite) && (d & ~to.sign()) == to.infinity())
    d = (d & to.sign()) | to.largest();
  if (ftz && to.bits() == 32) d = flush(to, d);
  if (i.has(Tok::sat)) d = saturate(to, d);
  if (i.has(Tok::relu)) d = relu(to, d);
  return d;
}

/// ue8m0: 2^(code - 127), 255 is NaN. The sign of what comes in does not count.
uint64_t to_ue8m0(const Instruction& i, float x) {
  if (std::isnan(x)) return 255;
  const uint64_t beyond = i.has(Tok::satfinite) ? 254 : 255;
  if (std::isinf(x)) return beyond;
  if (x == 0) return 0;
  int exponent;
  const bool power = std::frexp(std::fabs(static_cast<double>(x)), &exponent) == 0.5;
  const int code = exponent - 1 + 127 + (i.has(Tok::rp) && !power);
  return code > 254 ? beyond : static_cast<uint64_t>(std::max(code, 0));
}

uint64_t from_ue8m0(uint64_t code) {
  if (code == 255) return format_of(Type::bf16).nan();
  return std::bit_cast<uint32_t>(std::ldexp(1.0F, static_cast<int>(code) - 127)) >> 16;
}

bool Machine::convert_ue8m0(Thread& t, const Instruction& i) {
  const bool from_f32 = i.type(1) == Type::f32;
  uint64_t d = 0;
  if (i.type(0) == Type::bf16x2) {
    const uint64_t codes = read64(t, i, i.ops[1], Type::b16);
    d = from_ue8m0(codes & 255) | from_ue8m0(codes >> 8 & 255) << 16;
  } else {
    for (size_t n = 0; n < 2; ++n) {
      const uint64_t bits = from_f32 ? read64(t, i, i.ops[2 - n], Type::f32)
                                     : read64(t, i, i.ops[1], Type::b32) >> (16 * n) << 16;
      d |= to_ue8m0(i, std::bit_cast<float>(static_cast<uint32_t>(bits))) << (8 * n);
    }
  }
  write(t, i.ops[0], d);
  return true;
}

/// Two elements at once: f16x2, bf16x2, e4m3x2, e5m2x2; the first operand is the upper element.
bool Machine::convert_packed(Thread& t, const Instruction& i) {
  const Type to = i.type(0), from = i.type(1);
  if (!has_format(to) || !has_format(from) || to == Type::f32x2) return false;
  const Format& f = format_of(to);
  const Format& g = format_of(from);
  uint64_t source[2];  // low, high
  if (from == Type::f32) {
    source[1] = read64(t, i, i.ops[1], from);
    source[0] = read64(t, i, i.ops[2], from);
  } else {
    const uint64_t both = read64(t, i, i.ops[1], from);
    const uint32_t width = static_cast<uint32_t>(g.bits());
    source[0] = both & static_cast<uint64_t>(mask_of(width));
    source[1] = both >> width & static_cast<uint64_t>(mask_of(width));
  }
  uint64_t d = 0;
  for (uint32_t n = 0; n < 2; ++n) {
    uint64_t v;
    if (is_nan(g, source[n])) {
      v = f.nan();
    } else {
      v = put_together(f, take_apart(g, source[n]), rounding_of(i, Rounding::nearest));
      if (i.has(Tok::satfinite) && f.has_infinity && (v & ~f.sign()) == f.infinity())
        v = (v & f.sign()) | f.largest();
      if (i.has(Tok::relu)) v = relu(f, v);
    }
    d |= v << static_cast<uint32_t>(f.bits()) * n;
  }
  write(t, i.ops[0], d);
  return true;
}

bool Machine::convert_address(Thread& t, const Instruction& i) {
  const Space space = ptx::space_of(i);
  const uint64_t shared = reinterpret_cast<uint64_t>(t.block->shared.get());
  const uint64_t local = reinterpret_cast<uint64_t>(t.local.get());
  if (i.op == Op::cvta) {
    if (i.type() == Type::u32) return false;
    const uint64_t a = read64(t, i, i.ops[1], Type::u64);
    uint64_t base = 0;
    if (space == Space::shared) base = shared;
    if (space == Space::local) base = local;
    write(t, i.ops[0], i.has(Tok::to) ? a - base : a + base);
    return true;
  }
  const uint64_t a = read64(t, i, i.ops[1], Type::u64);
  const bool in_shared = shared && a >= shared && a < shared + shared_bytes_;
  const bool in_local = local && a >= local && a < local + local_capacity;
  bool p = false;
  switch (space) {
    case Space::shared:
      p = in_shared;
      break;
    case Space::local:
      p = in_local;
      break;
    case Space::global:
      p = !in_shared && !in_local;
      break;
    default:
      return false;
  }
  write(t, i.ops[0], p);
  return true;
}

}  // namespace limen::oracle
