// Conversions of older ABIs, see old_abi.h. The layouts are those of spec/api/types.toml; what a
// newer field means to an old caller is said beside it.
#include "loader/old_abi.h"

#include <cstdint>
#include <limits>

#include "base/log.h"
#include "loader/dispatch.h"
#include "loader/loader_api.h"

namespace limen::loader {
namespace {

CUDA_KERNEL_NODE_PARAMS widen(const CUDA_KERNEL_NODE_PARAMS_v1& old) {
  CUDA_KERNEL_NODE_PARAMS params{};
  params.func = old.func;
  params.gridDimX = old.gridDimX;
  params.gridDimY = old.gridDimY;
  params.gridDimZ = old.gridDimZ;
  params.blockDimX = old.blockDimX;
  params.blockDimY = old.blockDimY;
  params.blockDimZ = old.blockDimZ;
  params.sharedMemBytes = old.sharedMemBytes;
  params.kernelParams = old.kernelParams;
  params.extra = old.extra;
  return params;  // kern and ctx stay null: the function handle and the current context count
}

void narrow(const CUDA_KERNEL_NODE_PARAMS& params, CUDA_KERNEL_NODE_PARAMS_v1* old) {
  // A node made from a CUkernel has no CUfunction; the two share one handle space here.
  old->func = params.func ? params.func : reinterpret_cast<CUfunction>(params.kern);
  old->gridDimX = params.gridDimX;
  old->gridDimY = params.gridDimY;
  old->gridDimZ = params.gridDimZ;
  old->blockDimX = params.blockDimX;
  old->blockDimY = params.blockDimY;
  old->blockDimZ = params.blockDimZ;
  old->sharedMemBytes = params.sharedMemBytes;
  old->kernelParams = params.kernelParams;
  old->extra = params.extra;
}

/// The first stream memory operations are switched off on every device that has the second:
/// CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_MEM_OPS_V1 is 0. source: measured H200, driver 580.159.04.
CUresult refuse_memop(CUstream stream) {
  unsigned int flags = 0;
  CUresult result = active_table()->cuStreamGetFlags(stream, &flags);
  return result != CUDA_SUCCESS ? result : CUDA_ERROR_NOT_SUPPORTED;
}

CUmemLocation location_of(CUdevice device) {
  if (device == CU_DEVICE_CPU) return {CU_MEM_LOCATION_TYPE_HOST, 0};
  return {CU_MEM_LOCATION_TYPE_DEVICE, device};
}

}  // namespace

CUresult refuse_old_abi(const char* symbol) {
  if (traced_table() == &not_initialized_table) return CUDA_ERROR_NOT_INITIALIZED;
  log::info("%s has 32-bit pointers and sizes (CUDA before 3.2): CUDA_ERROR_INVALID_CONTEXT",
            symbol);
  return CUDA_ERROR_INVALID_CONTEXT;
}

CUresult old_cuGetProcAddress(const char* symbol, void** function, int version, cuuint64_t flags) {
  if (!function) return CUDA_ERROR_INVALID_VALUE;
  void* found = nullptr;
  CUdriverProcAddressQueryResult status = CU_GET_PROC_ADDRESS_SUCCESS;
  CUresult result = cuGetProcAddress(symbol, &found, version, flags, &status);
  if (result != CUDA_SUCCESS) return result;
  if (!found) return CUDA_ERROR_NOT_FOUND;  // and *function stays as it was: measured H200
  *function = found;
  return CUDA_SUCCESS;
}

CUresult old_cuDeviceTotalMem(unsigned int* bytes, CUdevice device) {
  if (!bytes) return active_table()->cuDeviceTotalMem(nullptr, device);
  size_t total = 0;
  CUresult result = active_table()->cuDeviceTotalMem(&total, device);
  constexpr size_t largest = std::numeric_limits<unsigned int>::max();
  if (result == CUDA_SUCCESS) *bytes = static_cast<unsigned int>(total < largest ? total : largest);
  return result;
}

// A context of the API before 3.2 has 32-bit addresses.
// source: measured H200, driver 580.159.04: no room for it, with most of the memory free.
CUresult old_cuCtxCreate(CUcontext* context, unsigned int, CUdevice device) {
  if (!context) return active_table()->cuCtxCreate(nullptr, nullptr, 0, device);
  size_t total = 0;
  if (CUresult result = active_table()->cuDeviceTotalMem(&total, device)) return result;
  log::info(
      "cuCtxCreate of CUDA before 3.2 makes contexts of 32-bit addresses, which are not built");
  return CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult old_cuCtxCreate_v3(CUcontext* context, CUexecAffinityParam* params, int count,
                            unsigned int flags, CUdevice device) {
  CUctxCreateParams create{};
  create.execAffinityParams = params;
  create.numExecAffinityParams = count;
  bool plain = !params && count == 0;
  return active_table()->cuCtxCreate(context, plain ? nullptr : &create, flags, device);
}

CUresult old_cuMemcpyBatchAsync(CUdeviceptr* dsts, CUdeviceptr* srcs, size_t* sizes, size_t count,
                                CUmemcpyAttributes* attrs, size_t* attr_indices, size_t attr_count,
                                size_t* fail_index, CUstream stream) {
  CUresult result = active_table()->cuMemcpyBatchAsync(dsts, srcs, sizes, count, attrs,
                                                       attr_indices, attr_count, stream);
  // The newest ABI does not say which copy failed; SIZE_MAX is the manual's "not one of them".
  if (result != CUDA_SUCCESS && fail_index) *fail_index = SIZE_MAX;
  return result;
}

CUresult old_cuMemcpy3DBatchAsync(size_t count, CUDA_MEMCPY3D_BATCH_OP* ops, size_t* fail_index,
                                  unsigned long long flags, CUstream stream) {
  CUresult result = active_table()->cuMemcpy3DBatchAsync(count, ops, flags, stream);
  if (result != CUDA_SUCCESS && fail_index) *fail_index = SIZE_MAX;
  return result;
}

CUresult old_cuMemPrefetchAsync(CUdeviceptr pointer, size_t bytes, CUdevice device,
                                CUstream stream) {
  return active_table()->cuMemPrefetchAsync(pointer, bytes, location_of(device), 0, stream);
}

CUresult old_cuMemAdvise(CUdeviceptr pointer, size_t bytes, CUmem_advise advice, CUdevice device) {
  const DriverTable* table = active_table();
  CUresult result = table->cuMemAdvise(pointer, bytes, advice, location_of(device));
  if (result != CUDA_ERROR_INVALID_VALUE || device == CU_DEVICE_CPU) return result;
  // A device that is none has a code of its own here. measured H200, driver 580.159.04
  CUdevice found;
  return table->cuDeviceGet(&found, device) ? CUDA_ERROR_INVALID_DEVICE : result;
}

CUresult old_cuGraphAddKernelNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies,
                                  size_t count, const CUDA_KERNEL_NODE_PARAMS_v1* params) {
  CUDA_KERNEL_NODE_PARAMS wide{};
  if (params) wide = widen(*params);
  return active_table()->cuGraphAddKernelNode(node, graph, dependencies, count,
                                              params ? &wide : nullptr);
}

CUresult old_cuGraphKernelNodeGetParams(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS_v1* params) {
  if (!params) return active_table()->cuGraphKernelNodeGetParams(node, nullptr);
  CUDA_KERNEL_NODE_PARAMS wide{};
  CUresult result = active_table()->cuGraphKernelNodeGetParams(node, &wide);
  if (result == CUDA_SUCCESS) narrow(wide, params);
  return result;
}

CUresult old_cuGraphKernelNodeSetParams(CUgraphNode node,
                                        const CUDA_KERNEL_NODE_PARAMS_v1* params) {
  CUDA_KERNEL_NODE_PARAMS wide{};
  if (params) wide = widen(*params);
  return active_table()->cuGraphKernelNodeSetParams(node, params ? &wide : nullptr);
}

CUresult old_cuGraphExecKernelNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                            const CUDA_KERNEL_NODE_PARAMS_v1* params) {
  CUDA_KERNEL_NODE_PARAMS wide{};
  if (params) wide = widen(*params);
  return active_table()->cuGraphExecKernelNodeSetParams(exec, node, params ? &wide : nullptr);
}

