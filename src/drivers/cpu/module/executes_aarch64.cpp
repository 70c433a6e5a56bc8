// Which named targets of the compiler (src/compiler/jit/targets_aarch64.cpp) this processor executes.
#include "drivers/cpu/module/host_key.h"

namespace limen::cpu {

bool executes(const std::string&) { return true; }  // there is but the base, which all execute

}  // namespace limen::cpu
