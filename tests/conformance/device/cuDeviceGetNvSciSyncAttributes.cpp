#include "conformance/conform.h"

namespace limen::conform {

CONFORM_WITH(cuDeviceGetNvSciSyncAttributes, needs_a_list, initialised) {
  expect_code("no list", cuDeviceGetNvSciSyncAttributes(nullptr, 0, CUDA_NVSCISYNC_ATTR_SIGNAL),
              CUDA_ERROR_INVALID_HANDLE);
}

}  // namespace limen::conform
