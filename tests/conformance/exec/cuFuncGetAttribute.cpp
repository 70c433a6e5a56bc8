#include "conformance/conform.h"
#include "conformance/texts.h"

#include <string>

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

CONFORM(cuFuncGetAttribute, from_the_text) {
  CUfunction function = function_of("first");
  int value = -1;
  expect_code("threads",
              cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, function),
              CUDA_SUCCESS);
  expect("as .maxntid says", value, 256);
  expect_code("shared", cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, function),
              CUDA_SUCCESS);
  expect("bytes", value, 512);
  expect_code("dynamic",
              cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, function),
              CUDA_SUCCESS);
  expect("48 KiB less these", value, 49152 - 512);
  expect_code("text", cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_PTX_VERSION, function),
              CUDA_SUCCESS);
  expect("its target", value, 70);
  expect_code("unknown", cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX, function),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no result", cuFuncGetAttribute(nullptr, CU_FUNC_ATTRIBUTE_PTX_VERSION, function),
              CUDA_ERROR_INVALID_VALUE);
}

namespace {

int attribute(CUfunction function, CUfunction_attribute which) {
  int value = -77;
  REQUIRE(cuFuncGetAttribute(&value, which, function));
  return value;
}

int of_device(CUdevice_attribute which) {
  int value = 0;
  REQUIRE(cuDeviceGetAttribute(&value, which, 0));
  return value;
}

}  // namespace

namespace {

/// Kernel `name` holds `values` numbers at once: all are read before the first is written.
std::string holding(const char* name, const char* limit, int values) {
  std::string text = std::string(".visible .entry ") + name + "(.param .u64 a) " + limit +
                     " { .reg .b64 %a; .reg .b32 %v<" + std::to_string(values) +
                     ">; ld.param.u64 %a, [a];\n";
  for (const char* way :
       {"ld.volatile.global.u32 %vI, [%a+4*I];\n", "st.volatile.global.u32 [%a+4*I], %vI;\n"})
    for (int i = 0; i < values; ++i) {
      std::string line = way;
      line.replace(line.find("%vI"), 3, "%v" + std::to_string(i));
      line.replace(line.find("4*I"), 3, std::to_string(4 * i));
      text += line;
    }
  return text + "ret; }\n";
}

}  // namespace

CONFORM(cuFuncGetAttribute, registers_follow_the_kernel_and_its_limits) {
  const std::string text = ".version 7.0\n.target sm_70\n.address_size 64\n" +
                           holding("few", "", 2) + holding("many", "", 100) +
                           holding("limited", ".maxnreg 40", 100) +
                           holding("bound", ".maxntid 1024, 1, 1", 100);
  CUmodule module = module_of_text(text.c_str());
  const auto registers = [&](const char* name) {
    return attribute(function_in(module, name), CU_FUNC_ATTRIBUTE_NUM_REGS);
  };
  expect_true("few", registers("few") < 40);
  expect_true("a hundred values need more", registers("many") > 57);
  expect_true(".maxnreg", registers("limited") <= 40);
  expect_true("1,024 threads share 65,536", registers("bound") <= 64);
  CUjit_option option[] = {CU_JIT_MAX_REGISTERS};
  void* most[] = {reinterpret_cast<void*>(uintptr_t{48})};
  REQUIRE(cuModuleLoadDataEx(&module, text.c_str(), 1, option, most));
  expect_true("the option", registers("many") <= 48);
}

CONFORM(cuFuncGetAttribute, what_the_text_says) {
  CUfunction sizes = function_in(module_of_text(sizes_text), "sizes");
  int value = 0;
  expect_code("asks", cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, sizes),
              CUDA_SUCCESS);
  expect("threads", value, 128);
  expect("static shared memory", attribute(sizes, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES), 512);
  expect("local memory", attribute(sizes, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES), 64);
  expect("constants", attribute(sizes, CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES), 0);
  expect("PTX version", attribute(sizes, CU_FUNC_ATTRIBUTE_PTX_VERSION), 70);
  expect_true("binary version", attribute(sizes, CU_FUNC_ATTRIBUTE_BINARY_VERSION) ==
                                    10 * of_device(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) +
                                        of_device(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR));
  expect_true("registers", attribute(sizes, CU_FUNC_ATTRIBUTE_NUM_REGS) > 0);
  expect("cache mode", attribute(sizes, CU_FUNC_ATTRIBUTE_CACHE_MODE_CA), 0);
  expect("most dynamic shared memory",
         attribute(sizes, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES), 49152 - 512);
  expect("carveout", attribute(sizes, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT), -1);
  expect("no cluster needed", attribute(sizes, CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET), 0);
  expect("cluster width", attribute(sizes, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH), 0);
  expect("cluster height", attribute(sizes, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT), 0);
  expect("cluster depth", attribute(sizes, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH), 0);
  expect("portable clusters", attribute(sizes, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED),
         0);
  expect("scheduling policy",
         attribute(sizes, CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE), 0);
}

CONFORM(cuFuncGetAttribute, of_plain_kernels) {
  CUfunction second = function_in(module_of_text(program), "second");
  expect("threads", attribute(second, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK), 1024);
  expect("constants", attribute(second, CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES), 16);
  expect("local memory", attribute(second, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES), 0);
  expect("shared memory", attribute(second, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES), 0);
  CUfunction fixed = function_in(module_of_text(launches_text), "fixed");
  expect("required threads", attribute(fixed, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK), 1024);
}

CONFORM(cuFuncGetAttribute, of_a_kernel_of_a_library) {
  auto kernel = reinterpret_cast<CUfunction>(kernel_in(library_of_text(sizes_text), "sizes"));
  int value = 0;
  expect_code("a kernel's handle",
              cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, kernel),
              CUDA_ERROR_INVALID_HANDLE);
  expect("its shared memory", value, 0);
}

CONFORM(cuFuncGetAttribute, wrong_arguments) {
  CUmodule module = module_of_text(sizes_text);
  CUfunction sizes = function_in(module, "sizes");
  int value = 0;
  expect_code("no result", cuFuncGetAttribute(nullptr, CU_FUNC_ATTRIBUTE_NUM_REGS, sizes),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no function", cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_NUM_REGS, nullptr),
              CUDA_ERROR_INVALID_HANDLE);
  expect_code("unknown", cuFuncGetAttribute(&value, CUfunction_attribute(99), sizes),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("the end of the list", cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX, sizes),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("negative", cuFuncGetAttribute(&value, CUfunction_attribute(-1), sizes),
              CUDA_ERROR_INVALID_VALUE);
  REQUIRE(cuModuleUnload(module));
  expect_code("unloaded", cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_NUM_REGS, sizes),
              CUDA_ERROR_INVALID_HANDLE);
}

CONFORM(cuFuncGetAttribute, foreign_memory) {
  int value = 0;
  expect_code("refused",
              cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_NUM_REGS, foreign_handle<CUfunction>()),
              CUDA_ERROR_INVALID_HANDLE);
}

CONFORM_WITH(cuFuncGetAttribute, needs_cuInit, nothing) {
  int value;
  expect_code("not initialised", cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_NUM_REGS, nullptr),
              CUDA_ERROR_INVALID_HANDLE);
}

}  // namespace limen::conform
