#include "conformance/pool/pool.h"

namespace limen::conform {

CONFORM(cuMemPoolSetAttribute, release_threshold) {
  CUmemoryPool pool = make_pool();
  REQUIRE(cuMemFreeAsync(take(pool, 64 * mega), nullptr));
  REQUIRE(cuCtxSynchronize(nullptr));
  expect("without one nothing stays", attribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT), 0u);
  uint64_t most = ~uint64_t{0};
  expect_code("all", cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &most),
              CUDA_SUCCESS);
  expect("told back", attribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD), most);
  REQUIRE(cuMemFreeAsync(take(pool, 64 * mega), nullptr));
  REQUIRE(cuCtxSynchronize(nullptr));
  expect_true("with it all stays",
              attribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT) >= 64 * mega);
}

CONFORM(cuMemPoolSetAttribute, release_at_stream_and_event) {
  // source: CUDA Driver API 13.0, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD: "on the next call to stream,
  // event or context synchronize"; the H200 does so.
  CUmemoryPool pool = make_pool();
  CUstream stream = new_stream();
  REQUIRE(cuMemFreeAsync(take(pool, 64 * mega, stream), stream));
  expect_true("kept until then",
              attribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT) >= 64 * mega);
  REQUIRE(cuStreamSynchronize(stream));
  expect("a stream", attribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT), 0u);
  CUevent event = nullptr;
  REQUIRE(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
  REQUIRE(cuMemFreeAsync(take(pool, 64 * mega, stream), stream));
  REQUIRE(cuEventRecord(event, stream));
  REQUIRE(cuEventSynchronize(event));
  expect("an event", attribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT), 0u);
  set(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, 64 * mega);
  REQUIRE(cuMemFreeAsync(take(pool, 64 * mega, stream), stream));
  REQUIRE(cuStreamSynchronize(stream));
  expect("with a threshold it stays", attribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT),
         uint64_t{64 * mega});
}

CONFORM(cuMemPoolSetAttribute, reuse_by_chance) {
  CUmemoryPool pool = make_pool();
  set(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, ~uint64_t{0});
  CUstream one = new_stream(), two = new_stream();
  int off = 0, on = 1;
  expect_code("off", cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC, &off),
              CUDA_SUCCESS);
  REQUIRE(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES, &off));
  expect("told back", reuse_policy(pool, CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC), 0);
  expect_code("on", cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC, &on),
              CUDA_SUCCESS);
  const CUdeviceptr block = take(pool, 4 * mega, one);
  REQUIRE(cuMemFreeAsync(block, one));
  REQUIRE(cuStreamSynchronize(one));
  expect_true("a reached block is taken", take(pool, 4 * mega, two) == block);
}

CONFORM(cuMemPoolSetAttribute, high_marks_start_anew) {
  CUmemoryPool pool = make_pool();
  REQUIRE(cuMemFreeAsync(take(pool, 64 * mega), nullptr));
  REQUIRE(cuCtxSynchronize(nullptr));
  expect_true("used", attribute(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH) >= 64 * mega);
  uint64_t zero = 0, one = 1;
  expect_code("used anew", cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH, &zero),
              CUDA_SUCCESS);
  expect("used now", attribute(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH), 0u);
  expect_code("reserved anew",
              cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH, &zero), CUDA_SUCCESS);
  expect("reserved now", attribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH), 0u);
  expect_code("to another value",
              cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH, &one),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("used to another value",
              cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH, &one),
              CUDA_ERROR_INVALID_VALUE);
}

CONFORM(cuMemPoolSetAttribute, wrong_arguments) {
  CUmemoryPool pool = make_pool();
  uint64_t zero = 0;
  expect_code("no value", cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, nullptr),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no pool", cuMemPoolSetAttribute(nullptr, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &zero),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("what is only read",
              cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &zero),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no attribute",
              cuMemPoolSetAttribute(pool, static_cast<CUmemPool_attribute>(1000), &zero),
              CUDA_ERROR_INVALID_VALUE);
}

}  // namespace limen::conform
