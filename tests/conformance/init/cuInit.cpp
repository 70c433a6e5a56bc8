#include "conformance/places.h"

namespace limen::conform {

CONFORM_WITH(cuInit, makes_the_driver_usable, nothing) {
  int count = 0;
  expect_code("before", cuDeviceGetCount(&count), CUDA_ERROR_NOT_INITIALIZED);
  expect_code("first", cuInit(0), CUDA_SUCCESS);
  expect_code("after", cuDeviceGetCount(&count), CUDA_SUCCESS);
  expect_true("a device", count > 0);
  expect_code("again", cuInit(0), CUDA_SUCCESS);
  CUcontext context = nullptr;
  expect_code("makes no context", cuCtxGetCurrent(&context), CUDA_SUCCESS);
  expect("current context", context, nullptr);
}

CONFORM_WITH(cuInit, flags_must_be_zero, nothing) {
  expect_code("1", cuInit(1), CUDA_ERROR_INVALID_VALUE);
  expect_code("all bits", cuInit(~0u), CUDA_ERROR_INVALID_VALUE);
  int count = 0;
  expect_code("the driver is not initialised", cuDeviceGetCount(&count),
              CUDA_ERROR_NOT_INITIALIZED);
}

CONFORM(cuInit, wrong_flags_later_do_no_harm) {
  expect_code("1", cuInit(1), CUDA_ERROR_INVALID_VALUE);
  Buffer memory(4);
  write<uint32_t>(memory, 3);
  expect("memory works", read<uint32_t>(memory), 3u);
}

CONFORM_WITH(cuInit, counts_for_every_thread, nothing) {
  expect_code("on another thread", on_a_bare_thread([] { return cuInit(0); }), CUDA_SUCCESS);
  int count = 0;
  expect_code("here", cuDeviceGetCount(&count), CUDA_SUCCESS);
}

CONFORM_WITH(cuInit, by_eight_threads_at_once, nothing) {
  std::vector<std::thread> threads;
  std::vector<int> codes(8, -1);
  for (int& code : codes)
    threads.emplace_back([&code] {
      code = cuInit(0);
      int count = 0;
      if (!code) code = cuDeviceGetCount(&count);
    });
  for (std::thread& thread : threads) thread.join();
  expect("codes", listed(codes), "0 0 0 0 0 0 0 0");
}

}  // namespace limen::conform
