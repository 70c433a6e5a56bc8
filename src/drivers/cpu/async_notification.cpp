// Notifications of a device going over its memory budget. The budget of a CPU device is its memory:
// an allocation beyond it is refused, so the event that callbacks wait for cannot happen; they are
// kept, and ended, as the API says. Thread rule: any thread.
#include "drivers/cpu/async_notification.h"

#include "abi/cpu_api.h"
#include "drivers/cpu/driver.h"

namespace limen::cpu {

CUresult cuDeviceRegisterAsyncNotification(CUdevice device, CUasyncCallback callbackFunc,
                                           void* userData, CUasyncCallbackHandle* callback) {
  if (!callbackFunc || !callback) return CUDA_ERROR_INVALID_VALUE;
  if (!driver().device(device)) return CUDA_ERROR_INVALID_DEVICE;
  AsyncCallback* made = driver().async_callbacks.create();
  if (!made) return CUDA_ERROR_OUT_OF_MEMORY;
  *made = {device, callbackFunc, userData};
  *callback = reinterpret_cast<CUasyncCallbackHandle>(made);
  return CUDA_SUCCESS;
}

CUresult cuDeviceUnregisterAsyncNotification(CUdevice device, CUasyncCallbackHandle callback) {
  if (!callback) return CUDA_ERROR_INVALID_VALUE;
  if (!driver().device(device)) return CUDA_ERROR_INVALID_DEVICE;
  AsyncCallback* known = driver().async_callbacks.resolve(callback);
  if (!known || known->device != device || !driver().async_callbacks.retire(known))
    return CUDA_ERROR_INVALID_VALUE;
  driver().async_callbacks.destroy(known);
  return CUDA_SUCCESS;
}

}  // namespace limen::cpu
