#include "conformance/copy/set_case.h"

namespace limen::conform {

static CUresult call(CUdeviceptr address, uint32_t value, size_t count) {
  return cuMemsetD32Async(address, value, count, nullptr);
}

CONFORM(cuMemsetD32Async, a_run_of_elements) { fills_a_run<uint32_t>(call); }
CONFORM(cuMemsetD32Async, what_cannot_be) { refuses_a_run<uint32_t>(call); }

CONFORM(cuMemsetD32Async, in_stream_order) {
  keeps_to_the_stream<uint32_t>([](CUdeviceptr address, uint32_t value, CUstream stream) {
    return cuMemsetD32Async(address, value, 256 / sizeof value, stream);
  });
}

}  // namespace limen::conform
