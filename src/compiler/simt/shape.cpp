// See shape.h. Every rule here has its twin in lower_integer.cpp; both follow transfer().
#include "compiler/simt/shape.h"

#include <algorithm>
#include <bit>

namespace limen::simt {

using ptx::Instruction;
using ptx::Op;
using ptx::Operand;
using ptx::SReg;
using ptx::Tok;
using ptx::Type;

namespace {

uint8_t zeros_of(int64_t v) {
  return v == 0 ? 64 : static_cast<uint8_t>(std::countr_zero(static_cast<uint64_t>(v)));
}

void normalize(Offsets& o) {
  if (std::all_of(o.begin(), o.end(), [](int64_t v) { return v == 0; })) o.clear();
}

int64_t wrap(int64_t v, int bits) {
  if (bits >= 64) return v;
  uint64_t m = static_cast<uint64_t>(v) << (64 - bits);
  return static_cast<int64_t>(m) >> (64 - bits);
}

void set_range(Shape& s, __int128 low, __int128 high, int bits) {
  __int128 min = -(static_cast<__int128>(1) << (bits - 1)), max = -min - 1;
  if (low < min || high > max || low > high) {
    s.low = INT64_MIN;
    s.high = INT64_MAX;
  } else {
    s.low = static_cast<int64_t>(low);
    s.high = static_cast<int64_t>(high);
  }
}

bool has_range(const Shape& s) { return s.low != INT64_MIN || s.high != INT64_MAX; }

int64_t at(const Offsets& o, size_t i) { return o.empty() ? 0 : o[i]; }

void set_base(Shape& s, std::optional<int64_t> base, int bits) {
  s.base_known = base.has_value();
  s.base = base ? wrap(*base, bits) : 0;
}

Shape add(const Shape& a, const Shape& b, int bits, bool subtract) {
  if (!a.shaped() || !b.shaped()) return Shape::make_varying();
  Shape r = Shape::make_uniform();
  size_t n = std::max(a.offsets.size(), b.offsets.size());
  for (size_t i = 0; i < n; ++i)
    r.offsets.push_back(
        wrap(subtract ? at(a.offsets, i) - at(b.offsets, i) : at(a.offsets, i) + at(b.offsets, i),
             bits));
  normalize(r.offsets);
  r.guarded = a.guarded || b.guarded;
  r.base_zeros = std::min(a.base_zeros, b.base_zeros);
  if (const auto x = a.known_base(), y = b.known_base(); x && y)
    set_base(r,
             static_cast<int64_t>(subtract ? static_cast<uint64_t>(*x) - static_cast<uint64_t>(*y)
                                           : static_cast<uint64_t>(*x) + static_cast<uint64_t>(*y)),
             bits);
  if (has_range(a) && has_range(b)) {
    if (subtract)
      set_range(r, static_cast<__int128>(a.low) - b.high, static_cast<__int128>(a.high) - b.low,
                bits);
    else
      set_range(r, static_cast<__int128>(a.low) + b.low, static_cast<__int128>(a.high) + b.high,
                bits);
  }
  return r;
}

bool constant_value(const Shape& s, int64_t& v) {
  if (!s.uniform() || s.low != s.high) return false;
  v = s.low;
  return true;
}

void multiply_range(Shape& r, const Shape& a, const Shape& b, int bits) {
  if (!has_range(a) || !has_range(b)) return;
  __int128 c[4] = {static_cast<__int128>(a.low) * b.low, static_cast<__int128>(a.low) * b.high,
                   static_cast<__int128>(a.high) * b.low, static_cast<__int128>(a.high) * b.high};
  set_range(r, *std::min_element(c, c + 4), *std::max_element(c, c + 4), bits);
}

/// a * b modulo 2^bits. Offsets survive only a factor known at compile time.
Shape multiply(const Shape& a, const Shape& b, int bits) {
  if (!a.shaped() || !b.shaped()) return Shape::make_varying();
  Shape r = Shape::make_uniform();
  r.base_zeros = static_cast<uint8_t>(std::min(64, a.base_zeros + b.base_zeros));
  multiply_range(r, a, b, bits);
  if (const auto x = a.known_base(), y = b.known_base(); x && y)
    set_base(r, static_cast<int64_t>(static_cast<uint64_t>(*x) * static_cast<uint64_t>(*y)), bits);
  if (a.uniform() && b.uniform()) {
    r.guarded = a.guarded || b.guarded;
    if (r.guarded) return Shape::make_varying();
    return r;
  }
  int64_t c;
  const Shape* other = nullptr;
  if (constant_value(b, c))
    other = &a;
  else if (constant_value(a, c))
    other = &b;
  else
    return Shape::make_varying();
  for (int64_t o : other->offsets)
    r.offsets.push_back(
        wrap(static_cast<int64_t>(static_cast<uint64_t>(o) * static_cast<uint64_t>(c)), bits));
  normalize(r.offsets);
  r.guarded = other->guarded;
  return r;
}

/// Widening from `from` bits. Provable from the range; guarded where it is an index-like
/// progression.
Shape widen(const Shape& a, int from, int to, bool is_signed) {
  if (!a.shaped()) return Shape::make_varying();
  Shape r = a;
  if (a.guarded) return Shape::make_varying();
  const auto base = a.known_base();
  set_base(r, base && (is_signed || *base >= 0) ? base : std::nullopt, to);
  const bool known = has_range(a) && (is_signed || a.low >= 0);
  if (!known) {
    r.low = is_signed ? -(int64_t{1} << (from - 1)) : 0;
    r.high = is_signed ? (int64_t{1} << (from - 1)) - 1
                       : static_cast<int64_t>((uint64_t{1} << from) - 1);
  }
  if (a.uniform() || known) return r;
  if (from != 32 || to != 64) return Shape::make_varying();
  for (int64_t o : a.offsets)
    if (o < -(1 << 20) || o > (1 << 20)) return Shape::make_varying();
  r.guarded = true;
  return r;
}

Shape truncate(const Shape& a, int bits) {
  if (!a.shaped()) return Shape::make_varying();
  Shape r = a;
  r.guarded = false;  // corrections are multiples of 2^32 and vanish
  set_base(r, a.known_base(), bits);
  if (a.guarded && bits > 32) return Shape::make_varying();
  for (int64_t& o : r.offsets) o = wrap(o, bits);
  normalize(r.offsets);
  if (has_range(a)) set_range(r, a.low, a.high, bits);
  return r;
}

/// Are all offsets inside the base's zero bits, so that base and offset occupy different bits?
bool disjoint(const Shape& s) {
  if (s.guarded) return false;
  if (s.uniform()) return true;
  for (int64_t o : s.offsets)
    if (o < 0 || s.base_zeros == 0 || (s.base_zeros < 63 && o >= (int64_t{1} << s.base_zeros)))
      return false;
  return true;
}

Shape all_uniform(const Shape& a, const Shape& b) {
  return a.uniform() && b.uniform() && !a.guarded && !b.guarded ? Shape::make_uniform()
                                                                : Shape::make_varying();
}

Shape shift_right(const Shape& a, const Shape& by, int bits, bool is_signed) {
  int64_t k;
  if (!a.shaped() || a.guarded) return Shape::make_varying();
  if (!constant_value(by, k) || k < 0 || k >= bits) return all_uniform(a, by);
  // nvcc's number of turns: (max(tid, 1792) + 255 - tid) >> 8.
  const bool known = has_range(a) && (is_signed || a.low >= 0);
  if (known && a.low >> k == a.high >> k) return Shape::make_constant(a.low >> k);
  Shape r = a;
  const auto base = a.known_base();
  set_base(r, base && (is_signed || *base >= 0) ? std::optional(*base >> k) : std::nullopt, bits);
  if (!a.uniform()) {
    if (a.base_zeros < k || !disjoint(a)) return Shape::make_varying();
    for (int64_t& o : r.offsets) o >>= k;
    normalize(r.offsets);
  }
  r.base_zeros =
      a.base_zeros == 64 ? 64 : static_cast<uint8_t>(std::max<int64_t>(0, a.base_zeros - k));
  if (known) {
    r.low = a.low >> k;
    r.high = a.high >> k;
  } else {
    r.low = INT64_MIN, r.high = INT64_MAX;
    if (!is_signed && k > 0)
      r.low = 0, r.high = static_cast<int64_t>(~uint64_t{0} >> (64 - bits + k));
  }
  return r;
}

Shape bitwise(Op op, const Shape& a, const Shape& b, int bits) {
  int64_t m;
  const Shape* s = &a;
  if (!constant_value(b, m)) {
    if (!constant_value(a, m)) return all_uniform(a, b);
    s = &b;
  }
  if (!s->shaped() || !disjoint(*s)) return Shape::make_varying();
  Shape r = *s;
  const uint64_t low_bits = s->base_zeros >= 63 ? ~uint64_t{0} : (uint64_t{1} << s->base_zeros) - 1;
  size_t n = s->offsets.size();
  if (const auto base = s->known_base()) {
    const auto upper = n == 0 ? m : m & ~static_cast<int64_t>(low_bits);
    set_base(r,
             op == Op::and_  ? *base & upper
             : op == Op::or_ ? *base | upper
                             : *base ^ upper,
             bits);
  }
  for (size_t i = 0; i < n; ++i) {
    int64_t part = m & static_cast<int64_t>(low_bits);
    int64_t& o = r.offsets[i];
    o = op == Op::and_ ? (o & m) : op == Op::or_ ? (o | part) : (o ^ part);
    // Lane 0 keeps the base's part, see lower: the base takes m's upper bits only.
  }
  if (op != Op::and_ && n == 0) r.base_zeros = 0;
  r.low = INT64_MIN, r.high = INT64_MAX;
  if (op == Op::and_) {
    if (m >= 0) r.low = 0, r.high = m;
    if (n == 0) r.base_zeros = std::max(r.base_zeros, zeros_of(m));
    if (m >= 0 && static_cast<uint64_t>(m) <= low_bits)
      r.base_zeros = 64;
    else
      r.base_zeros = std::max(r.base_zeros, zeros_of(m & ~static_cast<int64_t>(low_bits)));
  } else if (n != 0) {
    r.base_zeros = s->base_zeros;
    if (has_range(*s) && s->low >= 0 && m >= 0) {
      int64_t top = s->high | m;
      r.low = 0, r.high = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(top) + 1) - 1);
    }
  }
  if (bits < 64) set_range(r, r.low, r.high, bits);
  normalize(r.offsets);
  return r;
}

