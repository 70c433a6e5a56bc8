// AsyncCallback: what cuDeviceRegisterAsyncNotification registered. Invariant: live from its
// registration to its end. Thread rule: immutable once made.
#pragma once
#include "abi/cuda_abi.h"

namespace limen::cpu {

struct AsyncCallback {
  CUdevice device = 0;
  CUasyncCallback function = nullptr;
  void* user_data = nullptr;
};

}  // namespace limen::cpu
