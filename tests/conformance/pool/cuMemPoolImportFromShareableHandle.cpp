#include <fcntl.h>

#include "conformance/pool/share.h"

namespace limen::conform {

CONFORM(cuMemPoolImportFromShareableHandle, nothing_can_be_allocated) {
  CUmemoryPool imported = nullptr;
  expect_code("imports",
              cuMemPoolImportFromShareableHandle(&imported, os_handle(exported(make_pool(true))),
                                                 by_descriptor, 0),
              CUDA_SUCCESS);
  CUdeviceptr address = 0;
  expect_code("no block", cuMemAllocFromPoolAsync(&address, 64, imported, nullptr),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no current pool", cuDeviceSetMemPool(0, imported), CUDA_ERROR_INVALID_VALUE);
  expect_code("can be destroyed", cuMemPoolDestroy(imported), CUDA_SUCCESS);
}

CONFORM(cuMemPoolImportFromShareableHandle, wrong_arguments) {
  CUmemoryPool imported = nullptr;
  const int descriptor = exported(make_pool(true)), null = open("/dev/null", O_RDWR);
  expect_code("no result",
              cuMemPoolImportFromShareableHandle(nullptr, os_handle(descriptor), by_descriptor, 0),
              CUDA_ERROR_INVALID_VALUE);
  expect_code(
      "flags",
      cuMemPoolImportFromShareableHandle(&imported, os_handle(descriptor), by_descriptor, 1),
      CUDA_ERROR_INVALID_VALUE);
  expect_code("another file",
              cuMemPoolImportFromShareableHandle(&imported, os_handle(null), by_descriptor, 0),
              CUDA_ERROR_UNKNOWN);
}

}  // namespace limen::conform
