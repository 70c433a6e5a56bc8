#include "conformance/conform.h"
#include "conformance/texts.h"

#include <cstdlib>
#include <string>

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

CUmodule load() {
  CUmodule module = nullptr;
  REQUIRE(cuModuleLoadData(&module, ptx));
  return module;
}

}  // namespace

CONFORM(cuModuleLoadDataEx, errors_go_to_the_log) {
  char log[1024] = {};
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {log, reinterpret_cast<void*>(sizeof log)};
  CUmodule module = nullptr;
  expect_code("good", cuModuleLoadDataEx(&module, ptx, 2, options, values), CUDA_SUCCESS);
  CUfunction function = nullptr;
  expect_code("has the kernel", cuModuleGetFunction(&function, module, "second"), CUDA_SUCCESS);
  values[1] = reinterpret_cast<void*>(sizeof log);
  expect_code("bad",
              cuModuleLoadDataEx(&module,
                                 ".version 7.0\n.target sm_70\n.address_size 64\n"
                                 ".entry k() { no.such.thing; }\n",
                                 2, options, values),
              CUDA_ERROR_INVALID_PTX);
  expect_true("the log has text", log[0] != 0);
  expect_true("that names the line", std::string(log).find("line 4") != std::string::npos);
  expect_code("no text", cuModuleLoadDataEx(&module, nullptr, 0, nullptr, nullptr),
              CUDA_ERROR_INVALID_VALUE);
  cuModuleUnload(load());
}

namespace {

struct Logs {
  char error[1024], info[1024];
  CUjit_option options[5] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
                             CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES,
                             CU_JIT_LOG_VERBOSE};
  void* values[5];
  explicit Logs(size_t bytes = sizeof error, bool verbose = false) {
    std::memset(error, 'x', sizeof error);
    std::memset(info, 'x', sizeof info);
    error[0] = info[0] = 0;
    values[0] = error;
    values[1] = reinterpret_cast<void*>(bytes);
    values[2] = info;
    values[3] = reinterpret_cast<void*>(bytes);
    values[4] = reinterpret_cast<void*>(size_t{verbose});
  }
  CUresult load(const char* text) {
    CUmodule module = nullptr;
    return cuModuleLoadDataEx(&module, text, 5, options, values);
  }
  unsigned error_bytes() const {
    return static_cast<unsigned>(reinterpret_cast<uintptr_t>(values[1]));
  }
};

constexpr const char* broken =
    ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k() {\n  .reg .b32 %r;\n  reet "
    "%r;\n  ret;\n}\n";

}  // namespace

CONFORM(cuModuleLoadDataEx, without_options) {
  CUmodule module = nullptr;
  expect_code("loads", cuModuleLoadDataEx(&module, program, 0, nullptr, nullptr), CUDA_SUCCESS);
  Buffer word(4);
  REQUIRE(launch(function_in(module, "first"), 1, 1, nullptr, word.at(), 9u));
  expect("counter plus 9", read<uint32_t>(word), 16u);
}

CONFORM(cuModuleLoadDataEx, an_error_names_its_line) {
  Logs logs;
  expect_code("the error", logs.load(broken), CUDA_ERROR_INVALID_PTX);
  expect_true("its line", std::strstr(logs.error, "line 6") != nullptr);
  expect_true("the word error", std::strstr(logs.error, "error") != nullptr);
  expect_true("the last words", std::strstr(logs.error, "ptxas fatal") != nullptr);
  expect_true("the size", logs.error_bytes() >= std::strlen(logs.error) &&
                              logs.error_bytes() <= std::strlen(logs.error) + 1);
}

CONFORM(cuModuleLoadDataEx, every_error_names_its_line) {
  auto with = [](const char* line) {
    return std::string(
               ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p) "
               "{\n  .reg .b32 %r;\n  .reg .b64 %d;\n") +
           line + "\n  ret;\n}\n";
  };
  struct {
    const char* what;
    const char* line;
  } constexpr wrong[] = {
      {"unknown register", "mov.u32 %r, %zz;"},       {"wrong type", "mov.u32 %r, %d;"},
      {"missing semicolon", "mov.u32 %r, 1"},         {"unknown label", "bra nowhere;"},
      {"unknown parameter", "ld.param.u64 %d, [q];"}, {"too few operands", "add.u32 %r, %r;"},
      {"unknown modifier", "add.u33 %r, %r, %r;"},    {"unknown function", "call missing;"}};
  for (auto& one : wrong) {
    Logs logs;
    expect_code(one.what, logs.load(with(one.line).c_str()), CUDA_ERROR_INVALID_PTX);
    expect_true(std::string(one.what) + ": a line",
                std::strstr(logs.error, "line 7") || std::strstr(logs.error, "line 8"));
  }
}

CONFORM(cuModuleLoadDataEx, logs_keep_to_their_buffers) {
  Logs logs(16);
  expect_code("the error", logs.load(broken), CUDA_ERROR_INVALID_PTX);
  expect("15 letters", std::strlen(logs.error), 15u);
  expect("nothing behind them", std::string_view(logs.error + 16, 4), "xxxx");
  Logs none(0);
  expect_code("a buffer of no bytes", none.load(broken), CUDA_ERROR_INVALID_PTX);
  expect("left alone", std::string_view(none.error + 1, 3), "xxx");
  Logs good;
  expect_code("no error", good.load(program), CUDA_SUCCESS);
  expect("an empty log", std::string_view(good.error), "");
  expect("of no bytes", good.error_bytes(), 0u);
}

