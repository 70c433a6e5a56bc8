// The functions of the driver API that the loader answers itself. They work before cuInit (but for
// cuDeviceGetAttribute and cuDeviceComputeCapability, which look at who asks and then call on).
#pragma once
#include "abi/cuda_abi.h"

namespace limen::loader {

CUresult cuInit(unsigned int flags);
CUresult cuDriverGetVersion(int* version);
CUresult cuGetErrorName(CUresult error, const char** text);
CUresult cuGetErrorString(CUresult error, const char** text);
CUresult cuGetProcAddress(const char* symbol, void** function, int version, cuuint64_t flags,
                          CUdriverProcAddressQueryResult* status);
CUresult cuGetExportTable(const void** table, const CUuuid* id);

CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice device,
                              const void* caller);
CUresult cuDeviceComputeCapability(int* major, int* minor, CUdevice device, const void* caller);

}  // namespace limen::loader
