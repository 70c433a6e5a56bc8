#include "conformance/conform.h"

namespace limen::conform {

static void callback(CUasyncNotificationInfo*, void*, CUasyncCallbackHandle) {}

CONFORM(cuDeviceRegisterAsyncNotification, a_handle_each) {
  CUasyncCallbackHandle one = nullptr, two = nullptr;
  int data = 0;
  expect_code("registers", cuDeviceRegisterAsyncNotification(0, callback, &data, &one),
              CUDA_SUCCESS);
  expect_code("again", cuDeviceRegisterAsyncNotification(0, callback, &data, &two), CUDA_SUCCESS);
  expect_true("two handles", one && two && one != two);
  expect_code("ends one", cuDeviceUnregisterAsyncNotification(0, one), CUDA_SUCCESS);
  expect_code("ends two", cuDeviceUnregisterAsyncNotification(0, two), CUDA_SUCCESS);
}

CONFORM(cuDeviceRegisterAsyncNotification, wrong_arguments) {
  CUasyncCallbackHandle handle = nullptr;
  expect_code("no function", cuDeviceRegisterAsyncNotification(0, nullptr, nullptr, &handle),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no result", cuDeviceRegisterAsyncNotification(0, callback, nullptr, nullptr),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no such device", cuDeviceRegisterAsyncNotification(1000, callback, nullptr, &handle),
              CUDA_ERROR_INVALID_DEVICE);
}

}  // namespace limen::conform
