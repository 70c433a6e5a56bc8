// What the fake driver of the loader's tests recorded. One record a process; the tests are
// single-threaded.
#pragma once
#include "abi/cuda_abi.h"

namespace limen {

struct FakeRecord {
  int init_calls = 0;
  CUresult init_result = CUDA_SUCCESS;
  int other_calls = 0;
  CUdeviceptr address = 0;
  size_t bytes = 0;
  CUstream stream = nullptr;
  CUcontext context = nullptr;
  CUcontext current = nullptr;  ///< what current_context() answers
  CUctxCreateParams* params = nullptr;
  int affinities = 0;
  unsigned int flags = 0;
  CUmemLocation location{};
  CUDA_KERNEL_NODE_PARAMS node{};
  void (*end_context)(CUcontext context) = nullptr;
};

}  // namespace limen
