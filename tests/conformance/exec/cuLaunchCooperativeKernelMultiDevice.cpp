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
              CUDA_ERROR_INVALID_HANDLE);
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

CONFORM(cuLaunchCooperativeKernelMultiDevice, two_devices) {
  int count = 0;
  REQUIRE(cuDeviceGetCount(&count));
  if (count < 2) skip("one device");
  CUDA_LAUNCH_PARAMS launches[2]{};
  CUdeviceptr address[2] = {};
  uint32_t one = 1;
  void* params[2][2];
  for (int i = 0; i < 2; ++i) {
    CUcontext context = nullptr;
    REQUIRE(cuDevicePrimaryCtxRetain(&context, i));
    REQUIRE(cuCtxSetCurrent(context));
    CUstream stream = nullptr;
    REQUIRE(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    REQUIRE(cuMemAlloc(&address[i], 4));
    REQUIRE(cuMemsetD32(address[i], 0, 1));
    params[i][0] = &address[i];
    params[i][1] = &one;
    launches[i] = {common_kernel("add"), 2, 1, 1, 32, 1, 1, 0, stream, params[i]};
  }
  expect_code("launch", cuLaunchCooperativeKernelMultiDevice(launches, 2, 0), CUDA_SUCCESS);
  // Each stream goes on when both kernels are over.
  REQUIRE(cuStreamSynchronize(launches[0].hStream));
  expect("on the first", read<uint32_t>(address[0]), 64u);
  expect("on the second", read<uint32_t>(address[1]), 64u);
  launches[1].gridDimX = 3;
  expect_code("different shapes", cuLaunchCooperativeKernelMultiDevice(launches, 2, 0),
              CUDA_ERROR_INVALID_VALUE);  // to measure on H200
  launches[1].gridDimX = 2;
  launches[1].hStream = launches[0].hStream;
  expect_true("one device twice",
              cuLaunchCooperativeKernelMultiDevice(launches, 2, 0) != CUDA_SUCCESS);
}

}  // namespace limen::conform
