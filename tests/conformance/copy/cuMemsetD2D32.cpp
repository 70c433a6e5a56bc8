#include "conformance/copy/set_case.h"

namespace limen::conform {

static CUresult call(CUdeviceptr address, size_t pitch, uint32_t value, size_t width,
                     size_t height) {
  return cuMemsetD2D32(address, pitch, value, width, height);
}

CONFORM(cuMemsetD2D32, rows) { fills_rows<uint32_t>(call); }
CONFORM(cuMemsetD2D32, what_cannot_be) { refuses_rows<uint32_t>(call); }

}  // namespace limen::conform
