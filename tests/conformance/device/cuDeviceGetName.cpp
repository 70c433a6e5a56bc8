#include "conformance/conform.h"

#include <string>

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

CONFORM_WITH(cuDeviceGetName, is_cut_to_the_buffer, initialised) {
  char name[256];
  std::memset(name, 'x', sizeof name);
  expect_code("whole", cuDeviceGetName(name, sizeof name, 0), CUDA_SUCCESS);
  std::string whole = name;
  expect_true("it has letters", whole.size() > 4);
  char piece[8];
  std::memset(piece, 'x', sizeof piece);
  expect_code("5 bytes", cuDeviceGetName(piece, 5, 0), CUDA_SUCCESS);
  expect_true("its first letters", piece == whole.substr(0, 4));
  expect("nothing behind them", std::string_view(piece + 5, 3), "xxx");
  expect_code("1 byte", cuDeviceGetName(piece, 1, 0), CUDA_SUCCESS);
  expect("the empty text", std::string_view(piece), "");
}

CONFORM_WITH(cuDeviceGetName, wrong_arguments, initialised) {
  char name[16];
  expect_code("no device", cuDeviceGetName(name, sizeof name, 99), CUDA_ERROR_INVALID_DEVICE);
  expect_code("no buffer", cuDeviceGetName(nullptr, 16, 0), CUDA_ERROR_INVALID_VALUE);
}

CONFORM_WITH(cuDeviceGetName, no_room, initialised) {
  // NVIDIA's driver writes around a buffer that has no room.
  static char room[4096];
  expect_code("no bytes", cuDeviceGetName(room + 2048, 0, 0), CUDA_ERROR_INVALID_VALUE);
  expect_code("fewer than none", cuDeviceGetName(room + 2048, -3, 0), CUDA_SUCCESS);
}

CONFORM_WITH(cuDeviceGetName, needs_cuInit, nothing) {
  char name[16];
  expect_code("not initialised", cuDeviceGetName(name, 16, 0), CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
