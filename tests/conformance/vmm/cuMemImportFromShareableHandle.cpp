#include <fcntl.h>
#include <unistd.h>

#include "conformance/two_processes.h"
#include "conformance/vmm/vmm.h"

namespace limen::conform {

constexpr auto by_descriptor = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;

static void* os_handle(int descriptor) {
  return reinterpret_cast<void*>(static_cast<intptr_t>(descriptor));
}

static int exported(CUmemGenericAllocationHandle handle) {
  int descriptor = -1;
  REQUIRE(cuMemExportToShareableHandle(&descriptor, handle, by_descriptor, 0));
  return descriptor;
}

CONFORM(cuMemImportFromShareableHandle, the_same_memory) {
  Mapped range(1, true);
  write<uint32_t>(range.address + 12, 21u);
  const int descriptor = exported(range.handle);
  CUmemGenericAllocationHandle handle = 0;
  expect_code("imports",
              cuMemImportFromShareableHandle(&handle, os_handle(descriptor), by_descriptor),
              CUDA_SUCCESS);
  expect_true("the descriptor stays the caller's", fcntl(descriptor, F_GETFD) >= 0);
  close(descriptor);
  const CUdeviceptr other = reserve(range.bytes);
  expect_code("maps", cuMemMap(other, range.bytes, 0, handle, 0), CUDA_SUCCESS);
  allow(other, range.bytes);
  expect("reads what was written", read<uint32_t>(other + 12), 21u);
  write<uint32_t>(other + 16, 22u);
  expect("and the other way", read<uint32_t>(range.address + 16), 22u);
}

static void importer(Peer parent) {
  CUmemGenericAllocationHandle handle = 0;
  const int descriptor = parent.receive_descriptor();
  expect_code("imports",
              cuMemImportFromShareableHandle(&handle, os_handle(descriptor), by_descriptor),
              CUDA_SUCCESS);
  const size_t bytes = granularity();
  const CUdeviceptr address = reserve(bytes);
  REQUIRE(cuMemMap(address, bytes, 0, handle, 0));
  allow(address, bytes);
  expect("the other process's value", read<uint32_t>(address), 1234u);
  REQUIRE(launch(common_kernel("store"), 1, 1, nullptr, address + 4, 4321u));
  REQUIRE(cuCtxSynchronize(nullptr));
  parent.send(1);
}

CONFORM_WITH(cuMemImportFromShareableHandle, between_processes, nothing) {
  Peer child = start_child(importer);
  Mapped range(1, true);
  write<uint32_t>(range.address, 1234u);
  child.send_descriptor(exported(range.handle));
  child.receive<int>();
  expect("the child's kernel wrote here", read<uint32_t>(range.address + 4), 4321u);
  expect_true("the child ended well", child.finished());
}

CONFORM(cuMemImportFromShareableHandle, memory_outlives_the_exporter) {
  Mapped range(1, true);
  write<uint32_t>(range.address, 31u);
  const int descriptor = exported(range.handle);
  REQUIRE(cuMemUnmap(range.address, range.bytes));
  REQUIRE(cuMemRelease(range.handle));
  CUmemGenericAllocationHandle handle = 0;
  expect_code("imports",
              cuMemImportFromShareableHandle(&handle, os_handle(descriptor), by_descriptor),
              CUDA_SUCCESS);
  REQUIRE(cuMemMap(range.address, range.bytes, 0, handle, 0));
  allow(range.address, range.bytes);
  expect("kept by the descriptor", read<uint32_t>(range.address), 31u);
}

CONFORM(cuMemImportFromShareableHandle, what_is_no_allocation) {
  CUmemGenericAllocationHandle handle = 0;
  expect_code("no descriptor",
              cuMemImportFromShareableHandle(&handle, os_handle(-1), by_descriptor),
              CUDA_ERROR_UNKNOWN);
  const int null = open("/dev/null", O_RDWR);
  expect_code("another file",
              cuMemImportFromShareableHandle(&handle, os_handle(null), by_descriptor),
              CUDA_ERROR_UNKNOWN);
  expect_code("no result", cuMemImportFromShareableHandle(nullptr, os_handle(null), by_descriptor),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no type",
              cuMemImportFromShareableHandle(&handle, os_handle(null), CU_MEM_HANDLE_TYPE_NONE),
              CUDA_ERROR_INVALID_VALUE);
}

}  // namespace limen::conform
