#include "conformance/conform.h"

namespace limen::conform {

CONFORM_WITH(cuGetProcAddress, by_version, initialised) {
  void *old = nullptr, *now = nullptr, *per_thread = nullptr;
  CUdriverProcAddressQueryResult status = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  expect_code("new", cuGetProcAddress("cuStreamWaitValue32", &now, 13000, 0, &status),
              CUDA_SUCCESS);
  expect("found", status, CU_GET_PROC_ADDRESS_SUCCESS);
  expect_code("old", cuGetProcAddress("cuStreamWaitValue32", &old, 8000, 0, &status), CUDA_SUCCESS);
  expect_true("another one", old && now && old != now);
  expect_code("per thread",
              cuGetProcAddress("cuStreamWaitValue32", &per_thread, 13000,
                               CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, &status),
              CUDA_SUCCESS);
  expect_true("yet another", per_thread && per_thread != now);
  expect_code("too old", cuGetProcAddress("cuLogsCurrent", &old, 8000, 0, &status), CUDA_SUCCESS);
  expect("says so", status, CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
  expect_code("absent", cuGetProcAddress("cuNoSuchThing", &old, 13000, 0, &status), CUDA_SUCCESS);
  expect("says so, too", status, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
  expect("null", old, nullptr);
  expect_code("no result", cuGetProcAddress("cuInit", nullptr, 13000, 0, &status),
              CUDA_ERROR_INVALID_VALUE);
}

}  // namespace limen::conform
