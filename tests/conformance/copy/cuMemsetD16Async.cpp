#include "conformance/copy/set_case.h"

namespace limen::conform {

static CUresult call(CUdeviceptr address, uint16_t value, size_t count) {
  return cuMemsetD16Async(address, value, count, nullptr);
}

CONFORM(cuMemsetD16Async, a_run_of_elements) { fills_a_run<uint16_t>(call); }
CONFORM(cuMemsetD16Async, what_cannot_be) { refuses_a_run<uint16_t>(call); }

CONFORM(cuMemsetD16Async, in_stream_order) {
  keeps_to_the_stream<uint16_t>([](CUdeviceptr address, uint16_t value, CUstream stream) {
    return cuMemsetD16Async(address, value, 256 / sizeof value, stream);
  });
}

}  // namespace limen::conform
