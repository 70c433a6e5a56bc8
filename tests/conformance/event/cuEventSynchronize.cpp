#include <atomic>
#include <chrono>
#include <thread>

#include "conformance/conform.h"

namespace limen::conform {
namespace {

/// A stream that a kernel holds until open() is called.
struct Held {
  Held() {
    REQUIRE(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    REQUIRE(cuMemHostAlloc(&memory, 4, CU_MEMHOSTALLOC_DEVICEMAP));
    *static_cast<volatile uint32_t*>(memory) = 0;
    REQUIRE(launch(common_kernel("spin"), 1, 1, stream, memory));
  }
  void open() { *static_cast<volatile uint32_t*>(memory) = 1; }
  CUstream stream = nullptr;
  void* memory = nullptr;
};

CUevent make_event(unsigned flags = CU_EVENT_DEFAULT) {
  CUevent event = nullptr;
  REQUIRE(cuEventCreate(&event, flags));
  return event;
}

CUevent destroyed() {
  CUevent gone = make_event();
  REQUIRE(cuEventDestroy(gone));
  return gone;
}

}  // namespace

CONFORM(cuEventSynchronize, waits) {
  CUevent spinning = make_event(CU_EVENT_DISABLE_TIMING);
  CUevent sleeping = make_event(CU_EVENT_DISABLE_TIMING | CU_EVENT_BLOCKING_SYNC);
  CUfunction add = common_kernel("add");
  Buffer word(4);
  write<uint32_t>(word, 0);
  for (CUevent event : {spinning, sleeping}) {
    REQUIRE(launch(add, 256, 256, nullptr, word.at(), 1u));
    REQUIRE(cuEventRecord(event, nullptr));
    const std::string label = event == spinning ? "usual" : "blocking";
    expect_code(label, cuEventSynchronize(event), CUDA_SUCCESS);
    expect_code(label + ": done", cuEventQuery(event), CUDA_SUCCESS);
  }
  expect("both ran", read<uint32_t>(word), 131072u);
  expect_code("never recorded", cuEventSynchronize(make_event()), CUDA_SUCCESS);
  expect_code("destroyed", cuEventSynchronize(destroyed()), CUDA_ERROR_INVALID_HANDLE);
}

CONFORM(cuEventSynchronize, holds_the_caller) {
  Held held;
  CUevent event = make_event(CU_EVENT_DISABLE_TIMING);
  REQUIRE(cuEventRecord(event, held.stream));
  std::atomic<bool> returned{false};
  CUresult code = CUDA_ERROR_UNKNOWN;
  std::thread other([&] {
    code = cuEventSynchronize(event);
    returned = true;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  expect("waits", returned.load(), false);
  held.open();
  other.join();
  expect_code("then returns", code, CUDA_SUCCESS);
}

}  // namespace limen::conform
