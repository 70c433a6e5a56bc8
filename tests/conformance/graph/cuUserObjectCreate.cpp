#include <unistd.h>

#include "conformance/graph/graphs.h"

namespace limen::conform {

namespace {
void count_end(void* data) { __atomic_fetch_add(static_cast<int*>(data), 1, __ATOMIC_SEQ_CST); }
/// Destructors run on a thread of the driver's own, some time after the last release.
int ends_after_a_while(int* ends, int awaited) {
  for (int i = 0; i < 2000 && __atomic_load_n(ends, __ATOMIC_SEQ_CST) < awaited; ++i) usleep(1000);
  return __atomic_load_n(ends, __ATOMIC_SEQ_CST);
}
}  // namespace

CONFORM(cuUserObjectCreate, ends_with_the_last_reference) {
  int ends = 0;
  CUuserObject object = nullptr;
  expect_code("creates",
              cuUserObjectCreate(&object, &ends, count_end, 2, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC),
              CUDA_SUCCESS);
  REQUIRE(cuUserObjectRelease(object, 1));
  usleep(20000);
  expect("lives", ends, 0);
  REQUIRE(cuUserObjectRelease(object, 1));
  expect("ended once", ends_after_a_while(&ends, 1), 1);
}

CONFORM(cuUserObjectCreate, wrong_arguments) {
  int ends = 0;
  CUuserObject object = nullptr;
  expect_code("no flag", cuUserObjectCreate(&object, &ends, count_end, 1, 0),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no references",
              cuUserObjectCreate(&object, &ends, count_end, 0, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no destructor",
              cuUserObjectCreate(&object, &ends, nullptr, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC),
              CUDA_ERROR_INVALID_VALUE);
}

}  // namespace limen::conform
