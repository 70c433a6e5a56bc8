// Handing a pool over in one process. Thread rule: as conform.h.
#pragma once
#include "conformance/pool/pool.h"

namespace limen::conform {

constexpr auto by_descriptor = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;

inline void* os_handle(int descriptor) {
  return reinterpret_cast<void*>(static_cast<intptr_t>(descriptor));
}

inline int exported(CUmemoryPool pool) {
  int descriptor = -1;
  REQUIRE(cuMemPoolExportToShareableHandle(&descriptor, pool, by_descriptor, 0));
  return descriptor;
}

}  // namespace limen::conform
