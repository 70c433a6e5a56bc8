#include "conformance/conform.h"

namespace limen::conform {

static void callback(CUasyncNotificationInfo*, void*, CUasyncCallbackHandle) {}

CONFORM(cuDeviceUnregisterAsyncNotification, ends_a_registration) {
  CUasyncCallbackHandle handle = nullptr;
  REQUIRE(cuDeviceRegisterAsyncNotification(0, callback, nullptr, &handle));
  expect_code("once", cuDeviceUnregisterAsyncNotification(0, handle), CUDA_SUCCESS);
  expect_code("not twice", cuDeviceUnregisterAsyncNotification(0, handle),
              CUDA_ERROR_INVALID_VALUE);
}

CONFORM(cuDeviceUnregisterAsyncNotification, wrong_arguments) {
  expect_code("no handle", cuDeviceUnregisterAsyncNotification(0, nullptr),
              CUDA_ERROR_INVALID_VALUE);
}

}  // namespace limen::conform
