// Told by the name of the file that is mapped at the address. source: measured, CUDA 13.0 libraries
// on a driver that takes PTX only: all of cuBLAS, cuFFT, cuRAND, cuSPARSE, cuSOLVER and most of cuDNN
// launched their kernels at 13.0 and above only. Thread rule: see the header.
#include "base/closed_library.h"

#include <dlfcn.h>

#include <string_view>

namespace limen {
namespace {

constexpr std::string_view closed_libraries[] = {"libcublas",   "libcudnn",    "libcufft",
                                                 "libcurand",   "libcusparse", "libcusolver",
                                                 "libcutensor", "libnccl"};

}  // namespace

bool is_in_closed_library(const void* address) {
  Dl_info info{};
  if (!dladdr(address, &info) || !info.dli_fname) return false;
  std::string_view name = info.dli_fname;
  name.remove_prefix(name.rfind('/') + 1);  // npos + 1 is 0: the whole name
  for (std::string_view library : closed_libraries)
    if (name.starts_with(library)) return true;
  return false;
}

uint32_t capability_for(const void* address, uint32_t own) {
  const ComputeCapability& told = config().library_cc;
  const auto library = static_cast<uint32_t>(told.major * 10 + told.minor);
  return library > own && is_in_closed_library(address) ? library : own;
}

}  // namespace limen