/// An ordered comparison whose answer is the same in all lanes: base and bound are multiples of the
/// power of two that bounds the offsets (`if (threadIdx.x < 32)`).
bool compare_is_uniform(const Instruction& inst, const Shape& a, const Shape& b) {
  int64_t bound;
  if (!constant_value(b, bound) || !disjoint(a) || a.base_zeros == 0 || !has_range(a)) return false;
  if (a.low < 0 || bound < 0) return false;
  if (inst.has(Tok::gt) || inst.has(Tok::le) || inst.has(Tok::hi) || inst.has(Tok::ls))
    ++bound;
  else if (!(inst.has(Tok::lt) || inst.has(Tok::ge) || inst.has(Tok::lo) || inst.has(Tok::hs)))
    return false;
  return zeros_of(bound) >= std::min<uint8_t>(a.base_zeros, 63);
}

/// Both operands' ranges, as numbers of the instruction's type.
bool known_ranges(const Instruction& inst, const std::vector<Shape>& regs,
                  const LaunchShape& launch, const ptx::Function& function, Shape& a, Shape& b) {
  const Type t = inst.type();
  if (!ptx::is_int(t) || t == Type::u16x2 || t == Type::s16x2 || bits_of(t) < 32) return false;
  const int bits = bits_of(t);
  for (size_t i = 1; i <= 2; ++i) {
    const Operand& o = inst.ops[i];
    if (o.kind == Operand::Kind::reg && bits_of(function.registers[o.index].type) != bits)
      return false;
    Shape& s = i == 1 ? a : b;
    s = shape_of_operand(o, regs, launch, function, static_cast<uint32_t>(bits));
    if (!s.shaped() || !has_range(s) || (!ptx::is_signed(t) && s.low < 0)) return false;
  }
  return true;
}

