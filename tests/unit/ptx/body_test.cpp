// Function bodies: operands, scopes, labels, blocks, calls, source lines.
#include "fixture.h"

namespace limen::ptx {
namespace {

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(Body, OperandsPrintBack) {
  const char* lines[] = {
      "add.u32 %r1, %r2, 4;",
      "mov.u32 %r1, %tid.x;",
      "mov.u64 %rd1, g+8;",
      "ld.global.u32 %r1, [%rd2+-4];",
      "ld.shared.u32 %r1, [dyn+4];",
      "ld.param.u64 %rd1, [p];",
      "ld.local.u32 %r1, [16];",
      "ld.global.v4.f32 {%f1, %f2, _, %f4}, [%rd1];",
      "mov.b64 {%r1, %r2}, %rd1;",
      "setp.lt.u32 %p1|%p2, %r1, %r2;",
      "@!%p1 add.f32 %f1, %f2, 0f3F800000;",
      "@%p1 mov.f64 %d1, 0d3FF0000000000000;",
      "and.pred %p1, %p2, !%p3;",
      "atom.global.add.u32 _, [%rd1], 1;",
      "add.f32 %f1, %v.y, %v.w;",
      "shfl.sync.idx.b32 %r1|_, %r2, %r3, 31, -1;",
      "bar.sync 0;",
      "vadd.s32.u32.s32.sat %r1.h1, %r2.b3, %r3, %r4;",
      "vmad.s32.u32.u32.sat.shr7 %r1, -%r2.h0, %r3.b0, %r4;",
      "vadd2.u32.u32.u32 %r1.h0, %r2.h01, %r3.h32, %r4;",
      "vset4.u32.s32.lt.add %r1.b310, %r2.b0123, %r3.b7654, %r4;",
      "ret;",
  };
  for (const char* line : lines) EXPECT_EQ(parse_kernel(line).text(), line);
}

TEST(Body, BlanksAndOrderAreNormalised) {
  EXPECT_EQ(parse_kernel("ld .u32 .global %r1 , [ %rd2 + 4 ] ;").text(),
            "ld.global.u32 %r1, [%rd2+4];");
  EXPECT_EQ(parse_kernel("vmad.s32.u32.u32 %r1 , - %r2 .b0 , -5, %r4;").text(),
            "vmad.s32.u32.u32 %r1, -%r2.b0, -5, %r4;");
  EXPECT_EQ(parse_kernel("mov.u32 %r1, (1<<4)|WARP_SZ;").text(), "mov.u32 %r1, 48;");
  EXPECT_EQ(parse_kernel("ld.global.u32 %r1, [%rd1 - 8];").text(), "ld.global.u32 %r1, [%rd1+-8];");
}

TEST(Body, VectorRegisterStandsForItsComponents) {
  EXPECT_EQ(parse_kernel("st.global.v4.f32 [%rd1], %v;").text(),
            "st.global.v4.f32 [%rd1], {%v.x, %v.y, %v.z, %v.w};");
}

TEST(Body, Immediates) {
  auto k = parse_kernel("mov.f32 %f1, 1.5; mov.f32 %f2, 0f3FC00000; mov.s32 %r1, -1;");
  const auto& body = k.function().blocks[0].body;
  EXPECT_TRUE(body[0].ops[1].imm_is_f64);
  EXPECT_TRUE(body[1].ops[1].imm_is_float);
  EXPECT_FALSE(body[1].ops[1].imm_is_f64);
  EXPECT_EQ(body[1].ops[1].bits, 0x3fc00000);
  EXPECT_EQ(body[2].ops[1].bits, -1);
}

TEST(Body, OnlyUsedRegistersExist) {
  auto k = parse_kernel(".reg .b32 %big<4000000000>;\nadd.u32 %big3999999999, %r1, %r1;");
  EXPECT_EQ(k.function().registers.size(), 3u);  // %v, %big3999999999, %r1
  EXPECT_TRUE(contains(kernel_error("add.u32 %r9, %r1, %r1;"), "unknown symbol '%r9'"));
  EXPECT_TRUE(contains(kernel_error("add.u32 %r01, %r1, %r1;"), "unknown symbol '%r01'"));
  EXPECT_TRUE(contains(kernel_error(".reg .b32 %x<99999999999>;"), "count"));
}

TEST(Body, RangeNamesMayEndInDigits) {
  auto k = parse_kernel(".reg .f32 %a1<9>;\n.reg .b32 %a<5>;\nmov.f32 %a13, 1.0;\nmov.u32 %a3, 1;");
  EXPECT_EQ(k.text(0, 0), "mov.f32 %a13, 0d3FF0000000000000;");
  const auto& f = k.function();
  EXPECT_EQ(f.registers[f.blocks[0].body[0].ops[0].index].type, Type::f32);
  EXPECT_EQ(f.registers[f.blocks[0].body[1].ops[0].index].type, Type::b32);
}

TEST(Body, ScopesShadow) {
  auto k = parse_kernel(
      "mov.u32 %r1, 1;\n{ .reg .f32 %r1; mov.f32 %r1, 1.0; { .reg .f64 %r<3>; mov.f64 %r1, 2.0; }\n"
      "mov.f32 %r1, 3.0; }\nmov.u32 %r1, 4;");
  const auto& f = k.function();
  const auto& body = f.blocks[0].body;
  EXPECT_EQ(body[0].ops[0].index, body[4].ops[0].index);
  EXPECT_EQ(body[1].ops[0].index, body[3].ops[0].index);
  EXPECT_NE(body[0].ops[0].index, body[1].ops[0].index);
  EXPECT_EQ(f.registers[body[2].ops[0].index].type, Type::f64);
  EXPECT_TRUE(contains(kernel_error("{ .reg .u32 t; }\nmov.u32 t, 1;"), "unknown symbol 't'"));
  EXPECT_TRUE(contains(kernel_error(".reg .u32 t;\n.reg .u32 t;"), "already"));
}

TEST(Body, BlocksAndSuccessors) {
  auto k = parse_kernel(
      "setp.eq.u32 %p1, %r1, 0;\n@%p1 bra DONE;\nLOOP:\nadd.u32 %r1, %r1, 1;\n@!%p1 bra LOOP;\n"
      "@%p1 ret;\nbra.uni DONE;\ntrap;\nDONE:\nALSO:\nret;");
  const auto& b = k.function().blocks;
  ASSERT_EQ(b.size(), 6u);
  EXPECT_EQ(b[0].succ, (std::vector<Index>{5, 1}));
  EXPECT_EQ(b[1].succ, (std::vector<Index>{1, 2}));
  EXPECT_EQ(b[2].succ, (std::vector<Index>{3}));
  EXPECT_EQ(b[3].succ, (std::vector<Index>{5}));
  EXPECT_TRUE(b[4].succ.empty());
  EXPECT_TRUE(b[5].succ.empty());
  EXPECT_EQ(k.function().labels[b[5].label], "DONE");
}

TEST(Body, EntryBlockHasNoPredecessor) {
  auto k = parse_kernel("LOOP: bra LOOP;");
  const auto& b = k.function().blocks;
  ASSERT_EQ(b.size(), 2u);
  EXPECT_TRUE(b[0].body.empty());
  EXPECT_EQ(b[0].succ, (std::vector<Index>{1}));
  EXPECT_EQ(b[1].succ, (std::vector<Index>{1}));
}

TEST(Body, FallingOffTheEndReturns) {
  EXPECT_EQ(parse_kernel("").text(), "ret;");
  auto k = parse_kernel("@%p1 bra END;\nmov.u32 %r1, 1;\nEND:");
  EXPECT_EQ(k.text(2, 0), "ret;");
  auto guarded = parse_kernel("@%p1 ret;");
  ASSERT_EQ(guarded.function().blocks.size(), 2u);
  EXPECT_EQ(guarded.text(1, 0), "ret;");
}

TEST(Body, LabelsAreScoped) {
  // The same label in two scopes, as inline assembly in a loop makes them.
  auto k = parse_kernel(
      "{ bra DONE; DONE: mov.u32 %r1, 1; }\n{ bra DONE; DONE: mov.u32 %r1, 2; }\n"
      "{ { bra OUT; } }\nmov.u32 %r1, 3;\nOUT: ret;");
  const auto& f = k.function();
  std::vector<Index> targets;
  for (const Block& b : f.blocks)
    for (const Instruction& i : b.body)
      if (i.op == Op::bra) targets.push_back(f.label_block[i.ops[0].index]);
  ASSERT_EQ(targets.size(), 3u);
  EXPECT_NE(targets[0], targets[1]);
  EXPECT_EQ(f.blocks[targets[2]].body[0].op, Op::ret);
  EXPECT_TRUE(contains(kernel_error("bra NOWHERE;"), "label 'NOWHERE' is not defined"));
  EXPECT_TRUE(contains(kernel_error("bra IN;\n{ IN: ret; }"), "label 'IN' is not defined"));
  EXPECT_TRUE(contains(kernel_error("A: ret;\nA: ret;"), "already"));
}

TEST(Body, OuterLabelAlreadyKnown) {
  auto k = parse_kernel("TOP: mov.u32 %r1, 1;\n{ @%p1 bra TOP; { bra TOP; } }");
  const auto& f = k.function();
  for (const Block& b : f.blocks)
    for (const Instruction& i : b.body)
      if (i.op == Op::bra) {
        EXPECT_EQ(f.label_block[i.ops[0].index], 1u);
      }
}

TEST(Body, IndexedBranch) {
  auto k = parse_kernel(
      "TS: .branchtargets A, B, A;\nbrx.idx %r1, TS;\nA: ret;\nB: exit;");
  const auto& f = k.function();
  EXPECT_EQ(f.blocks[0].succ, (std::vector<Index>{1, 2, 1}));
  EXPECT_EQ(f.branch_targets[0].size(), 3u);
  EXPECT_TRUE(contains(kernel_error("brx.idx %r1, NONE;"), "not a .branchtargets list"));
}

TEST(Body, Calls) {
  auto k = parse_kernel(
      "{ .param .b32 a; .param .align 8 .b8 s[16]; .param .b32 r;\n"
      "st.param.b32 [a+0], %r1; call.uni (r), callee, (a, s); ld.param.b32 %r2, [r+0]; }\n"
      "P: .callprototype (.param .b32 _) _ (.param .b64 _) .noreturn;\n"
      "{ .param .b64 q; .param .b32 z; call (z), %rd1, (q), P; }");
  const auto& f = k.function();
  const Instruction& direct = f.blocks[0].body[1];
  EXPECT_EQ(k.text(0, 1), "call.uni (r), callee, (a, s);");
  EXPECT_EQ(direct.call_args.size(), 2u);
  EXPECT_EQ(direct.call_args[0].symbol_kind, Operand::SymbolKind::local_variable);
  const Instruction& indirect = f.blocks[0].body[3];
  EXPECT_EQ(indirect.ops[0].kind, Operand::Kind::reg);
  EXPECT_EQ(indirect.prototype, 0u);
  EXPECT_TRUE(f.prototypes[0].noreturn);
  EXPECT_TRUE(verify_body(*k.module, k.module->function_index.at("k")).ok());
}

TEST(Body, ParamsOfFunctions) {
  auto m = module_of(
      ".func (.param .b32 out) f(.param .b32 in, .reg .b32 r)\n{ .reg .b32 %t;\n"
      "ld.param.b32 %t, [in]; add.s32 %t, %t, r; st.param.b32 [out], %t; ret; }\n");
  ASSERT_TRUE(parse_body(*m, 0).ok());
  const Function& f = m->functions[0];
  const auto& body = f.blocks[0].body;
  EXPECT_EQ(body[0].ops[1].symbol_kind, Operand::SymbolKind::param);
  EXPECT_EQ(body[0].ops[1].index, 0u);
  EXPECT_EQ(body[2].ops[0].index, 2u);  // returns follow the parameters
  EXPECT_EQ(f.params[1].reg, 0u);
  EXPECT_TRUE(verify_body(*m, 0).ok());
}

TEST(Body, SourceLines) {
  auto k = parse_kernel(
      "mov.u32 %r1, 1;\n.loc 2 33 5\nmov.u32 %r1, 2;\n"
      ".loc 3 44 1, function_name $L__info0, inlined_at 2 10 3\nmov.u32 %r1, 3;");
  const auto& body = k.function().blocks[0].body;
  EXPECT_EQ(body[0].source_line, 0u);
  EXPECT_EQ(body[0].line, 18u);
  EXPECT_EQ(body[1].source_line, 33u);
  EXPECT_EQ(body[1].source_file, 2u);
  EXPECT_EQ(body[2].source_line, 44u);
}

TEST(Body, Locals) {
  auto k = parse_kernel(
      ".local .align 8 .b8 depot[24];\n.shared .align 4 .f32 tile[32][33];\n"
      "mov.u64 %rd1, depot;\nst.shared.f32 [tile+132], %f1;");
  const auto& f = k.function();
  ASSERT_EQ(f.locals.size(), 2u);
  EXPECT_EQ(f.locals[0].space, Space::local);
  EXPECT_EQ(f.locals[1].bytes, 32u * 33 * 4);
}

TEST(Body, Errors) {
  EXPECT_TRUE(contains(kernel_error("frob.u32 %r1;"), "line 18, column 1: unknown instruction 'frob'"));
  EXPECT_TRUE(contains(kernel_error("add.u32 %r1, %r2 %r3;"), "unexpected '%r3'"));
  EXPECT_TRUE(contains(kernel_error("@%r1 ret;"), "not a predicate register"));
  EXPECT_FALSE(parse_module(header + kernel("}")).ok());
  EXPECT_TRUE(contains(kernel_error("mov.u32 %r1, %tid;"), "needs a component"));
  EXPECT_TRUE(contains(kernel_error("mov.u32 %r1, %tid.q;"), "no component '.q'"));
  EXPECT_TRUE(contains(kernel_error("vadd.u32.u32.u32 %r1, %r2.b8, %r3;"), "unknown selector '.b8'"));
  EXPECT_TRUE(contains(kernel_error("vadd.u32.u32.u32 %r1, %r2.h4, %r3;"), "unknown selector '.h4'"));
  EXPECT_TRUE(contains(kernel_error("vadd.u32.u32.u32 %r1, %v.b0, %r3;"), "no component '.b0'"));
  EXPECT_TRUE(contains(kernel_error("ld.global.u32 %r1, [%rd1.h0];"), "has a selector"));
  EXPECT_TRUE(contains(kernel_error("add.u32 %r1, !%r2, %r3;"), "only a predicate"));
  EXPECT_TRUE(contains(kernel_error("vmad.u32.u32.u32 %r1, -%p1, %r2, %r3;"), "only a number"));
  EXPECT_TRUE(contains(kernel_error("call nothing;"), "'nothing' is not a function"));
  EXPECT_TRUE(contains(kernel_error(".global .u32 x;"), "unsupported directive '.global'"));
}

TEST(Body, HostileNestingIsAnError) {
  EXPECT_TRUE(contains(kernel_error(std::string(1000, '{') + std::string(1000, '}')), "too deeply"));
  EXPECT_TRUE(contains(kernel_error("mov.b64 %rd1, " + std::string(1000, '{') +
                                    std::string(1000, '}') + ";"), "too deeply"));
  std::string many = "mov.b64 %rd1, {0";
  for (int i = 0; i < 5000; ++i) many += ",0";
  EXPECT_TRUE(contains(kernel_error(many + "};"), "too many elements"));
}

TEST(Body, OneLongLineIsReadInLinearTime) {
  std::string line = ".reg .b32 first";
  for (int i = 0; i < 200000; ++i) line.append(", x").append(std::to_string(i));
  line += ";";
  for (int i = 0; i < 100000; ++i) line.append("L").append(std::to_string(i)).append(":");
  EXPECT_EQ(kernel_error(line), "");
}

TEST(Body, ParsingTwiceIsOnce) {
  auto k = parse_kernel("ret;");
  const Index index = k.module->function_index.at("k");
  EXPECT_TRUE(parse_body(*k.module, index).ok());
  EXPECT_EQ(k.function().blocks.size(), 1u);
}

TEST(Body, AFailedBodyLeavesNothing) {
  auto m = module_of(kernel("mov.u32 %r1, 1; frob;"));
  const Index k = m->function_index.at("k");
  EXPECT_FALSE(parse_body(*m, k).ok());
  EXPECT_TRUE(m->functions[k].blocks.empty());
  EXPECT_FALSE(parse_body(*m, k).ok());
}

}  // namespace
}  // namespace limen::ptx
