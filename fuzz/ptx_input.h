// How the PTX fuzzers read an input: a whole module if it begins with ".version" or a comment, else
// the body of a kernel with registers and variables of every kind, so that mutations reach the
// operands quickly.
#pragma once
#include <cstdint>
#include <string>

namespace limen::fuzz {

inline std::string ptx_input(const uint8_t* data, size_t size) {
  static const char prologue[] =
      ".version 9.0\n.target sm_120a\n.address_size 64\n.global .align 4 .b8 g[64];\n"
      ".func (.param .b32 r) f(.param .b32 a) { ret; }\n.entry k(.param .u64 p)\n{\n"
      ".reg .pred %p<9>; .reg .b16 %h<9>; .reg .b32 %r<9>; .reg .b64 %rd<9>;\n"
      ".reg .f32 %f<9>; .reg .f64 %d<9>; .reg .v4 .f32 %v; .reg .b128 %q<3>;\n";
  std::string text(reinterpret_cast<const char*>(data), size);
  if (text.starts_with(".version") || text.starts_with("//")) return text;
  return prologue + text + "\n}\n";
}

}  // namespace limen::fuzz
