#include "conformance/conform.h"
#include "conformance/texts.h"

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

CONFORM(cuLibraryGetManaged, of_the_host_too) {
  constexpr const char* managed = R"(
.version 7.0
.target sm_70
.address_size 64
.visible .global .attribute(.managed) .align 4 .u32 both = 12;
.visible .entry bump() {
  .reg .b64 %a; .reg .b32 %v;
  mov.u64 %a, both;
  ld.global.u32 %v, [%a];
  add.u32 %v, %v, 1;
  st.global.u32 [%a], %v;
  ret;
}
)";
  CUlibrary library = nullptr;
  REQUIRE(cuLibraryLoadData(&library, managed, nullptr, nullptr, 0, nullptr, nullptr, 0));
  CUdeviceptr address = 0;
  size_t bytes = 0;
  expect_code("get", cuLibraryGetManaged(&address, &bytes, library, "both"), CUDA_SUCCESS);
  expect("size", bytes, 4u);
  expect("the host reads it", *reinterpret_cast<uint32_t*>(address), 12u);
  REQUIRE(launch(reinterpret_cast<CUfunction>(kernel_of(library, "bump")), 1, 1, nullptr));
  REQUIRE(cuCtxSynchronize(nullptr));
  expect("the device writes it", *reinterpret_cast<uint32_t*>(address), 13u);
  expect_code("not a managed one", cuLibraryGetManaged(&address, &bytes, load(), "counter"),
              CUDA_ERROR_NOT_FOUND);
}

CONFORM(cuLibraryGetManaged, the_host_uses_it) {
  CUlibrary library = library_of_text(managed_text);
  CUdeviceptr both = 0;
  size_t bytes = 0;
  expect_code("asks", cuLibraryGetManaged(&both, &bytes, library, "both"), CUDA_SUCCESS);
  expect("its size", bytes, 4u);
  auto* value = reinterpret_cast<volatile uint32_t*>(both);
  expect("its value", *value, 9u);
  *value = 20;
  REQUIRE(launch(reinterpret_cast<CUfunction>(kernel_in(library, "twice")), 1, 1, nullptr));
  REQUIRE(cuCtxSynchronize(nullptr));
  expect("doubled", *value, 40u);
  unsigned managed = 0;
  REQUIRE(cuPointerGetAttribute(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, both));
  expect("managed memory", managed, 1u);
  CUcontext made = nullptr;
  CUdeviceptr again = 0;
  REQUIRE(cuCtxCreate(&made, nullptr, 0, 0));
  expect_code("in another context", cuLibraryGetManaged(&again, nullptr, library, "both"),
              CUDA_SUCCESS);
  expect_true("the same address", again == both);
}

CONFORM(cuLibraryGetManaged, wrong_arguments) {
  CUlibrary library = library_of_text(managed_text);
  CUdeviceptr address = 0;
  size_t bytes = 0;
  expect_code("no such name", cuLibraryGetManaged(&address, &bytes, library, "nobody"),
              CUDA_ERROR_NOT_FOUND);
  expect_code("a plain variable", cuLibraryGetManaged(&address, &bytes, library, "plain"),
              CUDA_ERROR_NOT_FOUND);
  expect_code("no name", cuLibraryGetManaged(&address, &bytes, library, nullptr),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("nothing asked", cuLibraryGetManaged(nullptr, nullptr, library, "both"),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no library", cuLibraryGetManaged(&address, &bytes, nullptr, "both"),
              CUDA_ERROR_INVALID_HANDLE);
  REQUIRE(cuLibraryUnload(library));
  expect_code("unloaded", cuLibraryGetManaged(&address, &bytes, library, "both"),
              CUDA_ERROR_NOT_FOUND);
}

CONFORM_WITH(cuLibraryGetManaged, needs_no_context, initialised) {
  CUlibrary library = library_of_text(managed_text);
  CUdeviceptr both = 0;
  expect_code("asks", cuLibraryGetManaged(&both, nullptr, library, "both"),
              CUDA_SUCCESS);
}

CONFORM_WITH(cuLibraryGetManaged, needs_cuInit, nothing) {
  CUdeviceptr a;
  size_t n;
  expect_code("not initialised", cuLibraryGetManaged(&a, &n, nullptr, "both"),
              CUDA_ERROR_INVALID_HANDLE);
}

}  // namespace limen::conform
