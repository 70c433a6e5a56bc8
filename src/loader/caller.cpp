// Answers the compute capability by caller: NVIDIA's closed libraries are told a newer one than the
// program where the user asks for it (LIMEN_LIBRARY_CC; docs/closed_libraries.md). Thread rule: any.
#include "base/closed_library.h"
#include "loader/dispatch.h"
#include "loader/loader_api.h"

namespace limen::loader {
namespace {

/// What the caller is told where the program is told `major`.`minor`.
ComputeCapability told(const void* caller, int major, int minor) {
  const uint32_t all = capability_for(caller, static_cast<uint32_t>(major * 10 + minor));
  return {static_cast<int>(all / 10), static_cast<int>(all % 10)};
}

}  // namespace

CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice device,
                              const void* caller) {
  CUresult result = active_table()->cuDeviceGetAttribute(value, attribute, device);
  if (result != CUDA_SUCCESS) return result;
  const ComputeCapability& program = config().cc;
  if (attribute == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)
    *value = told(caller, program.major, program.minor).major;
  else if (attribute == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)
    *value = told(caller, program.major, program.minor).minor;
  return result;
}

CUresult cuDeviceComputeCapability(int* major, int* minor, CUdevice device, const void* caller) {
  CUresult result = active_table()->cuDeviceComputeCapability(major, minor, device);
  if (result == CUDA_SUCCESS) {
    const ComputeCapability answer = told(caller, *major, *minor);
    *major = answer.major;
    *minor = answer.minor;
  }
  return result;
}

}  // namespace limen::loader