/// Every lane's value, read as signed, if known when the kernel is compiled.
bool known_lanes(const Shape& s, uint32_t width, int bits, std::vector<int64_t>& values) {
  const auto base = s.known_base();
  if (!base) return false;
  values.clear();
  for (uint32_t i = 0; i < width; ++i)
    values.push_back(wrap(static_cast<int64_t>(static_cast<uint64_t>(*base) +
                                               static_cast<uint64_t>(at(s.offsets, i))),
                          bits));
  return true;
}

uint64_t unsigned_value(int64_t v, int bits) {
  return static_cast<uint64_t>(v) & (~uint64_t{0} >> (64 - bits));
}

/// A comparison whose answer is known and the same in all lanes.
bool known_lanes_agree(const Instruction& inst, const Shape& a, const Shape& b, uint32_t width) {
  const int bits = bits_of(inst.type());
  std::vector<int64_t> x, y;
  if (!known_lanes(a, width, bits, x) || !known_lanes(b, width, bits, y)) return false;
  const bool is_signed = ptx::is_signed(inst.type());
  int8_t first = 0;
  for (uint32_t i = 0; i < width; ++i) {
    const bool below =
        is_signed ? x[i] < y[i] : unsigned_value(x[i], bits) < unsigned_value(y[i], bits);
    const int8_t order = below ? -1 : x[i] != y[i];
    if (i == 0) first = order;
    const bool by_equality = inst.has(Tok::eq) || inst.has(Tok::ne);
    if (by_equality ? (order == 0) != (first == 0) : order != first) return false;
  }
  return true;
}

