// ExternalMemory: what a CUexternalMemory handle is: a descriptor that was handed over. Buffers
// mapped from it are mappings of VirtualSpace and outlive it. Thread rule: immutable once made.
#pragma once
#include <cstdint>
#include <memory>

#include "drivers/cpu/memory/shared_file.h"

namespace limen::cpu {

struct ExternalMemory {
  std::shared_ptr<SharedFile> file;
  uint64_t bytes = 0;
  uint32_t owner = 0;  ///< context id
};

}  // namespace limen::cpu
