#include <cstdlib>

#include "conformance/conform.h"

namespace limen::conform {
namespace {

/// What cuInit answers, and how many devices there are, with this value of CUDA_VISIBLE_DEVICES.
void try_visible(const char* value, CUresult expected) {
  setenv("CUDA_VISIBLE_DEVICES", value, 1);
  CUresult code = cuInit(0);
  std::string label = std::string("visible '") + value + "'";
  expect_code(label, code, expected);
  if (code != CUDA_SUCCESS) {
    int count = 5;
    expect_code("no count either", cuDeviceGetCount(&count), CUDA_ERROR_NOT_INITIALIZED);
    return;
  }
  int count = -1;
  expect_code("count", cuDeviceGetCount(&count), CUDA_SUCCESS);
  expect(label + ": devices", count, 1);
}

}  // namespace

// One process a case: the variable is read once. All measured on an H200.
#define VISIBLE(name, value, expected) \
  CONFORM_WITH(cuDeviceGetCount, visible_##name, nothing) { try_visible(value, expected); }

VISIBLE(zero, "0", CUDA_SUCCESS)
VISIBLE(spaces, " 0 ", CUDA_SUCCESS)
VISIBLE(octal, "00", CUDA_SUCCESS)
VISIBLE(hexadecimal, "0x0", CUDA_SUCCESS)
VISIBLE(then_negative, "0,-1", CUDA_SUCCESS)
VISIBLE(semicolon, "0;1", CUDA_SUCCESS)
VISIBLE(empty, "", CUDA_ERROR_NO_DEVICE)
VISIBLE(blank, "  ", CUDA_ERROR_NO_DEVICE)
VISIBLE(negative, "-1", CUDA_ERROR_NO_DEVICE)
VISIBLE(too_large, "777", CUDA_ERROR_NO_DEVICE)
VISIBLE(word, "all", CUDA_ERROR_NO_DEVICE)
VISIBLE(quotes, "\"0\"", CUDA_ERROR_NO_DEVICE)
VISIBLE(framework, "cuda:0", CUDA_ERROR_NO_DEVICE)
VISIBLE(unknown_uuid, "GPU-00000000-1111-2222-3333-444444444444", CUDA_ERROR_NO_DEVICE)
VISIBLE(twice, "0,0", CUDA_ERROR_INVALID_DEVICE)

CONFORM_WITH(cuDeviceGetCount, no_result, initialised) {
  expect_code("null", cuDeviceGetCount(nullptr), CUDA_ERROR_INVALID_VALUE);
}

}  // namespace limen::conform
