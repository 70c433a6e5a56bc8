// The targets of x86-64: this processor with what it has, and the levels of the ABI.
#include "compiler/jit/target.h"

namespace limen::jit {
namespace {

// Gathers as instructions: on these kernels they beat a branch a lane.
constexpr const char* avx512_tuning = "+fast-gather,-prefer-256-bit";

/// Level `level` of the x86-64 ABI, tuned for no processor in particular.
simt::Target level_target(int level) {
  simt::Target t;
  t.cpu = "x86-64-v" + std::to_string(level);
  t.avx2 = t.fma = level >= 3;
  t.avx512 = level >= 4;
  if (t.avx512) t.features = avx512_tuning;
  return t;
}

/// Level 4 and what came after it; halves have instructions of their own there.
simt::Target sapphire_rapids() {
  simt::Target t = level_target(4);
  t.cpu = "sapphirerapids";
  t.features += ",+avx512fp16";
  return t;
}

}  // namespace

void complete_host(const llvm::StringMap<bool>& features, simt::Target& t) {
  auto has = [&](const char* name) {
    auto it = features.find(name);
    return it != features.end() && it->getValue();
  };
  t.avx2 = has("avx2");
  t.fma = has("fma");
  t.avx512 = has("avx512f") && has("avx512bw") && has("avx512dq") && has("avx512vl");
  if (t.avx512) t.features += std::string(",") + avx512_tuning;
}

std::vector<simt::Target> named_targets() {
  return {level_target(2), level_target(3), level_target(4), sapphire_rapids()};
}

}  // namespace limen::jit
