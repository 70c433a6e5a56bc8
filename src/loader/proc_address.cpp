// cuGetProcAddress: a name, the version of the API that the caller was built for, and whether it
// wants per-thread streams, to the exported function of that ABI. The table is generated.
// source: measured H200, driver 580.159.04, 465 names x 34 versions x 4 flags.
#include <algorithm>
#include <cstring>

#include "base/log.h"
#include "loader/dispatch.h"
#include "loader/loader_api.h"

namespace limen::loader {
namespace {

const ProcName* find_name(const char* name) {
  const ProcName* end = proc_names + proc_name_count;
  const ProcName* found = std::lower_bound(
      proc_names, end, name,
      [](const ProcName& row, const char* key) { return std::strcmp(row.name, key) < 0; });
  return found != end && std::strcmp(found->name, name) == 0 ? found : nullptr;
}

/// The newest variant that existed in `version`; a negative version means the newest of all.
void* find_variant(const ProcName& name, int version, bool per_thread) {
  bool has_per_thread = false;
  for (int i = 0; i < name.count; ++i) has_per_thread |= proc_variants[name.first + i].per_thread;
  void* function = nullptr;
  for (int i = 0; i < name.count; ++i) {
    const ProcVariant& variant = proc_variants[name.first + i];
    if (variant.per_thread != (per_thread && has_per_thread)) continue;
    if (version < 0 || variant.since <= version) function = variant.function;
  }
  return function;
}

}  // namespace

CUresult cuGetProcAddress(const char* symbol, void** function, int version, cuuint64_t flags,
                          CUdriverProcAddressQueryResult* status) {
  constexpr cuuint64_t known_flags =
      CU_GET_PROC_ADDRESS_LEGACY_STREAM | CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
  if (!symbol || !function || (flags & ~known_flags) != 0 || version > driver_version()) {
    log::trace("cuGetProcAddress(%s, version=%d, flags=%llu) = 1", symbol ? symbol : "(null)",
               version, static_cast<unsigned long long>(flags));
    return CUDA_ERROR_INVALID_VALUE;
  }
  const ProcName* name = find_name(symbol);
  bool per_thread = (flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM) != 0;
  *function = name ? find_variant(*name, version, per_thread) : nullptr;
  CUdriverProcAddressQueryResult found = CU_GET_PROC_ADDRESS_SUCCESS;
  if (!name)
    found = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  else if (!*function)
    found = CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT;
  if (status) *status = found;
  log::trace("cuGetProcAddress(%s, version=%d, flags=%llu) = 0, status %d", symbol, version,
             static_cast<unsigned long long>(flags), found);
  return CUDA_SUCCESS;
}

}  // namespace limen::loader
