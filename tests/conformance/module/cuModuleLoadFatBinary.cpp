#include "conformance/conform.h"
#include "conformance/fat_binary.h"
#include "conformance/texts.h"

namespace limen::conform {

CONFORM(cuModuleLoadFatBinary, code_of_a_fat_binary) {
  auto image = fat_binary(program);
  CUmodule module = nullptr;
  expect_code("loads", cuModuleLoadFatBinary(&module, image.data()), CUDA_SUCCESS);
  Buffer word(4);
  REQUIRE(launch(function_of(module, "first"), 1, 1, nullptr, word.at(), 3u));
  expect("counter plus 3", read<uint32_t>(word), 10u);
}

CONFORM(cuModuleLoadFatBinary, what_is_no_code) {
  auto image = fat_binary(program), newer = fat_binary(program, 999);
  CUmodule module = nullptr;
  expect_code("no image", cuModuleLoadFatBinary(&module, nullptr), CUDA_ERROR_INVALID_VALUE);
  expect_code("no result", cuModuleLoadFatBinary(nullptr, image.data()), CUDA_ERROR_INVALID_VALUE);
  expect_code("for a newer device", cuModuleLoadFatBinary(&module, newer.data()),
              CUDA_ERROR_NO_BINARY_FOR_GPU);
  auto broken = fat_binary("this is no PTX");
  expect_code("of no PTX", cuModuleLoadFatBinary(&module, broken.data()),
              CUDA_ERROR_INVALID_PTX);  // to measure on H200
  uint64_t empty[2] = {image[0], 0};
  expect_code("without an entry", cuModuleLoadFatBinary(&module, empty),
              CUDA_ERROR_NO_BINARY_FOR_GPU);
  expect_true("no handle", module == nullptr);
}

CONFORM_WITH(cuModuleLoadFatBinary, needs_a_context, initialised) {
  auto image = fat_binary(program);
  CUmodule m;
  expect_code("no context", cuModuleLoadFatBinary(&m, image.data()), CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM_WITH(cuModuleLoadFatBinary, needs_cuInit, nothing) {
  auto image = fat_binary(program);
  CUmodule m;
  expect_code("not initialised", cuModuleLoadFatBinary(&m, image.data()),
              CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
