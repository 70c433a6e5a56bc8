#include "conformance/two_processes.h"

namespace limen::conform {

CONFORM(cuIpcGetEventHandle, of_an_interprocess_event) {
  CUevent event = nullptr;
  REQUIRE(cuEventCreate(&event, CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING));
  CUipcEventHandle one{}, two{}, zero{};
  expect_code("exports", cuIpcGetEventHandle(&one, event), CUDA_SUCCESS);
  expect_code("again", cuIpcGetEventHandle(&two, event), CUDA_SUCCESS);
  expect_true("something is in it", std::memcmp(&one, &zero, sizeof one) != 0);
  expect_true("the same", std::memcmp(&one, &two, sizeof one) == 0);
}

CONFORM(cuIpcGetEventHandle, the_event_works_here_too) {
  CUevent event = nullptr;
  REQUIRE(cuEventCreate(&event, CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING));
  CUipcEventHandle handle{};
  expect_code("exports", cuIpcGetEventHandle(&handle, event), CUDA_SUCCESS);
  expect_code("never recorded", cuEventQuery(event), CUDA_SUCCESS);
  Buffer flag(4);
  REQUIRE(cuMemsetD32(flag, 0, 1));
  CUstream work = nullptr, other = nullptr;
  REQUIRE(cuStreamCreate(&work, CU_STREAM_NON_BLOCKING));
  REQUIRE(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
  void* host = nullptr;
  REQUIRE(cuMemAllocHost(&host, 4));
  *static_cast<volatile uint32_t*>(host) = 0;
  REQUIRE(launch(common_kernel("spin"), 1, 1, work, reinterpret_cast<CUdeviceptr>(host)));
  REQUIRE(cuEventRecord(event, work));
  expect_code("not reached", cuEventQuery(event), CUDA_ERROR_NOT_READY);
  REQUIRE(cuStreamWaitEvent(other, event, 0));
  expect_code("another stream waits", cuStreamQuery(other), CUDA_ERROR_NOT_READY);
  *static_cast<volatile uint32_t*>(host) = 1;
  expect_code("then", cuEventSynchronize(event), CUDA_SUCCESS);
  expect_code("the other goes on", cuStreamSynchronize(other), CUDA_SUCCESS);
  expect_code("reached", cuEventQuery(event), CUDA_SUCCESS);
}

CONFORM(cuIpcGetEventHandle, wrong_arguments) {
  CUevent plain = nullptr;
  REQUIRE(cuEventCreate(&plain, CU_EVENT_DISABLE_TIMING));
  CUipcEventHandle handle{};
  expect_code("no result", cuIpcGetEventHandle(nullptr, plain), CUDA_ERROR_INVALID_VALUE);
  expect_code("no event", cuIpcGetEventHandle(&handle, nullptr), CUDA_ERROR_INVALID_VALUE);
  expect_code("no interprocess event", cuIpcGetEventHandle(&handle, plain),
              CUDA_ERROR_INVALID_HANDLE);
}

}  // namespace limen::conform