/// One lane of an integer instruction; nothing where it is not one of those below.
std::optional<int64_t> compute_lane(const Instruction& inst, int bits, int64_t a, int64_t b) {
  const bool is_signed = ptx::is_signed(inst.type());
  const bool shifts = inst.op == Op::shl || inst.op == Op::shr;  // by 32 bits, whatever is shifted
  const uint64_t ua = unsigned_value(a, bits), ub = unsigned_value(b, shifts ? 32 : bits);
  const bool below = is_signed ? a < b : ua < ub;
  switch (inst.op) {
    case Op::min:
      return below ? a : b;
    case Op::max:
      return below ? b : a;
    case Op::shl:
      return ub >= static_cast<uint64_t>(bits) ? 0 : static_cast<int64_t>(ua << ub);
    case Op::shr:
      if (is_signed) return a >> std::min<uint64_t>(ub, static_cast<uint64_t>(bits - 1));
      return ub >= static_cast<uint64_t>(bits) ? 0 : static_cast<int64_t>(ua >> ub);
    case Op::and_:
      return a & b;
    case Op::or_:
      return a | b;
    case Op::xor_:
      return a ^ b;
    case Op::div:
    case Op::rem:
      if (b <= 0) return std::nullopt;  // zeros, and dividends that overflow
      if (is_signed) return inst.op == Op::div ? a / b : a % b;
      return static_cast<int64_t>(inst.op == Op::div ? ua / ub : ua % ub);
    default:
      return std::nullopt;
  }
}

}  // namespace

bool is_constant(const Shape& shape) {
  return shape.uniform() && has_range(shape) && shape.low == shape.high;
}

size_t settled_operand(const Instruction& inst, const std::vector<Shape>& regs,
                       const LaunchShape& launch, const ptx::Function& function) {
  if (inst.op != Op::min && inst.op != Op::max) return 0;
  if (inst.ops.size() != 3 || inst.has(Tok::relu)) return 0;
  Shape a, b;
  if (!known_ranges(inst, regs, launch, function, a, b)) return 0;
  const size_t smaller = a.high <= b.low ? 1 : b.high <= a.low ? 2 : 0;
  return smaller == 0 ? 0 : inst.op == Op::min ? smaller : 3 - smaller;
}

int settled_comparison(const Instruction& inst, const std::vector<Shape>& regs,
                       const LaunchShape& launch, const ptx::Function& function) {
  if (inst.op != Op::setp || inst.ops.size() != 3) return -1;
  Shape a, b;
  if (!known_ranges(inst, regs, launch, function, a, b)) return -1;
  auto is = [&](Tok x, Tok y) { return inst.has(x) || inst.has(y); };
  if (inst.has(Tok::eq)) return a.high < b.low || b.high < a.low ? 0 : -1;
  if (inst.has(Tok::ne)) return a.high < b.low || b.high < a.low ? 1 : -1;
  if (is(Tok::lt, Tok::lo)) return a.high < b.low ? 1 : a.low >= b.high ? 0 : -1;
  if (is(Tok::le, Tok::ls)) return a.high <= b.low ? 1 : a.low > b.high ? 0 : -1;
  if (is(Tok::gt, Tok::hi)) return a.low > b.high ? 1 : a.high <= b.low ? 0 : -1;
  if (is(Tok::ge, Tok::hs)) return a.low >= b.high ? 1 : a.high < b.low ? 0 : -1;
  return -1;
}

bool progression(const Offsets& o, int64_t stride, size_t first, size_t count) {
  if (count == 0) count = o.size();
  for (size_t i = 1; i < count; ++i)
    if (o[first + i] - o[first] != static_cast<int64_t>(i) * stride) return false;
  return true;
}

Shape Shape::make_constant(int64_t value) {
  Shape s = make_uniform();
  s.base_zeros = zeros_of(value);
  s.low = s.high = s.base = value;
  s.base_known = true;
  return s;
}

Shape join(const Shape& a, const Shape& b) {
  if (a.kind == Shape::Kind::undef) return b;
  if (b.kind == Shape::Kind::undef) return a;
  if (a.varying() || b.varying() || a.offsets != b.offsets) return Shape::make_varying();
  Shape r = a;
  r.guarded |= b.guarded;
  r.base_zeros = std::min(a.base_zeros, b.base_zeros);
  if (!b.base_known || a.base != b.base) r.base_known = false, r.base = 0;
  r.low = std::min(a.low, b.low);
  r.high = std::max(a.high, b.high);
  if (!has_range(a) || !has_range(b)) r.low = INT64_MIN, r.high = INT64_MAX;
  return r;
}

