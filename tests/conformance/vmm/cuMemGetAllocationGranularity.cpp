#include "conformance/vmm/vmm.h"

namespace limen::conform {

CONFORM(cuMemGetAllocationGranularity, of_device_memory) {
  CUmemAllocationProp prop = device_properties();
  size_t least = 0, best = 0;
  expect_code("least",
              cuMemGetAllocationGranularity(&least, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM),
              CUDA_SUCCESS);
  expect("2 MiB", least, size_t{2} << 20);
  expect_code("best",
              cuMemGetAllocationGranularity(&best, &prop, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED),
              CUDA_SUCCESS);
  expect("2 MiB as well", best, size_t{2} << 20);
}

CONFORM(cuMemGetAllocationGranularity, of_host_memory) {
  CUmemAllocationProp prop = device_properties();
  prop.location.type = CU_MEM_LOCATION_TYPE_HOST_NUMA;
  size_t least = 0;
  expect_code("node 0",
              cuMemGetAllocationGranularity(&least, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM),
              CUDA_SUCCESS);
  expect("2 MiB", least, size_t{2} << 20);
}

CONFORM(cuMemGetAllocationGranularity, wrong_arguments) {
  CUmemAllocationProp prop = device_properties();
  size_t bytes = 0;
  expect_code("no result",
              cuMemGetAllocationGranularity(nullptr, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no properties",
              cuMemGetAllocationGranularity(&bytes, nullptr, CU_MEM_ALLOC_GRANULARITY_MINIMUM),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no such option",
              cuMemGetAllocationGranularity(&bytes, &prop,
                                            static_cast<CUmemAllocationGranularity_flags>(7)),
              CUDA_ERROR_INVALID_VALUE);
  prop.location.id = 1000;
  expect_code("no such device",
              cuMemGetAllocationGranularity(&bytes, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM),
              CUDA_SUCCESS);
}

}  // namespace limen::conform
