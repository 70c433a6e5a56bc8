#include "conformance/two_processes.h"

namespace limen::conform {

CONFORM(cuIpcGetMemHandle, the_memory_stays_as_it_is) {
  Buffer large(size_t{8} << 20), small(64);
  write<uint32_t>(large.at(4), 11u);
  write<uint32_t>(small.at(4), 12u);
  CUipcMemHandle one{}, again{}, two{};
  expect_code("large", cuIpcGetMemHandle(&one, large), CUDA_SUCCESS);
  expect_code("again", cuIpcGetMemHandle(&again, large), CUDA_SUCCESS);
  expect_code("small", cuIpcGetMemHandle(&two, small), CUDA_SUCCESS);
  expect_true("the same handle", std::memcmp(&one, &again, sizeof one) == 0);
  expect_true("another one for other memory", std::memcmp(&one, &two, sizeof one) != 0);
  expect("large keeps its value", read<uint32_t>(large.at(4)), 11u);
  expect("small keeps its value", read<uint32_t>(small.at(4)), 12u);
  write<uint32_t>(large.at(8), 13u);
  expect("and can be written", read<uint32_t>(large.at(8)), 13u);
}

CONFORM(cuIpcGetMemHandle, while_kernels_write) {
  Buffer buffer(size_t{64} << 20);
  REQUIRE(cuMemsetD8(buffer, 0, size_t{64} << 20));
  CUfunction add = common_kernel("add");
  for (int i = 0; i < 200; ++i) REQUIRE(launch(add, 64, 256, nullptr, buffer.at(), 1u));
  CUipcMemHandle handle{};
  expect_code("exports", cuIpcGetMemHandle(&handle, buffer), CUDA_SUCCESS);
  expect_code("nothing faulted", cuCtxSynchronize(nullptr), CUDA_SUCCESS);
  expect("nothing is lost", read<uint32_t>(buffer), 200u * 64 * 256);
}

CONFORM(cuIpcGetMemHandle, new_memory_has_a_new_handle) {
  CUdeviceptr address = 0;
  CUipcMemHandle one{}, two{};
  REQUIRE(cuMemAlloc(&address, 4096));
  expect_code("first", cuIpcGetMemHandle(&one, address), CUDA_SUCCESS);
  REQUIRE(cuMemFree(address));
  REQUIRE(cuMemAlloc(&address, 4096));
  expect_code("second", cuIpcGetMemHandle(&two, address), CUDA_SUCCESS);
  expect_true("differ", std::memcmp(&one, &two, sizeof one) != 0);
}

CONFORM(cuIpcGetMemHandle, what_cannot_be_exported) {
  CUipcMemHandle handle{};
  Buffer buffer(64);
  expect_code("no result", cuIpcGetMemHandle(nullptr, buffer), CUDA_ERROR_INVALID_VALUE);
  expect_code("no address", cuIpcGetMemHandle(&handle, 0), CUDA_ERROR_INVALID_VALUE);
  void* host = nullptr;
  REQUIRE(cuMemAllocHost(&host, 4096));
  expect_code("host memory", cuIpcGetMemHandle(&handle, reinterpret_cast<CUdeviceptr>(host)),
              CUDA_ERROR_INVALID_VALUE);
  CUdeviceptr managed = 0, pooled = 0;
  REQUIRE(cuMemAllocManaged(&managed, 4096, CU_MEM_ATTACH_GLOBAL));
  expect_code("managed memory", cuIpcGetMemHandle(&handle, managed), CUDA_ERROR_INVALID_VALUE);
  REQUIRE(cuMemAllocAsync(&pooled, 4096, nullptr));
  expect_code("pooled memory", cuIpcGetMemHandle(&handle, pooled), CUDA_ERROR_INVALID_VALUE);
}

}  // namespace limen::conform