int bits_of(Type type) { return type == Type::pred ? 1 : static_cast<int>(ptx::size_of(type) * 8); }

namespace {

Shape shape_of_tid(uint8_t c, const LaunchShape& l) {
  if (!l.block_known()) {
    Shape s = Shape::make_varying();
    return s;
  }
  const uint32_t w = l.width, bx = l.block[0], by = l.block[1], bz = l.block[2];
  const int64_t extent = c == 0 ? bx : c == 1 ? by : bz;
  Shape s = Shape::make_uniform();
  s.low = 0;
  s.high = extent - 1;
  if (extent == 1) return Shape::make_constant(0);
  uint8_t wz = static_cast<uint8_t>(std::countr_zero(w));
  auto lanes = [&](auto f) {
    for (uint32_t i = 0; i < w; ++i) s.offsets.push_back(f(i));
    normalize(s.offsets);
  };
  if (c == 0) {
    if (bx % w == 0 || (by == 1 && bz == 1)) {
      lanes([](uint32_t i) { return static_cast<int64_t>(i); });
      s.base_zeros = bx <= w ? 64 : wz;
      return s;
    }
    if (w % bx == 0) {
      lanes([&](uint32_t i) { return static_cast<int64_t>(i % bx); });
      s.base_zeros = 64;
      return s;
    }
    return Shape::make_varying();
  }
  if (c == 1) {
    if (bx % w == 0) return s;
    if (w % bx == 0) {
      uint32_t rows = w / bx;  // rows of the block in one warp
      if (by % rows == 0 || bz == 1) {
        lanes([&](uint32_t i) { return static_cast<int64_t>(i / bx); });
        s.base_zeros = by <= rows ? 64 : static_cast<uint8_t>(std::countr_zero(rows));
        return s;
      }
      if (rows % by == 0) {
        lanes([&](uint32_t i) { return static_cast<int64_t>(i / bx % by); });
        s.base_zeros = 64;
        return s;
      }
    }
    return Shape::make_varying();
  }
  const uint32_t plane = bx * by;
  if (plane % w == 0) return s;
  if (w % plane == 0) {
    lanes([&](uint32_t i) { return static_cast<int64_t>(i / plane); });
    s.base_zeros = static_cast<uint8_t>(std::countr_zero(w / plane));
    return s;
  }
  return Shape::make_varying();
}

Shape shape_by_sreg(SReg sreg, uint8_t c, const LaunchShape& l);

}  // namespace

Shape shape_of_sreg(SReg sreg, uint8_t c, const LaunchShape& l) {
  Shape s = shape_by_sreg(sreg, c, l);
  if (s.shaped() && s.base_zeros == 64) s.base_known = true, s.base = 0;
  return s;
}

namespace {

Shape shape_by_sreg(SReg sreg, uint8_t c, const LaunchShape& l) {
  Shape s = Shape::make_uniform();
  if (l.scalar) {
    if (sreg == SReg::ntid && l.block_known() && c < 3) return Shape::make_constant(l.block[c]);
    return s;
  }
  switch (sreg) {
    case SReg::tid:
      if (c > 2) return Shape::make_constant(0);
      return shape_of_tid(c, l);
    case SReg::ntid:
      if (l.block_known() && c < 3) return Shape::make_constant(l.block[c]);
      s.low = 1, s.high = 1024;
      return s;
    case SReg::ctaid:
    case SReg::nctaid: {
      int64_t limit = 0x7fffffff;
      if (l.small_grid && c < 3 && l.block_known()) limit = ((int64_t{1} << 30) - 1) / l.block[c];
      s.low = sreg == SReg::nctaid ? 1 : 0;
      s.high = limit;
      return s;
    }
    case SReg::laneid:
    case SReg::lanemask_eq:
    case SReg::lanemask_lt:
    case SReg::lanemask_le:
    case SReg::lanemask_gt:
    case SReg::lanemask_ge: {
      if (sreg != SReg::laneid || l.width != 32) return Shape::make_varying();
      for (uint32_t i = 0; i < 32; ++i) s.offsets.push_back(i);
      s.base_zeros = 64;
      s.low = 0, s.high = 31;
      return s;
    }
    default:
      return s;
  }
}

}  // namespace

