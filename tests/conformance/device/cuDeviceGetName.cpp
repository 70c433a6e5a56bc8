#include "conformance/conform.h"

namespace limen::conform {

CONFORM_WITH(cuDeviceGetName, fits_its_room, initialised) {
  char name[256] = {};
  expect_code("get", cuDeviceGetName(name, sizeof name, 0), CUDA_SUCCESS);
  expect_true("has one", name[0] != 0);
  char piece[4] = {'x', 'x', 'x', 'x'};
  expect_code("little room", cuDeviceGetName(piece, 4, 0), CUDA_SUCCESS);
  expect_true("its beginning", std::string(piece) == std::string(name, 3));
  expect_code("no result", cuDeviceGetName(nullptr, 10, 0), CUDA_ERROR_INVALID_VALUE);
  expect_code("no device", cuDeviceGetName(name, sizeof name, 99), CUDA_ERROR_INVALID_DEVICE);
}

}  // namespace limen::conform
