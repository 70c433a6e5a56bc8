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

CONFORM(cuFuncSetAttribute, more_dynamic_shared_memory) {
  CUfunction function = function_of("first");
  Buffer word(4);
  CUdeviceptr address = word;
  uint32_t value = 1;
  void* params[] = {&address, &value};
  expect_code("refused at first",
              cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 100000, nullptr, params, nullptr),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("set",
              cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 100000),
              CUDA_SUCCESS);
  expect_code("allowed then",
              cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 100000, nullptr, params, nullptr),
              CUDA_SUCCESS);
  expect_code(
      "more than there is",
      cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 1 << 20),
      CUDA_ERROR_INVALID_VALUE);
  expect_code("carveout above 100",
              cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, 101),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("read only", cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_NUM_REGS, 1),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no function", cuFuncSetAttribute(nullptr, CU_FUNC_ATTRIBUTE_NUM_REGS, 1),
              CUDA_ERROR_INVALID_HANDLE);
}

CONFORM(cuFuncSetAttribute, more_dynamic_shared_memory_too) {
  CUfunction dynamic = function_in(module_of_text(launches_text), "dynamic");
  int most = 0, value = 0;
  REQUIRE(cuDeviceGetAttribute(&most, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 0));
  Buffer word(4);
  void* at[] = {nullptr, nullptr};
  CUdeviceptr address = word;
  unsigned offset = static_cast<unsigned>(most) - 4;
  at[0] = &address, at[1] = &offset;
  auto run = [&](unsigned bytes) {
    return cuLaunchKernel(dynamic, 1, 1, 1, 1, 1, 1, bytes, nullptr, at, nullptr);
  };
  expect_code("too much at first", run(static_cast<unsigned>(most)), CUDA_ERROR_INVALID_VALUE);
  expect_code("allows it",
              cuFuncSetAttribute(dynamic, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, most),
              CUDA_SUCCESS);
  REQUIRE(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, dynamic));
  expect_true("read back", value == most);
  expect_code("runs", run(static_cast<unsigned>(most)), CUDA_SUCCESS);
  expect("its last word", read<uint32_t>(word), offset + 1);
  expect_code(
      "one byte more",
      cuFuncSetAttribute(dynamic, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, most + 1),
      CUDA_ERROR_INVALID_VALUE);
  expect_code("negative",
              cuFuncSetAttribute(dynamic, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, -1),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("less",
              cuFuncSetAttribute(dynamic, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 1024),
              CUDA_SUCCESS);
  expect_code("a launch with more than that", run(2048), CUDA_ERROR_INVALID_VALUE);
}

CONFORM(cuFuncSetAttribute, static_memory_counts) {
  CUfunction sizes = function_in(module_of_text(sizes_text), "sizes");
  int most = 0;
  REQUIRE(cuDeviceGetAttribute(&most, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 0));
  expect_code(
      "with the static part",
      cuFuncSetAttribute(sizes, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, most - 512),
      CUDA_SUCCESS);
  expect_code(
      "too much with it",
      cuFuncSetAttribute(sizes, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, most - 511),
      CUDA_ERROR_INVALID_VALUE);
}

CONFORM(cuFuncSetAttribute, hints) {
  CUfunction sizes = function_in(module_of_text(sizes_text), "sizes");
  int value = 0;
  expect_code("carveout",
              cuFuncSetAttribute(sizes, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, 50),
              CUDA_SUCCESS);
  REQUIRE(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, sizes));
  expect("read back", value, 50);
  expect_code("default carveout",
              cuFuncSetAttribute(sizes, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, -1),
              CUDA_SUCCESS);
  expect_code("more than all",
              cuFuncSetAttribute(sizes, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, 101),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("less than the default",
              cuFuncSetAttribute(sizes, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, -2),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("non-portable clusters",
              cuFuncSetAttribute(sizes, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1),
              CUDA_SUCCESS);
  REQUIRE(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, sizes));
  expect("allowed", value, 1);
  expect_code("policy",
              cuFuncSetAttribute(sizes, CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE,
                                 CU_CLUSTER_SCHEDULING_POLICY_SPREAD),
              CUDA_SUCCESS);
  REQUIRE(
      cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE, sizes));
  expect("spread", value, int{CU_CLUSTER_SCHEDULING_POLICY_SPREAD});
  expect_code("unknown policy",
              cuFuncSetAttribute(sizes, CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE, 9),
              CUDA_ERROR_INVALID_VALUE);
}

CONFORM(cuFuncSetAttribute, cluster_dimensions) {
  CUfunction shape = function_in(module_of_text(launches_text), "shape");
  int value = 0;
  expect_code("width", cuFuncSetAttribute(shape, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH, 2),
              CUDA_SUCCESS);
  expect_code("height", cuFuncSetAttribute(shape, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT, 1),
              CUDA_SUCCESS);
  expect_code("depth", cuFuncSetAttribute(shape, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH, 1),
              CUDA_SUCCESS);
  REQUIRE(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH, shape));
  expect("read back", value, 2);
  Buffer words(24);
  expect_code("a grid of whole clusters", launch(shape, 4, 32, nullptr, words.at()), CUDA_SUCCESS);
  REQUIRE(cuCtxSynchronize(nullptr));
  expect("it ran", read<uint32_t>(words.at(12)), 4u);
  expect_code("a grid of half a cluster", launch(shape, 3, 32, nullptr, words.at()),
              CUDA_ERROR_INVALID_CLUSTER_SIZE);
  expect_code("negative", cuFuncSetAttribute(shape, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH, -1),
              CUDA_ERROR_INVALID_VALUE);
}

CONFORM(cuFuncSetAttribute, wrong_arguments) {
  CUmodule module = module_of_text(sizes_text);
  CUfunction sizes = function_in(module, "sizes");
  expect_code("no function",
              cuFuncSetAttribute(nullptr, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 16),
              CUDA_ERROR_INVALID_HANDLE);
  expect_code("threads are fixed",
              cuFuncSetAttribute(sizes, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 64),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("registers are fixed", cuFuncSetAttribute(sizes, CU_FUNC_ATTRIBUTE_NUM_REGS, 64),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("unknown", cuFuncSetAttribute(sizes, CUfunction_attribute(99), 1),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("negative", cuFuncSetAttribute(sizes, CUfunction_attribute(-1), 1),
              CUDA_ERROR_INVALID_VALUE);
  REQUIRE(cuModuleUnload(module));
  expect_code("unloaded",
              cuFuncSetAttribute(sizes, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 16),
              CUDA_ERROR_INVALID_HANDLE);
}

CONFORM(cuFuncSetAttribute, foreign_memory) {
  expect_code("refused",
              cuFuncSetAttribute(foreign_handle<CUfunction>(),
                                 CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 16),
              CUDA_ERROR_INVALID_HANDLE);
}

CONFORM_WITH(cuFuncSetAttribute, needs_a_context, initialised) {
  expect_code("no context",
              cuFuncSetAttribute(nullptr, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 16),
              CUDA_ERROR_INVALID_HANDLE);
}

CONFORM_WITH(cuFuncSetAttribute, needs_cuInit, nothing) {
  expect_code("not initialised",
              cuFuncSetAttribute(nullptr, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 16),
              CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