/// Of an address only what a variable in shared memory was declared with is known.
Shape shape_of_symbol(const Operand& o, const LaunchShape& launch, const ptx::Function& function) {
  Shape s = Shape::make_uniform();
  const ptx::Variable* variable = nullptr;
  if (o.symbol_kind == Operand::SymbolKind::local_variable)
    variable = &function.locals[o.index];
  else if (o.symbol_kind == Operand::SymbolKind::variable && launch.variables)
    variable = &(*launch.variables)[o.index];
  if (variable && variable->space == ptx::Space::shared)
    s.base_zeros = std::min(zeros_of(std::max(1u, variable->align)), zeros_of(o.bits));
  return s;
}

Shape shape_of_operand(const Operand& o, const std::vector<Shape>& regs, const LaunchShape& launch,
                       const ptx::Function& function, uint32_t bits) {
  switch (o.kind) {
    case Operand::Kind::reg:
      if (o.negated && !regs[o.index].uniform()) return Shape::make_varying();
      return regs[o.index];
    case Operand::Kind::imm:
      if (o.imm_is_float) return Shape::make_uniform();
      return Shape::make_constant(wrap(o.bits, bits ? static_cast<int>(bits) : 64));
    case Operand::Kind::sreg:
      return shape_of_sreg(o.sreg, o.component, launch);
    case Operand::Kind::symbol:
      if (o.symbol_kind == Operand::SymbolKind::local_variable && !launch.scalar &&
          function.locals[o.index].space == ptx::Space::local) {
        // One frame a lane: the base is the first lane's, see lower_memory.cpp.
        Shape s = Shape::make_uniform();
        for (uint32_t i = 0; i < launch.width; ++i)
          s.offsets.push_back(int64_t{i} * launch.frame_bytes);
        normalize(s.offsets);
        return s;
      }
      if (!launch.scalar && !function.is_entry &&
          (o.symbol_kind == Operand::SymbolKind::param ||
           (o.symbol_kind == Operand::SymbolKind::local_variable &&
            function.locals[o.index].space == ptx::Space::param)))
        return Shape::make_varying();
      if (!launch.scalar && o.symbol_kind == Operand::SymbolKind::local_variable &&
          function.locals[o.index].space == ptx::Space::param)
        return Shape::make_varying();
      return shape_of_symbol(o, launch, function);
    case Operand::Kind::vector:
    case Operand::Kind::pair: {
      Shape s;
      for (const Operand& e : o.elems)
        s = all_uniform(s.kind == Shape::Kind::undef ? Shape::make_uniform() : s,
                        shape_of_operand(e, regs, launch, function, bits));
      return s;
    }
    default:
      return Shape::make_uniform();
  }
}

namespace {

struct Eval {
  const Instruction& inst;
  const std::vector<Shape>& regs;
  const LaunchShape& launch;
  const ptx::Function& function;

  Shape op(size_t i, int bits = 0) const {
    if (i >= inst.ops.size()) return Shape::make_uniform();
    return shape_of_operand(inst.ops[i], regs, launch, function, static_cast<uint32_t>(bits));
  }

  Shape uniform_if_all(size_t from) const {
    for (size_t i = from; i < inst.ops.size(); ++i) {
      Shape s = op(i);
      if (!s.uniform() || s.guarded)
        return s.kind == Shape::Kind::undef ? s : Shape::make_varying();
    }
    return Shape::make_uniform();
  }

  bool any_undef() const {
    for (size_t i = 1; i < inst.ops.size(); ++i)
      if (op(i).kind == Shape::Kind::undef) return true;
    return false;
  }

  /// Where all lanes of both operands are known, so are the result's.
  Shape lane_by_lane() const {
    const Shape varying = Shape::make_varying();
    if (inst.type_count != 1 || !ptx::is_int(inst.type()) || inst.ops.size() != 3 ||
        inst.has(Tok::sat) || inst.has(Tok::relu) || inst.ops[0].kind != Operand::Kind::reg)
      return varying;
    const int bits = bits_of(inst.type());
    const bool shifts = inst.op == Op::shl || inst.op == Op::shr;
    std::vector<int64_t> a, b;
    if (!known_lanes(op(1, bits), launch.width, bits, a) ||
        !known_lanes(op(2, shifts ? 32 : bits), launch.width, shifts ? 32 : bits, b))
      return varying;
    Shape s = Shape::make_uniform();
    for (uint32_t i = 0; i < launch.width; ++i) {
      const auto v = compute_lane(inst, bits, a[i], b[i]);
      if (!v) return varying;
      const int64_t value = wrap(*v, bits);
      if (i == 0) s = Shape::make_constant(value);
      s.offsets.push_back(
          wrap(static_cast<int64_t>(static_cast<uint64_t>(value) - static_cast<uint64_t>(s.base)),
               bits));
      s.low = std::min(s.low, value), s.high = std::max(s.high, value);
    }
    normalize(s.offsets);
    return s;
  }

