#include "conformance/conform.h"

#include <thread>

namespace limen::conform {

CONFORM(cuStreamGetId, unique) {
  CUstream one = nullptr, two = nullptr;
  REQUIRE(cuStreamCreate(&one, 0));
  REQUIRE(cuStreamCreate(&two, 0));
  unsigned long long first = 0, second = 0, base = 0;
  expect_code("first", cuStreamGetId(one, &first), CUDA_SUCCESS);
  expect_code("second", cuStreamGetId(two, &second), CUDA_SUCCESS);
  expect_code("default", cuStreamGetId(nullptr, &base), CUDA_SUCCESS);
  expect_true("all differ", first != second && first != base && second != base);
  expect_code("no result", cuStreamGetId(one, nullptr), CUDA_ERROR_INVALID_VALUE);
}

CONFORM(cuStreamGetId, is_unique) {
  CUstream one = nullptr, two = nullptr;
  unsigned long long first = 0, again = 1, second = 0, legacy = 0, null = 0, own = 0, there = 0;
  CUcontext context = nullptr;
  REQUIRE(cuCtxGetCurrent(&context));
  REQUIRE(cuStreamCreate(&one, 0));
  REQUIRE(cuStreamCreate(&two, 0));
  expect_code("one", cuStreamGetId(one, &first), CUDA_SUCCESS);
  expect_code("one again", cuStreamGetId(one, &again), CUDA_SUCCESS);
  expect_true("the same", first == again);
  expect_code("two", cuStreamGetId(two, &second), CUDA_SUCCESS);
  expect_true("another", first != second);
  expect_code("null", cuStreamGetId(nullptr, &null), CUDA_SUCCESS);
  expect_code("legacy", cuStreamGetId(CU_STREAM_LEGACY, &legacy), CUDA_SUCCESS);
  expect_true("null is legacy", null == legacy);
  expect_code("per thread", cuStreamGetId(CU_STREAM_PER_THREAD, &own), CUDA_SUCCESS);
  expect_true("not the legacy one", own != legacy && own != first);
  std::thread([&] {
    REQUIRE(cuCtxSetCurrent(context));
    expect_code("another thread's", cuStreamGetId(CU_STREAM_PER_THREAD, &there), CUDA_SUCCESS);
  }).join();
  expect_true("each thread has its own", there != own);
  expect_code("no result", cuStreamGetId(one, nullptr), CUDA_ERROR_INVALID_VALUE);
  REQUIRE(cuStreamDestroy(one));
  expect_code("destroyed", cuStreamGetId(one, &again), CUDA_ERROR_INVALID_HANDLE);
  REQUIRE(cuStreamCreate(&one, 0));
  expect_code("a new one", cuStreamGetId(one, &again), CUDA_SUCCESS);
  expect_true("ids do not come back", again != first && again != second);
}

CONFORM_WITH(cuStreamGetId, needs_a_context, initialised) {
  unsigned long long id;
  expect_code("no context", cuStreamGetId(nullptr, &id), CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM_WITH(cuStreamGetId, needs_cuInit, nothing) {
  unsigned long long id;
  expect_code("not initialised", cuStreamGetId(nullptr, &id), CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
