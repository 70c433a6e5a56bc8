// The verifier: a message and its cause for each rule, and what must be accepted.
#include "fixture.h"

namespace limen::ptx {
namespace {

void accept(const char* body) { EXPECT_EQ(kernel_error(body), "") << body; }
void reject(const char* body, const char* part) {
  const std::string why = kernel_error(body);
  EXPECT_NE(why.find(part), std::string::npos) << body << "\n  says: " << why;
}

TEST(Verify, RegisterTypes) {
  accept("add.u32 %u1, %s1, %r1;");
  accept("add.f32 %f1, %r1, %f2;");
  accept("and.b32 %f1, %f2, %r1;");
  accept("ld.global.u8 %r1, [%rd1];");
  accept("ld.global.b32 %f1, [%rd1];");
  accept("cvt.u8.u32 %r1, %rd2;");
  accept("mul.wide.u32 %rd1, %r1, %r2;");
  accept("mov.b32 %f1, %r1;");
  accept("shl.b64 %rd1, %rd2, %r1;");
  accept("add.f16 %h1, %h2, %h3;");
  accept("fma.rn.f16x2 %r1, %r2, %r3, %r4;");
  accept("popc.b64 %r1, %rd1;");
  reject("add.u32 %f1, %r1, %r2;", "register '%f1' of type .f32");
  reject("add.u32 %rd1, %r1, %r2;", "register '%rd1'");
  reject("add.f32 %f1, %u1, %f2;", "register '%u1'");
  reject("ld.global.f32 %u1, [%rd1];", "register '%u1'");
  reject("mul.wide.u32 %r1, %r1, %r2;", "twice its width");
  reject("shl.b64 %rd1, %rd2, %rd3;", "'b'");
  reject("add.u32 %p1, %r1, %r2;", "register '%p1'");
  reject("mov.u32 %f1, %r1;", "register '%f1'");
}

// Triton writes loads and stores of one value so; answers of ptxas 13.0.
TEST(Verify, LoneValuesInBraces) {
  accept("ld.global.b32 { %r1 }, [%rd1];");
  accept("ld.global.nc.b32 {%f1}, [%rd1+4];");
  accept("ld.shared.b32 {%r1}, [%rd1];");
  accept("ldu.global.b32 {%r1}, [%rd1];");
  accept("st.global.b32 [%rd1], { %r1 };");
  accept("st.global.b32 [%rd1], {5};");
  accept("mov.b32 %r1, { %r2 };");
  reject("mov.u32 { %r1 }, %r2;", "must be a register");
  reject("add.s32 %r1, { %r2 }, %r3;", "must be a register");
  reject("ld.global.b32 { %r1, %r2 }, [%rd1];", "vector");
  reject("red.global.add.f32 [%rd1], {%f2};", "must be a register");
}

TEST(Verify, Counts) {
  reject("add.u32 %r1, %r2;", "takes 3 operands, found 2");
  reject("add.u32 %r1, %r2, %r3, %r4;", "takes at most 3 operands, found 4");
  reject("ret %r1;", "at most 0 operands");
  accept("setp.eq.and.u32 %p1, %r1, %r2, !%p2;");
  reject("setp.eq.and.u32 %p1, %r1, %r2;", "takes 4 operands, found 3");
  reject("setp.eq.u32 %p1, %r1, %r2, %p2;", "takes at most 3 operands");
  accept("bar.cta.sync 0;");
  accept("bar.sync 0;");
  accept("bar.sync 0, 64;");
  accept("bar.red.popc.u32 %r1, 0, %p1;");
  accept("bar.red.popc.u32 %r1, 0, 64, !%p1;");
  reject("bar.arrive 0;", "takes 2 operands, found 1");
}

TEST(Verify, Fragments) {
  const char* mma = "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 ";
  auto with = [&](const char* operands) { return std::string(mma) + operands; };
  accept(with("{%f1, %f2, %f3, %f4}, {%r1, %r2}, {%r3}, {%f1, %f2, %f3, %f4};").c_str());
  accept(with("{_, %f2, %f3, %f4}, {%r1, %r2}, {%r3}, {%f1, 0f00000000, %f3, %f4};").c_str());
  reject(with("{%f1, %f2, %f3}, {%r1, %r2}, {%r3}, {%f1, %f2, %f3, %f4};").c_str(), "vector of 4");
  reject(with("{%f1, %f2, %f3, %f4}, {%r1, %r2}, %r3, {%f1, %f2, %f3, %f4};").c_str(), "vector of 1");
  reject(with("{%f1, %f2, %f3, %f4}, {%f1, %f2}, {%r3}, {%f1, %f2, %f3, %f4};").c_str(), "'%f1'");
  reject(with("{%f1, %f2, %f3, %f4}, {1, 2}, {%r3}, {%f1, %f2, %f3, %f4};").c_str(), "registers");
  reject("mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1, %f2, %f3, %f4}, {%r1, %r2}, "
         "{%r3, %r4}, {%f1, %f2, %f3, %f4}, %r5, 4;", "below 4");
}

TEST(Verify, Kinds) {
  reject("add.u32 1, %r1, %r2;", "is a constant");
  reject("add.u32 _, %r1, %r2;", "cannot be discarded");
  reject("add.u32 %r1, [%rd1], %r2;", "must be a register or a constant");
  reject("add.u32 %r1, %tid.x, 1;", "allowed in mov and cvt only");
  reject("ld.global.u32 %r1, %rd1;", "address in brackets");
  reject("lop3.b32 %r1, %r2, %r3, %r4, %r5;", "integer constant");
  reject("add.u32 %r1|%p1, %r2, %r3;", "cannot be a pair");
  reject("elect.sync %r1, -1;", "must be a pair");
  reject("add.u32 %r1, {%r2, %r3}, %r4;", "must be a register");
  accept("elect.sync _|%p1, -1;");
  accept("atom.global.add.u32 _, [%rd1], 1;");
}

TEST(Verify, Constants) {
  reject("add.u32 %r1, %r2, 1.0;", "floating-point constant");
  reject("add.f32 %f1, %f2, 1;", "an integer constant");
  reject("mov.f32 %f1, 0;", "an integer constant");
  accept("mov.b32 %r1, 0f3F800000;");
  accept("mov.f64 %d1, 0f3F800000;");
  reject("mov.b64 %rd1, 0f3F800000;", "floating-point constant");
  reject("mov.b16 %h1, 0f3F800000;", "floating-point constant");
}

TEST(Verify, Vectors) {
  accept("ld.global.v2.u32 {%r1, _}, [%rd1];");
  accept("st.global.v4.f32 [%rd1], %v;");
  reject("ld.global.v2.u32 {%r1, %r2, %r3}, [%rd1];", "vector of 2");
  reject("ld.global.v2.u32 %r1, [%rd1];", "vector of 2");
  reject("ld.global.u32 {%r1, %r2}, [%rd1];", "is a vector");
  accept("mov.b64 %rd1, {%r1, %f1};");
  reject("mov.b64 %rd1, {%r1, %rd2};", "must have 4 bytes");
  reject("mov.b64 {_, _}, %rd1;", "every element");
  reject("mov.u64 %rd1, {%r1, %r2};", "does not pack");
}

TEST(Verify, Spaces) {
  reject("ld.shared.u32 %r1, [g];", "state space");
  accept("ld.global.u32 %r1, [g+4];");
  accept("ld.param.u32 %r1, [n];");
  reject("st.param.u32 [n], %r1;", "cannot be stored to");
  reject("ld.global.u32 %r1, [%f1];", "cannot be an address");
}

TEST(Verify, Moves) {
  accept("mov.u64 %rd1, callee;");
  accept("mov.u32 %r1, %clock;");
  accept("mov.u64 %rd1, %clock64;");
  accept("mov.pred %p1, %is_explicit_cluster;");
  accept("mov.u16 %h1, %tid.x;");
  reject("mov.u32 %r1, %clock64;", "cannot move as");
  reject("mov.u16 %h1, g;", "an address cannot move");
}

// Measured on ptxas 13.0.
TEST(Verify, ConstantsOfHalvesBarriersAndSpecialRegisters) {
  reject("add.f16 %h1, %h2, 1.0;", "must be a register");
  reject("fma.rn.f16x2 %r1, %r2, %r3, 1;", "must be a register");
  reject("bar.sync 16;", "barriers 0 to 15, found 16");
  accept("bar.sync 15, 64;");
  reject("bar.sync 0, 33;", "warps of 32, found 33");
  reject("bar.arrive 1, 0;", "found 0");
  reject("bar.red.popc.u32 %r1, 20, %p1;", "found 20");
  reject("cvt.rn.f32.u32 %tid.x, %r1;", "special register");
  reject("cvt.rni.u8.f32 %r1, %clock;", "special register");
  accept("cvt.u64.u32 %rd1, %tid.x;");
  reject("ld.global.u32 %r1, [%rd1, 4];", "a base and an offset");
}

TEST(Verify, MultimemAndClusterLaunchControl) {
  accept("multimem.ld_reduce.relaxed.gpu.global.add.v2.f32 {%f1, %f2}, [%rd1];");
  accept("multimem.red.release.sys.and.b32 [%rd1], %r1;");
  reject("multimem.st.v2.u32 [%rd1], {%r1, %r2};", "no form");
  reject("multimem.ld_reduce.relaxed.global.add.u32 %r1, [%rd1];", "no form");
  reject("multimem.red.global.min.f16x2 [%rd1], %r1;", "no form");
}

// Measured on ptxas 13.0. The targets are `a` and `f` ones; here it is the operands.
TEST(Verify, ReplacedFieldsOfTensorMaps) {
  const std::string replace = "tensormap.replace.tile.";
  const auto error = [&](const std::string& rest) {
    auto m = parse_module(".version 9.0\n.target sm_120a\n.address_size 64\n" + kernel(replace + rest));
    EXPECT_TRUE(m.ok());
    const Index k = (*m)->function_index.at("k");
    auto done = parse_body(**m, k);
    if (done.ok()) done = verify_body(**m, k);
    return done.ok() ? std::string() : done.error().what;
  };
  EXPECT_EQ(error("global_address.shared::cta.b1024.b64 [%r1], %rd2;"), "");
  EXPECT_EQ(error("global_address.b1024.b64 [%rd1+128], 5;"), "");
  EXPECT_EQ(error("rank.global.b1024.b32 [%rd1], 7;"), "");
  EXPECT_EQ(error("global_stride.global.b1024.b64 [%rd1], 4, 64;"), "");
  EXPECT_EQ(error("elemtype.global.b1024.b32 [%rd1], 15;"), "");
  for (const char* wrong :
       {"box_dim.global.b1024.b32 [%rd1], 5, 3;", "box_dim.global.b1024.b32 [%rd1], -1, 3;",
        "box_dim.global.b1024.b32 [%rd1], %r1, 3;", "box_dim.global.b1024.b32 [%rd1], 0, %f1;",
        "global_stride.global.b1024.b32 [%rd1], 3, 64;", "elemtype.global.b1024.b32 [%rd1], 16;",
        "elemtype.global.b1024.b32 [%rd1], %r1;", "swizzle_mode.global.b1024.b32 [%rd1], 4;",
        "fill_mode.global.b1024.b32 [%rd1], 2;", "interleave_layout.global.b1024.b32 [%rd1], 3;",
        "swizzle_atomicity.global.b1024.b32 [%rd1], 4;",
        "global_dim.shared.b1024.b32 [%rd1], 4, %r1;"})
    EXPECT_NE(error(wrong), "") << wrong;
}

TEST(Verify, VersionAndTarget) {
  auto check = [](const char* header_text, const char* body) {
    auto m = parse_module(std::string(header_text) + kernel(body));
    EXPECT_TRUE(m.ok());
    const Index k = (*m)->function_index.at("k");
    EXPECT_TRUE(parse_body(**m, k).ok());
    auto done = verify_body(**m, k);
    return done.ok() ? std::string() : done.error().what;
  };
  const char* cp = "cp.async.ca.shared.global [%r1], [%rd1], 4;";
  EXPECT_EQ(check(".version 7.0\n.target sm_80\n", cp), "");
  EXPECT_NE(check(".version 6.5\n.target sm_80\n", cp).find("needs .version 7.0"), std::string::npos);
  EXPECT_NE(check(".version 7.0\n.target sm_75\n", cp).find("needs .target sm_80"), std::string::npos);
  // Held against ptxas 13.0.
  const char* widen = "cvt.f32.bf16 %f1, %h1;";
  const char* flush = "cvt.ftz.f32.bf16 %f1, %h1;";
  EXPECT_EQ(check(".version 7.8\n.target sm_80\n", widen), "");
  EXPECT_NE(check(".version 7.8\n.target sm_80\n", flush).find("needs .target sm_90"),
            std::string::npos);
  EXPECT_EQ(check(".version 7.8\n.target sm_90\n", flush), "");
}

TEST(Verify, VideoSelectors) {
  accept("vadd.u32.s32.u32.sat %r1, %r2.b3, %r3.h1;");
  accept("vadd.u32.s32.u32.sat %r1.h0, %r2, 5, 7;");
  accept("vadd.u32.s32.u32.add %r1, %r2.b0, %r3, %r4;");
  accept("vset.u32.s32.eq %r1, %r2, %r3, %r4;");
  reject("vadd.u32.u32.u32 %r1, %r2.b4, %r3;", "incorrect selector of operand 'a'");
  reject("vadd.u32.u32.u32 %r1, %r2, %r3.h2;", "incorrect selector of operand 'b'");
  reject("vadd.u32.u32.u32 %r1.b0, %r2, %r3;", "needs operand 'c'");
  reject("vadd.u32.u32.u32 %r1.b0, %r2, %r3, %r4.b0;", "operand 'c' takes no selector");
  reject("vadd.u32.u32.u32.min %r1.b0, %r2, %r3, %r4;", "operand 'd' takes no selector");
  reject("vmad.u32.u32.u32 %r1.b0, %r2, %r3, %r4;", "operand 'd' takes no selector");
  accept("vadd2.u32.u32.u32 %r1.h10, %r2.h33, %r3.h01, %r4;");
  accept("vset4.u32.u32.eq.add %r1.b310, %r2.b7777, %r3, %r4;");
  reject("vadd2.u32.u32.u32 %r1.h01, %r2, %r3, %r4;", "incorrect selector of operand 'd'");
  reject("vadd2.u32.u32.u32 %r1.h2, %r2, %r3, %r4;", "incorrect selector of operand 'd'");
  reject("vadd2.u32.u32.u32 %r1, %r2.h1, %r3, %r4;", "incorrect selector of operand 'a'");
  reject("vadd2.u32.u32.u32 %r1, %r2.b3210, %r3, %r4;", "incorrect selector of operand 'a'");
  reject("vadd4.u32.u32.u32 %r1.b33, %r2, %r3, %r4;", "incorrect selector of operand 'd'");
  reject("vadd4.u32.u32.u32 %r1, %r2, %r3.b321, %r4;", "incorrect selector of operand 'b'");
  reject("vadd4.u32.u32.u32 %r1, %r2, 5, %r4;", "operand 'b' must be a register");
  reject("vadd4.u32.u32.u32 %r1, %r2, %r3, 5;", "operand 'c' must be a register");
  reject("add.u32 %r1, %r2.b0, %r3;", "operand 'a' takes no selector");
  reject("mov.b64 %rd1, {%r1, %r2.h0};", "takes no selector");
}

TEST(Verify, VideoNegation) {
  accept("vmad.s32.u32.s32.sat.shr7 %r1, -%r2.b1, -%r3, %r4;");
  accept("vmad.s32.u32.s32 %r1, - %r2, -%r3, -%r4;");
  accept("vmad.s32.u32.s32 %r1, -5, %r3.h0, -%r4;");
  accept("vmad.s32.u32.s32.po %r1, -%r2, -%r3, %r4;");
  reject("vmad.s32.u32.s32 %r1, -%r2, %r3, -%r4;", "either the product or 'c'");
  reject("vmad.s32.u32.s32.po %r1, -%r2, %r3, %r4;", ".po takes no negated product");
  reject("vmad.s32.u32.s32.po %r1, %r2, %r3, -%r4;", "operand 'c' cannot be negated");
  reject("vmad.s32.u32.s32 -%r1, %r2, %r3, %r4;", "operand 'd' cannot be negated");
  reject("vadd.u32.u32.u32 %r1, -%r2, %r3;", "operand 'a' cannot be negated");
  reject("add.s32 %r1, -%r2, %r3;", "operand 'a' cannot be negated");
}

TEST(Verify, Calls) {
  const std::string setup = "{ .param .b32 a; .param .align 8 .b8 s[16]; .param .b32 r; .param .b64 w;\n";
  reject((setup + "call (r), callee, (a); }").c_str(), "takes 2 arguments and returns 1");
  reject((setup + "call (r), callee, (w, s); }").c_str(), "argument 1");
  reject((setup + "call (w), callee, (a, s); }").c_str(), "return value 1");
  reject("call k;", "cannot be called");
  reject("call %rd1;", "needs a prototype");
}

}  // namespace
}  // namespace limen::ptx
