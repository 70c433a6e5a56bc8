// Scalar and SIMD video instructions, without selectors (the parser refuses those). Source: PTX ISA
// 9.0 #video-instructions.
#include <algorithm>

#include "compiler/ptx/table.h"
#include "machine.h"

namespace limen::oracle {
namespace {

using Signed = __int128;

Signed clamp_to(bool is_signed, uint32_t width, Signed v) {
  const Signed low = is_signed ? -(Signed{1} << (width - 1)) : 0;
  const Signed high = (Signed{1} << (width - (is_signed ? 1 : 0))) - 1;
  return std::clamp(v, low, high);
}

Signed part(Type type, uint64_t v, uint32_t width, uint32_t n) {
  const Signed bits = static_cast<Signed>(v >> width * n & ((uint64_t{1} << width) - 1));
  return ptx::is_signed(type) && bits >> (width - 1) ? bits - (Signed{1} << width) : bits;
}

bool holds(const Instruction& i, Signed a, Signed b) {
  if (i.has(Tok::eq)) return a == b;
  if (i.has(Tok::ne)) return a != b;
  if (i.has(Tok::lt)) return a < b;
  if (i.has(Tok::le)) return a <= b;
  if (i.has(Tok::gt)) return a > b;
  return a >= b;
}

}  // namespace

bool Machine::video(Thread& t, const Instruction& i) {
  switch (i.op) {
    case Op::vadd:
    case Op::vsub:
    case Op::vabsdiff:
    case Op::vmin:
    case Op::vmax:
    case Op::vshl:
    case Op::vshr:
    case Op::vmad:
    case Op::vset:
      video_scalar(t, i);
      return true;
    case Op::vadd2:
    case Op::vsub2:
    case Op::vavrg2:
    case Op::vabsdiff2:
    case Op::vmin2:
    case Op::vmax2:
    case Op::vset2:
      video_simd(t, i, 2);
      return true;
    case Op::vadd4:
    case Op::vsub4:
    case Op::vavrg4:
    case Op::vabsdiff4:
    case Op::vmin4:
    case Op::vmax4:
    case Op::vset4:
      video_simd(t, i, 4);
      return true;
    default:
      return false;
  }
}

void Machine::video_scalar(Thread& t, const Instruction& i) {
  const bool sets = i.op == Op::vset;
  const Type to = sets ? Type::u32 : i.type(0);
  const Type atype = i.type(sets ? 0 : 1), btype = i.type(sets ? 1 : 2);
  const Signed a = extend(atype, read(t, i, i.ops[1], atype));
  const Signed b = extend(btype, read(t, i, i.ops[2], btype));
  const bool third = i.ops.size() > 3;
  const Wide c_bits = third ? read(t, i, i.ops[3], Type::b32) : 0;
  const Signed c = extend(to, c_bits);
  const Signed n = i.has(Tok::clamp) ? std::min<Signed>(b, 32) : b & 31;
  bool is_signed = ptx::is_signed(to);
  Signed v = 0;
  switch (i.op) {
    case Op::vadd:
      v = a + b;
      break;
    case Op::vsub:
      v = a - b;
      break;
    case Op::vabsdiff:
      v = a < b ? b - a : a - b;
      break;
    case Op::vmin:
      v = std::min(a, b);
      break;
    case Op::vmax:
      v = std::max(a, b);
      break;
    case Op::vshl:
      v = a * (Signed{1} << n);
      break;
    case Op::vshr:
      v = a >> n;
      break;
    case Op::vset:
      v = holds(i, a, b);
      break;
    default:  // vmad
      is_signed = ptx::is_signed(atype) || ptx::is_signed(btype);
      v = a * b + (is_signed ? extend(Type::s32, c_bits) : extend(Type::u32, c_bits)) +
          i.has(Tok::po);
      v >>= i.has(Tok::shr7) ? 7 : i.has(Tok::shr15) ? 15 : 0;
      break;
  }
  if (i.has(Tok::sat)) {
    // As an H200 has it (tests/golden/video.golden): a sum beyond u32 keeps its low word, and of what
    // was shifted left 34 bits count.
    const bool shifts = i.op == Op::vshl || i.op == Op::vshr;
    if (i.op == Op::vshl) v = static_cast<Signed>(static_cast<unsigned __int128>(v) << 94) >> 94;
    v = is_signed || shifts ? clamp_to(is_signed, 32, v) : std::max<Signed>(v, 0);
  }
  if (i.op != Op::vmad && third) {
    v = extend(to, static_cast<Wide>(v));
    if (i.has(Tok::add))
      v += c;
    else if (i.has(Tok::min))
      v = std::min(v, c);
    else
      v = std::max(v, c);
  }
  write(t, i.ops[0], static_cast<Wide>(v));
}

void Machine::video_simd(Thread& t, const Instruction& i, unsigned parts) {
  const uint32_t width = 32 / parts;
  const bool sets = i.op == Op::vset2 || i.op == Op::vset4;
  const Type to = sets ? Type::u32 : i.type(0);
  const Type atype = i.type(sets ? 0 : 1), btype = i.type(sets ? 1 : 2);
  const uint64_t a_bits = read64(t, i, i.ops[1], Type::b32),
                 b_bits = read64(t, i, i.ops[2], Type::b32), c = read64(t, i, i.ops[3], Type::b32);
  const bool sums = i.has(Tok::add);
  Wide d = sums ? c : 0;
  for (uint32_t n = 0; n < parts; ++n) {
    const Signed a = part(atype, a_bits, width, n), b = part(btype, b_bits, width, n);
    Signed v = 0;
    switch (i.op) {
      case Op::vadd2:
      case Op::vadd4:
        v = a + b;
        break;
      case Op::vsub2:
      case Op::vsub4:
        v = a - b;
        break;
      case Op::vavrg2:
      case Op::vavrg4:
        v = a + b >= 0 ? (a + b + 1) >> 1 : (a + b) >> 1;
        break;
      case Op::vabsdiff2:
      case Op::vabsdiff4:
        v = a < b ? b - a : a - b;
        break;
      case Op::vmin2:
      case Op::vmin4:
        v = std::min(a, b);
        break;
      case Op::vmax2:
      case Op::vmax4:
        v = std::max(a, b);
        break;
      default:
        v = holds(i, a, b);
        break;
    }
    if (i.has(Tok::sat)) v = clamp_to(ptx::is_signed(to), width, v);
    if (sums)
      d += static_cast<Wide>(v);
    else
      d |= (static_cast<Wide>(v) & mask_of(width)) << width * n;
  }
  write(t, i.ops[0], d);
}

}  // namespace limen::oracle
