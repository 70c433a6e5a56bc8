#include <fcntl.h>

#include "conformance/pool/share.h"

namespace limen::conform {

CONFORM(cuMemPoolExportToShareableHandle, a_descriptor) {
  CUmemoryPool pool = make_pool(true);
  int one = -1, two = -1;
  expect_code("exports", cuMemPoolExportToShareableHandle(&one, pool, by_descriptor, 0),
              CUDA_SUCCESS);
  expect_true("open", fcntl(one, F_GETFD) >= 0);
  expect_code("again", cuMemPoolExportToShareableHandle(&two, pool, by_descriptor, 0),
              CUDA_SUCCESS);
  expect_true("another one", one != two);
}

CONFORM(cuMemPoolExportToShareableHandle, wrong_arguments) {
  CUmemoryPool plain = make_pool(), pool = make_pool(true);
  int descriptor = -1;
  expect_code("not made for it",
              cuMemPoolExportToShareableHandle(&descriptor, plain, by_descriptor, 0),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no result", cuMemPoolExportToShareableHandle(nullptr, pool, by_descriptor, 0),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no pool", cuMemPoolExportToShareableHandle(&descriptor, nullptr, by_descriptor, 0),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("flags", cuMemPoolExportToShareableHandle(&descriptor, pool, by_descriptor, 1),
              CUDA_ERROR_INVALID_VALUE);
}

}  // namespace limen::conform
