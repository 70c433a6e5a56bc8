#include <chrono>

#include "conformance/places.h"

namespace limen::conform {

CONFORM(cuEventSynchronize, waits_for_the_work_before_it) {
  for (unsigned flags : {unsigned{CU_EVENT_DEFAULT}, unsigned{CU_EVENT_BLOCKING_SYNC}}) {
    const std::string label = flags ? "blocking" : "spinning";
    CUevent event = nullptr;
    CUstream stream = nullptr;
    REQUIRE(cuEventCreate(&event, flags));
    REQUIRE(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    Pinned<uint32_t> open(1);
    REQUIRE(launch(common_kernel("spin"), 1, 1, stream, open.address()));
    REQUIRE(cuEventRecord(event, stream));
    std::thread opener([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      open[0] = 1;
    });
    expect_code(label, cuEventSynchronize(event), CUDA_SUCCESS);
    expect(label + ": not before the kernel was let go", uint32_t{open[0]}, 1u);
    expect_code(label + ": reached", cuEventQuery(event), CUDA_SUCCESS);
    opener.join();
    cuStreamSynchronize(stream);
  }
}

CONFORM(cuEventSynchronize, does_not_wait_for_later_work) {
  CUevent event = nullptr;
  REQUIRE(cuEventCreate(&event, 0));
  expect_code("never recorded", cuEventSynchronize(event), CUDA_SUCCESS);
  CUstream stream = nullptr;
  REQUIRE(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  Pinned<uint32_t> open(1);
  REQUIRE(cuEventRecord(event, stream));
  REQUIRE(launch(common_kernel("spin"), 1, 1, stream, open.address()));
  expect_code("before a kernel", cuEventSynchronize(event), CUDA_SUCCESS);
  expect_code("which still runs", cuStreamQuery(stream), CUDA_ERROR_NOT_READY);
  open[0] = 1;
  REQUIRE(cuStreamSynchronize(stream));
}

CONFORM(cuEventSynchronize, from_a_thread_without_a_context) {
  CUevent event = nullptr;
  REQUIRE(cuEventCreate(&event, 0));
  REQUIRE(cuEventRecord(event, nullptr));
  expect_code("elsewhere", on_a_bare_thread([&] { return cuEventSynchronize(event); }),
              CUDA_SUCCESS);
}

CONFORM(cuEventSynchronize, tells_of_a_kernel_that_failed) {
  CUevent event = nullptr;
  REQUIRE(cuEventCreate(&event, 0));
  REQUIRE(launch(common_kernel("trap"), 1, 1, nullptr));
  cuEventRecord(event, nullptr);
  expect_code("the event", cuEventSynchronize(event), CUDA_ERROR_LAUNCH_FAILED);
}

CONFORM(cuEventSynchronize, handles_that_are_none) {
  expect_code("null", cuEventSynchronize(nullptr), CUDA_ERROR_INVALID_HANDLE);
  expect_code("foreign", cuEventSynchronize(foreign_handle<CUevent>()), CUDA_ERROR_INVALID_CONTEXT);
  CUevent event = nullptr;
  REQUIRE(cuEventCreate(&event, 0));
  REQUIRE(cuEventDestroy(event));
  expect_code("destroyed", cuEventSynchronize(event), CUDA_ERROR_INVALID_HANDLE);
}

CONFORM_WITH(cuEventSynchronize, needs_cuInit, nothing) {
  expect_code("not initialised", cuEventSynchronize(nullptr), CUDA_ERROR_INVALID_HANDLE);
}

}  // namespace limen::conform
