#include "conformance/conform.h"

namespace limen::conform {

CONFORM_WITH(cuCtxCreate, is_current_and_its_own, initialised) {
  CUcontext one = nullptr, two = nullptr, current = nullptr;
  expect_code("first", cuCtxCreate(&one, nullptr, CU_CTX_SCHED_YIELD, 0), CUDA_SUCCESS);
  REQUIRE(cuCtxGetCurrent(&current));
  expect_true("current", current == one);
  unsigned flags = 0;
  REQUIRE(cuCtxGetFlags(&flags));
  expect("its flags", flags & CU_CTX_SCHED_MASK, unsigned{CU_CTX_SCHED_YIELD});
  Buffer word(4);
  expect_code("second", cuCtxCreate(&two, nullptr, 0, 0), CUDA_SUCCESS);
  expect_true("another", one != two);
  CUevent event = nullptr;
  REQUIRE(cuEventCreate(&event, 0));
  REQUIRE(cuCtxDestroy(two));
  REQUIRE(cuCtxGetCurrent(&current));
  expect_true("the first is current again", current == one);
  expect_code("the second's event is gone", cuEventQuery(event), CUDA_ERROR_INVALID_HANDLE);
  write<uint32_t>(word, 3);
  expect("the first's memory is not", read<uint32_t>(word), 3u);
}

CONFORM_WITH(cuCtxCreate, scheduling_flags_wait, initialised) {
  for (unsigned flag :
       {CU_CTX_SCHED_AUTO, CU_CTX_SCHED_SPIN, CU_CTX_SCHED_YIELD, CU_CTX_SCHED_BLOCKING_SYNC}) {
    CUcontext context = nullptr;
    const std::string label = "flag " + std::to_string(flag);
    expect_code(label, cuCtxCreate(&context, nullptr, flag, 0), CUDA_SUCCESS);
    Buffer word(4);
    REQUIRE(launch(common_kernel("store"), 1, 1, nullptr, word.at(), flag + 1));
    expect_code(label + " waits", cuCtxSynchronize(nullptr), CUDA_SUCCESS);
    expect(label + " done", read<uint32_t>(word), flag + 1);
  }
}

CONFORM_WITH(cuCtxCreate, wrong_arguments, initialised) {
  CUcontext context = nullptr;
  expect_code("no result", cuCtxCreate(nullptr, nullptr, 0, 0), CUDA_ERROR_INVALID_VALUE);
  expect_code("two schedules", cuCtxCreate(&context, nullptr, 3, 0), CUDA_ERROR_INVALID_VALUE);
  expect_code("unknown flag", cuCtxCreate(&context, nullptr, 0x1000, 0), CUDA_ERROR_INVALID_VALUE);
  expect_code("no device", cuCtxCreate(&context, nullptr, 0, 99), CUDA_ERROR_INVALID_DEVICE);
  int supported = -1;
  REQUIRE(cuDeviceGetExecAffinitySupport(&supported, CU_EXEC_AFFINITY_TYPE_SM_COUNT, 0));
  CUexecAffinityParam affinity{};
  affinity.type = CU_EXEC_AFFINITY_TYPE_SM_COUNT;
  affinity.param.smCount.val = 1;
  CUctxCreateParams params{};
  params.execAffinityParams = &affinity;
  params.numExecAffinityParams = 1;
  expect("no execution affinity", supported, 0);
  expect_code("affinity", cuCtxCreate(&context, &params, 0, 0),
              CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY);
}

}  // namespace limen::conform
