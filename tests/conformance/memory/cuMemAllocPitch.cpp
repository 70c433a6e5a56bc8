#include "conformance/conform.h"

namespace limen::conform {

CONFORM(cuMemAllocPitch, rows_are_apart) {
  CUdeviceptr address = 0;
  size_t pitch = 0;
  expect_code("allocates", cuMemAllocPitch(&address, &pitch, 1000, 7, 4), CUDA_SUCCESS);
  expect("pitch of 512 bytes", pitch, size_t{1024});
  write<uint32_t>(address + 6 * pitch + 996, 9u);
  expect("the last element", read<uint32_t>(address + 6 * pitch + 996), 9u);
  CUdeviceptr base = 0;
  size_t bytes = 0;
  REQUIRE(cuMemGetAddressRange(&base, &bytes, address));
  expect_true("all rows", bytes >= 6 * pitch + 1000);
}

CONFORM(cuMemAllocPitch, wrong_arguments) {
  CUdeviceptr address = 0;
  size_t pitch = 0;
  const auto bad = CUDA_ERROR_INVALID_VALUE;
  expect_code("no result", cuMemAllocPitch(nullptr, &pitch, 64, 4, 4), bad);
  expect_code("no pitch", cuMemAllocPitch(&address, nullptr, 64, 4, 4), bad);
  expect_code("no width", cuMemAllocPitch(&address, &pitch, 0, 4, 4), bad);
  expect_code("no height", cuMemAllocPitch(&address, &pitch, 64, 0, 4), bad);
  expect_code("elements of 3 bytes", cuMemAllocPitch(&address, &pitch, 64, 4, 3), bad);
}

}  // namespace limen::conform
