// Linking PTX modules: externals meet definitions, internal names stay apart, weak gives way.
#include "compiler/ptx/link.h"

#include <gtest/gtest.h>

#include <functional>

#include "compiler/ptx/parser.h"

namespace limen::ptx {
namespace {

const std::string head = ".version 8.0\n.target sm_75\n.address_size 64\n";

std::unique_ptr<ptx::Module> parse(const std::string& body) {
  auto module = ptx::parse_module(head + body);
  EXPECT_TRUE(module.ok()) << module.error().what;
  return std::move(*module);
}

Result<std::unique_ptr<ptx::Module>> link(std::initializer_list<std::string> bodies) {
  std::vector<std::unique_ptr<ptx::Module>> modules;
  for (const std::string& body : bodies) modules.push_back(parse(body));
  return link_modules(std::move(modules));
}

/// Names of the functions and variables that a kernel's body refers to.
std::vector<std::string> references(const ptx::Module& module, const std::string& kernel) {
  std::vector<std::string> names;
  const ptx::Function& function = module.functions[module.function_index.at(kernel)];
  std::function<void(const ptx::Operand&)> visit = [&](const ptx::Operand& operand) {
    using Symbol = ptx::Operand::SymbolKind;
    if (operand.symbol_kind == Symbol::variable)
      names.push_back(module.variables[operand.index].name);
    if (operand.symbol_kind == Symbol::function)
      names.push_back(module.functions[operand.index].name);
    for (const ptx::Operand& element : operand.elems) visit(element);
  };
  for (const ptx::Block& block : function.blocks)
    for (const ptx::Instruction& instruction : block.body)
      for (const ptx::Operand& operand : instruction.ops) visit(operand);
  return names;
}

const char* caller = R"(
.extern .func (.param .b32 r) helper(.param .b32 a);
.extern .global .u32 shared_counter;
.global .u32 own;
.visible .entry first() {
  .reg .b32 %r<4>;
  .reg .b64 %rd<3>;
  mov.u64 %rd1, shared_counter;
  mov.u64 %rd2, own;
  { .param .b32 a; .param .b32 r; st.param.b32 [a], 1; call (r), helper, (a); ld.param.b32 %r1, [r]; }
  ret;
})";

const char* definer = R"(
.visible .global .u32 shared_counter = 5;
.global .u32 own = 9;
.visible .func (.param .b32 r) helper(.param .b32 a) { st.param.b32 [r], 3; ret; }
.visible .entry second() { .reg .b64 %rd<3>; mov.u64 %rd1, own; ret; }
)";

TEST(link, externals_meet_their_definitions_in_either_order) {
  for (bool caller_first : {true, false}) {
    auto linked = caller_first ? link({caller, definer}) : link({definer, caller});
    ASSERT_TRUE(linked.ok()) << linked.error().what;
    const ptx::Module& module = **linked;
    ptx::Index helper = module.function_index.at("helper");
    EXPECT_TRUE(module.functions[helper].has_body);
    const ptx::Variable& counter = module.variables[module.variable_index.at("shared_counter")];
    EXPECT_EQ(counter.linkage, ptx::Linkage::visible);
    ASSERT_EQ(counter.init.size(), 4u);
    EXPECT_EQ(counter.init[0], 5);
    auto first = references(module, "first"), second = references(module, "second");
    EXPECT_EQ(first.at(0), "shared_counter");
    EXPECT_EQ(first.at(2), "helper");
    // Each module's `own` is another variable.
    EXPECT_NE(first.at(1), second.at(0));
  }
}

TEST(link, two_strong_definitions_are_an_error_that_names_them) {
  auto linked = link({".visible .global .u32 twice;", ".visible .global .u32 twice;"});
  ASSERT_FALSE(linked.ok());
  EXPECT_EQ(linked.code(), Code::invalid_ptx);
  EXPECT_NE(linked.error().what.find("twice"), std::string::npos);
}

TEST(link, weak_gives_way_and_the_first_weak_stays) {
  auto linked = link({".weak .global .u32 w = 1;", ".weak .global .u32 w = 2;"});
  ASSERT_TRUE(linked.ok());
  EXPECT_EQ((*linked)->variables.at((*linked)->variable_index.at("w")).init.at(0), 1);
  linked = link({".weak .global .u32 w = 1;", ".visible .global .u32 w = 2;"});
  ASSERT_TRUE(linked.ok());
  EXPECT_EQ((*linked)->variables.at((*linked)->variable_index.at("w")).init.at(0), 2);
}

TEST(link, initialisers_follow_their_symbols) {
  auto linked =
      link({".global .u32 pad;\n.global .u64 p = pad;",
            ".global .u32 other;\n.global .u32 target;\n.visible .global .u64 q = target;"});
  ASSERT_TRUE(linked.ok()) << linked.error().what;
  const ptx::Module& module = **linked;
  const ptx::Variable& q = module.variables[module.variable_index.at("q")];
  ASSERT_EQ(q.relocs.size(), 1u);
  EXPECT_EQ(module.variables[q.relocs[0].symbol].name, "target");
}

TEST(link, nothing_links_to_an_empty_module) {
  auto linked = link_modules({});
  ASSERT_TRUE(linked.ok());
  EXPECT_TRUE((*linked)->functions.empty());
}

}  // namespace
}  // namespace limen::ptx
