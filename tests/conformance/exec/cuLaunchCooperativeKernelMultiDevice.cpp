#include "conformance/conform.h"

namespace limen::conform {

CONFORM(cuLaunchCooperativeKernelMultiDevice, one_device) {
  CUstream stream = nullptr;
  REQUIRE(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  Buffer word(4);
  write<uint32_t>(word, 0);
  CUdeviceptr address = word;
  uint32_t one = 1;
  void* params[] = {&address, &one};
  CUDA_LAUNCH_PARAMS launch{common_kernel("add"), 2, 1, 1, 32, 1, 1, 0, stream, params};
  expect_code("launch", cuLaunchCooperativeKernelMultiDevice(&launch, 1, 0), CUDA_SUCCESS);
  REQUIRE(cuStreamSynchronize(stream));
  expect("every thread ran", read<uint32_t>(word), 64u);
  expect_code("without waiting", cuLaunchCooperativeKernelMultiDevice(&launch, 1, 3), CUDA_SUCCESS);
  REQUIRE(cuStreamSynchronize(stream));
  expect("again", read<uint32_t>(word), 128u);
  launch.gridDimX = 10000000;
  expect_code("more than are resident", cuLaunchCooperativeKernelMultiDevice(&launch, 1, 0),
              CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
  launch.gridDimX = 1;
  launch.hStream = nullptr;
  expect_code("default stream", cuLaunchCooperativeKernelMultiDevice(&launch, 1, 0),
              CUDA_ERROR_INVALID_VALUE);  // to measure on H200
}

CONFORM(cuLaunchCooperativeKernelMultiDevice, wrong_arguments) {
  CUDA_LAUNCH_PARAMS launch{};
  expect_code("no list", cuLaunchCooperativeKernelMultiDevice(nullptr, 1, 0),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no devices", cuLaunchCooperativeKernelMultiDevice(&launch, 0, 0),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("unknown flags", cuLaunchCooperativeKernelMultiDevice(&launch, 1, 8),
              CUDA_ERROR_INVALID_VALUE);
}

}  // namespace limen::conform