CUresult old_cuGraphExecUpdate(CUgraphExec exec, CUgraph graph, CUgraphNode* error_node,
                               CUgraphExecUpdateResult* result) {
  if (!error_node || !result) return active_table()->cuGraphExecUpdate(exec, graph, nullptr);
  CUgraphExecUpdateResultInfo info{};
  CUresult code = active_table()->cuGraphExecUpdate(exec, graph, &info);
  *error_node = info.errorNode;
  *result = info.result;
  return code;
}

CUresult old_cuStreamWaitValue32(CUstream stream, CUdeviceptr, cuuint32_t, unsigned int) {
  return refuse_memop(stream);
}

CUresult old_cuStreamWaitValue64(CUstream stream, CUdeviceptr, cuuint64_t, unsigned int) {
  return refuse_memop(stream);
}

CUresult old_cuStreamWriteValue32(CUstream stream, CUdeviceptr, cuuint32_t, unsigned int) {
  return refuse_memop(stream);
}

CUresult old_cuStreamWriteValue64(CUstream stream, CUdeviceptr, cuuint64_t, unsigned int) {
  return refuse_memop(stream);
}

CUresult old_cuStreamBatchMemOp(CUstream stream, unsigned int, CUstreamBatchMemOpParams*,
                                unsigned int) {
  return refuse_memop(stream);
}

CUresult old_cuDevicePrimaryCtxSetFlags(CUdevice device, unsigned int flags) {
  // Before CUDA 11 the flags of an active context could not be changed. measured H200, 580.159.04
  unsigned int now = 0;
  int active = 0;
  CUresult result = active_table()->cuDevicePrimaryCtxGetState(device, &now, &active);
  if (result == CUDA_SUCCESS && active) return CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE;
  return active_table()->cuDevicePrimaryCtxSetFlags(device, flags);
}

CUresult old_cuDevicePrimaryCtxRelease(CUdevice device) {
  // One release too many was no error. measured H200, 580.159.04
  CUresult result = active_table()->cuDevicePrimaryCtxRelease(device);
  return result == CUDA_ERROR_INVALID_CONTEXT ? CUDA_SUCCESS : result;
}

}  // namespace limen::loader
