// PTX texts that several files load, and how to load them. What they define stands at each.
#pragma once
#include <unistd.h>

#include <cstdlib>

#include "conformance/conform.h"

namespace limen::conform {

/// `first(u64 address, u32 value)` stores the global `counter` plus its argument, `second(u64
/// address)` the second word of the constant `table`.
inline constexpr const char* program = R"(
.version 7.0
.target sm_70
.address_size 64
.visible .global .align 4 .u32 counter = 7;
.visible .const .align 4 .u32 table[4] = {11, 12, 13, 14};
.global .align 8 .b8 hidden[40];
.visible .entry first(.param .u64 address, .param .u32 value) {
  .reg .b64 %a; .reg .b32 %v, %c;
  ld.param.u64 %a, [address]; ld.param.u32 %v, [value];
  ld.global.u32 %c, [counter];
  add.u32 %c, %c, %v;
  st.global.u32 [%a], %c;
  ret;
}
.visible .entry second(.param .u64 address) {
  .reg .b64 %a; .reg .b32 %c;
  ld.param.u64 %a, [address];
  ld.const.u32 %c, [table+4];
  st.global.u32 [%a], %c;
  ret;
}
)";

/// `sizes(u8 a, u64 address, u32 b)`: 512 bytes of shared, 64 of local memory, at most 128 threads.
inline constexpr const char* sizes_text = R"(
.version 7.0
.target sm_70
.address_size 64
.visible .entry sizes(.param .u8 a, .param .u64 address, .param .u32 b)
.maxntid 128, 1, 1 {
  .shared .align 4 .b8 words[512];
  .local .align 8 .b8 stack[64];
  .reg .b64 %a, %s, %l; .reg .b32 %v, %t, %w; .reg .b16 %h;
  ld.param.u8 %h, [a]; ld.param.u64 %a, [address]; ld.param.u32 %v, [b];
  mov.u32 %t, %tid.x;
  shl.b32 %w, %t, 2;
  cvt.u64.u32 %s, %w;
  mov.u64 %l, stack;
  and.b64 %s, %s, 63;
  add.u64 %l, %l, %s;
  st.local.u32 [%l], %v;
  mov.u64 %l, words;
  add.u64 %l, %l, %s;
  st.shared.u32 [%l], %v;
  bar.sync 0;
  ld.shared.u32 %w, [%l];
  cvt.u32.u16 %t, %h;
  add.u32 %w, %w, %t;
  st.global.u32 [%a], %w;
  ret;
}
)";

/// `dynamic(u64 address, u32 offset)` writes and reads the word at `offset` of its dynamic shared
/// memory; `shape(u64 address)` stores the numbers of threads and blocks, each in x, y, z.
inline constexpr const char* launches_text = R"(
.version 7.0
.target sm_70
.address_size 64
.extern .shared .align 16 .b8 room[];
.visible .entry dynamic(.param .u64 address, .param .u32 offset) {
  .reg .b64 %a, %s; .reg .b32 %v;
  ld.param.u64 %a, [address]; ld.param.u32 %v, [offset];
  cvt.u64.u32 %s, %v;
  mov.u64 %a, room;
  add.u64 %s, %a, %s;
  add.u32 %v, %v, 1;
  st.shared.u32 [%s], %v;
  ld.shared.u32 %v, [%s];
  ld.param.u64 %a, [address];
  st.global.u32 [%a], %v;
  ret;
}
.visible .entry shape(.param .u64 address) {
  .reg .b64 %a; .reg .b32 %v;
  ld.param.u64 %a, [address];
  mov.u32 %v, %ntid.x; st.global.u32 [%a], %v;
  mov.u32 %v, %ntid.y; st.global.u32 [%a+4], %v;
  mov.u32 %v, %ntid.z; st.global.u32 [%a+8], %v;
  mov.u32 %v, %nctaid.x; st.global.u32 [%a+12], %v;
  mov.u32 %v, %nctaid.y; st.global.u32 [%a+16], %v;
  mov.u32 %v, %nctaid.z; st.global.u32 [%a+20], %v;
  ret;
}
.visible .entry nothing() {
  ret;
}
.visible .entry mixed(.param .u8 a, .param .u64 address, .param .align 4 .b8 three[12], .param .u16 b) {
  .reg .b64 %p; .reg .b32 %v, %w; .reg .b16 %h;
  ld.param.u64 %p, [address];
  ld.param.u8 %h, [a]; cvt.u32.u16 %v, %h; st.global.u32 [%p], %v;
  ld.param.u32 %v, [three+8]; st.global.u32 [%p+4], %v;
  ld.param.u16 %h, [b]; cvt.u32.u16 %v, %h; st.global.u32 [%p+8], %v;
  ret;
}
.visible .entry fixed(.param .u64 address) .reqntid 8, 2, 1 {
  .reg .b64 %a; .reg .b32 %v;
  ld.param.u64 %a, [address];
  mov.u32 %v, 1;
  red.global.add.u32 [%a], %v;
  ret;
}
)";

inline constexpr const char* managed_text = R"(
.version 7.0
.target sm_70
.address_size 64
.visible .global .attribute(.managed) .align 4 .u32 both = 9;
.visible .global .align 4 .u32 plain = 3;
.visible .entry twice() {
  .reg .b32 %v;
  ld.global.u32 %v, [both];
  add.u32 %v, %v, %v;
  st.global.u32 [both], %v;
  ret;
}
)";

inline CUmodule module_of_text(const char* text) {
  CUmodule module = nullptr;
  REQUIRE(cuModuleLoadData(&module, text));
  return module;
}

inline CUfunction function_in(CUmodule module, const char* name) {
  CUfunction function = nullptr;
  REQUIRE(cuModuleGetFunction(&function, module, name));
  return function;
}

inline CUlibrary library_of_text(const char* text) {
  CUlibrary library = nullptr;
  REQUIRE(cuLibraryLoadData(&library, text, nullptr, nullptr, 0, nullptr, nullptr, 0));
  return library;
}

inline CUkernel kernel_in(CUlibrary library, const char* name) {
  CUkernel kernel = nullptr;
  REQUIRE(cuLibraryGetKernel(&kernel, library, name));
  return kernel;
}

/// A file with `text` that lives as long as the object.
class TextFile {
 public:
  explicit TextFile(const char* text) {
    int descriptor = mkstemp(path_);
    size_t bytes = std::strlen(text);
    if (descriptor < 0 || ::write(descriptor, text, bytes) != static_cast<ssize_t>(bytes))
      skip("no temporary file can be written");
    ::close(descriptor);
  }
  ~TextFile() { ::unlink(path_); }
  TextFile(const TextFile&) = delete;
  TextFile& operator=(const TextFile&) = delete;
  const char* path() const { return path_; }

 private:
  char path_[32] = "/tmp/conformance.XXXXXX";
};

}  // namespace limen::conform
