// Finds and opens the driver library: LIMEN_DRIVER, or liblimen_cpu.so beside this library (also
// beside the file that a symbolic link to it names). It is opened RTLD_LOCAL, so none of its
// symbols reach the program, and is never closed.
#include <dlfcn.h>

#include <cstdlib>
#include <string>

#include "base/config.h"
#include "base/log.h"
#include "loader/dispatch.h"
#include "loader/loader_api.h"

namespace limen::loader {
namespace {

constexpr const char* cpu_driver = "liblimen_cpu.so";

std::string own_folder() {
  Dl_info info{};
  if (!dladdr(reinterpret_cast<void*>(&open_driver), &info) || !info.dli_fname) return "";
  std::string path = info.dli_fname;
  if (char* real = realpath(info.dli_fname, nullptr)) {
    path = real;
    std::free(real);
  }
  size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash + 1);
}

std::string driver_path() {
  const std::string& chosen = config().driver;
  return chosen.empty() ? own_folder() + cpu_driver : chosen;
}

}  // namespace

CUresult open_driver(const DriverTable** table) {
  std::string path = driver_path();
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (!library) {
    log::error("cannot open the driver library: %s", dlerror());
    return CUDA_ERROR_SHARED_OBJECT_INIT_FAILED;
  }
  auto* found = static_cast<const DriverTable*>(dlsym(library, "limen_driver_table"));
  if (!found) {
    log::error("%s has no symbol limen_driver_table", path.c_str());
    return CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND;
  }
  if (found->size_bytes != sizeof(DriverTable) || found->hash != driver_table_hash) {
    log::error("%s was built from another API table: %u bytes, hash %#x; this loader has %zu, %#x",
               path.c_str(), found->size_bytes, found->hash, sizeof(DriverTable),
               driver_table_hash);
    return CUDA_ERROR_SHARED_OBJECT_INIT_FAILED;
  }
  const DriverPrivate& internal = found->internal;
  if (!internal.current_context || !internal.primary_context_handle ||
      !internal.set_context_end_hook) {
    log::error("%s lacks an entry of abi/driver_private.h", path.c_str());
    return CUDA_ERROR_SHARED_OBJECT_INIT_FAILED;
  }
  *table = found;
  return CUDA_SUCCESS;
}

}  // namespace limen::loader
