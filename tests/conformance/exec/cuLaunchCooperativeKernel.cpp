#include "conformance/conform.h"
#include "conformance/texts.h"

namespace limen::conform {
namespace {

constexpr const char* ptx = R"(
.version 7.0
.target sm_70
.address_size 64
.visible .global .align 4 .u32 counter = 7;
.visible .entry first(.param .u64 a, .param .u32 b) .maxntid 256, 1, 1 {
  .reg .b64 %a; .reg .b32 %b;
  .shared .align 4 .b8 room[512];
  ld.param.u64 %a, [a]; ld.param.u32 %b, [b];
  st.global.u32 [%a], %b;
  mov.u32 %b, room;
  ret;
}
.visible .entry second() { ret; }
)";

CUmodule load() {
  CUmodule module = nullptr;
  REQUIRE(cuModuleLoadData(&module, ptx));
  return module;
}

CUfunction function_of(const char* name) {
  CUfunction function = nullptr;
  REQUIRE(cuModuleGetFunction(&function, load(), name));
  return function;
}

}  // namespace

CONFORM(cuLaunchCooperativeKernel, all_blocks_or_none) {
  CUfunction function = function_of("first");
  Buffer word(4);
  CUdeviceptr address = word;
  uint32_t value = 3;
  void* params[] = {&address, &value};
  expect_code("some blocks",
              cuLaunchCooperativeKernel(function, 2, 1, 1, 64, 1, 1, 0, nullptr, params),
              CUDA_SUCCESS);
  expect("they ran", read<uint32_t>(word), 3u);
  expect_code("more than fit",
              cuLaunchCooperativeKernel(function, 1000000, 1, 1, 64, 1, 1, 0, nullptr, params),
              CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
  expect_code("no function",
              cuLaunchCooperativeKernel(nullptr, 1, 1, 1, 64, 1, 1, 0, nullptr, params),
              CUDA_ERROR_INVALID_HANDLE);
}

namespace {

constexpr const char* grid_barrier = R"(
.version 7.0
.target sm_70
.address_size 64
.visible .entry meet(.param .u64 counter, .param .u64 out) {
  .reg .b64 %c, %o; .reg .b32 %n, %v, %i; .reg .pred %p;
  ld.param.u64 %c, [counter]; ld.param.u64 %o, [out];
  mov.u32 %n, %nctaid.x;
  mov.u32 %v, 1;
  red.global.add.u32 [%c], %v;
again:
  ld.volatile.global.u32 %v, [%c];
  setp.lt.u32 %p, %v, %n;
  @%p bra again;
  mov.u32 %i, 1;
  red.global.add.u32 [%o], %i;
  ret;
}
)";

}  // namespace

CONFORM(cuLaunchCooperativeKernel, blocks_meet) {
  CUfunction meet = load_kernel(grid_barrier, "meet");
  Buffer words(8);
  write<uint64_t>(words, 0);
  int blocks = 0;
  REQUIRE(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, meet, 32, 0));
  CUdeviceptr counter = words, out = words.at(4);
  void* list[] = {&counter, &out};
  expect_code("eight blocks", cuLaunchCooperativeKernel(meet, 8, 1, 1, 1, 1, 1, 0, nullptr, list),
              CUDA_SUCCESS);
  REQUIRE(cuCtxSynchronize(nullptr));
  expect("all went on", read<uint32_t>(out), 8u);
  int multiprocessors = 0;
  REQUIRE(cuDeviceGetAttribute(&multiprocessors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 0));
  expect_code("one block too many",
              cuLaunchCooperativeKernel(meet, static_cast<unsigned>(blocks * multiprocessors) + 1,
                                        1, 1, 32, 1, 1, 0, nullptr, list),
              CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
}

CONFORM(cuLaunchCooperativeKernel, wrong_arguments) {
  CUfunction meet = load_kernel(grid_barrier, "meet");
  CUdeviceptr nowhere = 0;
  void* list[] = {&nowhere, &nowhere};
  expect_code("no function", cuLaunchCooperativeKernel(nullptr, 1, 1, 1, 1, 1, 1, 0, nullptr, list),
              CUDA_ERROR_INVALID_HANDLE);
  expect_code("no blocks", cuLaunchCooperativeKernel(meet, 0, 1, 1, 1, 1, 1, 0, nullptr, list),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no threads", cuLaunchCooperativeKernel(meet, 1, 1, 1, 1, 0, 1, 0, nullptr, list),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("too many threads",
              cuLaunchCooperativeKernel(meet, 1, 1, 1, 1025, 1, 1, 0, nullptr, list),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("too much shared memory",
              cuLaunchCooperativeKernel(meet, 1, 1, 1, 1, 1, 1, 1 << 20, nullptr, list),
              CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
  expect_code("no parameters",
              cuLaunchCooperativeKernel(meet, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr),
              CUDA_ERROR_INVALID_VALUE);
  CUstream stream = nullptr;
  REQUIRE(cuStreamCreate(&stream, 0));
  REQUIRE(cuStreamDestroy(stream));
  expect_code("a destroyed stream",
              cuLaunchCooperativeKernel(meet, 1, 1, 1, 1, 1, 1, 0, stream, list),
              CUDA_ERROR_INVALID_HANDLE);
}

CONFORM_WITH(cuLaunchCooperativeKernel, needs_a_context, initialised) {
  expect_code("no context",
              cuLaunchCooperativeKernel(nullptr, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr),
              CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM_WITH(cuLaunchCooperativeKernel, needs_cuInit, nothing) {
  expect_code("not initialised",
              cuLaunchCooperativeKernel(nullptr, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr),
              CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
