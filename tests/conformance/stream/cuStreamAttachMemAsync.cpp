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

}  // namespace limen::conform
