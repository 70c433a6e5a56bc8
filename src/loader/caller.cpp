// Answers the compute capability by caller: NVIDIA's closed libraries are told a newer one than the
// program where the user asks for it (LIMEN_LIBRARY_CC; docs/closed_libraries.md). Thread rule: any.
#include "base/closed_library.h"
#include "loader/dispatch.h"
#include "loader/loader_api.h"

namespace limen::loader {
namespace {

/// Is the caller told the capability of LIMEN_LIBRARY_CC instead of the device's?
bool wants_library_cc(const void* caller) {
  const ComputeCapability& program = config().cc;
  const auto own = static_cast<uint32_t>(program.major * 10 + program.minor);
  return capability_for(caller, own) != own;
}

}  // namespace

CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice device,
                              const void* caller) {
  CUresult result = active_table()->cuDeviceGetAttribute(value, attribute, device);
  if (result != CUDA_SUCCESS) return result;
  if (attribute == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR && wants_library_cc(caller))
    *value = config().library_cc.major;
  else if (attribute == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR && wants_library_cc(caller))
    *value = config().library_cc.minor;
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
