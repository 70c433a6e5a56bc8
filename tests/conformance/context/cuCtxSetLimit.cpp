#include "conformance/conform.h"

namespace limen::conform {
namespace {

/// Calls itself `depth` times with 64 bytes of local memory at each level; a barrier in each.
constexpr const char* recursive_ptx = R"(
.version 7.0
.target sm_70
.address_size 64
.func (.param .b32 out) deep(.param .b32 depth) {
  .local .align 8 .b8 frame[64];
  .reg .b32 %d, %e, %r, %i, %s; .reg .b64 %f; .reg .pred %p;
  ld.param.b32 %d, [depth];
  mov.u32 %r, 0;
  mov.u32 %i, %tid.x;
  and.b32 %i, %i, 15;
  mov.u64 %f, frame;
  mul.wide.u32 %f, %i, 4;
  .reg .b64 %base;
  mov.u64 %base, frame;
  add.u64 %f, %f, %base;
  st.local.u32 [%f], %d;
  bar.sync 0;
  setp.eq.u32 %p, %d, 0;
  @%p bra done;
  sub.u32 %e, %d, 1;
  {
    .param .b32 a; .param .b32 b;
    st.param.b32 [a], %e;
    call (b), deep, (a);
    ld.param.b32 %r, [b];
  }
done:
  ld.local.u32 %s, [%f];
  add.u32 %r, %r, %s;
  st.param.b32 [out], %r;
  ret;
}
.visible .entry recurse(.param .u64 out, .param .u32 depth) {
  .reg .b64 %a; .reg .b32 %d, %r;
  ld.param.u64 %a, [out];
  ld.param.u32 %d, [depth];
  {
    .param .b32 a; .param .b32 b;
    st.param.b32 [a], %d;
    call (b), deep, (a);
    ld.param.b32 %r, [b];
  }
  st.global.u32 [%a], %r;
  ret;
}
)";

size_t limit(CUlimit which) {
  size_t value = 0;
  REQUIRE(cuCtxGetLimit(&value, which));
  return value;
}

}  // namespace

CONFORM(cuCtxSetLimit, deep_calls_need_a_larger_stack) {
  Buffer out(4);
  CUfunction kernel = load_kernel(recursive_ptx, "recurse");
  expect_code("stack", cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 384 << 10), CUDA_SUCCESS);
  expect("as asked for", limit(CU_LIMIT_STACK_SIZE), size_t{384 << 10});
  REQUIRE(launch(kernel, 1, 32, nullptr, out.at(), 2000u));
  expect_code("2000 calls deep", cuCtxSynchronize(nullptr), CUDA_SUCCESS);
  expect("sum", read<uint32_t>(out), 2000u * 2001u / 2u);
}

CONFORM(cuCtxSetLimit, deep_calls_fail_with_the_usual_stack) {
  Buffer out(4);
  CUfunction kernel = load_kernel(recursive_ptx, "recurse");
  expect_true("usual stack", limit(CU_LIMIT_STACK_SIZE) <= 16384);
  REQUIRE(launch(kernel, 1, 32, nullptr, out.at(), 4000u));
  expect_true("4000 calls deep", cuCtxSynchronize(nullptr) != CUDA_SUCCESS);
  expect_code("limits cannot be set then", cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 4096),
              CUDA_ERROR_ILLEGAL_ADDRESS);
}

CONFORM(cuCtxSetLimit, other_limits) {
  expect_code("heap", cuCtxSetLimit(CU_LIMIT_MALLOC_HEAP_SIZE, 32 << 20), CUDA_SUCCESS);
  expect("heap's size", limit(CU_LIMIT_MALLOC_HEAP_SIZE), size_t{32 << 20});
  expect_code("printf", cuCtxSetLimit(CU_LIMIT_PRINTF_FIFO_SIZE, 4 << 20), CUDA_SUCCESS);
  expect("its size", limit(CU_LIMIT_PRINTF_FIFO_SIZE), size_t{4 << 20});
  int most = 0;
  REQUIRE(cuDeviceGetAttribute(&most, CU_DEVICE_ATTRIBUTE_MAX_PERSISTING_L2_CACHE_SIZE, 0));
  const size_t before = limit(CU_LIMIT_PERSISTING_L2_CACHE_SIZE);
  expect_code("persisting cache", cuCtxSetLimit(CU_LIMIT_PERSISTING_L2_CACHE_SIZE, size_t{1} << 40),
              CUDA_ERROR_INVALID_VALUE);
  expect_true("it stays as it was", limit(CU_LIMIT_PERSISTING_L2_CACHE_SIZE) == before);
  expect_code("all of the cache",
              cuCtxSetLimit(CU_LIMIT_PERSISTING_L2_CACHE_SIZE, static_cast<size_t>(most)),
              CUDA_SUCCESS);
  expect_code("fetch", cuCtxSetLimit(CU_LIMIT_MAX_L2_FETCH_GRANULARITY, 32), CUDA_SUCCESS);
  expect_code("pending launches", cuCtxSetLimit(CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT, 4096),
              CUDA_SUCCESS);
  expect("their number", limit(CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT), 4096u);
}

CONFORM(cuCtxSetLimit, wrong_arguments) {
  expect_code("unknown limit", cuCtxSetLimit(CU_LIMIT_MAX, 1), CUDA_ERROR_INVALID_VALUE);
  expect_code("stack of 512 KiB", cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 512 << 10),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("depth of the old device runtime", cuCtxSetLimit(CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH, 4),
              CUDA_ERROR_UNSUPPORTED_LIMIT);
}

CONFORM_WITH(cuCtxSetLimit, needs_a_context, initialised) {
  expect_code("no context", cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 4096), CUDA_ERROR_INVALID_CONTEXT);
}

}  // namespace limen::conform
