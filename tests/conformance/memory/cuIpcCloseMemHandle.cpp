#include "conformance/two_processes.h"

namespace limen::conform {

static void opens_twice(Peer parent) {
  const auto handle = parent.receive<CUipcMemHandle>();
  CUdeviceptr address = 0;
  constexpr unsigned lazily = CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS;
  REQUIRE(cuIpcOpenMemHandle(&address, handle, lazily));
  REQUIRE(cuIpcOpenMemHandle(&address, handle, lazily));
  expect_code("closes once", cuIpcCloseMemHandle(address), CUDA_SUCCESS);
  expect("still open", read<uint32_t>(address), 3u);
  expect_code("closes twice", cuIpcCloseMemHandle(address), CUDA_SUCCESS);
  uint32_t value = 0;
  expect_code("gone", cuMemcpyDtoH(&value, address, 4), CUDA_ERROR_INVALID_VALUE);
  expect_code("not thrice", cuIpcCloseMemHandle(address), CUDA_ERROR_INVALID_VALUE);
  parent.send(1);
}

CONFORM_WITH(cuIpcCloseMemHandle, counts_openings, nothing) {
  Peer child = start_child(opens_twice);
  Buffer buffer(4096);
  write<uint32_t>(buffer, 3u);
  CUipcMemHandle handle{};
  REQUIRE(cuIpcGetMemHandle(&handle, buffer));
  child.send(handle);
  child.receive<int>();
  expect("the exporter keeps it", read<uint32_t>(buffer), 3u);
  expect_true("the child ended well", child.finished());
}

CONFORM(cuIpcCloseMemHandle, what_is_not_open) {
  Buffer buffer(4096);
  expect_code("memory of cuMemAlloc", cuIpcCloseMemHandle(buffer), CUDA_ERROR_INVALID_VALUE);
  expect_code("address 0", cuIpcCloseMemHandle(0), CUDA_ERROR_INVALID_VALUE);
}

}  // namespace limen::conform
