// What the loader needs from a driver beyond the public API, and the frame of the driver table.
// A driver library exports one object, `limen_driver_table`; the loader reads nothing else of it.
// All functions may be called from any thread. No entry may throw.
#pragma once
#include <cstdint>

#include "abi/cuda_abi.h"

namespace limen {

/// Called by a driver on the thread that ends a context (destroy, primary reset, last primary
/// release), before anything of it is freed and with no lock held; it may call back into the API.
using ContextEndHook = void (*)(CUcontext context);

struct DriverPrivate {
  /// The calling thread's current context, or null. Called before every runtime call: no lock.
  CUcontext (*current_context)();
  /// The handle that a later cuDevicePrimaryCtxRetain gives, without retaining or creating state.
  /// errors: CUDA_ERROR_INVALID_DEVICE.
  CUresult (*primary_context_handle)(CUcontext* context, CUdevice device);
  /// Installs the loader's hook; called once, before cuInit.
  void (*set_context_end_hook)(ContextEndHook hook);
};

}  // namespace limen
