#include "conformance/conform.h"

namespace limen::conform {

CONFORM(cuMemAllocManaged, one_memory_for_both_sides) {
  CUdeviceptr address = 0;
  expect_code("allocates", cuMemAllocManaged(&address, 1 << 20, CU_MEM_ATTACH_GLOBAL),
              CUDA_SUCCESS);
  auto* words = reinterpret_cast<volatile uint32_t*>(address);
  words[0] = 10;
  REQUIRE(launch(common_kernel("add"), 1, 32, nullptr, address, 2u));
  REQUIRE(cuCtxSynchronize(nullptr));
  expect("both wrote", words[0], 74u);
  unsigned managed = 0;
  REQUIRE(cuPointerGetAttribute(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, address));
  expect("managed", managed, 1u);
  REQUIRE(cuMemFree(address));
}

CONFORM(cuMemAllocManaged, wrong_arguments) {
  CUdeviceptr address = 0;
  const auto bad = CUDA_ERROR_INVALID_VALUE;
  expect_code("no result", cuMemAllocManaged(nullptr, 64, CU_MEM_ATTACH_GLOBAL), bad);
  expect_code("no bytes", cuMemAllocManaged(&address, 0, CU_MEM_ATTACH_GLOBAL), bad);
  expect_code("no flags", cuMemAllocManaged(&address, 64, 0), bad);
  expect_code("a stream's", cuMemAllocManaged(&address, 64, CU_MEM_ATTACH_SINGLE), bad);
  expect_code("the host's", cuMemAllocManaged(&address, 64, CU_MEM_ATTACH_HOST), CUDA_SUCCESS);
}

}  // namespace limen::conform