  Shape convert() const {
    Type to = inst.type(0), from = inst.type(1);
    if (!ptx::is_int(to) || !ptx::is_int(from) || inst.has(Tok::sat)) return uniform_if_all(1);
    int tb = bits_of(to), fb = bits_of(from);
    // Registers wider than the source type are read through it.
    Shape a = op(1, fb);
    if (!a.shaped()) return a;
    if (inst.ops[1].kind == Operand::Kind::reg &&
        bits_of(function.registers[inst.ops[1].index].type) > fb)
      a = truncate(a, fb);
    if (tb > fb) return widen(a, fb, tb, ptx::is_signed(from));
    return tb < fb ? truncate(a, tb) : a;
  }

  Shape multiply_add(const Shape& product, int bits, size_t c) const {
    return add(product, op(c, bits), bits, false);
  }

  Shape product() const {
    Type t = inst.type();
    int bits = bits_of(t);
    Shape a = op(1, bits), b = op(2, bits);
    if (inst.has(Tok::wide)) {
      bool sg = ptx::is_signed(t);
      Shape wa = widen(a, bits, bits * 2, sg), wb = widen(b, bits, bits * 2, sg);
      return multiply(wa, wb, bits * 2);
    }
    if (inst.has(Tok::hi)) return all_uniform(a, b);
    return multiply(a, b, bits);
  }

  Shape select() const {
    int bits = bits_of(inst.type());
    Shape p = op(3);
    if (!p.uniform()) return Shape::make_varying();
    Shape s = join(op(1, bits), op(2, bits));
    return s;
  }

  Shape compare() const {
    int bits = bits_of(inst.type());
    Shape all = uniform_if_all(1);
    if (all.uniform()) return all;
    if (settled_comparison(inst, regs, launch, function) >= 0) return Shape::make_uniform();
    if (ptx::is_int(inst.type()) && inst.ops.size() == 3 &&
        (compare_is_uniform(inst, op(1, bits), op(2, bits)) ||
         known_lanes_agree(inst, op(1, bits), op(2, bits), launch.width)))
      return Shape::make_uniform();
    return Shape::make_varying();
  }

  Shape load() const {
    if (inst.has(Tok::param) && inst.ops[1].kind == Operand::Kind::address &&
        inst.ops[1].symbol_kind != Operand::SymbolKind::none)
      return function.is_entry && inst.ops[1].symbol_kind == Operand::SymbolKind::param
                 ? Shape::make_uniform()
                 : Shape::make_varying();
    if (inst.has(Tok::local)) return Shape::make_varying();
    const Operand& a = inst.ops[1];
    Shape s = Shape::make_uniform();
    if (a.symbol_kind == Operand::SymbolKind::none && a.index != ptx::no_index)
      s = regs[a.index];
    else if (a.symbol_kind == Operand::SymbolKind::local_variable &&
             function.locals[a.index].space == ptx::Space::local)
      return Shape::make_varying();
    return s.uniform() && !s.guarded      ? Shape::make_uniform()
           : s.kind == Shape::Kind::undef ? s
                                          : Shape::make_varying();
  }

  /// One barrier for all lanes: one answer.
  Shape mbarrier_wait() const {
    const Operand& a = inst.ops[1];
    Shape s = Shape::make_uniform();
    if (a.symbol_kind == Operand::SymbolKind::none && a.index != ptx::no_index) s = regs[a.index];
    if (s.kind == Shape::Kind::undef) return s;
    if (!s.uniform() || s.guarded) return Shape::make_varying();
    // States differ by lane, by what they say beside the phase. The lanes wait for all their
    // phases.
    return inst.has(Tok::parity) ? uniform_if_all(2) : Shape::make_uniform();
  }

  Shape warp_op() const {
    switch (inst.op) {
      case Op::activemask:
        return Shape::make_uniform();
      case Op::vote:
      case Op::redux: {
        // Lanes with different member masks form groups, each with a result of its own.
        Shape member = op(2);
        return member.kind == Shape::Kind::undef || member.uniform() ? Shape::make_uniform()
                                                                     : Shape::make_varying();
      }
      case Op::shfl: {
        // idx mode from one lane of a whole warp is a broadcast.
        Shape lane = op(2), clamp = op(3);
        int64_t c;
        bool whole = constant_value(clamp, c) && c == 31;
        if (inst.has(Tok::idx) && whole && lane.uniform() && op(4).uniform())
          return Shape::make_uniform();
        return Shape::make_varying();
      }
      default:
        return Shape::make_varying();
    }
  }
};

bool is_linear_int(Type t) { return ptx::is_int(t); }

Shape by_rule(const Eval& e);

}  // namespace

