// Profiler control. No profiler can be attached to this driver, so starting and stopping changes
// nothing; the calls succeed because programs bracket their hot parts with them.
// Thread rule: any thread.
#include "abi/cpu_api.h"
#include "drivers/cpu/context.h"

namespace limen::cpu {

CUresult cuProfilerStart() {
  Context* context;
  return current_usable(&context);
}

CUresult cuProfilerStop() {
  Context* context;
  return current_usable(&context);
}

CUresult cuProfilerInitialize(const char*, const char*, CUoutput_mode) {
  return CUDA_ERROR_NOT_SUPPORTED;  // as NVIDIA's driver since CUDA 11
}

}  // namespace limen::cpu
