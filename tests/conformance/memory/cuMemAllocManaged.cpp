#include "conformance/conform.h"

namespace limen::conform {

CONFORM(cuMemAllocManaged, host_and_device_share_it) {
  CUdeviceptr memory = 0;
  expect_code("for all", cuMemAllocManaged(&memory, 4096, CU_MEM_ATTACH_GLOBAL), CUDA_SUCCESS);
  auto* words = reinterpret_cast<volatile uint32_t*>(memory);
  words[1023] = 5;
  REQUIRE(launch(common_kernel("add"), 2, 8, nullptr, memory + 4092, 1u));
  REQUIRE(cuCtxSynchronize(nullptr));
  expect("the kernel added", words[1023], 21u);
  unsigned managed = 0;
  REQUIRE(cuPointerGetAttribute(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, memory));
  expect("managed", managed, 1u);
  expect_code("for the host", cuMemAllocManaged(&memory, 64, CU_MEM_ATTACH_HOST), CUDA_SUCCESS);
  *reinterpret_cast<volatile uint32_t*>(memory) = 1;
  expect("the host's value", read<uint32_t>(memory), 1u);
}

CONFORM(cuMemAllocManaged, wrong_arguments) {
  CUdeviceptr memory = 0;
  expect_code("no result", cuMemAllocManaged(nullptr, 16, CU_MEM_ATTACH_GLOBAL),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no bytes", cuMemAllocManaged(&memory, 0, CU_MEM_ATTACH_GLOBAL),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no flag", cuMemAllocManaged(&memory, 16, 0), CUDA_ERROR_INVALID_VALUE);
  expect_code("both flags",
              cuMemAllocManaged(&memory, 16, CU_MEM_ATTACH_GLOBAL | CU_MEM_ATTACH_HOST),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("for one stream", cuMemAllocManaged(&memory, 16, CU_MEM_ATTACH_SINGLE),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("unknown flag", cuMemAllocManaged(&memory, 16, 8), CUDA_ERROR_INVALID_VALUE);
  expect_true("no address", memory == 0);
}

CONFORM_WITH(cuMemAllocManaged, needs_a_context, initialised) {
  CUdeviceptr memory;
  expect_code("no context", cuMemAllocManaged(&memory, 16, CU_MEM_ATTACH_GLOBAL),
              CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM_WITH(cuMemAllocManaged, needs_cuInit, nothing) {
  CUdeviceptr memory;
  expect_code("not initialised", cuMemAllocManaged(&memory, 16, CU_MEM_ATTACH_GLOBAL),
              CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
