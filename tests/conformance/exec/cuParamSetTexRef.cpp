#include "conformance/conform.h"

namespace limen::conform {

CONFORM(cuParamSetTexRef, takes_a_reference_of_the_module) {
  constexpr const char* ptx = R"(
.version 7.0
.target sm_70
.address_size 64
.global .texref picture;
.visible .entry look(.param .u64 out) {
  .reg .b64 %a; .reg .f32 %x<5>; .reg .b32 %i;
  ld.param.u64 %a, [out];
  mov.u32 %i, 1;
  tex.1d.v4.f32.s32 {%x0, %x1, %x2, %x3}, [picture, {%i}];
  st.global.f32 [%a], %x0;
  ret;
}
)";
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  CUtexref reference = nullptr;
  REQUIRE(cuModuleLoadData(&module, ptx));
  REQUIRE(cuModuleGetFunction(&function, module, "look"));
  REQUIRE(cuModuleGetTexRef(&reference, module, "picture"));
  Buffer texels(16), out(4);
  write<float>(texels.at(4), 2.5f);
  REQUIRE(cuTexRefSetFormat(reference, CU_AD_FORMAT_FLOAT, 1));
  REQUIRE(cuTexRefSetAddress(nullptr, reference, texels, 16));
  expect_code("default unit", cuParamSetTexRef(function, CU_PARAM_TR_DEFAULT, reference),
              CUDA_SUCCESS);
  REQUIRE(launch(function, 1, 1, nullptr, out.at()));
  expect("kernel reads it", read<float>(out), 2.5f);
  expect_code("another unit", cuParamSetTexRef(function, 0, reference), CUDA_SUCCESS);
  expect_code("no function", cuParamSetTexRef(nullptr, CU_PARAM_TR_DEFAULT, reference),
              CUDA_ERROR_INVALID_HANDLE);
  expect_code("no reference", cuParamSetTexRef(function, CU_PARAM_TR_DEFAULT, nullptr),
              CUDA_ERROR_INVALID_HANDLE);
}

}  // namespace limen::conform
