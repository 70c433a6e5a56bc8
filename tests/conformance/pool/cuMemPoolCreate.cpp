#include "conformance/pool/pool.h"

namespace limen::conform {

CONFORM(cuMemPoolCreate, an_empty_pool) {
  CUmemPoolProps props = pool_properties();
  CUmemoryPool one = nullptr, two = nullptr;
  expect_code("creates", cuMemPoolCreate(&one, &props), CUDA_SUCCESS);
  expect_code("another", cuMemPoolCreate(&two, &props), CUDA_SUCCESS);
  expect_true("two pools", one != two && one && two);
  expect("nothing used", attribute(one, CU_MEMPOOL_ATTR_USED_MEM_CURRENT), 0u);
  expect("no threshold", attribute(one, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD), 0u);
  expect("reuse by events", reuse_policy(one, CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES), 1);
  expect("reuse by chance", reuse_policy(one, CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC), 1);
  expect("reuse by waiting", reuse_policy(one, CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES),
         1);
}

CONFORM(cuMemPoolCreate, on_the_host) {
  CUmemPoolProps props = pool_properties();
  CUmemoryPool pool = nullptr;
  props.location = {CU_MEM_LOCATION_TYPE_HOST, 0};
  expect_code("anywhere", cuMemPoolCreate(&pool, &props), CUDA_SUCCESS);
  take(pool, mega);
  props.location = {CU_MEM_LOCATION_TYPE_HOST_NUMA, 0};
  expect_code("on node 0", cuMemPoolCreate(&pool, &props), CUDA_SUCCESS);
  take(pool, mega);
  props.location = {CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT, 0};
  expect_code("on the current node", cuMemPoolCreate(&pool, &props), CUDA_ERROR_INVALID_VALUE);
  props.location = {CU_MEM_LOCATION_TYPE_HOST, 0};
  props.handleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  expect_code("to be exported", cuMemPoolCreate(&pool, &props), CUDA_ERROR_INVALID_VALUE);
}

CONFORM(cuMemPoolCreate, wrong_arguments) {
  CUmemPoolProps props = pool_properties();
  CUmemoryPool pool = nullptr;
  expect_code("no result", cuMemPoolCreate(nullptr, &props), CUDA_ERROR_INVALID_VALUE);
  expect_code("no properties", cuMemPoolCreate(&pool, nullptr), CUDA_ERROR_INVALID_VALUE);
  props.allocType = CU_MEM_ALLOCATION_TYPE_INVALID;
  expect_code("no type", cuMemPoolCreate(&pool, &props), CUDA_ERROR_INVALID_VALUE);
  props = pool_properties();
  props.location.id = 1000;
  expect_code("no such device", cuMemPoolCreate(&pool, &props), CUDA_ERROR_INVALID_VALUE);
  props.location = {CU_MEM_LOCATION_TYPE_INVALID, 0};
  expect_code("nowhere", cuMemPoolCreate(&pool, &props), CUDA_ERROR_INVALID_VALUE);
}

}  // namespace limen::conform
