#include "conformance/copy/set_case.h"

namespace limen::conform {

static CUresult call(CUdeviceptr address, size_t pitch, uint8_t value, size_t width,
                     size_t height) {
  return cuMemsetD2D8(address, pitch, value, width, height);
}

CONFORM(cuMemsetD2D8, rows) { fills_rows<uint8_t>(call); }
CONFORM(cuMemsetD2D8, what_cannot_be) { refuses_rows<uint8_t>(call); }

}  // namespace limen::conform
