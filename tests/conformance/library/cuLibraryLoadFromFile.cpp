#include "conformance/conform.h"
#include "conformance/texts.h"

#include <unistd.h>
#include <fstream>

namespace limen::conform {
namespace {

constexpr const char* ptx = R"(
.version 7.0
.target sm_70
.address_size 64
.visible .global .align 4 .u32 counter = 7;
.visible .entry first(.param .u64 a, .param .u32 b) .maxntid 256, 1, 1 {
  .reg .b64 %a; .reg .b32 %b;
  .shared .align 4 .b8 room[512];
  ld.param.u64 %a, [a]; ld.param.u32 %b, [b];
  st.global.u32 [%a], %b;
  mov.u32 %b, room;
  ret;
}
.visible .entry second() { ret; }
)";

CUlibrary load() {
  CUlibrary library = nullptr;
  REQUIRE(cuLibraryLoadData(&library, ptx, nullptr, nullptr, 0, nullptr, nullptr, 0));
  return library;
}

CUkernel kernel_of(CUlibrary library, const char* name) {
  CUkernel kernel = nullptr;
  REQUIRE(cuLibraryGetKernel(&kernel, library, name));
  return kernel;
}

}  // namespace

CONFORM(cuLibraryLoadFromFile, from_a_file) {
  const std::string path = "/tmp/limen_conform_library_" + std::to_string(getpid());
  std::ofstream(path) << ptx;
  CUlibrary library = nullptr;
  expect_code(
      "load",
      cuLibraryLoadFromFile(&library, path.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0),
      CUDA_SUCCESS);
  unlink(path.c_str());
  expect_true("has the kernel", kernel_of(library, "second") != nullptr);
  expect_code(
      "no file",
      cuLibraryLoadFromFile(&library, "/nowhere/at/all", nullptr, nullptr, 0, nullptr, nullptr, 0),
      CUDA_ERROR_FILE_NOT_FOUND);
  expect_code("no path",
              cuLibraryLoadFromFile(&library, nullptr, nullptr, nullptr, 0, nullptr, nullptr, 0),
              CUDA_ERROR_INVALID_VALUE);
  cuLibraryUnload(load());
}

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
  REQUIRE(launch(reinterpret_cast<CUfunction>(kernel_in(library, "first")), 1, 1, nullptr,
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
