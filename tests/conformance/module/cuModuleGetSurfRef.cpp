#include "conformance/conform.h"

namespace limen::conform {
namespace {

constexpr const char* ptx = R"(
.version 7.0
.target sm_70
.address_size 64
.global .texref picture;
.global .surfref canvas;
.visible .entry nothing() { ret; }
)";

}  // namespace

CONFORM(cuModuleGetSurfRef, by_name) {
  CUmodule module = nullptr;
  REQUIRE(cuModuleLoadData(&module, ptx));
  CUsurfref one = nullptr, two = nullptr;
  expect_code("get", cuModuleGetSurfRef(&one, module, "canvas"), CUDA_SUCCESS);
  expect_code("again", cuModuleGetSurfRef(&two, module, "canvas"), CUDA_SUCCESS);
  expect_true("the same", one && one == two);
  expect_code("absent", cuModuleGetSurfRef(&one, module, "absent"), CUDA_ERROR_NOT_FOUND);
  expect_code("a texture", cuModuleGetSurfRef(&one, module, "picture"), CUDA_ERROR_NOT_FOUND);
}

}  // namespace limen::conform
