#include "conformance/vmm/vmm.h"

namespace limen::conform {

CONFORM(cuMemCreate, memory_counts_as_used) {
  const size_t bytes = 16 * granularity();
  CUmemAllocationProp prop = device_properties();
  CUmemGenericAllocationHandle handle = 0;
  REQUIRE(cuMemCreate(&handle, bytes, &prop, 0));  // the first also takes room for tables
  REQUIRE(cuMemRelease(handle));
  FreeMemory counted, given_back;
  CUresult created = CUDA_SUCCESS;
  for (int i = 0; i < FreeMemory::tries && !(counted.seen && given_back.seen); ++i) {
    counted.begin();
    created = cuMemCreate(&handle, bytes, &prop, 0);
    counted.fell_by(bytes);
    given_back.begin();
    REQUIRE(cuMemRelease(handle));
    given_back.rose_by(bytes);
  }
  expect_code("creates", created, CUDA_SUCCESS);
  expect_true("counted", counted.seen);
  expect_true("given back", given_back.seen);
}

CONFORM(cuMemCreate, new_memory_reads_as_what_is_written) {
  Mapped range(2);
  CUmemAllocationProp prop = device_properties();
  CUmemGenericAllocationHandle other = 0;
  expect_code("another", cuMemCreate(&other, range.bytes, &prop, 0), CUDA_SUCCESS);
  expect_true("another handle", other != range.handle && other != 0);
  REQUIRE(cuMemsetD32(range.address, 0x01020304, range.bytes / 4));
  expect("first", read<uint32_t>(range.address), 0x01020304u);
  expect("last", read<uint32_t>(range.address + range.bytes - 4), 0x01020304u);
}

CONFORM(cuMemCreate, sizes) {
  CUmemAllocationProp prop = device_properties();
  CUmemGenericAllocationHandle handle = 0;
  const size_t step = granularity();
  expect_code("no bytes", cuMemCreate(&handle, 0, &prop, 0), CUDA_ERROR_INVALID_VALUE);
  expect_code("half a granule", cuMemCreate(&handle, step / 2, &prop, 0), CUDA_ERROR_INVALID_VALUE);
  expect_code("one and a half", cuMemCreate(&handle, step + step / 2, &prop, 0),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("more than there is", cuMemCreate(&handle, step << 24, &prop, 0),
              CUDA_ERROR_OUT_OF_MEMORY);
}

CONFORM(cuMemCreate, wrong_arguments) {
  CUmemAllocationProp prop = device_properties();
  CUmemGenericAllocationHandle handle = 0;
  const size_t step = granularity();
  expect_code("no result", cuMemCreate(nullptr, step, &prop, 0), CUDA_ERROR_INVALID_VALUE);
  expect_code("no properties", cuMemCreate(&handle, step, nullptr, 0), CUDA_ERROR_INVALID_VALUE);
  expect_code("flags", cuMemCreate(&handle, step, &prop, 1), CUDA_ERROR_INVALID_VALUE);
  prop.type = CU_MEM_ALLOCATION_TYPE_INVALID;
  expect_code("no type", cuMemCreate(&handle, step, &prop, 0), CUDA_ERROR_INVALID_VALUE);
  prop = device_properties();
  prop.location.id = 1000;
  expect_code("no such device", cuMemCreate(&handle, step, &prop, 0), CUDA_ERROR_INVALID_DEVICE);
  prop = device_properties();
  prop.location.type = CU_MEM_LOCATION_TYPE_INVALID;
  expect_code("nowhere", cuMemCreate(&handle, step, &prop, 0), CUDA_ERROR_INVALID_VALUE);
  prop.location.type = CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT;
  expect_code("the current node", cuMemCreate(&handle, step, &prop, 0), CUDA_ERROR_INVALID_VALUE);
}

CONFORM(cuMemCreate, tile_pools) {
  CUmemAllocationProp prop = device_properties(), told{};
  prop.allocFlags.usage = CU_MEM_CREATE_USAGE_TILE_POOL;
  CUmemGenericAllocationHandle handle = 0;
  expect_code("made", cuMemCreate(&handle, granularity(), &prop, 0), CUDA_SUCCESS);
  REQUIRE(cuMemGetAllocationPropertiesFromHandle(&told, handle));
  expect("the usage is not told", +told.allocFlags.usage, 0);
  REQUIRE(cuMemRelease(handle));
  prop.allocFlags.compressionType = CU_MEM_ALLOCATION_COMP_GENERIC;
  expect_code("compressed", cuMemCreate(&handle, granularity(), &prop, 0),
              CUDA_ERROR_INVALID_VALUE);
}

CONFORM(cuMemCreate, host_memory) {
  CUmemAllocationProp prop = device_properties();
  prop.location.type = CU_MEM_LOCATION_TYPE_HOST;
  size_t step = 0;
  REQUIRE(cuMemGetAllocationGranularity(&step, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
  CUmemGenericAllocationHandle handle = 0;
  expect_code("on the host", cuMemCreate(&handle, step, &prop, 0), CUDA_SUCCESS);
  const CUdeviceptr address = reserve(step);
  REQUIRE(cuMemMap(address, step, 0, handle, 0));
  CUmemAccessDesc descs[2] = {access_of(CU_MEM_ACCESS_FLAGS_PROT_READWRITE), {}};
  descs[1].location.type = CU_MEM_LOCATION_TYPE_HOST;
  descs[1].flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  REQUIRE(cuMemSetAccess(address, step, descs, 2));
  REQUIRE(launch(common_kernel("store"), 1, 1, nullptr, address, 99u));
  REQUIRE(cuCtxSynchronize(nullptr));
  expect("the host sees it", *reinterpret_cast<volatile uint32_t*>(address), 99u);
  prop.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  expect_code("host memory cannot be exported", cuMemCreate(&handle, step, &prop, 0),
              CUDA_ERROR_INVALID_VALUE);
}

}  // namespace limen::conform
