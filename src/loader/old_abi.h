// Older ABIs whose arguments the row cannot map to the newest ones (`convert = "hand"`). Each takes
// the old arguments, with the stream already resolved, and calls through the active table.
#pragma once
#include "abi/cuda_abi.h"

namespace limen::loader {

CUresult old_cuGetProcAddress(const char* symbol, void** function, int version, cuuint64_t flags);
CUresult old_cuDeviceTotalMem(unsigned int* bytes, CUdevice device);
CUresult old_cuCtxCreate(CUcontext* context, unsigned int flags, CUdevice device);
CUresult old_cuCtxCreate_v3(CUcontext* context, CUexecAffinityParam* params, int count,
                            unsigned int flags, CUdevice device);
CUresult old_cuMemcpyBatchAsync(CUdeviceptr* dsts, CUdeviceptr* srcs, size_t* sizes, size_t count,
                                CUmemcpyAttributes* attrs, size_t* attr_indices, size_t attr_count,
                                size_t* fail_index, CUstream stream);
CUresult old_cuMemcpy3DBatchAsync(size_t count, CUDA_MEMCPY3D_BATCH_OP* ops, size_t* fail_index,
                                  unsigned long long flags, CUstream stream);
CUresult old_cuMemPrefetchAsync(CUdeviceptr pointer, size_t bytes, CUdevice device,
                                CUstream stream);
CUresult old_cuMemAdvise(CUdeviceptr pointer, size_t bytes, CUmem_advise advice, CUdevice device);
CUresult old_cuGraphAddKernelNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies,
                                  size_t count, const CUDA_KERNEL_NODE_PARAMS_v1* params);
CUresult old_cuGraphKernelNodeGetParams(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS_v1* params);
CUresult old_cuGraphKernelNodeSetParams(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS_v1* params);
CUresult old_cuGraphExecKernelNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                            const CUDA_KERNEL_NODE_PARAMS_v1* params);
CUresult old_cuGraphExecUpdate(CUgraphExec exec, CUgraph graph, CUgraphNode* error_node,
                               CUgraphExecUpdateResult* result);
CUresult old_cuStreamWaitValue32(CUstream stream, CUdeviceptr address, cuuint32_t value,
                                 unsigned int flags);
CUresult old_cuStreamWaitValue64(CUstream stream, CUdeviceptr address, cuuint64_t value,
                                 unsigned int flags);
CUresult old_cuStreamWriteValue32(CUstream stream, CUdeviceptr address, cuuint32_t value,
                                  unsigned int flags);
CUresult old_cuStreamWriteValue64(CUstream stream, CUdeviceptr address, cuuint64_t value,
                                  unsigned int flags);
CUresult old_cuStreamBatchMemOp(CUstream stream, unsigned int count,
                                CUstreamBatchMemOpParams* params, unsigned int flags);
CUresult old_cuDevicePrimaryCtxSetFlags(CUdevice device, unsigned int flags);
CUresult old_cuDevicePrimaryCtxRelease(CUdevice device);

}  // namespace limen::loader
