// Runs a few lines of PTX in the evaluator.
#pragma once
#include <gtest/gtest.h>

#include <cstring>

#include "compiler/ptx/parser.h"
#include "oracle/oracle.h"

namespace limen::test {

struct Ran {
  oracle::Outcome outcome;
  std::vector<uint64_t> out;
};

/// A kernel with registers %h %r %d %p, the address of out[thread] in %d9, and `before` at module
/// scope. out has one u64 a thread and 8 more.
inline Ran run(const std::string& body, uint32_t threads = 1, uint32_t blocks = 1,
               const std::string& before = "", uint32_t slice = 16) {
  const std::string text =
      ".version 8.7\n.target sm_100a\n.address_size 64\n" + before +
      "\n.visible .entry k(.param .u64 pout) {\n"
      ".reg .b16 %h<10>; .reg .b32 %r<20>; .reg .b64 %d<10>; .reg .pred %p<10>;\n"
      "ld.param.u64 %d8, [pout]; mov.u32 %r10, %tid.x; mov.u32 %r11, %ctaid.x;\n"
      "mov.u32 %r12, %ntid.x; mad.lo.u32 %r13, %r11, %r12, %r10;\n"
      "mul.wide.u32 %d9, %r13, 8; add.u64 %d9, %d8, %d9;\n" +
      body + "\n}\n";
  Ran r;
  r.out.assign(threads * blocks + 8, 0);
  auto module = ptx::parse_module(text);
  if (!module) {
    r.outcome.error = module.error().what;
    return r;
  }
  oracle::Launch launch;
  launch.kernel = (*module)->function_index.at("k");
  launch.block[0] = threads;
  launch.grid[0] = blocks;
  launch.slice = slice;
  launch.max_steps = 10'000'000;
  void* out = r.out.data();
  launch.params.resize(8);
  std::memcpy(launch.params.data(), &out, 8);
  launch.memory = {{out, r.out.size() * 8}};
  r.outcome = oracle::evaluate(**module, launch);
  return r;
}

/// One thread; `instruction` writes %r0 (%d0, %h0); operands as constants. The value, or all ones
/// and a failure of the test.
inline uint64_t value32(const std::string& instruction) {
  const Ran r =
      run("mov.b32 %r0, 0;" + instruction + "; cvt.u64.u32 %d0, %r0; st.global.u64 [%d9], %d0;");
  EXPECT_EQ(r.outcome.error, "") << instruction;
  return r.outcome.ran ? r.out[0] : ~uint64_t{0};
}

inline uint64_t value64(const std::string& instruction) {
  const Ran r = run(instruction + "; st.global.u64 [%d9], %d0;");
  EXPECT_EQ(r.outcome.error, "") << instruction;
  return r.outcome.ran ? r.out[0] : ~uint64_t{0};
}

inline uint64_t value16(const std::string& instruction) {
  const Ran r =
      run("mov.b16 %h0, 0;" + instruction + "; cvt.u64.u16 %d0, %h0; st.global.u64 [%d9], %d0;");
  EXPECT_EQ(r.outcome.error, "") << instruction;
  return r.outcome.ran ? r.out[0] : ~uint64_t{0};
}

inline bool predicate(const std::string& instruction) {
  return value32(instruction + "; selp.b32 %r0, 1, 0, %p0") == 1;
}

}  // namespace limen::test
