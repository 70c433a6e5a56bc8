#include "conformance/unified/managed.h"

namespace limen::conform {

CONFORM(cuPointerGetAttributes, several_at_once) {
  Buffer buffer(4096);
  CUpointer_attribute which[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_RANGE_SIZE,
                                 CU_POINTER_ATTRIBUTE_HOST_POINTER};
  unsigned type = 0;
  size_t size = 0;
  void* host = foreign_memory();
  void* results[] = {&type, &size, &host};
  expect_code("asks", cuPointerGetAttributes(3, which, results, buffer), CUDA_SUCCESS);
  expect("type", type, unsigned(CU_MEMORYTYPE_DEVICE));
  expect("size", size, size_t{4096});
  expect_true("no host pointer", host == nullptr);
}

CONFORM(cuPointerGetAttributes, of_foreign_memory) {
  CUpointer_attribute which[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                 CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL};
  unsigned type = 99;
  int device = 99;
  void* results[] = {&type, &device};
  expect_code(
      "is no error",
      cuPointerGetAttributes(2, which, results, reinterpret_cast<CUdeviceptr>(foreign_memory())),
      CUDA_SUCCESS);
  expect("no type", type, 0u);
  expect("no device", device, -2);
}

CONFORM(cuPointerGetAttributes, wrong_arguments) {
  Buffer buffer(64);
  CUpointer_attribute which[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE};
  unsigned type = 0;
  void* results[] = {&type};
  const auto bad = CUDA_ERROR_INVALID_VALUE;
  expect_code("none", cuPointerGetAttributes(0, which, results, buffer), bad);
  expect_code("no names", cuPointerGetAttributes(1, nullptr, results, buffer), bad);
  expect_code("no results", cuPointerGetAttributes(1, which, nullptr, buffer), bad);
}

}  // namespace limen::conform
