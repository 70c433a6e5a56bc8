#include "conformance/conform.h"
#include "conformance/texts.h"

namespace limen::conform {

namespace {

CUresult load(CUlibrary* library, const char* path) {
  return cuLibraryLoadFromFile(library, path, nullptr, nullptr, 0, nullptr, nullptr, 0);
}

}  // namespace

CONFORM(cuLibraryLoadFromFile, code_of_a_file) {
  CUlibrary library = nullptr;
  {
    TextFile file(program);
    expect_code("loads", load(&library, file.path()), CUDA_SUCCESS);
  }
  Buffer word(4);
  REQUIRE(launch(reinterpret_cast<CUfunction>(kernel_of(library, "first")), 1, 1, nullptr,
                 word.at(), 2u));
  expect("it runs without its file", read<uint32_t>(word), 9u);
}

CONFORM(cuLibraryLoadFromFile, wrong_arguments) {
  CUlibrary library = nullptr;
  TextFile file(program);
  CUlibraryOption unknown[] = {CUlibraryOption(99)};
  CUjit_option no_option[] = {CUjit_option(99)};
  void* value[] = {nullptr};
  expect_code("missing", load(&library, "/nonexistent/library.ptx"), CUDA_ERROR_FILE_NOT_FOUND);
  expect_code("no name", load(&library, nullptr), CUDA_ERROR_INVALID_VALUE);
  expect_code("no result", load(nullptr, file.path()), CUDA_ERROR_INVALID_VALUE);
  expect_code("an unknown option",
              cuLibraryLoadFromFile(&library, file.path(), nullptr, nullptr, 0, unknown, value, 1),
              CUDA_ERROR_INVALID_VALUE);
  expect_code(
      "an unknown compiler's option",
      cuLibraryLoadFromFile(&library, file.path(), no_option, value, 1, nullptr, nullptr, 0),
      CUDA_ERROR_INVALID_VALUE);
  expect_true("no handle", library == nullptr);
}

CONFORM_WITH(cuLibraryLoadFromFile, needs_cuInit, nothing) {
  CUlibrary l;
  expect_code("not initialised", load(&l, "/nonexistent"), CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
