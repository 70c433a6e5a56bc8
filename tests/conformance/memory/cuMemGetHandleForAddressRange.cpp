#include "conformance/conform.h"

namespace limen::conform {

CONFORM(cuMemGetHandleForAddressRange, wrong_arguments) {
  Buffer buffer(size_t{2} << 20);
  int descriptor = -1;
  const auto type = CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD;
  expect_code("no result", cuMemGetHandleForAddressRange(nullptr, buffer, 4096, type, 0),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no address", cuMemGetHandleForAddressRange(&descriptor, 0, 4096, type, 0),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no bytes", cuMemGetHandleForAddressRange(&descriptor, buffer, 0, type, 0),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("not a page",
              cuMemGetHandleForAddressRange(&descriptor, buffer.at(512), 4096, type, 0),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no type",
              cuMemGetHandleForAddressRange(&descriptor, buffer, 4096,
                                            static_cast<CUmemRangeHandleType>(7), 0),
              CUDA_ERROR_INVALID_VALUE);
}

CONFORM(cuMemGetHandleForAddressRange, as_the_attribute_says) {
  Buffer buffer(size_t{2} << 20);
  int supported = 0, descriptor = -1;
  REQUIRE(cuDeviceGetAttribute(&supported, CU_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED, 0));
  CUresult result = cuMemGetHandleForAddressRange(&descriptor, buffer, size_t{2} << 20,
                                                  CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD, 0);
  expect_true("a dma-buf, or not supported",
              result == (supported ? CUDA_SUCCESS : CUDA_ERROR_NOT_SUPPORTED));
  expect_true("a descriptor exactly then", (descriptor >= 0) == (supported != 0));
}

}  // namespace limen::conform