Shape transfer(const Instruction& inst, const std::vector<Shape>& regs, const LaunchShape& launch,
               const ptx::Function& function) {
  if (launch.scalar) return Shape::make_uniform();
  const Eval e{inst, regs, launch, function};
  const Shape s = by_rule(e);
  return s.varying() ? e.lane_by_lane() : s;
}

namespace {

Shape by_rule(const Eval& e) {
  const Instruction& inst = e.inst;
  const Type t = inst.type_count ? inst.type(0) : Type::b32;
  const int bits = inst.type_count ? bits_of(t) : 32;
  switch (inst.op) {
    case Op::ld:
    case Op::ldu:
      return e.load();
    case Op::vote:
    case Op::activemask:
    case Op::redux:
    case Op::shfl:
    case Op::match:
      return e.warp_op();
    case Op::atom:
    case Op::call:
    case Op::elect:
    case Op::mma:
    case Op::wmma:
    case Op::ldmatrix:
    case Op::movmatrix:
      return Shape::make_varying();
    case Op::bar:
    case Op::barrier:
      return Shape::make_uniform();
    case Op::tex:
    case Op::tld4:
    case Op::txq:
    case Op::suq:
    case Op::istypep:
    case Op::suld:
    case Op::alloca:
      return Shape::make_varying();
    case Op::mbarrier:
      if (!inst.has(Tok::test_wait) && !inst.has(Tok::try_wait)) return Shape::make_varying();
      return e.mbarrier_wait();
    default:
      break;
  }
  if (e.any_undef()) return Shape{};
  switch (inst.op) {
    case Op::addc:
    case Op::subc:
    case Op::madc:
      return Shape::make_varying();  // the carry is, see Planner
    case Op::mov:
      if (inst.ops[0].kind == Operand::Kind::vector || inst.ops[1].kind == Operand::Kind::vector)
        return e.uniform_if_all(1);
      return e.op(1, bits);
    case Op::cvta: {
      Shape s = e.op(1, bits);
      if (s.shaped() &&
          (inst.has(Tok::shared) || inst.has(Tok::shared__cta) || inst.has(Tok::shared__cluster))) {
        // Moved by the window's host address, of which only 128-byte alignment is known.
        s.base_zeros = std::min<uint8_t>(s.base_zeros, 7);
        s.low = INT64_MIN, s.high = INT64_MAX;
        s.base_known = false, s.base = 0;
      }
      return s;
    }
    case Op::cvt:
      return e.convert();
    case Op::add:
    case Op::sub:
      if (is_linear_int(t) && !inst.has(Tok::sat) && !inst.has(Tok::cc))
        return add(e.op(1, bits), e.op(2, bits), bits, inst.op == Op::sub);
      return e.uniform_if_all(1);
    case Op::neg:
      if (is_linear_int(t)) return add(Shape::make_constant(0), e.op(1, bits), bits, true);
      return e.uniform_if_all(1);
    case Op::not_:  // -1 - x
      if (t == Type::pred) return e.uniform_if_all(1);
      return add(Shape::make_constant(-1), e.op(1, bits), bits, true);
    case Op::mul:
      if (is_linear_int(t)) return e.product();
      return e.uniform_if_all(1);
    case Op::mad:
      if (is_linear_int(t) && !inst.has(Tok::hi) && !inst.has(Tok::cc) && !inst.has(Tok::sat))
        return e.multiply_add(e.product(), inst.has(Tok::wide) ? bits * 2 : bits, 3);
      return e.uniform_if_all(1);
    case Op::shl: {
      Shape k = e.op(2, 32);
      int64_t c;
      if (!constant_value(k, c) || c < 0 || c >= bits) return all_uniform(e.op(1, bits), k);
      return multiply(e.op(1, bits),
                      Shape::make_constant(wrap(static_cast<int64_t>(uint64_t{1} << c), bits)),
                      bits);
    }
    case Op::shr:
      return shift_right(e.op(1, bits), e.op(2, 32), bits, ptx::is_signed(t));
    case Op::and_:
    case Op::or_:
    case Op::xor_:
      if (t == Type::pred) return e.uniform_if_all(1);
      return bitwise(inst.op, e.op(1, bits), e.op(2, bits), bits);
    case Op::selp:
      return e.select();
    case Op::setp:
      return e.compare();
    case Op::min:
    case Op::max:
      if (const size_t which = settled_operand(inst, e.regs, e.launch, e.function))
        return e.op(which, bits);
      return e.uniform_if_all(1);
    default:
      return e.uniform_if_all(1);
  }
}

}  // namespace

}  // namespace limen::simt
