#include "conformance/conform.h"

namespace limen::conform {

CONFORM(cuStreamAttachMemAsync, managed_memory_only) {
  CUstream stream = nullptr;
  REQUIRE(cuStreamCreate(&stream, 0));
  CUdeviceptr managed = 0;
  REQUIRE(cuMemAllocManaged(&managed, 4096, CU_MEM_ATTACH_GLOBAL));
  expect_code("attach", cuStreamAttachMemAsync(stream, managed, 0, CU_MEM_ATTACH_SINGLE),
              CUDA_SUCCESS);
  REQUIRE(launch(common_kernel("store"), 1, 1, stream, managed, 11u));
  REQUIRE(cuStreamSynchronize(stream));
  expect("the host reads it", *reinterpret_cast<uint32_t*>(managed), 11u);
  expect_code("unknown flags", cuStreamAttachMemAsync(stream, managed, 0, 77),
              CUDA_ERROR_INVALID_VALUE);
  Buffer device(4096);
  expect_code("device memory", cuStreamAttachMemAsync(stream, device, 0, CU_MEM_ATTACH_SINGLE),
              CUDA_ERROR_INVALID_VALUE);
}

namespace {

CUdeviceptr managed(size_t bytes, unsigned flags) {
  CUdeviceptr address = 0;
  REQUIRE(cuMemAllocManaged(&address, bytes, flags));
  return address;
}

}  // namespace

CONFORM(cuStreamAttachMemAsync, memory_keeps_its_values) {
  CUstream stream = nullptr;
  REQUIRE(cuStreamCreate(&stream, 0));
  CUdeviceptr memory = managed(4096, CU_MEM_ATTACH_HOST);
  auto* words = reinterpret_cast<volatile uint32_t*>(memory);
  words[1] = 5;
  expect_code("to one stream", cuStreamAttachMemAsync(stream, memory, 0, CU_MEM_ATTACH_SINGLE),
              CUDA_SUCCESS);
  REQUIRE(cuStreamSynchronize(stream));
  REQUIRE(launch(common_kernel("add"), 1, 1, stream, memory + 4, 2u));
  REQUIRE(cuStreamSynchronize(stream));
  expect("added", words[1], 7u);
  expect_code("to the host", cuStreamAttachMemAsync(stream, memory, 0, CU_MEM_ATTACH_HOST),
              CUDA_SUCCESS);
  expect_code("to all", cuStreamAttachMemAsync(stream, memory, 4096, CU_MEM_ATTACH_GLOBAL),
              CUDA_SUCCESS);
  expect_code("to all by the null stream",
              cuStreamAttachMemAsync(nullptr, memory, 0, CU_MEM_ATTACH_GLOBAL), CUDA_SUCCESS);
  REQUIRE(cuCtxSynchronize(nullptr));
  expect("still there", words[1], 7u);
}

CONFORM(cuStreamAttachMemAsync, wrong_arguments) {
  CUstream stream = nullptr;
  REQUIRE(cuStreamCreate(&stream, 0));
  CUdeviceptr memory = managed(4096, CU_MEM_ATTACH_GLOBAL);
  Buffer device(4096);
  expect_code("no memory", cuStreamAttachMemAsync(stream, 0, 0, CU_MEM_ATTACH_GLOBAL),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("device memory", cuStreamAttachMemAsync(stream, device, 0, CU_MEM_ATTACH_GLOBAL),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("a part", cuStreamAttachMemAsync(stream, memory, 100, CU_MEM_ATTACH_GLOBAL),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no flag", cuStreamAttachMemAsync(stream, memory, 0, 0), CUDA_ERROR_INVALID_VALUE);
  expect_code("two flags",
              cuStreamAttachMemAsync(stream, memory, 0, CU_MEM_ATTACH_GLOBAL | CU_MEM_ATTACH_HOST),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("unknown flag", cuStreamAttachMemAsync(stream, memory, 0, 8),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("the null stream alone",
              cuStreamAttachMemAsync(nullptr, memory, 0, CU_MEM_ATTACH_SINGLE),
              CUDA_ERROR_INVALID_VALUE);
  REQUIRE(cuStreamDestroy(stream));
  expect_code("destroyed", cuStreamAttachMemAsync(stream, memory, 0, CU_MEM_ATTACH_GLOBAL),
              CUDA_ERROR_INVALID_HANDLE);
}

CONFORM_WITH(cuStreamAttachMemAsync, needs_a_context, initialised) {
  expect_code("no context", cuStreamAttachMemAsync(nullptr, 4096, 0, CU_MEM_ATTACH_GLOBAL),
              CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM_WITH(cuStreamAttachMemAsync, needs_cuInit, nothing) {
  expect_code("not initialised", cuStreamAttachMemAsync(nullptr, 4096, 0, CU_MEM_ATTACH_GLOBAL),
              CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
