// The directory pass: declarations, initialisers, parameters, limits.
#include <cstring>

#include "fixture.h"

namespace limen::ptx {
namespace {

using testing::Test;

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(Module, Header) {
  auto m = parse_module("// c\n.version 8.7\n.target sm_90a, debug\n.address_size 64\n");
  ASSERT_TRUE(m.ok());
  EXPECT_EQ((*m)->version_major, 8u);
  EXPECT_EQ((*m)->version_minor, 7u);
  EXPECT_EQ((*m)->target_sm, 90u);
  EXPECT_EQ((*m)->target_suffix, 'a');
  EXPECT_TRUE((*m)->target_debug);
}

TEST(Module, TextEndsAtTheFirstNul) {
  std::string text = std::string(header) + std::string("\0garbage {", 10);
  EXPECT_TRUE(parse_module(text).ok());
}

TEST(Module, VersionsAreChecked) {
  auto newer = parse_module(".version 9.1\n.target sm_80\n");
  ASSERT_FALSE(newer.ok());
  EXPECT_EQ(newer.code(), Code::unsupported_ptx_version);
  EXPECT_TRUE(contains(newer.error().what, "9.1"));
  EXPECT_EQ(parse_module(".version 10.0\n.target sm_80\n").code(), Code::unsupported_ptx_version);
  EXPECT_EQ(parse_module("").code(), Code::invalid_ptx);
  EXPECT_EQ(parse_module(".target sm_80").code(), Code::invalid_ptx);
  EXPECT_EQ(parse_module(".version 9.0").code(), Code::invalid_ptx);
  EXPECT_EQ(parse_module(".version 9.0\n.target sm_80\n.address_size 32").code(), Code::invalid_ptx);
  EXPECT_EQ(parse_module(".version 9.0\n.target gfx90").code(), Code::invalid_ptx);
}

TEST(Module, Variables) {
  auto m = module_of(
      ".visible .global .align 8 .f32 a[2][3];\n.const .v4 .u16 c[5];\n"
      ".extern .shared .align 16 .b8 dyn[];\n.weak .global .u8 b, e[7];\n"
      ".global .attribute(.managed) .align 4 .u32 managed;\n.common .global .u32 common;\n");
  ASSERT_EQ(m->variables.size(), 7u);
  EXPECT_EQ(m->variables[0].bytes, 24u);
  EXPECT_EQ(m->variables[0].align, 8u);
  EXPECT_EQ(m->variables[0].linkage, Linkage::visible);
  EXPECT_EQ(m->variables[1].bytes, 40u);
  EXPECT_EQ(m->variables[1].align, 8u);
  EXPECT_EQ(m->variables[1].vector, 4);
  EXPECT_EQ(m->variables[2].bytes, 0u);
  EXPECT_EQ(m->variables[2].space, Space::shared);
  EXPECT_EQ(m->variables[2].linkage, Linkage::external);
  EXPECT_EQ(m->variables[4].bytes, 7u);
  EXPECT_TRUE(m->variables[5].managed);
  EXPECT_EQ(m->variable_index.at("common"), 6u);
}

template <typename T>
T at(const Variable& v, size_t offset) {
  T value{};
  EXPECT_LE(offset + sizeof value, v.init.size());
  std::memcpy(&value, v.init.data() + offset, sizeof value);
  return value;
}

TEST(Module, Initialisers) {
  auto m = module_of(
      ".global .u32 a = 7;\n.global .f32 f[3] = {1.5, 0f40000000, -2.0};\n"
      ".global .f64 d = 0d3FF0000000000000;\n.global .s16 s[2][3] = {{1, -2}, {3}};\n"
      ".global .b8 text[] = {104, 105, 0};\n.global .v2 .u32 v[2] = {{1, 2}, {3, 4}};\n"
      ".global .u32 full[2][2] = {{1, 2}, {3, 4}};\n.global .u32 e[2] = {1 + 2 * 3, WARP_SZ};\n");
  const auto v = m->variables;
  EXPECT_EQ(at<uint32_t>(v[0], 0), 7u);
  EXPECT_EQ(at<float>(v[1], 0), 1.5f);
  EXPECT_EQ(at<float>(v[1], 4), 2.0f);
  EXPECT_EQ(at<float>(v[1], 8), -2.0f);
  EXPECT_EQ(at<double>(v[2], 0), 1.0);
  EXPECT_EQ(at<int16_t>(v[3], 2), -2);
  EXPECT_EQ(at<int16_t>(v[3], 6), 3);
  EXPECT_EQ(v[4].bytes, 3u);
  EXPECT_EQ(v[4].init[1], 105);
  EXPECT_EQ(at<uint32_t>(v[5], 12), 4u);
  EXPECT_EQ(at<uint32_t>(v[6], 12), 4u);
  EXPECT_EQ(at<uint32_t>(v[7], 0), 7u);
  EXPECT_EQ(at<uint32_t>(v[7], 4), 32u);
  // Measured on ptxas 13.0.
  m = module_of(".global .b32 a[2] = {1.0, 0f40000000};\n.global .b64 b[2] = {1.0, 0f3F800000};\n");
  EXPECT_EQ(at<float>(m->variables[0], 0), 1.0f);
  EXPECT_EQ(at<float>(m->variables[0], 4), 2.0f);
  EXPECT_EQ(at<double>(m->variables[1], 0), 1.0);
  EXPECT_EQ(at<uint64_t>(m->variables[1], 8), 0x3f800000u);
}

TEST(Module, SymbolsInInitialisers) {
  auto m = module_of(
      ".global .u64 p[3] = {later, generic(later)+8, f};\n"
      ".global .align 8 .u8 bytes[2] = {0xFF(later), 0xFF00(generic(later)+4)};\n"
      ".global .u32 later[4];\n.func f() { ret; }\n");
  const Variable& p = m->variables[0];
  ASSERT_EQ(p.relocs.size(), 3u);
  EXPECT_EQ(p.relocs[0].symbol, 2u);
  EXPECT_EQ(p.relocs[0].bytes, 8);
  EXPECT_FALSE(p.relocs[0].generic);
  EXPECT_TRUE(p.relocs[1].generic);
  EXPECT_EQ(p.relocs[1].offset, 8u);
  EXPECT_EQ(p.relocs[1].addend, 8);
  EXPECT_EQ(p.relocs[2].kind, Operand::SymbolKind::function);
  const Variable& b = m->variables[1];
  EXPECT_EQ(b.relocs[1].shift, 8);
  EXPECT_EQ(b.relocs[1].bytes, 1);
  EXPECT_EQ(b.relocs[1].addend, 4);
}

TEST(Module, InitialiserErrors) {
  EXPECT_TRUE(contains(module_error(".global .u32 a[2] = {1, 2, 3};"), "too many initialisers"));
  EXPECT_TRUE(contains(module_error(".global .u32 a = nothing;"), "undefined symbol 'nothing'"));
  EXPECT_TRUE(contains(module_error(".global .u32 a[];"), "no size"));
  EXPECT_TRUE(contains(module_error(".global .u32 a[2] = {{{1}}};"), "nested braces"));
  EXPECT_TRUE(contains(module_error(".shared .u32 a = 1;"), "initialiser"));
  EXPECT_TRUE(contains(module_error(".global .u32 a = 1.5;"), "floating-point initialiser"));
  EXPECT_TRUE(contains(module_error(".global .f32 a = 1;"), "integer initialiser"));
  EXPECT_TRUE(contains(module_error(".global .u32 a[2][2] = {1, 2, 3, 4};"), "inner braces"));
  EXPECT_TRUE(contains(module_error(".global .v2 .u32 a = {1};"), "must have 2 initialisers"));
  EXPECT_TRUE(contains(module_error(".shared .u32 s;\n.global .u64 a = s;"), "neither in .global"));
  EXPECT_TRUE(contains(module_error(".global .u32 g;\n.global .s64 a = g;"), "cannot initialise"));
  EXPECT_TRUE(contains(module_error(".extern .global .u32 a = 1;"), "initialiser"));
}

TEST(Module, AbsurdSizesAreErrors) {
  EXPECT_TRUE(contains(module_error(".global .b8 a[1152921504606846976];"), "between 0 and"));
  EXPECT_TRUE(contains(module_error(".global .b8 a[70368744177664][2];"), "larger than"));
  EXPECT_TRUE(contains(module_error(".global .b8 a[4294967296][4294967296];"), "larger than"));
  EXPECT_TRUE(contains(module_error(".global .b8 a[2][1073741824] = {{1}, {2}};"), "take more than"));
  EXPECT_TRUE(contains(module_error(".global .align 3 .b8 a[4];"), "power of two"));
  EXPECT_TRUE(contains(module_error(".entry k(.param .b8 a[65536]) { }"), "larger than"));
  EXPECT_TRUE(contains(module_error(".file 1000000 \"a\""), "too large"));
  std::string deep = ".global .b8 a";
  for (int i = 0; i < 100; ++i) deep += "[1]";
  EXPECT_TRUE(contains(module_error(deep + ";"), "too many dimensions"));
}

TEST(Module, ParameterOffsets) {
  auto m = module_of(
      ".entry k(.param .u8 a, .param .u64 .ptr .global .align 4 b, .param .align 16 .b8 c[20],"
      " .param .u16 d, .param .u64 e) { }");
  const Function& f = m->functions[0];
  ASSERT_EQ(f.params.size(), 5u);
  EXPECT_EQ(f.params[0].offset, 0u);
  EXPECT_EQ(f.params[1].offset, 8u);
  EXPECT_EQ(f.params[2].offset, 16u);
  EXPECT_EQ(f.params[3].offset, 36u);
  EXPECT_EQ(f.params[4].offset, 40u);
  EXPECT_EQ(f.param_bytes, 48u);
}

TEST(Module, FunctionDirectives) {
  auto m = module_of(
      ".visible .entry k() .maxntid 256, 2 .minnctapersm 2 .maxnreg 64 .reqnctapercluster 2, 1, 1\n"
      ".explicitcluster .pragma \"nounroll\"; { ret; }\n"
      ".entry r .reqntid 32, 4, 2 { }\n.extern .func stop(.param .b32 a) .noreturn;\n"
      ".extern .func (.param .b32 r) vprintf (.param .b64 a, .param .b64 b);\n"
      ".func (.reg .f32 out) old(.reg .f32 in, .reg .b32 p) .noreturn .abi_preserve 5 { }\n");
  const Function& k = m->functions[0];
  EXPECT_EQ(k.max_ntid, (std::array<uint32_t, 3>{256, 2, 1}));
  EXPECT_EQ(k.req_cluster[0], 2u);
  EXPECT_EQ(k.min_ctapersm, 2u);
  EXPECT_EQ(k.max_nreg, 64u);
  EXPECT_TRUE(k.has_body);
  EXPECT_EQ(m->functions[1].req_ntid[1], 4u);
  EXPECT_TRUE(m->functions[2].noreturn);
  EXPECT_FALSE(m->functions[2].has_body);
  EXPECT_EQ(m->functions[3].linkage, Linkage::external);
  EXPECT_EQ(m->functions[4].params[1].space, Space::reg);
}

// Measured on ptxas 13.0.
TEST(Module, DirectivesThatExcludeEachOtherOrTheFunction) {
  for (const char* bad :
       {".entry k() .maxntid 32 .reqntid 32 { }", ".entry k() .maxclusterrank 2 .reqnctapercluster 2 { }",
        ".entry k() .blocksareclusters { }", ".entry k() .maxntid 0 { }", ".entry k() .noreturn { }",
        ".func f() .maxnreg 32 { }", ".func .noreturn f() { }", ".common .func f() { }", ".func f();",
        ".func (.param .b32 a, .param .b32 b) f() { }", ".func f(.param .u8 a) { }",
        ".entry k(.param .v2 .u32 a) { }", ".entry k(.param .b8 a[0]) { }", ".entry k(.param .u32) { }",
        ".local .u32 a;", ".const .attribute(.managed) .u32 a;", ".common .const .u32 a;",
        ".global .bf16 a;", ".global .v8 .u32 a;", ".global .v4 .b64 a;", ".global .u32 a[2+2];"})
    EXPECT_FALSE(module_error(bad).empty()) << bad;
}

TEST(Module, DeclarationsBecomeDefinitions) {
  auto m = module_of(
      ".extern .func (.param .b32 r) f(.param .b32 a);\n.extern .global .u32 x[4];\n"
      ".visible .func (.param .b32 r) f(.param .b32 a) { ret; }\n.visible .global .u32 x[4] = {9};\n");
  ASSERT_EQ(m->functions.size(), 1u);
  EXPECT_TRUE(m->functions[0].has_body);
  EXPECT_EQ(m->functions[0].linkage, Linkage::visible);
  ASSERT_EQ(m->variables.size(), 1u);
  EXPECT_EQ(m->variables[0].linkage, Linkage::visible);
  EXPECT_EQ(m->variables[0].init[0], 9);
}

TEST(Module, DuplicatesAreErrors) {
  EXPECT_TRUE(contains(module_error(".entry k() {}\n.entry k() {}"), "line 4 already"));
  EXPECT_TRUE(contains(module_error(".global .u32 a;\n.global .u32 a;"), "line 4 already"));
  EXPECT_TRUE(contains(module_error(".global .u32 a;\n.func a() {}"), "variable already"));
  EXPECT_TRUE(contains(module_error(".func f(); .func f(.param .b32 a) {}"), "differs"));
  EXPECT_TRUE(contains(module_error(".common .global .u32 a;\n.common .global .u32 a = 3;"),
                       "already"));
}

TEST(Module, Alias) {
  auto m = module_of(".func f() { ret; }\n.func g();\n.alias g, f;\n");
  EXPECT_EQ(m->function_index.at("g"), m->function_index.at("f"));
  EXPECT_TRUE(contains(module_error(".func g();\n.alias g, f;\n"), "alias target 'f'"));
}

TEST(Module, BodiesAreSkippedRespectingCommentsAndStrings) {
  auto m = module_of(
      ".entry a() { /* } */ { // }\n } .pragma \"}\"; }\n.entry b() { }\n"
      ".section .debug_str {\ninfo: .b8 1, 2\n .b32 .debug_abbrev\n .b64 $L+4, a-b\n}\n"
      ".file 1 \"x.cu\", 123, 456\n.pragma \"whatever\";\n");
  ASSERT_EQ(m->functions.size(), 2u);
  EXPECT_EQ(m->functions[1].line, 6u);
  EXPECT_EQ(m->files.at(1), "x.cu");
  EXPECT_TRUE(contains(module_error(".entry a() { { }"), "not closed"));
}

TEST(Module, UnknownDirectivesAreNamed) {
  EXPECT_TRUE(contains(module_error(".frob 3"), "line 4, column 1: unsupported directive '.frob'"));
  EXPECT_TRUE(contains(module_error("hello"), "unexpected 'hello'"));
  EXPECT_TRUE(contains(module_error(".const[2] .u32 a;"), "constant banks"));
}

}  // namespace
}  // namespace limen::ptx
