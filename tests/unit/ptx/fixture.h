// Helpers of the PTX tests: a module from text, a kernel around instructions.
#pragma once
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "compiler/ptx/parser.h"
#include "compiler/ptx/table.h"

namespace limen::ptx {

inline const char* const header = ".version 9.0\n.target sm_120\n.address_size 64\n";

inline std::unique_ptr<Module> module_of(const std::string& text) {
  auto m = parse_module(header + text);
  EXPECT_TRUE(m.ok()) << (m.ok() ? "" : m.error().what) << "\n" << text;
  return m.ok() ? std::move(*m) : nullptr;
}

inline std::string module_error(const std::string& text) {
  auto m = parse_module(header + text);
  EXPECT_FALSE(m.ok()) << text;
  return m.ok() ? "" : m.error().what;
}

/// An entry `k` with registers of every common type around `body`, which starts in line 18.
inline std::string kernel(const std::string& body) {
  return ".global .align 4 .b8 g[64];\n.extern .shared .align 16 .b8 dyn[];\n"
         ".func (.param .b32 r) callee (.param .b32 a, .param .align 8 .b8 s[16]) { ret; }\n"
         ".visible .entry k(.param .u64 p, .param .u32 n)\n{\n"
         ".reg .pred %p<9>;\n.reg .b16 %h<9>;\n.reg .b32 %r<9>;\n.reg .b64 %rd<9>;\n"
         ".reg .f32 %f<9>;\n.reg .f64 %d<9>;\n.reg .u32 %u<9>;\n.reg .s32 %s<9>;\n"
         ".reg .v4 .f32 %v;\n" + body + "\n}\n";
}

struct Kernel {
  std::unique_ptr<Module> module;
  const Function& function() const { return module->functions[module->function_index.at("k")]; }
  std::string text(size_t block = 0, size_t n = 0) const {
    return to_text(*module, function(), function().blocks.at(block).body.at(n));
  }
};

inline Kernel parse_kernel(const std::string& body) {
  Kernel k{module_of(kernel(body))};
  auto done = parse_body(*k.module, k.module->function_index.at("k"));
  EXPECT_TRUE(done.ok()) << (done.ok() ? "" : done.error().what) << "\n" << body;
  return k;
}

/// The message of the parser or the verifier; empty when both accept.
inline std::string kernel_error(const std::string& body) {
  auto m = module_of(kernel(body));
  if (!m) return "the module does not parse";
  const Index k = m->function_index.at("k");
  auto done = parse_body(*m, k);
  if (done.ok()) done = verify_body(*m, k);
  return done.ok() ? "" : done.error().what;
}

}  // namespace limen::ptx
