#include "conformance/conform.h"

namespace limen::conform {

CONFORM(cuMemAllocPitch, rows_are_apart_by_the_pitch) {
  CUdeviceptr address = 0;
  size_t pitch = 0;
  expect_code("100 bytes wide", cuMemAllocPitch(&address, &pitch, 100, 7, 4), CUDA_SUCCESS);
  expect_true("at least the width", pitch >= 100);
  expect("fit for textures", pitch % 512, 0u);
  expect("aligned", address % 256, 0u);
  write<uint32_t>(address + 6 * pitch + 96, 77);
  expect("the last word", read<uint32_t>(address + 6 * pitch + 96), 77u);
  size_t bytes = 0;
  REQUIRE(cuMemGetAddressRange(nullptr, &bytes, address));
  expect_true("all rows", bytes >= 6 * pitch + 100);
  REQUIRE(cuMemFree(address));
  expect_code("elements of 8", cuMemAllocPitch(&address, &pitch, 512, 1, 8), CUDA_SUCCESS);
  expect("no padding", pitch, 512u);
  expect_code("elements of 16", cuMemAllocPitch(&address, &pitch, 513, 3, 16), CUDA_SUCCESS);
  expect("one unit more", pitch, 1024u);
}

CONFORM(cuMemAllocPitch, wrong_arguments) {
  CUdeviceptr address = 0;
  size_t pitch = 0;
  expect_code("no address", cuMemAllocPitch(nullptr, &pitch, 16, 16, 4), CUDA_ERROR_INVALID_VALUE);
  expect_code("no pitch", cuMemAllocPitch(&address, nullptr, 16, 16, 4), CUDA_ERROR_INVALID_VALUE);
  expect_code("no width", cuMemAllocPitch(&address, &pitch, 0, 16, 4), CUDA_ERROR_INVALID_VALUE);
  expect_code("no height", cuMemAllocPitch(&address, &pitch, 16, 0, 4), CUDA_ERROR_INVALID_VALUE);
  expect_code("elements of 1", cuMemAllocPitch(&address, &pitch, 16, 16, 1),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("elements of 12", cuMemAllocPitch(&address, &pitch, 16, 16, 12),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("elements of none", cuMemAllocPitch(&address, &pitch, 16, 16, 0),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("wider than any pitch", cuMemAllocPitch(&address, &pitch, size_t{1} << 32, 1, 4),
              CUDA_SUCCESS);
  expect_code("more than there is", cuMemAllocPitch(&address, &pitch, 1 << 20, size_t{1} << 26, 4),
              CUDA_ERROR_OUT_OF_MEMORY);
  auto first = reinterpret_cast<CUresult (*)(unsigned*, unsigned*, unsigned, unsigned, unsigned)>(
      driver_symbol("cuMemAllocPitch"));
  unsigned a = 0, p = 0;
  expect_code("the 32-bit ABI", first(&a, &p, 16, 16, 4), CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM_WITH(cuMemAllocPitch, needs_a_context, initialised) {
  CUdeviceptr a;
  size_t p;
  expect_code("no context", cuMemAllocPitch(&a, &p, 16, 16, 4), CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM_WITH(cuMemAllocPitch, needs_cuInit, nothing) {
  CUdeviceptr a;
  size_t p;
  expect_code("not initialised", cuMemAllocPitch(&a, &p, 16, 16, 4), CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
