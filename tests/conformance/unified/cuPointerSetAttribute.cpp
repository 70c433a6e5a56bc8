#include "conformance/conform.h"

namespace limen::conform {

CONFORM(cuPointerSetAttribute, synchronous_copies) {
  Buffer buffer(4096);
  unsigned on = 1;
  expect_code("sets", cuPointerSetAttribute(&on, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, buffer),
              CUDA_SUCCESS);
  unsigned now = 9;
  REQUIRE(cuPointerGetAttribute(&now, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, buffer));
  expect("told back", now, 1u);
}

CONFORM(cuPointerSetAttribute, wrong_arguments) {
  Buffer buffer(64);
  unsigned on = 1;
  const auto bad = CUDA_ERROR_INVALID_VALUE;
  expect_code("no value", cuPointerSetAttribute(nullptr, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, buffer),
              bad);
  expect_code("what is only read",
              cuPointerSetAttribute(&on, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, buffer), bad);
  expect_code("foreign memory",
              cuPointerSetAttribute(&on, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS,
                                    reinterpret_cast<CUdeviceptr>(foreign_memory())),
              bad);
}

}  // namespace limen::conform
