// Any text must end in machine code or in an error that says why, under every strategy; "internal"
// errors are our bugs. Slow: a kernel takes milliseconds. Nothing that is compiled here is run.
#include <cstdlib>
#include <string>

#include "compiler/jit/compile.h"
#include "compiler/ptx/parser.h"
#include "fuzz/ptx_input.h"

using namespace limen;

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

void compile(ptx::Module& module, ptx::Index kernel, const jit::Specialization& spec) {
  auto result = limen_jit_compile(module, kernel, spec);
  if (result.ok()) {
    require(!result->object.empty());
    return;
  }
  const Error& error = result.error();
  require(!error.what.empty());
  if (error.what.find("internal:") == std::string::npos) return;
  fprintf(stderr, "%s\n", error.what.c_str());
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string text = fuzz::ptx_input(data, size);
  // The word that marks our own errors must not come in with a name.
  if (text.find("internal") != std::string::npos) return 0;
  auto parsed = ptx::parse_module(std::move(text));
  if (!parsed) return 0;
  ptx::Module& module = **parsed;
  int kernels = 0;
  for (ptx::Index i = 0; i < module.functions.size() && kernels < 4; ++i) {
    if (!module.functions[i].is_entry || !module.functions[i].has_body) continue;
    ++kernels;
    jit::Specialization spec;
    spec.opt_level = 0;
    compile(module, i, spec);
    spec.block[0] = 48, spec.block[1] = 2, spec.block[2] = 1;
    spec.small_grid = true;
    spec.opt_level = 1;
    compile(module, i, spec);
    spec.strategy = static_cast<int>(kernel::Strategy::fiber);
    spec.residency = jit::Residency::cluster;
    spec.opt_level = 0;
    compile(module, i, spec);
    spec.strategy = static_cast<int>(kernel::Strategy::lane);
    compile(module, i, spec);
  }
  return 0;
}
