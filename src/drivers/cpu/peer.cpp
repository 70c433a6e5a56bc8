// Peer access between virtual devices. All devices share one memory, so access always works; what
// is kept is the state that programs ask about. Thread rule: any thread; Context::mutex for the
// set.
#include "abi/cpu_api.h"
#include "drivers/cpu/context.h"

namespace limen::cpu {

namespace {

CUresult resolve_peer(CUcontext handle, Context** current, Context** peer) {
  if (CUresult result = current_usable(current)) return result;
  if (!handle) return CUDA_ERROR_INVALID_CONTEXT;
  *peer = driver().contexts.resolve(handle);
  return *peer ? CUDA_SUCCESS : CUDA_ERROR_CONTEXT_IS_DESTROYED;
}

}  // namespace

CUresult cuDeviceCanAccessPeer(int* canAccessPeer, CUdevice dev, CUdevice peerDev) {
  if (!canAccessPeer) return CUDA_ERROR_INVALID_VALUE;
  if (!driver().device(dev) || !driver().device(peerDev)) return CUDA_ERROR_INVALID_DEVICE;
  *canAccessPeer = dev != peerDev;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetP2PAttribute(int* value, CUdevice_P2PAttribute attrib, CUdevice srcDevice,
                                 CUdevice dstDevice) {
  if (!value) return CUDA_ERROR_INVALID_VALUE;
  if (!driver().device(srcDevice) || !driver().device(dstDevice) || srcDevice == dstDevice)
    return CUDA_ERROR_INVALID_DEVICE;
  switch (attrib) {
    case CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK:
      *value = 0;
      return CUDA_SUCCESS;
    case CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED:
    case CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED:
      *value = 1;
      return CUDA_SUCCESS;
    case CU_DEVICE_P2P_ATTRIBUTE_CUDA_ARRAY_ACCESS_SUPPORTED:
      *value = 1;
      return CUDA_SUCCESS;
    case CU_DEVICE_P2P_ATTRIBUTE_ONLY_PARTIAL_NATIVE_ATOMIC_SUPPORTED:
      *value = 0;  // all are
      return CUDA_SUCCESS;
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}

CUresult cuDeviceGetP2PAtomicCapabilities(unsigned int* capabilities,
                                          const CUatomicOperation* operations, unsigned int count,
                                          CUdevice srcDevice, CUdevice dstDevice) {
  if (!capabilities || !operations || !count) return CUDA_ERROR_INVALID_VALUE;
  if (!driver().device(srcDevice) || !driver().device(dstDevice) || srcDevice == dstDevice)
    return CUDA_ERROR_INVALID_DEVICE;
  return atomic_capabilities(capabilities, operations, count);
}

CUresult cuCtxEnablePeerAccess(CUcontext peerContext, unsigned int flags) {
  Context *context, *peer;
  if (CUresult result = resolve_peer(peerContext, &context, &peer)) return result;
  if (flags) return CUDA_ERROR_INVALID_VALUE;
  if (&peer->device == &context->device) return CUDA_ERROR_PEER_ACCESS_UNSUPPORTED;
  std::lock_guard lock(context->mutex);
  return context->peers.insert(peer).second ? CUDA_SUCCESS : CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED;
}

CUresult cuCtxDisablePeerAccess(CUcontext peerContext) {
  Context *context, *peer;
  if (CUresult result = resolve_peer(peerContext, &context, &peer)) return result;
  std::lock_guard lock(context->mutex);
  return context->peers.erase(peer) ? CUDA_SUCCESS : CUDA_ERROR_PEER_ACCESS_NOT_ENABLED;
}

}  // namespace limen::cpu
