#include "conformance/green/partition.h"

namespace limen::conform {

CONFORM(cuGreenCtxStreamCreate, kernels_stay_on_their_multiprocessors) {
  Halves halves;
  int count = 0;
  REQUIRE(cuDeviceGetAttribute(&count, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 0));
  const size_t bytes = 4 * static_cast<size_t>(count);
  CUfunction where = smid_kernel();
  std::vector<uint32_t> used[2];
  Buffer out(bytes);
  for (int i = 0; i < 2; ++i) {
    CUstream stream = nullptr;
    std::string label = i ? "second" : "first";
    expect_code(
        label,
        cuGreenCtxStreamCreate(&stream, make_green(halves.groups[i]), CU_STREAM_NON_BLOCKING, 0),
        CUDA_SUCCESS);
    REQUIRE(cuMemsetD32(out, 0, static_cast<size_t>(count)));
    REQUIRE(launch(where, 4096, 64, stream, out.at()));
    REQUIRE(cuStreamSynchronize(stream));
    used[i].resize(static_cast<size_t>(count));
    REQUIRE(cuMemcpyDtoH(used[i].data(), out, bytes));
    unsigned total = 0;
    for (uint32_t one : used[i]) total += one;
    expect_true(label + " ran", total > 0);
    expect_true(label + " within its size", total <= halves.groups[i].sm.smCount);
  }
  unsigned shared = 0;
  for (size_t i = 0; i < used[0].size(); ++i) shared += used[0][i] && used[1][i];
  expect("multiprocessors of both", shared, 0u);
}

CONFORM(cuGreenCtxStreamCreate, stream_properties) {
  Halves halves;
  CUgreenCtx green = make_green(halves.groups[0]), of = nullptr;
  CUstream stream = nullptr;
  expect_code("create", cuGreenCtxStreamCreate(&stream, green, CU_STREAM_NON_BLOCKING, -99),
              CUDA_SUCCESS);
  int priority = 0;
  REQUIRE(cuStreamGetPriority(stream, &priority));
  expect("priority is clamped", priority, -5);
  CUcontext context = nullptr, primary = nullptr;
  REQUIRE(cuCtxGetCurrent(&primary));
  REQUIRE(cuStreamGetCtx(stream, &context, &of));
  expect_true("green context", of == green);
  expect_true("primary context", context == primary);
  expect_code("blocking", cuGreenCtxStreamCreate(&stream, green, CU_STREAM_DEFAULT, 0),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no result", cuGreenCtxStreamCreate(nullptr, green, CU_STREAM_NON_BLOCKING, 0),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no context", cuGreenCtxStreamCreate(&stream, nullptr, CU_STREAM_NON_BLOCKING, 0),
              CUDA_ERROR_INVALID_CONTEXT);
}

}  // namespace limen::conform
