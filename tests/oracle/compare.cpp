// setp, set, selp and slct for every type. Source: PTX ISA 9.0
// #comparison-and-selection-instructions, #half-precision-comparison-instructions.
#include "machine.h"

namespace limen::oracle {
namespace {

bool holds(const Instruction& i, int order) {
  const bool unordered = order == 2;
  if (i.has(Tok::nan)) return unordered;
  if (i.has(Tok::num)) return !unordered;
  if (i.has(Tok::equ)) return unordered || order == 0;
  if (i.has(Tok::neu)) return unordered || order != 0;
  if (i.has(Tok::ltu)) return unordered || order < 0;
  if (i.has(Tok::leu)) return unordered || order <= 0;
  if (i.has(Tok::gtu)) return unordered || order > 0;
  if (i.has(Tok::geu)) return unordered || order >= 0;
  if (unordered) return false;
  if (i.has(Tok::eq)) return order == 0;
  if (i.has(Tok::ne)) return order != 0;
  if (i.has(Tok::lt) || i.has(Tok::lo)) return order < 0;
  if (i.has(Tok::le) || i.has(Tok::ls)) return order <= 0;
  if (i.has(Tok::gt) || i.has(Tok::hi)) return order > 0;
  return order >= 0;  // ge, hs
}

bool combine(const Instruction& i, bool a, bool c) {
  if (i.has(Tok::and_)) return a && c;
  if (i.has(Tok::or_)) return a || c;
  if (i.has(Tok::xor_)) return a != c;
  return a;
}

bool has_combination(const Instruction& i) {
  return i.has(Tok::and_) || i.has(Tok::or_) || i.has(Tok::xor_);
}

/// What `set` writes for true in one element.
uint64_t truth(Type type) {
  switch (type) {
    case Type::f32:
      return 0x3f800000;
    case Type::f16:
    case Type::f16x2:
      return 0x3c00;
    case Type::bf16:
    case Type::bf16x2:
      return 0x3f80;
    default:
      return ~uint64_t{0};
  }
}

}  // namespace

bool Machine::compare_once(const Instruction& i, Type type, uint64_t a, uint64_t b) const {
  if (has_format(type)) {
    const Format& f = format_of(type);
    if (i.has(Tok::ftz)) {
      a = flush(f, a);
      b = flush(f, b);
    }
    return holds(i, compare(f, a, b));
  }
  const __int128 x = extend(type, a), y = extend(type, b);
  return holds(i, x < y ? -1 : x > y);
}

void Machine::compare_and_set(Thread& t, const Instruction& i) {
  if (i.op == Op::selp) {
    // Both are read: a value that is not selected must exist all the same.
    const Wide a = read(t, i, i.ops[1], i.type()), b = read(t, i, i.ops[2], i.type());
    write(t, i.ops[0], read_predicate(t, i, i.ops[3]) ? a : b);
    return;
  }
  if (i.op == Op::slct) {
    const Wide a = read(t, i, i.ops[1], i.type()), b = read(t, i, i.ops[2], i.type());
    const uint64_t c = read64(t, i, i.ops[3], i.type(1));
    bool first;
    if (i.type(1) == Type::f32) {
      const int order = compare(f32, i.has(Tok::ftz) ? flush(f32, c) : c, 0);
      first = order == 0 || order == 1;
    } else {
      first = !(c >> 31 & 1);
    }
    write(t, i.ops[0], first ? a : b);
    return;
  }
  const Type type = i.op == Op::set ? i.type(1) : i.type();
  const bool packed = type == Type::f16x2 || type == Type::bf16x2;
  const uint64_t a = read64(t, i, i.ops[1], type), b = read64(t, i, i.ops[2], type);
  const bool c = has_combination(i) && read_predicate(t, i, i.ops[3]);
  bool result[2];
  if (packed) {
    for (uint32_t n = 0; n < 2; ++n)
      result[n] = compare_once(i, type, a >> 16 * n & 0xffff, b >> 16 * n & 0xffff);
  } else {
    result[0] = compare_once(i, type, a, b);
    result[1] = !result[0];
  }
  const bool p = combine(i, result[0], c), q = combine(i, result[1], c);
  if (i.op == Op::setp) {
    const bool pair = i.ops[0].kind == Operand::Kind::pair;
    write(t, pair ? i.ops[0].elems[0] : i.ops[0], p);
    if (pair) write(t, i.ops[0].elems[1], q);
    return;
  }
  const uint64_t one = truth(i.type());
  const uint64_t low = p ? one : 0, high = q ? one : 0;
  write(t, i.ops[0], packed ? (low & 0xffff) | (high & 0xffff) << 16 : low);
}

}  // namespace limen::oracle
