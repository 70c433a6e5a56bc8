#include "conformance/copy/set_case.h"

namespace limen::conform {

static CUresult call(CUdeviceptr address, size_t pitch, uint16_t value, size_t width,
                     size_t height) {
  return cuMemsetD2D16Async(address, pitch, value, width, height, nullptr);
}

CONFORM(cuMemsetD2D16Async, rows) { fills_rows<uint16_t>(call); }
CONFORM(cuMemsetD2D16Async, what_cannot_be) { refuses_rows<uint16_t>(call); }

CONFORM(cuMemsetD2D16Async, in_stream_order) {
  keeps_to_the_stream<uint16_t>([](CUdeviceptr address, uint16_t value, CUstream stream) {
    return cuMemsetD2D16Async(address, 64, value, 32 / sizeof value, 4, stream);
  });
}

}  // namespace limen::conform
