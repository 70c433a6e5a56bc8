// Answers the compute capability by caller. NVIDIA's closed libraries carry PTX only for chips
// newer than those they were built for, so they are told a newer one (LIMEN_LIBRARY_CC) than the
// program. source: measured, CUDA 13.0 libraries on a PTX-only driver: all of cuBLAS, cuFFT,
// cuRAND, cuSPARSE, cuSOLVER and most of cuDNN ran their launches only at 13.0 and above.
#include <dlfcn.h>

#include <string_view>

#include "base/config.h"
#include "loader/dispatch.h"
#include "loader/loader_api.h"

namespace limen::loader {
namespace {

constexpr std::string_view closed_libraries[] = {"libcublas",   "libcudnn",    "libcufft",
                                                 "libcurand",   "libcusparse", "libcusolver",
                                                 "libcutensor", "libnccl"};

bool is_closed_library(const void* address) {
  Dl_info info{};
  if (!dladdr(address, &info) || !info.dli_fname) return false;
  std::string_view name = info.dli_fname;
  name.remove_prefix(name.rfind('/') + 1);  // npos + 1 is 0: the whole name
  for (std::string_view library : closed_libraries) {
    if (name.starts_with(library)) return true;
  }
  return false;
}

bool wants_library_cc(const void* caller) {
  const ComputeCapability& program = config().cc;
  const ComputeCapability& library = config().library_cc;
  bool newer = library.major != program.major ? library.major > program.major
                                              : library.minor > program.minor;
  return newer && is_closed_library(caller);
}

}  // namespace

CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice device,
                              const void* caller) {
  CUresult result = active_table()->cuDeviceGetAttribute(value, attribute, device);
  if (result != CUDA_SUCCESS) return result;
  if (attribute == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR && wants_library_cc(caller)) {
    *value = config().library_cc.major;
  } else if (attribute == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR &&
             wants_library_cc(caller)) {
    *value = config().library_cc.minor;
  }
  return result;
}

CUresult cuDeviceComputeCapability(int* major, int* minor, CUdevice device, const void* caller) {
  CUresult result = active_table()->cuDeviceComputeCapability(major, minor, device);
  if (result == CUDA_SUCCESS && wants_library_cc(caller)) {
    *major = config().library_cc.major;
    *minor = config().library_cc.minor;
  }
  return result;
}

}  // namespace limen::loader
