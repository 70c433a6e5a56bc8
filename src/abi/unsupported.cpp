// Says the name of a function that is not built. Kept apart so that the table needs no log header.
#include "abi/unsupported.h"

#include "base/log.h"

namespace limen {

void Unsupported::say(const char* name) { log::unsupported(name); }

}  // namespace limen
