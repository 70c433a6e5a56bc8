#include "conformance/copy/set_case.h"

namespace limen::conform {

static CUresult call(CUdeviceptr address, uint8_t value, size_t count) {
  return cuMemsetD8Async(address, value, count, nullptr);
}

CONFORM(cuMemsetD8Async, a_run_of_elements) { fills_a_run<uint8_t>(call); }
CONFORM(cuMemsetD8Async, what_cannot_be) { refuses_a_run<uint8_t>(call); }

CONFORM(cuMemsetD8Async, in_stream_order) {
  keeps_to_the_stream<uint8_t>([](CUdeviceptr address, uint8_t value, CUstream stream) {
    return cuMemsetD8Async(address, value, 256 / sizeof value, stream);
  });
}

}  // namespace limen::conform
