// The loader without the private handshake: cuGetExportTable refuses every table, by name once.
// Programs with NVIDIA's static runtime do not start then; driver API programs do.
#include "abi/unsupported.h"
#include "loader/loader_api.h"
#include "loader/private_tables.h"

namespace limen::loader {

void drop_context_storage(CUcontext) {}
void lock_private_tables() {}
void unlock_private_tables() {}

CUresult cuGetExportTable(const void** table, const CUuuid* id) {
  static constinit Unsupported once;
  if (!table || !id) return CUDA_ERROR_INVALID_VALUE;
  return once.answer("cuGetExportTable (built with LIMEN_PRIVATE_TABLES=OFF)");
}

}  // namespace limen::loader
