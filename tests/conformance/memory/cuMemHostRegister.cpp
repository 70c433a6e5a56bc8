#include <cstdlib>

#include "conformance/conform.h"

namespace limen::conform {

CONFORM(cuMemHostRegister, pins_memory_of_the_program) {
  void* host = std::aligned_alloc(4096, 65536);
  expect_code("registers", cuMemHostRegister(host, 65536, CU_MEMHOSTREGISTER_DEVICEMAP),
              CUDA_SUCCESS);
  CUdeviceptr device = 0;
  REQUIRE(cuMemHostGetDevicePointer(&device, host, 0));
  REQUIRE(launch(common_kernel("store"), 1, 1, nullptr, device + 4096, 3u));
  REQUIRE(cuCtxSynchronize(nullptr));
  expect("a kernel's value", static_cast<volatile uint32_t*>(host)[1024], 3u);
  unsigned type = 0;
  REQUIRE(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                reinterpret_cast<CUdeviceptr>(host)));
  expect("host memory", type, unsigned(CU_MEMORYTYPE_HOST));
}

CONFORM(cuMemHostRegister, once_only) {
  char* host = static_cast<char*>(std::aligned_alloc(4096, 65536));
  expect_code("first half", cuMemHostRegister(host, 32768, 0), CUDA_SUCCESS);
  expect_code("again", cuMemHostRegister(host, 32768, 0),
              CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
  expect_code("overlapping", cuMemHostRegister(host + 16384, 32768, 0),
              CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
  expect_code("second half", cuMemHostRegister(host + 32768, 32768, 0), CUDA_SUCCESS);
}

CONFORM(cuMemHostRegister, wrong_arguments) {
  void* host = std::aligned_alloc(4096, 4096);
  const auto bad = CUDA_ERROR_INVALID_VALUE;
  expect_code("no memory", cuMemHostRegister(nullptr, 4096, 0), bad);
  expect_code("no bytes", cuMemHostRegister(host, 0, 0), bad);
  expect_code("no such flag", cuMemHostRegister(host, 4096, 0x100), bad);
}

}  // namespace limen::conform
