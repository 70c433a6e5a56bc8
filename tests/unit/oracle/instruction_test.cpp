// One instruction at a time, on values computed by hand from PTX ISA 9.0.
#include "support.h"

namespace limen::test {
namespace {

constexpr uint64_t all = 0xffffffffu;

TEST(OracleInstruction, DivisionByZeroGivesAllOnes) {
  EXPECT_EQ(value32("div.s32 %r0, 5, 0"), all);
  EXPECT_EQ(value32("rem.u32 %r0, 5, 0"), all);
  EXPECT_EQ(value64("div.u64 %d0, 5, 0"), ~uint64_t{0});
  EXPECT_EQ(value64("rem.s64 %d0, -5, 0"), ~uint64_t{0});
  EXPECT_EQ(value32("div.s32 %r0, 0x80000000, -1"), 0x80000000u);
  EXPECT_EQ(value32("rem.s32 %r0, 0x80000000, -1"), 0u);
  EXPECT_EQ(value32("rem.s32 %r0, -7, 3"), 0xffffffffu);
}

TEST(OracleInstruction, MultiplicationTakesTheHalfItIsAskedFor) {
  EXPECT_EQ(value32("mul.hi.s32 %r0, -1, 1"), all);
  EXPECT_EQ(value32("mul.hi.u32 %r0, 0xffffffff, 0xffffffff"), 0xfffffffeu);
  EXPECT_EQ(value64("mul.hi.u64 %d0, 0xffffffffffffffff, 0xffffffffffffffff"), 0xfffffffffffffffeu);
  EXPECT_EQ(value64("mul.hi.s64 %d0, 0x8000000000000000, 0x8000000000000000"), 0x4000000000000000u);
  EXPECT_EQ(value64("mul.wide.s32 %d0, -2, 3"), static_cast<uint64_t>(-6));
  EXPECT_EQ(value32("mad.hi.sat.s32 %r0, 0x7fffffff, 0x7fffffff, 0x7fffffff"), 0x7fffffffu);
  EXPECT_EQ(value32("mul24.lo.s32 %r0, 0xffffff, 2"), 0xfffffffeu);
  EXPECT_EQ(value32("mul24.hi.u32 %r0, 0xffffff, 0xffffff"), 0xfffffe00u);
  EXPECT_EQ(value32("sad.s32 %r0, -3, 4, 10"), 17u);
}

TEST(OracleInstruction, SaturationAndReluStopAtTheEnds) {
  EXPECT_EQ(value32("add.sat.s32 %r0, 0x7fffffff, 1"), 0x7fffffffu);
  EXPECT_EQ(value32("sub.sat.s32 %r0, 0x80000000, 1"), 0x80000000u);
  EXPECT_EQ(value32("min.relu.s32 %r0, -5, 3"), 0u);
  EXPECT_EQ(value32("mov.b32 %r1, 0xffff0002; mov.b32 %r2, 0x00010003; "
                    "min.s16x2 %r0, %r1, %r2"),
            0xffff0002u);
  EXPECT_EQ(value32("mov.b32 %r1, 0xffff8000; mov.b32 %r2, 0xfffe0003; "
                    "max.relu.s16x2 %r0, %r1, %r2"),
            0x00000003u);
  EXPECT_EQ(value32("mov.b32 %r1, 0xffff0002; mov.b32 %r2, 0x00010003; "
                    "min.u16x2 %r0, %r1, %r2"),
            0x00010002u);
}

TEST(OracleInstruction, CarriesRunThroughChains) {
  EXPECT_EQ(value32("add.cc.u32 %r1, 0xffffffff, 1; addc.u32 %r0, 0, 0"), 1u);
  EXPECT_EQ(value32("sub.cc.u32 %r1, 0, 1; subc.u32 %r0, 5, 0"), 4u);
  EXPECT_EQ(value32("mad.lo.cc.u32 %r1, 0xffffffff, 0xffffffff, 0xffffffff;"
                    "madc.hi.u32 %r0, 0xffffffff, 0xffffffff, 0"),
            0xfffffffeu + 1);
  EXPECT_NE(run("addc.u32 %r0, 0, 0;").outcome.error.find("CC.CF"), std::string::npos);
}

TEST(OracleInstruction, ShiftsClampAtTheWidth) {
  EXPECT_EQ(value32("shl.b32 %r0, 1, 32"), 0u);
  EXPECT_EQ(value32("shr.s32 %r0, 0x80000000, 40"), all);
  EXPECT_EQ(value32("shr.u32 %r0, 0x80000000, 32"), 0u);
  EXPECT_EQ(value16("shl.b16 %h0, 1, 16"), 0u);
  EXPECT_EQ(value32("shf.l.clamp.b32 %r0, 0x11111111, 0x22222222, 40"), 0x11111111u);
  EXPECT_EQ(value32("shf.l.wrap.b32 %r0, 0x80000000, 1, 33"), 3u);
  EXPECT_EQ(value32("shf.r.wrap.b32 %r0, 2, 1, 1"), 0x80000001u);
}

TEST(OracleInstruction, BitFieldsAreThoseOfTheManual) {
  EXPECT_EQ(value32("bfe.s32 %r0, 0x00000080, 4, 4"), 0xfffffff8u);
  EXPECT_EQ(value32("bfe.u32 %r0, 0xff, 4, 8"), 0xfu);
  EXPECT_EQ(value32("bfe.s32 %r0, 0x80000000, 40, 3"), all);
  EXPECT_EQ(value32("bfe.s32 %r0, 0x80000000, 3, 0"), 0u);
  // Constants that ptxas folds (tests/golden/integer.golden); registers give the value's sign.
  EXPECT_EQ(value32("bfe.s32 %r0, 0x7fffffff, 40, 3"), all);
  EXPECT_EQ(value32("mov.u32 %r1, 40; bfe.s32 %r0, 0x7fffffff, %r1, 3"), 0u);
  EXPECT_EQ(value32("bfe.s32 %r0, 5, 256, 3"), 0xfffffffdu);
  EXPECT_EQ(value32("bfe.u32 %r0, 0xffffffff, 40, 3"), 0u);
  EXPECT_EQ(value32("bfi.b32 %r0, 0xff, 0, 28, 8"), 0xf0000000u);
  EXPECT_EQ(value32("bfind.s32 %r0, -1"), all);
  EXPECT_EQ(value32("bfind.u32 %r0, 0x10"), 4u);
  EXPECT_EQ(value32("bfind.shiftamt.u32 %r0, 0x10"), 27u);
  EXPECT_EQ(value32("clz.b64 %r0, 1"), 63u);
  EXPECT_EQ(value32("popc.b64 %r0, -1"), 64u);
  EXPECT_EQ(value32("brev.b32 %r0, 1"), 0x80000000u);
  EXPECT_EQ(value32("fns.b32 %r0, 0xaaaaaaaa, 2, 1"), 3u);
  EXPECT_EQ(value32("fns.b32 %r0, 0xaaaaaaaa, 2, -1"), 1u);
  EXPECT_EQ(value32("bmsk.wrap.b32 %r0, 1, 2"), 6u);
  EXPECT_EQ(value32("bmsk.clamp.b32 %r0, 4, 32"), 0xfffffff0u);
  EXPECT_EQ(value32("szext.clamp.s32 %r0, 0xff, 8"), all);
  EXPECT_EQ(value32("szext.wrap.u32 %r0, 0xffffffff, 0"), 0u);
}

TEST(OracleInstruction, BytesAreSelectedAsWritten) {
  EXPECT_EQ(value32("prmt.b32 %r0, 0x33221100, 0x77665544, 0x7531"), 0x77553311u);
  EXPECT_EQ(value32("prmt.b32 %r0, 0x80221100, 0, 0x000b"), 0x000000ffu);
  EXPECT_EQ(value32("prmt.b32.f4e %r0, 0x33221100, 0x77665544, 2"), 0x55443322u);
  EXPECT_EQ(value32("prmt.b32.b4e %r0, 0x33221100, 0x77665544, 1"), 0x66770011u);
  EXPECT_EQ(value32("prmt.b32.ecl %r0, 0x33221100, 0, 2"), 0x33222222u);
  EXPECT_EQ(value32("prmt.b32.ecr %r0, 0x33221100, 0, 1"), 0x11111100u);
  EXPECT_EQ(value32("prmt.b32.rc16 %r0, 0x33221100, 0, 1"), 0x33223322u);
  EXPECT_EQ(value32("lop3.b32 %r0, 0xf0f0f0f0, 0xcccccccc, 0xaaaaaaaa, 0x1a"), 0x1a1a1a1au);
  EXPECT_EQ(value32("dp4a.s32.u32 %r0, 0xff010203, 0x01010102, 10"), 10u + 2 * 3 + 2 + 1 - 1);
  EXPECT_EQ(value32("dp2a.hi.u32.u32 %r0, 0x00020003, 0x04050607, 1"), 1u + 3 * 5 + 2 * 4);
}

TEST(OracleInstruction, VideoSaturatesToTheDestination) {
  EXPECT_EQ(value32("vadd.u32.s32.s32.sat %r0, -3, 1"), 0u);
  EXPECT_EQ(value32("vsub.s32.u32.u32.sat %r0, 0, 0xffffffff"), 0x80000000u);
  EXPECT_EQ(value32("mov.b32 %r1, 0xff01ff01; mov.b32 %r2, 0x01010101; mov.b32 %r3, 0; "
                    "vadd4.u32.u32.u32.sat %r0, %r1, %r2, %r3"),
            0xff02ff02u);
  EXPECT_EQ(value32("mov.b32 %r1, 0x01020304; mov.b32 %r2, 0x04030201; mov.b32 %r3, 10; "
                    "vabsdiff4.u32.u32.u32.add %r0, %r1, %r2, %r3"),
            18u);
  EXPECT_EQ(value32("mov.b32 %r1, 0x00010005; mov.b32 %r2, 0x00020005; mov.b32 %r3, 0; "
                    "vset2.u32.u32.lt %r0, %r1, %r2, %r3"),
            0x00010000u);
  EXPECT_EQ(value32("mov.b32 %r1, 0xffff0003; mov.b32 %r2, 0xfffe0004; mov.b32 %r3, 0; "
                    "vavrg2.s32.s32.s32 %r0, %r1, %r2, %r3"),
            0xfffe0004u);
}

TEST(OracleInstruction, FloatExtremesPreferNumbersAndMinusZero) {
  EXPECT_EQ(value32("min.f32 %r0, 0f7FC00000, 0f3F800000"), 0x3f800000u);
  EXPECT_EQ(value32("max.f32 %r0, 0f7FC00000, 0fFFC00001"), 0x7fffffffu);
  EXPECT_EQ(value32("min.NaN.f32 %r0, 0f7FC00000, 0f3F800000"), 0x7fffffffu);
  EXPECT_EQ(value32("min.f32 %r0, 0f00000000, 0f80000000"), 0x80000000u);
  EXPECT_EQ(value32("max.f32 %r0, 0f80000000, 0f00000000"), 0u);
  EXPECT_EQ(value32("min.ftz.f32 %r0, 0f00000001, 0f3F800000"), 0u);
  // f64 keeps payloads and, through neg and abs, signs; of two NaNs the second's.
  EXPECT_EQ(value64("max.f64 %d0, 0d7FF0000000000001, 0dFFF0000000000002"), 0xfff8000000000002u);
  EXPECT_EQ(value64("neg.f64 %d0, 0d7FF0000000000001"), 0x7ff8000000000001u);
  EXPECT_EQ(value64("abs.f64 %d0, 0dFFF8000000000001"), 0xfff8000000000001u);
  EXPECT_EQ(value32("max.xorsign.abs.f32 %r0, 0fC0000000, 0f3F800000"), 0xc0000000u);
}

TEST(OracleInstruction, FloatSaturationAndReluGivePlusZero) {
  EXPECT_EQ(value32("add.sat.f32 %r0, 0f7FC00000, 0f3F800000"), 0u);
  EXPECT_EQ(value32("add.sat.f32 %r0, 0f40000000, 0f3F800000"), 0x3f800000u);
  EXPECT_EQ(value32("mov.b32 %r1, 0x80008000; mov.b32 %r2, 0x3c003c00; mov.b32 %r3, 0x80008000;"
                    "fma.rn.relu.f16x2 %r0, %r1, %r2, %r3"),
            0u);
  EXPECT_EQ(value32("neg.f32 %r0, 0f7FC00000"), 0x7fffffffu);
  EXPECT_EQ(value32("mul.ftz.f32 %r0, 0f80000001, 0f3F800000"), 0x80000000u);
}

TEST(OracleInstruction, ComparisonsKnowNans) {
  EXPECT_FALSE(predicate("setp.ne.f32 %p0, 0f7FC00000, 0f3F800000"));
  EXPECT_TRUE(predicate("setp.neu.f32 %p0, 0f7FC00000, 0f3F800000"));
  EXPECT_TRUE(predicate("setp.nan.f64 %p0, 0d7FF8000000000000, 0d0000000000000000"));
  EXPECT_TRUE(predicate("setp.eq.f32 %p0, 0f80000000, 0f00000000"));
  EXPECT_TRUE(predicate("setp.lt.s32 %p0, -1, 0"));
  EXPECT_FALSE(predicate("setp.lt.u32 %p0, -1, 0"));
  EXPECT_TRUE(predicate("testp.normal.f32 %p0, 0f80000000"));
  EXPECT_TRUE(
      predicate("mov.b32 %r1, 0x3c004000; mov.b32 %r2, 0x40003c00;"
                "setp.lt.f16x2 %p1|%p0, %r1, %r2"));
  EXPECT_EQ(value32("set.lt.f32.s32 %r0, 1, 2"), 0x3f800000u);
  EXPECT_EQ(value32("slct.b32.f32 %r0, 1, 2, 0f80000000"), 1u);
}

TEST(OracleInstruction, MovesPackTheFirstElementLow) {
  EXPECT_EQ(value64("mov.b32 %r1, 1; mov.b32 %r2, 2; mov.b64 %d0, {%r1, %r2}"), 0x200000001u);
  EXPECT_EQ(value32("mov.b64 {%r1, %r0}, 0x1122334455667788"), 0x11223344u);
}

TEST(OracleInstruction, LoadsExtendToTheRegister) {
  EXPECT_EQ(value32("st.global.u32 [%d9], 0x80ff; ld.global.s8 %r0, [%d9]"), all);
  EXPECT_EQ(value32("st.global.u32 [%d9], 0x80ff; ld.global.s16 %r0, [%d9]"), 0xffff80ffu);
  EXPECT_EQ(value32("st.global.u32 [%d9], 0x80ff; ld.global.u8 %r0, [%d9+1]"), 0x80u);
}

TEST(OracleInstruction, AtomicsGiveTheOldValue) {
  EXPECT_EQ(value32("st.global.u32 [%d9], 7; atom.global.inc.u32 %r1, [%d9], 7;"
                    "ld.global.u32 %r2, [%d9]; mad.lo.u32 %r0, %r1, 16, %r2"),
            7u * 16);
  EXPECT_EQ(value32("st.global.u32 [%d9], 0; atom.global.dec.u32 %r1, [%d9], 9;"
                    "ld.global.u32 %r0, [%d9]"),
            9u);
  EXPECT_EQ(value32("st.global.u32 [%d9], 5; atom.global.cas.b32 %r1, [%d9], 5, 6;"
                    "ld.global.u32 %r0, [%d9]"),
            6u);
  EXPECT_EQ(value32("st.global.u32 [%d9], -5; red.global.min.s32 [%d9], 3;"
                    "ld.global.u32 %r0, [%d9]"),
            0xfffffffbu);
}

TEST(OracleInstruction, UnknownOnesAreRefusedByName) {
  const Ran r =
      run(".reg .b32 %m<4>; mov.b32 %m0, 0;"
          "movmatrix.sync.aligned.m8n8.trans.b16 %m1, %m0;");
  EXPECT_FALSE(r.outcome.ran);
  EXPECT_NE(r.outcome.error.find("movmatrix"), std::string::npos) << r.outcome.error;
  EXPECT_NE(r.outcome.error.find("not evaluated"), std::string::npos) << r.outcome.error;
}

TEST(OracleInstruction, WhatHasNoValueIsAnError) {
  EXPECT_NE(run("add.u32 %r0, %r1, 1;").outcome.error.find("no value"), std::string::npos);
  EXPECT_NE(run(".shared .b32 s; ld.shared.u32 %r0, [s];").outcome.error.find("no value"),
            std::string::npos);
  EXPECT_NE(run("ld.global.u32 %r0, [%d9+4096];").outcome.error.find("no memory"),
            std::string::npos);
  EXPECT_NE(run("ld.global.u32 %r0, [%d9+2];").outcome.error.find("misaligned"), std::string::npos);
}

}  // namespace
}  // namespace limen::test
