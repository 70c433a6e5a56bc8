// See random_instructions.h.
#include "random_instructions.h"

namespace limen::test {
const char* RandomInstructions::scratch_registers() {
  return ".reg .b16 %h<4>;\n.reg .b64 %x<4>;\n.reg .pred %z<2>;\n.reg .b32 %y<4>;\n"
         ".reg .f32 %g<4>;\n.reg .f64 %k<2>;\n";
}

std::string RandomInstructions::value() {
  switch (pick(4)) {
    case 0:
      return std::to_string(static_cast<int>(pick(64)) - 16);
    case 1:
      return pick(3) ? std::to_string(1 << pick(8))
                     : std::to_string(static_cast<int32_t>(random_()));
    default:
      return reg();
  }
}

std::string RandomInstructions::wide_value() {
  switch (pick(4)) {
    case 0:
      return std::to_string(static_cast<int>(pick(99)) - 20);
    case 1:
      return fmt::format("{}", static_cast<int64_t>(random_()) >> pick(60));
    default:
      return wide();
  }
}

void RandomInstructions::any_instruction() {
  switch (pick(26)) {
    default:
      return basic();
    case 22:
      return typed_floats();
    case 23:
    case 24:
      return typed_moves();
    case 25:
      return typed_doubles();
    case 6:
    case 7:
      return basic_wide();
    case 8:
      return integer();
    case 9:
      return bits();
    case 10:
      return integer64();
    case 11:
      return bits64();
    case 12:
      return carry();
    case 13:
      return halfwords();
    case 14:
      return bytes();
    case 15:
      return pick(2) ? video() : predicates_only();
    case 16:
      return single();
    case 17:
      return single_compare();
    case 18:
      return single_convert();
    case 19:
      return pick(2) ? twice() : twice_convert();
    case 20:
      return halves();
    case 21:
      return pick(2) ? half() : small_floats();
  }
}

/// What address arithmetic and loops are made of; values often stay shaped.
void RandomInstructions::basic() {
  const std::string g = guard();
  switch (pick(8)) {
    case 0:
    case 1:
    case 2:
      return emit("{}{} {}, {}, {}", g,
                  pick(3)
                      ? pick({"add.s32", "sub.s32", "mul.lo.s32", "and.b32", "or.b32", "xor.b32"})
                      : pick({"min.s32", "max.u32", "min.u32", "div.u32", "rem.s32", "div.s32",
                              "rem.u32", "max.s32"}),
                  reg(), reg(), value());
    case 3:
      return emit("{}mov.u32 {}, {}", g, reg(), value());
    case 4:
      return emit("{}{} {}, {}, {}", g, pick({"shl.b32", "shr.u32", "shr.s32"}), reg(), reg(),
                  shift());
    case 5:
      return emit("{}setp.{}.{} {}, {}, {}", g, pick({"eq", "ne", "lt", "le", "gt", "ge"}),
                  pick({"s32", "u32"}), pred(), reg(), value());
    case 6:
      return emit("{}selp.b32 {}, {}, {}, {}", g, reg(), value(), reg(), pred());
    default:
      return emit("{}mad.lo.s32 {}, {}, {}, {}", g, reg(), reg(), value(), reg());
  }
}

void RandomInstructions::basic_wide() {
  const std::string g = guard();
  switch (pick(4)) {
    case 0:
      return emit("{}mul.wide.{} {}, {}, {}", g, pick({"s32", "u32"}), wide(), reg(),
                  pick(2) ? std::to_string(1 << pick(5)) : value());
    case 1:
      return emit("{}cvt.{} {}, {}", g, pick({"s64.s32", "u64.u32"}), wide(), reg());
    case 2:
      return emit("{}{} {}, {}, {}", g, pick({"add.s64", "sub.s64"}), wide(), wide(), wide_value());
    default:
      return emit("{}cvt.u32.u64 {}, {}", g, reg(), wide());
  }
}

void RandomInstructions::integer() {
  const std::string g = guard();
  switch (pick(9)) {
    case 0:
      return emit("{}mul.hi.{} {}, {}, {}", g, pick({"s32", "u32"}), reg(), reg(), value());
    case 1:
      return emit("{}{} {}, {}, {}, {}", g,
                  pick({"mad.hi.s32", "mad.hi.u32", "mad.hi.sat.s32", "mad24.lo.s32",
                        "mad24.hi.u32", "sad.s32", "sad.u32"}),
                  reg(), reg(), value(), reg());
    case 2:
      return emit("{}{} {}, {}, {}", g, pick({"add.sat.s32", "sub.sat.s32"}), reg(), reg(),
                  value());
    case 3:
      return emit("{}{} {}, {}, {}", g,
                  pick({"mul24.lo.s32", "mul24.lo.u32", "mul24.hi.s32", "mul24.hi.u32"}), reg(),
                  reg(), value());
    case 4:
      return emit("{}{} {}, {}", g, pick({"abs.s32", "neg.s32", "not.b32", "cnot.b32"}), reg(),
                  reg());
    case 5:
      return emit("{}{}.relu.s32 {}, {}, {}", g, pick({"min", "max"}), reg(), reg(), value());
    case 6:
      return emit("{}mad.wide.{} {}, {}, {}, {}", g, pick({"s32", "u32"}), wide(), reg(), value(),
                  wide());
    case 7:
      return emit("{}cvt{} {}, {}", g,
                  pick({".s32.s8", ".u32.u8", ".s32.s16", ".u32.u16", ".sat.s8.s32", ".sat.u8.s32",
                        ".sat.u16.u32", ".sat.s16.u32", ".sat.u32.s32", ".sat.s32.u32"}),
                  reg(), reg());
    default:
      return emit("{}slct.b32.s32 {}, {}, {}, {}", g, reg(), reg(), value(), reg());
  }
}

void RandomInstructions::bits() {
  const std::string g = guard();
  switch (pick(9)) {
    case 0:
      return emit("{}{} {}, {}", g,
                  pick({"popc.b32", "clz.b32", "brev.b32", "bfind.u32", "bfind.s32",
                        "bfind.shiftamt.u32", "bfind.shiftamt.s32"}),
                  reg(), reg());
    case 1:
      // A constant position outside of the value is folded or not by ptxas' level
      // (lower_integer.cpp).
      if (pick(2))
        return emit("{}bfe.s32 {}, {}, {}, {}", g, reg(), reg(),
                    pick(4) ? std::to_string(pick(32)) : reg(), shift());
      return emit("{}bfe.u32 {}, {}, {}, {}", g, reg(), reg(), shift(), shift());
    case 2:
      return emit("{}bfi.b32 {}, {}, {}, {}, {}", g, reg(), reg(), value(), shift(), shift());
    case 3:
      return emit("{}lop3.b32 {}, {}, {}, {}, {}", g, reg(), reg(), value(), reg(), pick(256));
    case 4:
      return emit("{}shf.{}.{}.b32 {}, {}, {}, {}", g, pick({"l", "r"}), pick({"clamp", "wrap"}),
                  reg(), reg(), reg(), shift());
    case 5:
      return emit("{}bmsk.{}.b32 {}, {}, {}", g, pick({"clamp", "wrap"}), reg(), shift(), shift());
    case 6:
      return emit("{}szext.{}.{} {}, {}, {}", g, pick({"clamp", "wrap"}), pick({"s32", "u32"}),
                  reg(), reg(), shift());
    case 7:
      emit("and.b32 %y0, {}, 31", reg());
      return emit("{}fns.b32 {}, {}, %y0, {}", g, reg(), reg(), static_cast<int>(pick(9)) - 4);
    default:
      break;
  }
  emit("{}lop3.{}.b32 {}|{}, {}, {}, {}, {}, {}{}", g, pick({"and", "or"}), reg(), pred(), reg(),
       reg(), reg(), pick(256), negation(), pred());
}

void RandomInstructions::integer64() {
  const std::string g = guard();
  switch (pick(6)) {
    case 0:
    case 1:
      return emit("{}{} {}, {}, {}", g,
                  pick({"mul.lo.s64", "mul.hi.s64", "mul.hi.u64", "min.s64", "max.u64", "div.s64",
                        "rem.u64", "rem.s64", "div.u64"}),
                  wide(), wide(), wide_value());
    case 2:
      return emit("{}{} {}, {}, {}, {}", g,
                  pick({"mad.lo.s64", "mad.hi.u64", "mad.hi.s64", "sad.s64", "sad.u64"}), wide(),
                  wide(), wide_value(), wide());
    case 3:
      return emit("{}setp.{}.{} {}, {}, {}", g, pick({"eq", "ne", "lt", "le", "gt", "ge"}),
                  pick({"s64", "u64"}), pred(), wide(), wide_value());
    case 4:
      return emit("{}selp.b64 {}, {}, {}, {}", g, wide(), wide(), wide_value(), pred());
    default:
      return emit("{}{} {}, {}", g, pick({"abs.s64", "neg.s64", "not.b64", "cnot.b64"}), wide(),
                  wide());
  }
}

void RandomInstructions::bits64() {
  const std::string g = guard();
  switch (pick(7)) {
    case 0:
      return emit("{}{} {}, {}, {}", g, pick({"and.b64", "or.b64", "xor.b64"}), wide(), wide(),
                  wide_value());
    case 1:
      return emit("{}{} {}, {}, {}", g, pick({"shl.b64", "shr.u64", "shr.s64"}), wide(), wide(),
                  pick(3) ? std::to_string(pick(70)) : reg());
    case 2:
      return emit("{}{} {}, {}", g,
                  pick({"popc.b64", "clz.b64", "bfind.u64", "bfind.shiftamt.s64"}), reg(), wide());
    case 3:
      return emit("{}brev.b64 {}, {}", g, wide(), wide());
    case 4:
      return emit("{}bfe.{} {}, {}, {}, {}", g, pick({"s64", "u64"}), wide(), wide(), pick(70),
                  pick(70));
    case 5:
      return emit("{}bfi.b64 {}, {}, {}, {}, {}", g, wide(), wide(), wide(), shift(), shift());
    default:
      if (pick(2)) return emit("{}mov.b64 {}, {{{}, {}}}", g, wide(), reg(), reg());
      emit("mov.b64 {{%y0, %y1}}, {}", wide());
      return emit("{}xor.b32 {}, %y0, %y1", g, reg());
  }
}

void RandomInstructions::carry() {
  const bool sub = pick(2);
  const std::string type = pick({"u32", "s32"});
  switch (pick(3)) {
    case 0:
      emit("{}.cc.{} %y0, {}, {}", sub ? "sub" : "add", type, reg(), value());
      emit("{}c.cc.{} %y1, {}, {}", sub ? "sub" : "add", type, reg(), value());
      emit("{}c.{} %y2, {}, 0", sub ? "sub" : "add", type, reg());
      break;
    case 1:
      emit("mad.lo.cc.{} %y0, {}, {}, {}", type, reg(), reg(), value());
      emit("madc.hi.cc.{} %y1, {}, {}, {}", type, reg(), reg(), value());
      emit("addc.{} %y2, {}, 0", type, reg());
      break;
    default:
      emit("{}.cc.u64 %x0, {}, {}", sub ? "sub" : "add", wide(), wide_value());
      emit("{}c.u64 {}, {}, {}", sub ? "sub" : "add", wide(), wide(), wide_value());
      return emit("{}mov.b64 {}, %x0", guard(), wide());
  }
  emit("{}xor.b32 {}, %y0, %y1", guard(), reg());
  emit("{}mov.b32 {}, %y2", guard(), reg());
}

void RandomInstructions::halfwords() {
  emit("mov.b32 {{%h0, %h1}}, {}", reg());
  emit("cvt.u16.u32 %h2, {}", reg());
  switch (pick(6)) {
    case 0:
      emit("{} %h0, %h0, %h2", pick({"add.u16", "sub.s16", "mul.lo.u16", "mul.hi.s16", "min.s16",
                                     "max.u16", "and.b16", "xor.b16"}));
      break;
    case 1:
      emit("{} %h1, %h0, {}", pick({"shl.b16", "shr.u16", "shr.s16"}), pick(20));
      break;
    case 2:
      emit("or.b16 %h2, %h2, 1");
      emit("{} %h1, %h0, %h2", pick({"div.u16", "rem.u16", "div.s16", "rem.s16"}));
      break;
    case 3:
      return emit("{}setp.{}.{} {}, %h0, %h2", guard(), pick({"lt", "ge", "eq", "ne"}),
                  pick({"s16", "u16"}), pred());
    case 4:
      return emit("{}mul.wide.{} {}, %h0, %h2", guard(), pick({"s16", "u16"}), reg());
    default:
      emit("{} %h1, %h0", pick({"neg.s16", "abs.s16", "not.b16", "cvt.s16.s8", "cvt.u16.u8"}));
      break;
  }
  emit("{}mov.b32 {}, {{%h1, %h0}}", guard(), reg());
}

void RandomInstructions::bytes() {
  const std::string g = guard();
  switch (pick(5)) {
    case 0:
      return emit("{}prmt.b32 {}, {}, {}, {}", g, reg(), reg(), value(),
                  pick(2) ? std::to_string(pick(65536)) : reg());
    case 1:
      return emit("{}prmt.b32.{} {}, {}, {}, {}", g,
                  pick({"f4e", "b4e", "rc8", "ecl", "ecr", "rc16"}), reg(), reg(), reg(), reg());
    case 2:
      return emit("{}dp4a.{}.{} {}, {}, {}, {}", g, pick({"s32", "u32"}), pick({"s32", "u32"}),
                  reg(), reg(), reg(), reg());
    case 3:
      return emit("{}dp2a.{}.{}.{} {}, {}, {}, {}", g, pick({"lo", "hi"}), pick({"s32", "u32"}),
                  pick({"s32", "u32"}), reg(), reg(), reg(), reg());
    default:
      return emit("{}{} {}, {}, {}", g,
                  pick({"add.s16x2", "min.s16x2", "min.relu.s16x2", "max.relu.s16x2", "max.u16x2",
                        "min.u16x2"}),
                  reg(), reg(), reg());
  }
}

void RandomInstructions::video() {
  const std::string g = guard();
  const std::string t[] = {pick({"s32", "u32"}), pick({"s32", "u32"}), pick({"s32", "u32"})};
  const std::string types = fmt::format("{}.{}.{}", t[0], t[1], t[2]);
  switch (pick(4)) {
    case 0:
      return emit("{}{}.{}.sat {}, {}, {}", g, pick({"vadd", "vsub", "vabsdiff", "vmin", "vmax"}),
                  types, reg(), reg(), reg());
    case 1:
      return emit("{}{}2.{}{} {}, {}, {}, {}", g,
                  pick({"vadd", "vsub", "vavrg", "vabsdiff", "vmin", "vmax"}), types,
                  pick({"", ".sat"}), reg(), reg(), reg(), reg());
    case 2:
      return emit("{}{}4.{}{} {}, {}, {}, {}", g,
                  pick({"vadd", "vsub", "vavrg", "vabsdiff", "vmin", "vmax"}), types,
                  pick({"", ".sat"}), reg(), reg(), reg(), reg());
    default:
      return emit("{}vset{}.{}.{}.{} {}, {}, {}, {}", g, pick({"2", "4"}), t[0], t[1],
                  pick({"eq", "ne", "lt", "le", "gt", "ge"}), reg(), reg(), reg(), reg());
  }
}

void RandomInstructions::predicates_only() {
  const std::string g = guard();
  switch (pick(4)) {
    case 0:
      return emit("{}{} {}, {}, {}", g, pick({"xor.pred", "and.pred", "or.pred"}), pred(), pred(),
                  pred());
    case 1:
      return emit("{}not.pred {}, {}", g, pred(), pred());
    case 2:
      return emit("{}setp.{}.{}.s32 {}, {}, {}, {}{}", g, pick({"eq", "lt", "ge"}),
                  pick({"and", "or", "xor"}), pred(), reg(), value(), negation(), pred());
    default:
      // Unguarded, as testp below: ptxas 13.0 makes several instructions of it and guards one.
      return emit("set.{}.{}.s32 {}, {}, {}", pick({"eq", "lt", "ge"}), pick({"u32", "f32"}), reg(),
                  reg(), value());
  }
}

/// f32 in the same registers: bits that were integers are often NaNs and subnormals.
void RandomInstructions::single() {
  const std::string g = guard();
  const std::string mode = pick({".rn", ".rn", ".rz", ".rm", ".rp"});
  const std::string ftz = pick({"", "", ".ftz"}), sat = pick({"", "", "", ".sat"});
  switch (pick(6)) {
    case 0:
      return emit("{}fma{}{}{}.f32 {}, {}, {}, {}", g, mode, ftz, sat, reg(), reg(), reg(), reg());
    case 1:
      return emit("{}{}{}{}{}.f32 {}, {}, {}", g, pick({"add", "sub", "mul"}), mode, ftz, sat,
                  reg(), reg(), reg());
    case 2:
      return emit("{}div{}{}.f32 {}, {}, {}", g, mode, ftz, reg(), reg(), reg());
    case 3:
      return emit("{}{}{}{}.f32 {}, {}", g, pick({"rcp", "sqrt"}), mode, ftz, reg(), reg());
    case 4:
      return emit("{}{}{}.f32 {}, {}", g, pick({"neg", "abs"}), ftz, reg(), reg());
    default:
      return emit("{}{}{}{}.f32 {}, {}, {}", g, pick({"min", "max"}), ftz,
                  pick({"", "", ".NaN", ".xorsign.abs"}), reg(), reg(), reg());
  }
}

void RandomInstructions::single_compare() {
  const std::string g = guard();
  const std::string compare = pick({"lt", "leu", "eq", "neu", "nan", "num", "gt", "geu", "ne"});
  switch (pick(5)) {
    case 0:
      return emit("{}setp.{}{}.f32 {}, {}, {}", g, compare, pick({"", ".ftz"}), pred(), reg(),
                  reg());
    case 1:
      return emit("testp.{}.f32 {}, {}",
                  pick({"finite", "infinite", "number", "notanumber", "normal", "subnormal"}),
                  pred(), reg());
    case 2:
      return emit("{}copysign.f32 {}, {}, {}", g, reg(), reg(), reg());
    case 3:
      return emit("set.{}.{}.f32 {}, {}, {}", compare, pick({"u32", "f32"}), reg(), reg(), reg());
    default:
      return emit("{}mov.f32 {}, {}", g, reg(), pick(4) ? reg() : "0f7FC12345");
  }
}

void RandomInstructions::single_convert() {
  const std::string g = guard();
  switch (pick(6)) {
    case 0:
      return emit("{}cvt{}.f32.{} {}, {}", g, pick({".rn", ".rz", ".rm", ".rp", ".rn.sat"}),
                  pick({"s32", "u32", "s8", "u16"}), reg(), reg());
    case 1:
      return emit("{}cvt{}{}.{}.f32 {}, {}", g, pick({".rzi", ".rni", ".rmi", ".rpi"}),
                  pick({"", ".ftz"}), pick({"s32", "u32"}), reg(), reg());
    case 2:
      return emit("{}cvt{}.{}.f32 {}, {}", g, pick({".rzi", ".rni", ".rmi", ".rpi"}),
                  pick({"s64", "u64"}), wide(), reg());
    case 3:
      return emit("{}cvt{}.f32.{} {}, {}", g, pick({".rn", ".rz", ".rm", ".rp"}),
                  pick({"s64", "u64"}), reg(), wide());
    case 4:
      return emit("{}cvt{}.f32.f32 {}, {}", g,
                  pick({".rni", ".rzi", ".rmi", ".rpi", ".ftz", ".sat"}), reg(), reg());
    default:
      return emit("{}cvt{}.tf32.f32 {}, {}", g, pick({".rna", ".rn", ".rz", ".rn.relu"}), reg(),
                  reg());
  }
}

/// Registers declared as .f32, whose values are often whole numbers made of a lane's.
void RandomInstructions::typed_floats() {
  const std::string g = guard(), mode = pick({".rn", ".rn", ".rz", ".rm", ".rp"});
  const std::string ftz = pick({"", "", ".ftz"}), sat = pick({"", "", "", ".sat"});
  const std::string number = pick({"0f3F800000", "0f40800000", "0f00000000", "0f80000000",
                                   "0f3DCCCCCD", "0fFF800000", "0f00000001"});
  const std::string second = pick(3) ? single_reg() : number;
  switch (pick(7)) {
    case 0:
      return emit("{}{}{}{}{}.f32 {}, {}, {}", g, pick({"add", "sub", "mul"}), mode, ftz, sat,
                  single_reg(), single_reg(), second);
    case 1:
      return emit("{}fma{}{}{}.f32 {}, {}, {}, {}", g, mode, ftz, sat, single_reg(), single_reg(),
                  second, single_reg());
    case 2:
      return emit("{}{}{}{}.f32 {}, {}, {}", g, pick({"min", "max"}), ftz, pick({"", ".NaN"}),
                  single_reg(), single_reg(), second);
    case 3:
      return emit("{}{}{}.f32 {}, {}", g, pick({"neg", "abs"}), ftz, single_reg(), single_reg());
    case 4:
      return emit("{}setp.{}{}.f32 {}, {}, {}", g,
                  pick({"lt", "leu", "eq", "neu", "nan", "num", "gt", "geu"}), ftz, pred(),
                  single_reg(), second);
    case 5:
      return emit("{}selp.f32 {}, {}, {}, {}", g, single_reg(), single_reg(), second, pred());
    default:
      return emit("{}slct{}.b32.f32 {}, {}, {}, {}", g, ftz, reg(), reg(), reg(), single_reg());
  }
}

/// Bits and numbers between integers and registers declared as floats.
void RandomInstructions::typed_moves() {
  const std::string g = guard();
  switch (pick(9)) {
    case 0:
    case 1:
      return emit("{}mov.b32 {}, {}", g, single_reg(), reg());
    case 2:
      return emit("{}mov.b32 {}, {}", g, reg(), single_reg());
    case 3:
      return emit("{}cvt{}.f32.{} {}, {}", g, pick({".rn", ".rz", ".rm", ".rp"}),
                  pick({"s32", "u32"}), single_reg(), reg());
    case 4:
      return emit("{}cvt{}.{}.f32 {}, {}", g, pick({".rzi", ".rni", ".rmi", ".rpi"}),
                  pick({"s32", "u32"}), reg(), single_reg());
    case 5:
      return emit("{}mov.f32 {}, {}", g, single_reg(), pick(3) ? single_reg() : "0f41200000");
    case 6:
      return emit("{}mov.b64 {}, {{{}, {}}}", g, wide(), single_reg(), single_reg());
    case 7:
      return emit("mov.b64 {{%g0, %g{}}}, {}", 1 + pick(floats - 1), wide());
    default:
      return emit("{}selp.b32 {}, {}, {}, {}", g, reg(), single_reg(), reg(), pred());
  }
}

void RandomInstructions::typed_doubles() {
  const std::string g = guard(), d = double_reg();
  const std::string mode = pick({".rn", ".rn", ".rz", ".rm", ".rp"});
  switch (pick(9)) {
    case 0:
      emit("{}{}{}.f64 {}, {}, {}", g, pick({"add", "sub", "mul"}), mode, d, double_reg(),
           pick(3) ? double_reg() : "0d3FF0000000000000");
      break;
    case 1:
      emit("{}fma{}.f64 {}, {}, {}, {}", g, mode, d, double_reg(), double_reg(), double_reg());
      break;
    case 2:
      return emit("{}mov.b64 {}, {}", g, d, wide());
    case 3:
      return emit("{}mov.b64 {}, {}", g, wide(), d);
    case 4:
      return emit("{}mov.b64 {}, {{{}, {}}}", g, d, reg(), reg());
    case 5:
      return emit("mov.b64 {{%r6, %r{}}}, {}", pick(6), d);
    case 6:
      return emit("{}cvt.rn.f64.{} {}, {}", g, pick({"s32", "u32"}), d, reg());
    case 7:
      return emit("{}setp.{}.f64 {}, {}, {}", g,
                  pick({"lt", "leu", "eq", "neu", "nan", "num", "gt", "geu"}), pred(), d,
                  double_reg());
    default:
      return emit("{}cvt.rn.f32.f64 {}, {}", g, single_reg(), d);
  }
  canonical(d);
}

void RandomInstructions::start_floats(const std::string& lane) {
  emit("mov.b32 %g0, {}", lane);
  line("mov.f32 %g1, 0f3FC00000");
  emit("cvt.rn.f32.u32 %g2, {}", lane);
  line("mov.b32 %g3, %r1");
  line("mov.b64 %k0, %d1");
  emit("cvt.rn.f64.u32 %k1, {}", lane);
}

/// Which of two NaNs an f64 operation passes on is open.
void RandomInstructions::canonical(const std::string& d) {
  if (exact_nan_) return;
  emit("setp.nan.f64 %z0, {}, {}", d, d);
  emit("@%z0 mov.{} {}, {}", d[1] == 'k' ? "f64" : "b64", d,
       d[1] == 'k' ? "0d7FF8000000000000" : "0x7ff8000000000000");
}

void RandomInstructions::twice() {
  const std::string g = guard(), d = wide();
  const std::string mode = pick({".rn", ".rn", ".rz", ".rm", ".rp"});
  switch (pick(6)) {
    case 0:
      emit("{}fma{}.f64 {}, {}, {}, {}", g, mode, d, wide(), wide(), wide());
      break;
    case 1:
      emit("{}{}{}.f64 {}, {}, {}", g, pick({"add", "sub", "mul", "div"}), mode, d, wide(), wide());
      break;
    case 2:
      emit("{}{}{}.f64 {}, {}", g, pick({"rcp", "sqrt"}), mode, d, wide());
      break;
    case 3:
      emit("{}{}.f64 {}, {}, {}", g, pick({"min", "max"}), d, wide(), wide());
      break;
    case 4:
      emit("{}{}.f64 {}, {}", g, pick({"neg", "abs"}), d, wide());
      break;
    default:
      return emit("{}setp.{}.f64 {}, {}, {}", g,
                  pick({"lt", "leu", "eq", "neu", "nan", "num", "gt", "geu", "ne"}), pred(), wide(),
                  wide());
  }
  canonical(d);
}

void RandomInstructions::twice_convert() {
  const std::string g = guard(), d = wide();
  switch (pick(7)) {
    case 0:
      return emit("{}cvt{}.f64.{} {}, {}", g, pick({".rn", ".rz", ".rm", ".rp"}),
                  pick({"s32", "u32"}), d, reg());
    case 1:
      return emit("{}cvt{}.f64.{} {}, {}", g, pick({".rn", ".rz", ".rm", ".rp"}),
                  pick({"s64", "u64"}), d, wide());
    case 2:
      return emit("{}cvt{}.{}.f64 {}, {}", g, pick({".rzi", ".rni", ".rmi", ".rpi"}),
                  pick({"s32", "u32"}), reg(), wide());
    case 3:
      return emit("{}cvt{}.{}.f64 {}, {}", g, pick({".rzi", ".rni", ".rmi", ".rpi"}),
                  pick({"s64", "u64"}), d, wide());
    case 4:
      return emit("{}cvt{}.f32.f64 {}, {}", g,
                  pick({".rn", ".rz", ".rm", ".rp", ".rn.ftz", ".rn.sat"}), reg(), wide());
    case 5:
      emit("{}cvt.f64.f32 {}, {}", g, d, reg());
      return canonical(d);
    default:
      emit("{}cvt{}.f64.f64 {}, {}", g, pick({".rni", ".rzi", ".rmi", ".rpi", ".sat"}), d, wide());
      return canonical(d);
  }
}

/// f16x2 and bf16x2 in 32-bit registers.
void RandomInstructions::halves() {
  const std::string g = guard(), ftz = pick({"", "", ".ftz"});
  const bool b = pick(2);
  const std::string type = b ? "bf16x2" : "f16x2";
  switch (pick(6)) {
    case 0:
      return emit("{}{}.rn{}.{} {}, {}, {}", g, pick({"add", "sub", "mul"}), b ? "" : ftz, type,
                  reg(), reg(), reg());
    case 1:
      return emit("{}fma.rn{}.{} {}, {}, {}, {}", g, pick({"", ".relu"}), type, reg(), reg(), reg(),
                  reg());
    case 2:
      return emit("{}{}{}.{} {}, {}, {}", g, pick({"min", "max"}), pick({"", ".NaN"}), type, reg(),
                  reg(), reg());
    case 3:
      return emit("{}{}.{} {}, {}", g, pick({"neg", "abs"}), type, reg(), reg());
    case 4:
      emit("setp.{}.{} %z0|%z1, {}, {}", pick({"lt", "leu", "eq", "neu", "nan", "num"}), type,
           reg(), reg());
      return emit("{}selp.b32 {}, {}, {}, {}", g, reg(), reg(), reg(), pick({"%z0", "%z1"}));
    default:
      return emit("{}cvt{}.{}.f32 {}, {}, {}", g, pick({".rn", ".rz", ".rn.relu", ".rz.satfinite"}),
                  type, reg(), reg(), reg());
  }
}

void RandomInstructions::half() {
  emit("mov.b32 {{%h0, %h1}}, {}", reg());
  emit("mov.b32 {{%h2, %h3}}, {}", reg());
  switch (pick(7)) {
    case 0:
      emit("{}.rn{}{}.f16 %h0, %h1, %h2", pick({"add", "sub", "mul"}), pick({"", ".ftz"}),
           pick({"", ".sat"}));
      break;
    case 1:
      emit("fma.rn{}.f16 %h0, %h1, %h2, %h3", pick({"", ".sat", ".relu"}));
      break;
    case 2:
      emit("fma.rn.bf16 %h0, %h1, %h2, %h3");
      break;
    case 3:
      emit("cvt{}.{}.f32 %h0, {}", pick({".rn", ".rz", ".rm", ".rp"}), pick({"f16", "bf16"}),
           reg());
      break;
    case 4:
      return emit("{}cvt.f32.{} {}, %h0", guard(), pick({"f16", "bf16"}), reg());
    case 5:
      return emit("{}cvt{}.{}.f16 {}, %h2", guard(), pick({".rzi", ".rni", ".rmi", ".rpi"}),
                  pick({"s32", "u32", "s16", "u8"}), reg());
    default:
      emit("cvt{}.f16.{} %h0, {}", pick({".rn", ".rz", ".rm", ".rp"}), pick({"s32", "u32"}), reg());
      break;
  }
  emit("{}mov.b32 {}, {{%h0, %h2}}", guard(), reg());
}

void RandomInstructions::small_floats() {
  const std::string type = pick({"e4m3x2", "e5m2x2"});
  switch (pick(3)) {
    case 0:
      emit("cvt.rn.satfinite{}.{}.f32 %h0, {}, {}", pick({"", ".relu"}), type, reg(), reg());
      break;
    case 1:
      emit("cvt.rn.satfinite.{}.f16x2 %h0, {}", type, reg());
      break;
    default:
      emit("cvt.u16.u32 %h0, {}", reg());
      break;
  }
  if (pick(2)) return emit("{}cvt.u32.u16 {}, %h0", guard(), reg());
  return emit("{}cvt.rn{}.f16x2.{} {}, %h0", guard(), pick({"", ".relu"}), type, reg());
}

}  // namespace limen::test
