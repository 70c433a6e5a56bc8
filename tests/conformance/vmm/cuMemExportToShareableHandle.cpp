#include <fcntl.h>
#include <unistd.h>

#include "conformance/vmm/vmm.h"

namespace limen::conform {

constexpr auto by_descriptor = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;

CONFORM(cuMemExportToShareableHandle, a_descriptor) {
  Mapped range(1, true);
  write<uint32_t>(range.address, 5u);
  int one = -1, two = -1;
  expect_code("exports", cuMemExportToShareableHandle(&one, range.handle, by_descriptor, 0),
              CUDA_SUCCESS);
  expect_true("an open descriptor", fcntl(one, F_GETFD) >= 0);
  expect_code("again", cuMemExportToShareableHandle(&two, range.handle, by_descriptor, 0),
              CUDA_SUCCESS);
  expect_true("another one", two != one && fcntl(two, F_GETFD) >= 0);
  close(one);
  close(two);
  expect("the memory stays", read<uint32_t>(range.address), 5u);
}

CONFORM(cuMemExportToShareableHandle, while_a_kernel_writes) {
  Mapped range(8, true);
  CUfunction add = common_kernel("add");
  for (int i = 0; i < 100; ++i) REQUIRE(launch(add, 64, 256, nullptr, range.address, 1u));
  int descriptor = -1;
  expect_code("exports", cuMemExportToShareableHandle(&descriptor, range.handle, by_descriptor, 0),
              CUDA_SUCCESS);
  for (int i = 0; i < 100; ++i) REQUIRE(launch(add, 64, 256, nullptr, range.address, 1u));
  expect_code("nothing faulted", cuCtxSynchronize(nullptr), CUDA_SUCCESS);
  expect("nothing is lost", read<uint32_t>(range.address), 200u * 64 * 256);
  CUmemGenericAllocationHandle handle = 0;
  REQUIRE(cuMemImportFromShareableHandle(
      &handle, reinterpret_cast<void*>(static_cast<intptr_t>(descriptor)), by_descriptor));
  const CUdeviceptr other = reserve(range.bytes);
  REQUIRE(cuMemMap(other, range.bytes, 0, handle, 0));
  allow(other, range.bytes);
  expect("nor in what was exported", read<uint32_t>(other), 200u * 64 * 256);
}

CONFORM(cuMemExportToShareableHandle, wrong_arguments) {
  CUmemGenericAllocationHandle plain = create(granularity()), handle = create(granularity(), true);
  int descriptor = -1;
  expect_code("not made for it", cuMemExportToShareableHandle(&descriptor, plain, by_descriptor, 0),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no result", cuMemExportToShareableHandle(nullptr, handle, by_descriptor, 0),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no handle", cuMemExportToShareableHandle(&descriptor, 0, by_descriptor, 0),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("flags", cuMemExportToShareableHandle(&descriptor, handle, by_descriptor, 1),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no type",
              cuMemExportToShareableHandle(&descriptor, handle, CU_MEM_HANDLE_TYPE_NONE, 0),
              CUDA_ERROR_INVALID_VALUE);
}

}  // namespace limen::conform
