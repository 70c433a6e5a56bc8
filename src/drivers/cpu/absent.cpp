// What needs hardware or drivers that a CPU does not have: graphics resources, multicast objects,
// dma-buf, hardware decompression. The answers are those of a driver without them, by name where a
// program could think that it worked. Thread rule: no state.
#include <fmt/format.h>

#include "abi/cpu_api.h"
#include "drivers/cpu/context.h"
#include "drivers/cpu/memory/pointer.h"
#include "drivers/cpu/stream/order.h"

namespace limen::cpu {

namespace {

/// No graphics API can register a resource here, so no handle is one.
CUresult no_resource() { return CUDA_ERROR_INVALID_HANDLE; }

/// An H200 alone answers 801 whatever the arguments. measured H200, driver 580.x
CUresult no_multicast(const char* function) {
  return report({Code::not_supported,
                 fmt::format("{}: multicast objects need an NVLink switch", function), ""});
}

CUresult map_nothing(unsigned count, const CUgraphicsResource* resources, CUstream stream) {
  if (!count || !resources) return CUDA_ERROR_INVALID_VALUE;
  ResolvedStream on;
  if (CUresult result = resolve_stream(stream, &on)) return result;
  return no_resource();
}

}  // namespace

/// partial: no graphics API can register a resource
CUresult cuGraphicsUnregisterResource(CUgraphicsResource) { return no_resource(); }

/// partial: no graphics API can register a resource
CUresult cuGraphicsSubResourceGetMappedArray(CUarray*, CUgraphicsResource, unsigned int,
                                             unsigned int) {
  return no_resource();
}

/// partial: no graphics API can register a resource
CUresult cuGraphicsResourceGetMappedMipmappedArray(CUmipmappedArray*, CUgraphicsResource) {
  return no_resource();
}

/// partial: no graphics API can register a resource
CUresult cuGraphicsResourceGetMappedPointer(CUdeviceptr*, size_t*, CUgraphicsResource) {
  return no_resource();
}

/// partial: no graphics API can register a resource
CUresult cuGraphicsResourceSetMapFlags(CUgraphicsResource, unsigned int) { return no_resource(); }

/// partial: no graphics API can register a resource
CUresult cuGraphicsMapResources(unsigned int count, CUgraphicsResource* resources,
                                CUstream hStream) {
  return map_nothing(count, resources, hStream);
}

/// partial: no graphics API can register a resource
CUresult cuGraphicsUnmapResources(unsigned int count, CUgraphicsResource* resources,
                                  CUstream hStream) {
  return map_nothing(count, resources, hStream);
}

/// partial: answers 801 as an H200 without an NVLink switch does
CUresult cuMulticastCreate(CUmemGenericAllocationHandle*, const CUmulticastObjectProp*) {
  return no_multicast("cuMulticastCreate");
}

/// partial: answers 801 as an H200 without an NVLink switch does
CUresult cuMulticastAddDevice(CUmemGenericAllocationHandle, CUdevice) {
  return no_multicast("cuMulticastAddDevice");
}

/// partial: answers 801 as an H200 without an NVLink switch does
CUresult cuMulticastBindMem(CUmemGenericAllocationHandle, size_t, CUmemGenericAllocationHandle,
                            size_t, size_t, unsigned long long) {
  return no_multicast("cuMulticastBindMem");
}

/// partial: answers 801 as an H200 without an NVLink switch does
CUresult cuMulticastBindAddr(CUmemGenericAllocationHandle, size_t, CUdeviceptr, size_t,
                             unsigned long long) {
  return no_multicast("cuMulticastBindAddr");
}

/// partial: answers 801 as an H200 without an NVLink switch does
CUresult cuMulticastUnbind(CUmemGenericAllocationHandle, CUdevice, size_t, size_t) {
  return no_multicast("cuMulticastUnbind");
}

/// partial: answers 801 as an H200 without an NVLink switch does
CUresult cuMulticastGetGranularity(size_t*, const CUmulticastObjectProp*,
                                   CUmulticastGranularity_flags) {
  return no_multicast("cuMulticastGetGranularity");
}

/// partial: a dma-buf is made by a GPU's kernel driver; CU_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED is 0
CUresult cuMemGetHandleForAddressRange(void* handle, CUdeviceptr dptr, size_t size,
                                       CUmemRangeHandleType handleType, unsigned long long flags) {
  constexpr uint64_t page_bytes = 4096;
  constexpr unsigned long long known = CU_MEM_RANGE_FLAG_DMA_BUF_MAPPING_TYPE_PCIE;
  if (!handle || !dptr || !size || dptr % page_bytes || size % page_bytes || (flags & ~known) ||
      handleType != CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD)
    return CUDA_ERROR_INVALID_VALUE;
  PointerInfo info;
  if (!classify(dptr, &info) || info.memory == Memory::pageable) return CUDA_ERROR_INVALID_VALUE;
  return report({Code::not_supported, "memory of the CPU device has no dma-buf",
                 "share it by POSIX file descriptor (cuMemExportToShareableHandle)"});
}

/// partial: answers 801 as an H200 does, which has no engine for it either
CUresult cuMemBatchDecompressAsync(CUmemDecompressParams*, size_t, unsigned int, size_t*,
                                   CUstream stream) {
  ResolvedStream on;
  if (CUresult result = resolve_stream(stream, &on)) return result;
  return report(
      {Code::not_supported, "cuMemBatchDecompressAsync: there is no decompression engine", ""});
}

}  // namespace limen::cpu
