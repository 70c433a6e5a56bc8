#include "conformance/two_processes.h"

#include <chrono>
#include <thread>

namespace limen::conform {

/// What the parent hands over: memory that both see, and an event it records.
struct Shared {
  CUipcMemHandle memory;
  CUipcEventHandle event;
};

static void waits(Peer parent) {
  const auto shared = parent.receive<Shared>();
  CUdeviceptr address = 0;
  CUevent event = nullptr;
  CUstream stream = nullptr;
  REQUIRE(cuIpcOpenMemHandle(&address, shared.memory, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
  expect_code("opens", cuIpcOpenEventHandle(&event, shared.event), CUDA_SUCCESS);
  REQUIRE(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  Buffer copy(4);
  CUfunction store = common_kernel("store");
  REQUIRE(launch(store, 1, 1, stream, copy.at(), 0u));
  REQUIRE(cuStreamSynchronize(stream));
  parent.send(1);         // ready
  parent.receive<int>();  // recorded behind a kernel that spins
  expect_code("not reached", cuEventQuery(event), CUDA_ERROR_NOT_READY);
  REQUIRE(cuStreamWaitEvent(stream, event, 0));
  REQUIRE(cuMemcpyDtoDAsync(copy, address, 4, stream));
  expect_code("the stream waits", cuStreamQuery(stream), CUDA_ERROR_NOT_READY);
  parent.send(1);  // let go
  expect_code("it goes on", cuStreamSynchronize(stream), CUDA_SUCCESS);
  expect("after the kernel", read<uint32_t>(copy), 88u);
  expect_code("reached", cuEventQuery(event), CUDA_SUCCESS);
  // And the other way: recorded here, waited for there.
  REQUIRE(launch(store, 1, 1, stream, address + 4, 99u));
  REQUIRE(cuEventRecord(event, stream));
  parent.send(1);
  parent.receive<int>();
}

CONFORM_WITH(cuIpcOpenEventHandle, order_between_processes, nothing) {
  Peer child = start_child(waits);
  Buffer buffer(4096);
  REQUIRE(cuMemsetD8(buffer, 0, 4096));
  void* host = nullptr;
  REQUIRE(cuMemAllocHost(&host, 4));
  *static_cast<volatile uint32_t*>(host) = 0;
  CUstream stream = nullptr;
  REQUIRE(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  Shared shared{};
  CUevent event = nullptr;
  REQUIRE(cuEventCreate(&event, CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING));
  REQUIRE(cuIpcGetMemHandle(&shared.memory, buffer));
  REQUIRE(cuIpcGetEventHandle(&shared.event, event));
  CUfunction spin = common_kernel("spin"), store = common_kernel("store");
  child.send(shared);
  child.receive<int>();
  REQUIRE(launch(spin, 1, 1, stream, reinterpret_cast<CUdeviceptr>(host)));
  REQUIRE(launch(store, 1, 1, stream, buffer.at(), 88u));
  REQUIRE(cuEventRecord(event, stream));
  child.send(1);
  child.receive<int>();
  *static_cast<volatile uint32_t*>(host) = 1;
  child.receive<int>();
  expect_code("waits for the child's record", cuEventSynchronize(event), CUDA_SUCCESS);
  expect("after the child's kernel", read<uint32_t>(buffer.at(4)), 99u);
  child.send(1);
  expect_true("the child ended well", child.finished());
}

static void records_and_dies(Peer parent) {
  CUevent event = nullptr;
  REQUIRE(cuIpcOpenEventHandle(&event, parent.receive<CUipcEventHandle>()));
  void* host = nullptr;
  REQUIRE(cuMemAllocHost(&host, 4));
  *static_cast<volatile uint32_t*>(host) = 0;
  CUstream stream = nullptr;
  REQUIRE(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  REQUIRE(launch(common_kernel("spin"), 1, 1, stream, reinterpret_cast<CUdeviceptr>(host)));
  REQUIRE(cuEventRecord(event, stream));
  parent.send(1);
  parent.receive<int>();
}

CONFORM_WITH(cuIpcOpenEventHandle, a_recorder_that_is_killed, nothing) {
  Peer child = start_child(records_and_dies);
  CUevent event = nullptr;
  REQUIRE(cuEventCreate(&event, CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING));
  CUipcEventHandle handle{};
  REQUIRE(cuIpcGetEventHandle(&handle, event));
  child.send(handle);
  child.receive<int>();
  child.kill_child();
  // On the H200 the event is never reached, and who waits for it waits for ever.
  CUresult result = CUDA_ERROR_NOT_READY;
  for (int i = 0; i < 200 && result == CUDA_ERROR_NOT_READY; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    result = cuEventQuery(event);
  }
  expect_code("what nobody will reach", result, CUDA_ERROR_NOT_READY);
}

CONFORM(cuIpcOpenEventHandle, wrong_arguments) {
  CUevent event = nullptr, opened = nullptr;
  REQUIRE(cuEventCreate(&event, CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING));
  CUipcEventHandle handle{}, none{};
  REQUIRE(cuIpcGetEventHandle(&handle, event));
  expect_code("no result", cuIpcOpenEventHandle(nullptr, handle), CUDA_ERROR_INVALID_VALUE);
  expect_code("no handle", cuIpcOpenEventHandle(&opened, none), CUDA_ERROR_MAP_FAILED);
  expect_code("of the same process", cuIpcOpenEventHandle(&opened, handle),
              CUDA_ERROR_INVALID_CONTEXT);
}

}  // namespace limen::conform
