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

CUlibrary load() {
  CUlibrary library = nullptr;
  REQUIRE(cuLibraryLoadData(&library, ptx, nullptr, nullptr, 0, nullptr, nullptr, 0));
  return library;
}

CUkernel kernel_of(CUlibrary library, const char* name) {
  CUkernel kernel = nullptr;
  REQUIRE(cuLibraryGetKernel(&kernel, library, name));
  return kernel;
}

}  // namespace

CONFORM_WITH(cuKernelGetAttribute, from_the_text, initialised) {
  CUkernel kernel = kernel_of(load(), "first");
  int value = -1;
  expect_code("threads",
              cuKernelGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, kernel, 0),
              CUDA_SUCCESS);
  expect("as .maxntid says", value, 256);
  expect_code("shared",
              cuKernelGetAttribute(&value, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, kernel, 0),
              CUDA_SUCCESS);
  expect("bytes", value, 512);
  expect_code("no device",
              cuKernelGetAttribute(&value, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, kernel, 99),
              CUDA_ERROR_INVALID_DEVICE);
  expect_code("unknown",
              cuKernelGetAttribute(&value, static_cast<CUfunction_attribute>(77), kernel, 0),
              CUDA_ERROR_INVALID_VALUE);
}

CONFORM_WITH(cuKernelGetAttribute, what_the_text_says, initialised) {
  CUlibrary library = library_of_text(sizes_text);
  CUkernel sizes = kernel_in(library, "sizes");
  int value = 0;
  auto of = [&](CUfunction_attribute which) {
    int got = -77;
    REQUIRE(cuKernelGetAttribute(&got, which, sizes, 0));
    return got;
  };
  expect_code("without a context",
              cuKernelGetAttribute(&value, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, sizes, 0),
              CUDA_SUCCESS);
  expect("static shared memory", value, 512);
  expect("threads", of(CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK), 128);
  expect("local memory", of(CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES), 64);
  expect("PTX version", of(CU_FUNC_ATTRIBUTE_PTX_VERSION), 70);
  expect_true("registers", of(CU_FUNC_ATTRIBUTE_NUM_REGS) > 0);
  expect("carveout", of(CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT), -1);
  expect("most dynamic shared memory", of(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES),
         49152 - 512);
}

CONFORM_WITH(cuKernelGetAttribute, wrong_arguments, initialised) {
  CUlibrary library = library_of_text(sizes_text);
  CUkernel sizes = kernel_in(library, "sizes");
  int value = 0;
  expect_code("no result", cuKernelGetAttribute(nullptr, CU_FUNC_ATTRIBUTE_NUM_REGS, sizes, 0),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no kernel", cuKernelGetAttribute(&value, CU_FUNC_ATTRIBUTE_NUM_REGS, nullptr, 0),
              CUDA_ERROR_INVALID_HANDLE);
  expect_code("neither", cuKernelGetAttribute(nullptr, CU_FUNC_ATTRIBUTE_NUM_REGS, nullptr, 0),
              CUDA_ERROR_INVALID_HANDLE);
  expect_code("no device", cuKernelGetAttribute(&value, CU_FUNC_ATTRIBUTE_NUM_REGS, sizes, 99),
              CUDA_ERROR_INVALID_DEVICE);
  expect_code("unknown", cuKernelGetAttribute(&value, CUfunction_attribute(99), sizes, 0),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("negative", cuKernelGetAttribute(&value, CUfunction_attribute(-1), sizes, 0),
              CUDA_ERROR_INVALID_VALUE);
  REQUIRE(cuLibraryUnload(library));
  expect_code("unloaded", cuKernelGetAttribute(&value, CU_FUNC_ATTRIBUTE_NUM_REGS, sizes, 0),
              CUDA_ERROR_INVALID_HANDLE);
}

CONFORM_WITH(cuKernelGetAttribute, needs_cuInit, nothing) {
  int v;
  expect_code("not initialised", cuKernelGetAttribute(&v, CU_FUNC_ATTRIBUTE_NUM_REGS, nullptr, 0),
              CUDA_ERROR_INVALID_HANDLE);
}

}  // namespace limen::conform
