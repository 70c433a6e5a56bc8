#include "conformance/pool/share.h"
#include "conformance/two_processes.h"

namespace limen::conform {

struct Blocks {
  CUmemPoolPtrExportData small, large;
};

static void imports(Peer parent) {
  CUmemoryPool pool = nullptr;
  REQUIRE(cuMemPoolImportFromShareableHandle(&pool, os_handle(parent.receive_descriptor()),
                                             by_descriptor, 0));
  auto data = parent.receive<Blocks>();
  CUdeviceptr small = 0, large = 0;
  expect_code("small", cuMemPoolImportPointer(&small, pool, &data.small), CUDA_SUCCESS);
  expect_code("large", cuMemPoolImportPointer(&large, pool, &data.large), CUDA_SUCCESS);
  expect("small value", read<uint32_t>(small), 101u);
  expect("large value", read<uint32_t>(large + 8 * mega - 4), 102u);
  CUfunction store = common_kernel("store");
  REQUIRE(launch(store, 1, 1, nullptr, small + 4, 103u));
  REQUIRE(launch(store, 1, 1, nullptr, large + 4, 104u));
  REQUIRE(cuCtxSynchronize(nullptr));
  expect_code("frees the small one", cuMemFree(small), CUDA_SUCCESS);
  expect_code("and the large one", cuMemFreeAsync(large, nullptr), CUDA_SUCCESS);
  REQUIRE(cuCtxSynchronize(nullptr));
  uint32_t value = 0;
  expect_code("both are gone", cuMemcpyDtoH(&value, large, 4), CUDA_ERROR_INVALID_VALUE);
  data.small.reserved[20] ^= 1;
  expect_code("damaged data", cuMemPoolImportPointer(&small, pool, &data.small),
              CUDA_ERROR_INVALID_VALUE);
  parent.send(1);
}

CONFORM_WITH(cuMemPoolImportPointer, between_processes, nothing) {
  Peer child = start_child(imports);
  CUmemoryPool pool = make_pool(true);
  const CUdeviceptr small = take(pool, 100), large = take(pool, 8 * mega);
  write<uint32_t>(small, 101u);
  write<uint32_t>(large + 8 * mega - 4, 102u);
  Blocks data{};
  const int descriptor = exported(pool);  // before the blocks
  REQUIRE(cuMemPoolExportPointer(&data.small, small));
  REQUIRE(cuMemPoolExportPointer(&data.large, large));
  child.send_descriptor(descriptor);
  child.send(data);
  child.receive<int>();
  expect("the child wrote to the small one", read<uint32_t>(small + 4), 103u);
  expect("and to the large one", read<uint32_t>(large + 4), 104u);
  expect_true("the child ended well", child.finished());
}

CONFORM(cuMemPoolImportPointer, wrong_arguments) {
  CUmemoryPool pool = make_pool(true), imported = nullptr;
  CUmemPoolPtrExportData data{};
  CUdeviceptr address = 0;
  const int descriptor = exported(pool);
  REQUIRE(cuMemPoolExportPointer(&data, take(pool, mega)));
  expect_code("into the exporting pool", cuMemPoolImportPointer(&address, pool, &data),
              CUDA_ERROR_INVALID_VALUE);
  REQUIRE(cuMemPoolImportFromShareableHandle(&imported, os_handle(descriptor), by_descriptor, 0));
  expect_code("no result", cuMemPoolImportPointer(nullptr, imported, &data),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no data", cuMemPoolImportPointer(&address, imported, nullptr),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no pool", cuMemPoolImportPointer(&address, nullptr, &data),
              CUDA_ERROR_INVALID_VALUE);
}

}  // namespace limen::conform
