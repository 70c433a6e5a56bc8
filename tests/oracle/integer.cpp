// Integer arithmetic, logic, shifts, bit fields, comparison and selection. Everything is computed
// in 128 bits and cut to the type. Source: PTX ISA 9.0 #integer-arithmetic-instructions,
// #extended-precision-integer-arithmetic-instructions, #logic-and-shift-instructions,
// #comparison-and-selection-instructions. Division by zero gives all ones (H200).
#include <algorithm>
#include <bit>

#include "machine.h"

namespace limen::oracle {
namespace {

using Signed = __int128;

Signed lowest(Type type) { return ptx::is_signed(type) ? -(Signed{1} << (bits_of(type) - 1)) : 0; }

Signed highest(Type type) {
  return (Signed{1} << (bits_of(type) - (ptx::is_signed(type) ? 1 : 0))) - 1;
}

Signed divide(Type type, Signed a, Signed b, bool remainder) {
  if (b == 0) return static_cast<Signed>(mask_of(bits_of(type)));
  return remainder ? a % b : a / b;
}

uint32_t top_bit_or_none(uint64_t v) {
  return v ? 63u - static_cast<uint32_t>(std::countl_zero(v)) : 0xffffffffu;
}

uint32_t find_nth_set(uint32_t mask, uint32_t base, int32_t offset) {
  if (offset == 0) return base < 32 && (mask >> base & 1) ? base : 0xffffffffu;
  int64_t left = offset > 0 ? int64_t{offset} : -int64_t{offset};
  for (int64_t at = base; at >= 0 && at<32; at += offset> 0 ? 1 : -1)
    if ((mask >> at & 1) && --left == 0) return static_cast<uint32_t>(at);
  return 0xffffffffu;
}

/// A position or length of bfe and bfi. 32-bit forms look at eight bits; 64-bit ones at all, where
/// the manual has eight too (measured, H200: tests/golden/integer.golden).
uint32_t bit_count(uint32_t width, uint32_t count) {
  return width == 64 ? std::min(count, 64u) : count & 255;
}

/// Where the device's compiler replaces a `bfe` by all ones: an .s32 one whose position and length are
/// constants, the position outside of the value (recorded for lengths from 1 on, H200:
/// tests/golden/integer.golden).
bool is_folded_field(const Instruction& i) {
  for (size_t n : {2, 3})
    if (i.ops[n].kind != ptx::Operand::Kind::imm) return false;
  const uint32_t position = bit_count(32, static_cast<uint32_t>(i.ops[2].bits));
  const uint32_t length = bit_count(32, static_cast<uint32_t>(i.ops[3].bits));
  return i.type() == Type::s32 && position >= 32 && length > 0;
}

uint64_t bit_field(Type type, uint64_t a, uint32_t position, uint32_t length) {
  const uint32_t top = bits_of(type) - 1;
  const bool sign =
      ptx::is_signed(type) && length && (a >> std::min(position + length - 1, top) & 1);
  uint64_t out = 0;
  for (uint32_t n = 0; n <= top; ++n) {
    const bool inside = n < length && position + n <= top;
    if (inside ? (a >> (position + n) & 1) != 0 : sign) out |= uint64_t{1} << n;
  }
  return out;
}

uint32_t bit_mask(bool clamp, uint32_t a, uint32_t b) {
  const uint32_t first = a & 31, width = b & 31;
  if (clamp && a >= 32) return 0;
  uint32_t out = 0;
  for (uint32_t n = 0; n < 32; ++n)
    if (n >= first && ((clamp && b >= 32) || n < first + width)) out |= 1u << n;
  return out;
}

uint32_t sign_or_zero_extend(bool clamp, bool is_signed, uint32_t a, uint32_t b) {
  if (clamp && b >= 32) return a;
  const uint32_t width = b & 31;
  if (!width) return 0;
  const uint32_t low = a & ((1u << width) - 1);
  return is_signed && (a >> (width - 1) & 1) ? low | ~((1u << width) - 1) : low;
}

}  // namespace

bool Machine::integer(Thread& t, const Instruction& i) {
  const Type type = i.type_count ? i.type() : Type::b32;
  const auto operand = [&](size_t n) { return extend(type, read(t, i, i.ops[n], type)); };
  Signed d = 0;
  if (type == Type::u16x2 || type == Type::s16x2) {
    integer_halves(t, i);
    return true;
  }
  switch (i.op) {
    case Op::add:
    case Op::sub:
      if (i.has(Tok::cc)) {
        integer_carry(t, i);
        return true;
      }
      d = i.op == Op::add ? operand(1) + operand(2) : operand(1) - operand(2);
      if (i.has(Tok::sat)) d = std::clamp(d, lowest(type), highest(type));
      break;
    case Op::addc:
    case Op::subc:
    case Op::madc:
      integer_carry(t, i);
      return true;
    case Op::mad:
      if (i.has(Tok::cc)) {
        integer_carry(t, i);
        return true;
      }
      integer_multiply(t, i);
      return true;
    case Op::mul:
    case Op::mul24:
    case Op::mad24:
      integer_multiply(t, i);
      return true;
    case Op::sad: {
      const Signed a = operand(1), b = operand(2);
      d = operand(3) + (a < b ? b - a : a - b);
      break;
    }
    case Op::div:
      d = divide(type, operand(1), operand(2), false);
      break;
    case Op::rem:
      d = divide(type, operand(1), operand(2), true);
      break;
    case Op::abs:
      d = operand(1) < 0 ? -operand(1) : operand(1);
      break;
    case Op::neg:
      d = -operand(1);
      break;
    case Op::min:
      d = std::min(operand(1), operand(2));
      break;
    case Op::max:
      d = std::max(operand(1), operand(2));
      break;
    case Op::setp:
    case Op::set:
    case Op::selp:
    case Op::slct:
      compare_and_set(t, i);
      return true;
    case Op::prmt:
      byte_permute(t, i);
      return true;
    case Op::dp4a:
    case Op::dp2a:
      dot_product(t, i);
      return true;
    default:
      return integer_logic(t, i) || integer_bits(t, i);
  }
  if (i.has(Tok::relu)) d = std::max<Signed>(d, 0);
  write(t, i.ops[0], static_cast<Wide>(d));
  return true;
}

void Machine::integer_halves(Thread& t, const Instruction& i) {
  const Type half = i.type() == Type::s16x2 ? Type::s16 : Type::u16;
  const uint64_t a = read64(t, i, i.ops[1], Type::b32), b = read64(t, i, i.ops[2], Type::b32);
  Wide out = 0;
  for (uint32_t n = 0; n < 2; ++n) {
    const Signed x = extend(half, a >> 16 * n), y = extend(half, b >> 16 * n);
    Signed d = i.op == Op::add ? x + y : i.op == Op::min ? std::min(x, y) : std::max(x, y);
    if (i.has(Tok::relu)) d = std::max<Signed>(d, 0);
    out |= (static_cast<Wide>(d) & 0xffff) << 16 * n;
  }
  write(t, i.ops[0], out);
}

void Machine::integer_multiply(Thread& t, const Instruction& i) {
  const Type type = i.type();
  const uint32_t width = bits_of(type);
  const bool short_ = i.op == Op::mul24 || i.op == Op::mad24;
  const bool adds = i.op == Op::mad || i.op == Op::mad24;
  const auto factor = [&](size_t n) {
    const Wide v = read(t, i, i.ops[n], type);
    if (!short_) return extend(type, v);
    const Signed low = static_cast<Signed>(v & 0xffffff);
    return ptx::is_signed(type) && (low >> 23 & 1) ? low - (1 << 24) : low;
  };
  // Unsigned, so that 64 by 64 bits cannot overflow a signed type; the bits are the same.
  const Wide product = static_cast<Wide>(factor(1)) * static_cast<Wide>(factor(2));
  const bool wide = i.has(Tok::wide);
  Wide d = product;
  if (i.has(Tok::hi)) {
    const uint32_t shift = short_ ? 16 : width;
    d = ptx::is_signed(type) ? static_cast<Wide>(static_cast<Signed>(product) >> shift)
                             : product >> shift;
  }
  if (!adds) {
    write(t, i.ops[0], d);
    return;
  }
  const Type third = wide ? (width == 16 ? Type::u32 : Type::u64) : type;
  const Wide c = read(t, i, i.ops[3], third);
  if (i.has(Tok::sat)) {
    const Signed sum = extend(type, d) + extend(type, c);
    d = static_cast<Wide>(std::clamp(sum, lowest(type), highest(type)));
  } else {
    d += c;
  }
  write(t, i.ops[0], d);
}

/// add.cc, addc, sub.cc, subc, mad.cc, madc: CC.CF is the carry, of a subtraction the borrow.
void Machine::integer_carry(Thread& t, const Instruction& i) {
  const Type type = i.type();
  const uint32_t width = bits_of(type);
  const bool takes = i.op == Op::addc || i.op == Op::subc || i.op == Op::madc;
  if (takes && launch_.strict && !t.carry_known) fail(t, i, "reads CC.CF, which has no value");
  const Wide in = takes && t.carry ? 1 : 0;
  Wide a = read(t, i, i.ops[1], type), b = read(t, i, i.ops[2], type);
  if (i.op == Op::mad || i.op == Op::madc) {
    const Wide product = static_cast<Wide>(extend(type, a)) * static_cast<Wide>(extend(type, b));
    a = (i.has(Tok::hi) ? product >> width : product) & mask_of(width);
    b = read(t, i, i.ops[3], type);
  }
  const bool subtracts = i.op == Op::sub || i.op == Op::subc;
  const Wide d = subtracts ? a - b - in : a + b + in;
  if (i.has(Tok::cc)) {
    t.carry = d >> width != 0;
    t.carry_known = true;
  }
  write(t, i.ops[0], d);
}

bool Machine::integer_logic(Thread& t, const Instruction& i) {
  const Type type = i.type_count ? i.type() : Type::b32;
  const uint32_t width = bits_of(type);
  const auto operand = [&](size_t n) { return read(t, i, i.ops[n], type); };
  Wide d = 0;
  switch (i.op) {
    case Op::and_:
      d = operand(1) & operand(2);
      break;
    case Op::or_:
      d = operand(1) | operand(2);
      break;
    case Op::xor_:
      d = operand(1) ^ operand(2);
      break;
    case Op::not_:
      d = ~operand(1);
      break;
    case Op::cnot:
      d = operand(1) == 0;
      break;
    case Op::lop3: {
      const uint64_t a = read64(t, i, i.ops[1], type), b = read64(t, i, i.ops[2], type),
                     c = read64(t, i, i.ops[3], type), table = read64(t, i, i.ops[4], Type::b32);
      for (uint32_t n = 0; n < 32; ++n) {
        const uint64_t row = (a >> n & 1) << 2 | (b >> n & 1) << 1 | (c >> n & 1);
        d |= (table >> row & 1) << n;
      }
      if (i.ops[0].kind == Operand::Kind::pair) {
        const bool q = read_predicate(t, i, i.ops[5]);
        write(t, i.ops[0].elems[0], d);
        write(t, i.ops[0].elems[1], i.has(Tok::or_) ? d != 0 || q : d != 0 && q);
        return true;
      }
      break;
    }
    case Op::shl: {
      const uint64_t n = read64(t, i, i.ops[2], Type::u32);
      d = n >= width ? 0 : operand(1) << n;
      break;
    }
    case Op::shr: {
      const uint64_t n = std::min<uint64_t>(read64(t, i, i.ops[2], Type::u32), width);
      d = static_cast<Wide>(extend(type, operand(1)) >> n);
      break;
    }
    case Op::shf: {
      const uint64_t both = read64(t, i, i.ops[2], type) << 32 | read64(t, i, i.ops[1], type);
      const uint64_t c = read64(t, i, i.ops[3], Type::u32);
      const uint64_t n = i.has(Tok::clamp) ? std::min<uint64_t>(c, 32) : c & 31;
      d = i.has(Tok::l) ? (both << n) >> 32 : both >> n;
      break;
    }
    default:
      return false;
  }
  write(t, i.ops[0], d);
  return true;
}

bool Machine::integer_bits(Thread& t, const Instruction& i) {
  const Type type = i.type_count ? i.type() : Type::b32;
  const uint32_t width = bits_of(type);
  const auto operand = [&](size_t n) { return read64(t, i, i.ops[n], type); };
  const auto word = [&](size_t n) {
    return static_cast<uint32_t>(read64(t, i, i.ops[n], Type::u32));
  };
  uint64_t d = 0;
  switch (i.op) {
    case Op::popc:
      d = static_cast<uint64_t>(std::popcount(operand(1)));
      break;
    case Op::clz:
      d = static_cast<uint64_t>(std::countl_zero(operand(1))) - (64 - width);
      break;
    case Op::brev:
      for (uint32_t n = 0; n < width; ++n) d |= (operand(1) >> n & 1) << (width - 1 - n);
      break;
    case Op::bfind: {
      const Signed a = extend(type, operand(1));
      const uint32_t at = top_bit_or_none(static_cast<uint64_t>(a < 0 ? ~a : a));
      d = i.has(Tok::shiftamt) && at != 0xffffffffu ? width - 1 - at : at;
      break;
    }
    case Op::fns:
      d = find_nth_set(word(1), word(2), static_cast<int32_t>(word(3)));
      break;
    case Op::bfe:
      if (is_folded_field(i)) {
        d = ~uint64_t{0};
        break;
      }
      d = bit_field(type, operand(1), bit_count(width, word(2)), bit_count(width, word(3)));
      break;
    case Op::bfi: {
      const uint32_t first = bit_count(width, word(3)), length = bit_count(width, word(4));
      d = operand(2);
      for (uint32_t n = 0; n < length && first + n < width; ++n) {
        const uint64_t bit = uint64_t{1} << (first + n);
        d = operand(1) >> n & 1 ? d | bit : d & ~bit;
      }
      break;
    }
    case Op::bmsk:
      d = bit_mask(i.has(Tok::clamp), word(1), word(2));
      break;
    case Op::szext:
      d = sign_or_zero_extend(i.has(Tok::clamp), ptx::is_signed(type), word(1), word(2));
      break;
    default:
      return false;
  }
  write(t, i.ops[0], d);
  return true;
}

void Machine::byte_permute(Thread& t, const Instruction& i) {
  const uint64_t bytes =
      read64(t, i, i.ops[2], Type::b32) << 32 | read64(t, i, i.ops[1], Type::b32);
  const uint32_t c = static_cast<uint32_t>(read64(t, i, i.ops[3], Type::b32));
  const uint32_t at = c & 3;
  uint64_t d = 0;
  for (uint32_t n = 0; n < 4; ++n) {
    uint32_t select;
    if (i.has(Tok::f4e))
      select = at + n;
    else if (i.has(Tok::b4e))
      select = (at + 8 - n) & 7;
    else if (i.has(Tok::rc8))
      select = at;
    else if (i.has(Tok::ecl))
      select = std::max(n, at);
    else if (i.has(Tok::ecr))
      select = std::min(n, at);
    else if (i.has(Tok::rc16))
      select = (at & 1) * 2 + (n & 1);
    else
      select = c >> 4 * n & 15;
    uint64_t byte = bytes >> 8 * (select & 7) & 255;
    if (select & 8) byte = byte & 128 ? 255 : 0;
    d |= byte << 8 * n;
  }
  write(t, i.ops[0], d);
}

void Machine::dot_product(Thread& t, const Instruction& i) {
  const bool bytes = i.op == Op::dp4a;
  const auto part = [](Type type, uint64_t v, uint32_t width, uint32_t n) {
    const uint64_t bits = v >> width * n & ((1u << width) - 1);
    return ptx::is_signed(type) && bits >> (width - 1)
               ? static_cast<int64_t>(bits) - (int64_t{1} << width)
               : static_cast<int64_t>(bits);
  };
  const uint64_t a = read64(t, i, i.ops[1], Type::b32), b = read64(t, i, i.ops[2], Type::b32);
  int64_t d = static_cast<int64_t>(read64(t, i, i.ops[3], Type::b32));
  for (uint32_t n = 0; n < (bytes ? 4u : 2u); ++n)
    d +=
        part(i.type(0), a, bytes ? 8 : 16, n) * part(i.type(1), b, 8, n + (i.has(Tok::hi) ? 2 : 0));
  write(t, i.ops[0], static_cast<uint64_t>(d));
}

}  // namespace limen::oracle
