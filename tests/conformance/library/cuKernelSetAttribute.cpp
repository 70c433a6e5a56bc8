#include "conformance/conform.h"
#include "conformance/texts.h"
#include "conformance/two_devices.h"

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

CONFORM_WITH(cuKernelSetAttribute, is_read_back, initialised) {
  CUkernel kernel = kernel_of(load(), "first");
  expect_code(
      "set",
      cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 100000, kernel, 0),
      CUDA_SUCCESS);
  int value = -1;
  REQUIRE(cuKernelGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, kernel, 0));
  expect("kept", value, 100000);
  expect_code(
      "too much",
      cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 1 << 20, kernel, 0),
      CUDA_ERROR_INVALID_VALUE);
  expect_code("read only", cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_NUM_REGS, 1, kernel, 0),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no device",
              cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 1, kernel, 99),
              CUDA_ERROR_INVALID_DEVICE);
}

CONFORM_WITH(cuKernelSetAttribute, apart_on_two_devices, initialised) {
  int devices = 0;
  REQUIRE(cuDeviceGetCount(&devices));
  if (devices < 2) skip("one device");
  CUkernel kernel = kernel_of(load(), "first");
  expect_code(
      "set",
      cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 70000, kernel, 1),
      CUDA_SUCCESS);
  int value = -1;
  REQUIRE(cuKernelGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, kernel, 0));
  expect_true("not for the other", value != 70000);
}

CONFORM(cuKernelSetAttribute, launches_obey) {
  CUlibrary library = library_of_text(launches_text);
  CUkernel dynamic = kernel_in(library, "dynamic");
  int value = 0;
  Buffer word(4);
  CUdeviceptr address = word;
  unsigned offset = 65532;
  void* list[] = {&address, &offset};
  auto run = [&] {
    return cuLaunchKernel(reinterpret_cast<CUfunction>(dynamic), 1, 1, 1, 1, 1, 1, 65536, nullptr,
                          list, nullptr);
  };
  expect_code("too much at first", run(), CUDA_ERROR_INVALID_VALUE);
  expect_code(
      "allows it",
      cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 65536, dynamic, 0),
      CUDA_SUCCESS);
  REQUIRE(
      cuKernelGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, dynamic, 0));
  expect("read back", value, 65536);
  expect_code("runs", run(), CUDA_SUCCESS);
  expect("its last word", read<uint32_t>(word), 65533u);
  CUfunction function = nullptr;
  REQUIRE(cuKernelGetFunction(&function, dynamic));
  REQUIRE(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, function));
  expect("its function has it, too", value, 65536);
}

CONFORM_WITH(cuKernelSetAttribute, of_one_device, nothing) {
  TwoContexts contexts;
  CUkernel dynamic = kernel_in(library_of_text(launches_text), "dynamic");
  int value = 0;
  expect_code(
      "the second",
      cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 65536, dynamic, 1),
      CUDA_SUCCESS);
  REQUIRE(
      cuKernelGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, dynamic, 1));
  expect("read back", value, 65536);
  REQUIRE(
      cuKernelGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, dynamic, 0));
  expect("the first keeps its own", value, 49152);
}

CONFORM_WITH(cuKernelSetAttribute, wrong_arguments, initialised) {
  CUlibrary library = library_of_text(launches_text);
  CUkernel dynamic = kernel_in(library, "dynamic");
  constexpr auto most = CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
  expect_code("too much", cuKernelSetAttribute(most, 1 << 20, dynamic, 0),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("negative", cuKernelSetAttribute(most, -1, dynamic, 0), CUDA_ERROR_INVALID_VALUE);
  expect_code("fixed", cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_NUM_REGS, 16, dynamic, 0),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("unknown", cuKernelSetAttribute(CUfunction_attribute(99), 16, dynamic, 0),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no kernel", cuKernelSetAttribute(most, 16, nullptr, 0), CUDA_ERROR_INVALID_HANDLE);
  expect_code("no device", cuKernelSetAttribute(most, 16, dynamic, 99), CUDA_ERROR_INVALID_DEVICE);
  REQUIRE(cuLibraryUnload(library));
  expect_code("unloaded", cuKernelSetAttribute(most, 16, dynamic, 0), CUDA_SUCCESS);
}

CONFORM_WITH(cuKernelSetAttribute, needs_cuInit, nothing) {
  expect_code("not initialised", cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_NUM_REGS, 16, nullptr, 0),
              CUDA_ERROR_INVALID_HANDLE);
}

}  // namespace limen::conform
