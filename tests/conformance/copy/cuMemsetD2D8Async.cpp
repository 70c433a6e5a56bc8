#include "conformance/copy/set_case.h"

namespace limen::conform {

static CUresult call(CUdeviceptr address, size_t pitch, uint8_t value, size_t width,
                     size_t height) {
  return cuMemsetD2D8Async(address, pitch, value, width, height, nullptr);
}

CONFORM(cuMemsetD2D8Async, rows) { fills_rows<uint8_t>(call); }
CONFORM(cuMemsetD2D8Async, what_cannot_be) { refuses_rows<uint8_t>(call); }

CONFORM(cuMemsetD2D8Async, in_stream_order) {
  keeps_to_the_stream<uint8_t>([](CUdeviceptr address, uint8_t value, CUstream stream) {
    return cuMemsetD2D8Async(address, 64, value, 32 / sizeof value, 4, stream);
  });
}

}  // namespace limen::conform
