// The tables generated from spec/ptx and the matcher of opcode texts.
#include "compiler/ptx/table.h"

#include <gtest/gtest.h>

namespace limen::ptx {
namespace {

Opcode match(const char* text) {
  Opcode code;
  EXPECT_EQ(match_opcode(text, code), "") << text;
  return code;
}
std::string refuse(const char* text) {
  Opcode code;
  std::string why = match_opcode(text, code);
  EXPECT_NE(why, "") << text;
  return why;
}

TEST(Table, MatchesTypesInOrderAndModifiersAsSet) {
  const Opcode code = match("cvt.rn.ftz.f32.s32");
  EXPECT_EQ(code.op, Op::cvt);
  ASSERT_EQ(code.type_count, 2);
  EXPECT_EQ(code.types[0], Type::f32);
  EXPECT_EQ(code.types[1], Type::s32);
  EXPECT_TRUE(code.mods.has(Tok::rn));
  EXPECT_FALSE(code.mods.has(Tok::sat));
}

TEST(Table, ModifiersComeInAnyOrder) {
  for (const char* text : {"atom.global.add.u32", "atom.add.global.u32", "vote.ballot.sync.b32",
                           "ld.u32.global", "add.ftz.rn.f32", "ld.v4.global.u32",
                           "atom.add.release.gpu.global.u32"})
    match(text);
  EXPECT_EQ(match("atom.global.add.u32").form, match("atom.add.global.u32").form);
}

TEST(Table, RefusesByName) {
  EXPECT_EQ(refuse("frobnicate.u32"), "unknown instruction 'frobnicate'");
  EXPECT_EQ(refuse("add.frob.u32"), "unknown modifier '.frob' of instruction 'add'");
  EXPECT_EQ(refuse("add.wide.u32"), "illegal modifier '.wide' for instruction 'add'");
  EXPECT_NE(refuse("add.ftz.s32").find("no form of instruction 'add'"), std::string::npos);
  refuse("add");
  refuse("add.");
  refuse("add.u32.u32");
  refuse("add.rn.rn.f32");
  refuse("cvt.f32.s32");
  refuse("cvt.f32.f64");
  refuse("setp.lo.s32");
}

TEST(Table, HostileOpcodeIsAnError) {
  std::string text = "mma.sync.aligned";
  for (int i = 0; i < 1000; ++i) text += ".row";
  Opcode code;
  EXPECT_NE(match_opcode(text, code), "");
  text = "mma.sync.aligned.f16.f16.f16.f16.f16.f16";
  EXPECT_NE(match_opcode(text, code), "");
}

TEST(Table, LaterFormsMatchAndSaySo) {
  EXPECT_EQ(form(match("tex.2dms.v4.f32.s32").form).state, State::later);
  EXPECT_EQ(form(match("mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e4m3.e4m3.f32").form).state,
            State::later);
  EXPECT_EQ(form(match("add.f32").form).state, State::full);
}

TEST(Table, LayoutsKeepTheirOrder) {
  const Opcode a = match("mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32");
  const Opcode b = match("mma.sync.aligned.m8n8k4.col.row.f32.f16.f16.f32");
  EXPECT_TRUE(a.mods.has(Tok::row_col));
  EXPECT_TRUE(b.mods.has(Tok::col_row));
  EXPECT_TRUE(match("wmma.load.a.sync.aligned.row.m16n16k16.f16").mods.has(Tok::row));
  refuse("mma.sync.aligned.m16n8k16.col.row.f32.f16.f16.f32");
  refuse("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f16");
  refuse("mma.sync.aligned.m16n8k32.row.col.s32.s8.s4.s32");
}

TEST(Table, ClassesFixTheSkeleton) {
  EXPECT_EQ(form(match("add.u32").form).cls, Class::lane);
  EXPECT_EQ(form(match("ld.global.u32").form).cls, Class::memory);
  EXPECT_EQ(form(match("atom.add.u32").form).cls, Class::atomic);
  EXPECT_EQ(form(match("shfl.sync.idx.b32").form).cls, Class::warp);
  EXPECT_EQ(form(match("bar.sync").form).cls, Class::barrier);
  EXPECT_EQ(form(match("bra.uni").form).cls, Class::branch);
  EXPECT_TRUE(form(match("div.s32").form).traps);
}

TEST(Table, SpaceOfInstruction) {
  Instruction i;
  EXPECT_EQ(space_of(i), Space::none);
  i.mods = match("ld.shared::cluster.u32").mods;
  EXPECT_EQ(space_of(i), Space::shared);
  i.mods = match("ld.param::func.v4.u32").mods;
  EXPECT_EQ(space_of(i), Space::param);
  EXPECT_EQ(vector_of(i), 4u);
}

TEST(Table, EveryNameFindsItself) {
  for (size_t i = 0; i < static_cast<size_t>(Op::count_); ++i) {
    Op op;
    ASSERT_TRUE(find_op(name(static_cast<Op>(i)), op));
    EXPECT_EQ(static_cast<size_t>(op), i);
  }
  for (size_t i = 0; i < static_cast<size_t>(SReg::count_); ++i) {
    SReg s;
    ASSERT_TRUE(find_sreg(name(static_cast<SReg>(i)).substr(1), s));
    EXPECT_EQ(static_cast<size_t>(s), i);
  }
  EXPECT_EQ(name(Type::f16x2), "f16x2");
  EXPECT_EQ(name(Tok::shared__cta), "shared::cta");
  EXPECT_EQ(name(Tok::and_), "and");
}

TEST(Table, Types) {
  EXPECT_EQ(size_of(Type::pred), 1u);
  EXPECT_EQ(size_of(Type::b128), 16u);
  EXPECT_EQ(size_of(Type::bf16x2), 4u);
  EXPECT_TRUE(is_float(Type::bf16));
  EXPECT_TRUE(is_signed(Type::s8));
  EXPECT_TRUE(is_int(Type::b64));
  EXPECT_FALSE(is_int(Type::pred));
  EXPECT_FALSE(is_int(Type::f16x2));
}

}  // namespace
}  // namespace limen::ptx
