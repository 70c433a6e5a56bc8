#include "conformance/conform.h"
#include "conformance/texts.h"
#include "conformance/two_devices.h"

namespace limen::conform {

CONFORM(cuKernelSetAttribute, launches_obey) {
  CUlibrary library = load_library(launches_text);
  CUkernel dynamic = kernel_of(library, "dynamic");
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
  expect("its function has it, too", value, 65536);  // to measure on H200
}

CONFORM_WITH(cuKernelSetAttribute, of_one_device, nothing) {
  TwoContexts contexts;
  CUkernel dynamic = kernel_of(load_library(launches_text), "dynamic");
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
  CUlibrary library = load_library(launches_text);
  CUkernel dynamic = kernel_of(library, "dynamic");
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
  expect_code("unloaded", cuKernelSetAttribute(most, 16, dynamic, 0),
              CUDA_ERROR_INVALID_HANDLE);  // to measure on H200
}

CONFORM_WITH(cuKernelSetAttribute, needs_cuInit, nothing) {
  expect_code("not initialised", cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_NUM_REGS, 16, nullptr, 0),
              CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
