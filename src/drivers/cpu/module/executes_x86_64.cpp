// Which named targets of the compiler (src/compiler/jit/targets_x86_64.cpp) this processor executes.
#include "drivers/cpu/module/host_key.h"

namespace limen::cpu {

bool executes(const std::string& target) {
  if (target == "x86-64-v2") return __builtin_cpu_supports("x86-64-v2");
  if (target == "x86-64-v3") return __builtin_cpu_supports("x86-64-v3");
  if (target == "x86-64-v4") return __builtin_cpu_supports("x86-64-v4");
  if (target == "sapphirerapids") return __builtin_cpu_supports("avx512fp16");
  return true;  // made for the processor that the compiler found
}

}  // namespace limen::cpu
