// Two parts of a program for the linker: the kernel `main(u64 address)` of `caller` stores what
// `triple(14)` of `callee` answers.
#pragma once
#include "conformance/texts.h"

namespace limen::conform {

inline constexpr const char* callee = R"(
.version 7.0
.target sm_70
.address_size 64
.visible .func (.param .b32 result) triple(.param .b32 number) {
  .reg .b32 %n;
  ld.param.b32 %n, [number];
  mul.lo.u32 %n, %n, 3;
  st.param.b32 [result], %n;
  ret;
}
)";

inline constexpr const char* caller = R"(
.version 7.0
.target sm_70
.address_size 64
.extern .func (.param .b32 result) triple(.param .b32 number);
.visible .entry main(.param .u64 address) {
  .reg .b32 %n; .reg .b64 %a;
  ld.param.u64 %a, [address];
  {
    .param .b32 in; .param .b32 out;
    st.param.b32 [in], 14;
    call (out), triple, (in);
    ld.param.b32 %n, [out];
  }
  st.global.u32 [%a], %n;
  ret;
}
)";

inline CUlinkState new_link() {
  CUlinkState state = nullptr;
  REQUIRE(cuLinkCreate(0, nullptr, nullptr, &state));
  return state;
}

inline void add_text(CUlinkState state, const char* text) {
  REQUIRE(cuLinkAddData(state, CU_JIT_INPUT_PTX, const_cast<char*>(text), std::strlen(text) + 1,
                        "part", 0, nullptr, nullptr));
}

/// What `main` of the image stores.
inline uint32_t run_image(const void* image) {
  CUmodule module = nullptr;
  REQUIRE(cuModuleLoadData(&module, image));
  Buffer word(4);
  REQUIRE(launch(function_in(module, "main"), 1, 1, nullptr, word.at()));
  return read<uint32_t>(word);
}

inline uint32_t run_linked(CUlinkState state) {
  void* image = nullptr;
  size_t bytes = 0;
  REQUIRE(cuLinkComplete(state, &image, &bytes));
  return run_image(image);
}

}  // namespace limen::conform
