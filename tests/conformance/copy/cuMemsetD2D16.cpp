#include "conformance/copy/set_case.h"

namespace limen::conform {

static CUresult call(CUdeviceptr address, size_t pitch, uint16_t value, size_t width,
                     size_t height) {
  return cuMemsetD2D16(address, pitch, value, width, height);
}

CONFORM(cuMemsetD2D16, rows) { fills_rows<uint16_t>(call); }
CONFORM(cuMemsetD2D16, what_cannot_be) { refuses_rows<uint16_t>(call); }

}  // namespace limen::conform