namespace {

/// NVIDIA's driver keeps compiled texts on disk, and one that is found there is not compiled: its
/// log is empty.
void start_without_a_cache() {
  setenv("CUDA_CACHE_DISABLE", "1", 1);
  REQUIRE(cuInit(0));
  CUcontext context = nullptr;
  REQUIRE(cuDevicePrimaryCtxRetain(&context, 0));
  REQUIRE(cuCtxSetCurrent(context));
}

}  // namespace

CONFORM_WITH(cuModuleLoadDataEx, verbose_tells_of_kernels, nothing) {
  start_without_a_cache();
  Logs logs(1024, true);
  expect_code("loads", logs.load(program), CUDA_SUCCESS);
  expect_true("names a kernel", std::strstr(logs.info, "first") != nullptr);
}

CONFORM(cuModuleLoadDataEx, every_option) {
  struct {
    const char* name;
    CUjit_option option;
    uintptr_t value;
  } constexpr all[] = {{"max registers", CU_JIT_MAX_REGISTERS, 64},
                       {"threads per block", CU_JIT_THREADS_PER_BLOCK, 256},
                       {"wall time", CU_JIT_WALL_TIME, 0},
                       {"optimization", CU_JIT_OPTIMIZATION_LEVEL, 0},
                       {"target from context", CU_JIT_TARGET_FROM_CUCONTEXT, 0},
                       {"fallback", CU_JIT_FALLBACK_STRATEGY, CU_PREFER_PTX},
                       {"debug information", CU_JIT_GENERATE_DEBUG_INFO, 1},
                       {"verbose", CU_JIT_LOG_VERBOSE, 1},
                       {"line information", CU_JIT_GENERATE_LINE_INFO, 1},
                       {"cache mode", CU_JIT_CACHE_MODE, CU_JIT_CACHE_OPTION_CG},
                       {"position independent", CU_JIT_POSITION_INDEPENDENT_CODE, 1},
                       {"blocks of a multiprocessor", CU_JIT_MIN_CTA_PER_SM, 2},
                       {"most threads", CU_JIT_MAX_THREADS_PER_BLOCK, 512},
                       {"override", CU_JIT_OVERRIDE_DIRECTIVE_VALUES, 1},
                       {"split", CU_JIT_SPLIT_COMPILE, 1}};
  for (auto& one : all) {
    CUmodule module = nullptr;
    CUjit_option option = one.option;
    void* value = reinterpret_cast<void*>(one.value);
    expect_code(one.name, cuModuleLoadDataEx(&module, program, 1, &option, &value), CUDA_SUCCESS);
    Buffer word(4);
    REQUIRE(launch(function_in(module, "first"), 1, 1, nullptr, word.at(), 1u));
    expect(std::string(one.name) + ": runs", read<uint32_t>(word), 8u);
  }
}

CONFORM_WITH(cuModuleLoadDataEx, wall_time_is_told, nothing) {
  start_without_a_cache();
  CUmodule module = nullptr;
  CUjit_option option = CU_JIT_WALL_TIME;
  void* value = nullptr;
  expect_code("loads", cuModuleLoadDataEx(&module, program, 1, &option, &value), CUDA_SUCCESS);
  float milliseconds = -1;
  std::memcpy(&milliseconds, &value, sizeof milliseconds);
  expect_true("some time", milliseconds > 0 && milliseconds < 60000);
}

CONFORM(cuModuleLoadDataEx, most_threads_limits_launches) {
  CUmodule module = nullptr;
  CUjit_option option = CU_JIT_MAX_THREADS_PER_BLOCK;
  void* value = reinterpret_cast<void*>(64);
  int most = 0;
  expect_code("loads", cuModuleLoadDataEx(&module, program, 1, &option, &value), CUDA_SUCCESS);
  REQUIRE(cuFuncGetAttribute(&most, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK,
                             function_in(module, "first")));
  expect("the limit", most, 64);
  expect_code("a text with its own", cuModuleLoadDataEx(&module, sizes_text, 1, &option, &value),
              CUDA_SUCCESS);
  REQUIRE(cuFuncGetAttribute(&most, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK,
                             function_in(module, "sizes")));
  expect("keeps it", most, 128);
}

CONFORM(cuModuleLoadDataEx, wrong_arguments) {
  CUmodule module = nullptr;
  CUjit_option option = CUjit_option(99);
  void* value = nullptr;
  expect_code("no image", cuModuleLoadDataEx(&module, nullptr, 0, nullptr, nullptr),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no result", cuModuleLoadDataEx(nullptr, program, 0, nullptr, nullptr),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no options", cuModuleLoadDataEx(&module, program, 1, nullptr, nullptr),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("an unknown option", cuModuleLoadDataEx(&module, program, 1, &option, &value),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("the empty text", cuModuleLoadDataEx(&module, "", 0, nullptr, nullptr),
              CUDA_ERROR_INVALID_IMAGE);
  expect_true("no handle", module == nullptr);
}

CONFORM_WITH(cuModuleLoadDataEx, needs_a_context, initialised) {
  CUmodule module;
  expect_code("no context", cuModuleLoadDataEx(&module, program, 0, nullptr, nullptr),
              CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM_WITH(cuModuleLoadDataEx, needs_cuInit, nothing) {
  CUmodule module;
  expect_code("not initialised", cuModuleLoadDataEx(&module, program, 0, nullptr, nullptr),
              CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
