#include "conformance/two_processes.h"

namespace limen::conform {

constexpr unsigned lazily = CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS;

static void reads_and_writes(Peer parent) {
  const auto handle = parent.receive<CUipcMemHandle>();
  CUdeviceptr address = 0, again = 0;
  expect_code("opens", cuIpcOpenMemHandle(&address, handle, lazily), CUDA_SUCCESS);
  expect("the exporter's value", read<uint32_t>(address + 4096), 55u);
  REQUIRE(launch(common_kernel("store"), 1, 1, nullptr, address + 8192, 56u));
  REQUIRE(cuCtxSynchronize(nullptr));
  CUdeviceptr base = 0;
  size_t bytes = 0;
  REQUIRE(cuMemGetAddressRange(&base, &bytes, address + 100));
  expect_true("the block begins there", base == address);
  expect("and is as long", bytes, size_t{4} << 20);
  expect_code("opens again", cuIpcOpenMemHandle(&again, handle, lazily), CUDA_SUCCESS);
  expect_true("at the same address", again == address);
  expect_code("is not ours to free", cuMemFree(address), CUDA_ERROR_INVALID_VALUE);
  parent.send(1);
  parent.receive<int>();
  expect("what came later", read<uint32_t>(address), 57u);
}

CONFORM_WITH(cuIpcOpenMemHandle, a_block_of_another_process, nothing) {
  Peer child = start_child(reads_and_writes);
  Buffer buffer(size_t{4} << 20);
  write<uint32_t>(buffer.at(4096), 55u);
  CUipcMemHandle handle{};
  REQUIRE(cuIpcGetMemHandle(&handle, buffer));
  child.send(handle);
  child.receive<int>();
  expect("the child's kernel wrote here", read<uint32_t>(buffer.at(8192)), 56u);
  REQUIRE(launch(common_kernel("store"), 1, 1, nullptr, buffer.at(), 57u));
  REQUIRE(cuCtxSynchronize(nullptr));
  child.send(1);
  expect_true("the child ended well", child.finished());
}

static void opens_small(Peer parent) {
  for (uint32_t i = 0; i < 4; ++i) {
    CUdeviceptr address = 0;
    expect_code("opens " + std::to_string(i),
                cuIpcOpenMemHandle(&address, parent.receive<CUipcMemHandle>(), lazily),
                CUDA_SUCCESS);
    expect("its value " + std::to_string(i), read<uint32_t>(address), 100 + i);
    write<uint32_t>(address + 4, 200 + i);
  }
  // A small write from plain memory may be on its way when the call returns.
  REQUIRE(cuCtxSynchronize(nullptr));
  parent.send(1);
}

CONFORM_WITH(cuIpcOpenMemHandle, small_blocks, nothing) {
  Peer child = start_child(opens_small);
  Buffer buffers[4] = {Buffer(8), Buffer(300), Buffer(5000), Buffer(40000)};
  for (uint32_t i = 0; i < 4; ++i) {
    write<uint32_t>(buffers[i], 100 + i);
    CUipcMemHandle handle{};
    REQUIRE(cuIpcGetMemHandle(&handle, buffers[i]));
    child.send(handle);
  }
  child.receive<int>();
  for (uint32_t i = 0; i < 4; ++i)
    expect("answer " + std::to_string(i), read<uint32_t>(buffers[i].at(4)), 200 + i);
  expect_true("the child ended well", child.finished());
}

static void exports(Peer parent) {
  Buffer buffer(4096);
  CUipcMemHandle handle{};
  REQUIRE(cuIpcGetMemHandle(&handle, buffer));
  parent.send(handle);
  parent.receive<int>();
}

CONFORM_WITH(cuIpcOpenMemHandle, a_process_that_was_killed, nothing) {
  Peer child = start_child(exports);
  const auto handle = child.receive<CUipcMemHandle>();
  CUdeviceptr address = 0;
  expect_code("while it lives", cuIpcOpenMemHandle(&address, handle, lazily), CUDA_SUCCESS);
  write<uint32_t>(address, 9u);
  REQUIRE(cuIpcCloseMemHandle(address));
  child.kill_child();
  expect_code("afterwards", cuIpcOpenMemHandle(&address, handle, lazily),
              CUDA_ERROR_INVALID_HANDLE);
}

CONFORM(cuIpcOpenMemHandle, wrong_arguments) {
  Buffer buffer(4096);
  CUipcMemHandle handle{}, none{};
  CUdeviceptr address = 0;
  REQUIRE(cuIpcGetMemHandle(&handle, buffer));
  expect_code("no result", cuIpcOpenMemHandle(nullptr, handle, lazily), CUDA_ERROR_INVALID_VALUE);
  expect_code("no flags", cuIpcOpenMemHandle(&address, handle, 0), CUDA_ERROR_INVALID_VALUE);
  expect_code("no handle", cuIpcOpenMemHandle(&address, none, lazily), CUDA_ERROR_INVALID_VALUE);
  expect_code("of the same process", cuIpcOpenMemHandle(&address, handle, lazily),
              CUDA_ERROR_INVALID_CONTEXT);
}

}  // namespace limen::conform
