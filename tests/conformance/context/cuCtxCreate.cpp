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
  expect_code("the second's event is gone", cuEventQuery(event), CUDA_ERROR_CONTEXT_IS_DESTROYED);
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

CONFORM(cuCtxCreate, becomes_current) {
  CUcontext before = nullptr, made = nullptr, now = nullptr;
  REQUIRE(cuCtxGetCurrent(&before));
  expect_code("creates", cuCtxCreate(&made, nullptr, CU_CTX_SCHED_YIELD, 0), CUDA_SUCCESS);
  REQUIRE(cuCtxGetCurrent(&now));
  expect_true("it is current", now == made && made);
  expect_true("it is a new one", made != before);
  unsigned flags = 99;
  REQUIRE(cuCtxGetFlags(&flags));
  expect("its schedule", flags & CU_CTX_SCHED_MASK, unsigned(CU_CTX_SCHED_YIELD));
  CUdeviceptr address = 0;
  expect_code("memory of it", cuMemAlloc(&address, 64), CUDA_SUCCESS);
  CUcontext of_memory = nullptr;
  REQUIRE(cuPointerGetAttribute(&of_memory, CU_POINTER_ATTRIBUTE_CONTEXT, address));
  expect_true("belongs to it", of_memory == made);
  REQUIRE(cuCtxPopCurrent(&now));
  REQUIRE(cuCtxGetCurrent(&now));
  expect_true("the one before is below", now == before);
}

CONFORM(cuCtxCreate, older_abis) {
  using First = CUresult (*)(CUcontext*, unsigned, CUdevice);
  auto first = reinterpret_cast<First>(driver_symbol("cuCtxCreate"));
  auto second = reinterpret_cast<First>(driver_symbol("cuCtxCreate_v2"));
  using Third = CUresult (*)(CUcontext*, CUexecAffinityParam*, int, unsigned, CUdevice);
  auto third = reinterpret_cast<Third>(driver_symbol("cuCtxCreate_v3"));
  CUcontext made = nullptr, now = nullptr;
  unsigned version = 0;
  expect_code("second", second(&made, CU_CTX_SCHED_SPIN, 0), CUDA_SUCCESS);
  REQUIRE(cuCtxGetCurrent(&now));
  expect_true("second is current", now == made && made);
  expect_code("second's version", cuCtxGetApiVersion(made, &version), CUDA_SUCCESS);
  expect("3020", version, 3020u);
  expect_code("third", third(&made, nullptr, 0, 0, 0), CUDA_SUCCESS);
  REQUIRE(cuCtxGetCurrent(&now));
  expect_true("third is current", now == made && made);
  expect_code("first", first(&made, 0, 0), CUDA_ERROR_OUT_OF_MEMORY);
  expect_code("second, bad flags", second(&made, 3, 0), CUDA_ERROR_INVALID_VALUE);
  expect_code("second, no device", second(&made, 0, 99), CUDA_ERROR_INVALID_DEVICE);
  expect_code("second, no result", second(nullptr, 0, 0), CUDA_ERROR_INVALID_VALUE);
  expect_code("third, no list", third(&made, nullptr, 1, 0, 0), CUDA_ERROR_INVALID_VALUE);
  expect_code("third, negative count", third(&made, nullptr, -1, 0, 0), CUDA_SUCCESS);
}

CONFORM_WITH(cuCtxCreate, wrong_arguments_too, initialised) {
  CUcontext made = nullptr;
  expect_code("no result", cuCtxCreate(nullptr, nullptr, 0, 0), CUDA_ERROR_INVALID_VALUE);
  expect_code("two schedules",
              cuCtxCreate(&made, nullptr, CU_CTX_SCHED_SPIN | CU_CTX_SCHED_YIELD, 0),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("unknown flag", cuCtxCreate(&made, nullptr, 0x100, 0), CUDA_ERROR_INVALID_VALUE);
  expect_code("all flags", cuCtxCreate(&made, nullptr, ~0u, 0), CUDA_ERROR_INVALID_VALUE);
  expect_code("no device", cuCtxCreate(&made, nullptr, 0, 99), CUDA_ERROR_INVALID_DEVICE);
  expect_code("negative device", cuCtxCreate(&made, nullptr, 0, -1), CUDA_ERROR_INVALID_DEVICE);
  expect_true("no handle", made == nullptr);
  expect_code("nothing became current", cuCtxSynchronize(nullptr), CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM_WITH(cuCtxCreate, execution_affinity, initialised) {
  CUexecAffinityParam affinity;
  std::memset(&affinity, 0, sizeof affinity);
  affinity.type = CU_EXEC_AFFINITY_TYPE_SM_COUNT;
  affinity.param.smCount.val = 1;
  CUctxCreateParams params;
  std::memset(&params, 0, sizeof params);
  params.execAffinityParams = &affinity;
  params.numExecAffinityParams = 1;
  CUcontext made = nullptr;
  expect_code("without MPS", cuCtxCreate(&made, &params, 0, 0),
              CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY);
  std::memset(&params, 0, sizeof params);
  expect_code("empty parameters", cuCtxCreate(&made, &params, 0, 0), CUDA_SUCCESS);
}

CONFORM_WITH(cuCtxCreate, needs_cuInit, nothing) {
  CUcontext made;
  expect_code("not initialised", cuCtxCreate(&made, nullptr, 0, 0), CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
