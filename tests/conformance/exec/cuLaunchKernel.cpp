#include "conformance/conform.h"
#include "conformance/texts.h"

#include <thread>

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

CUfunction function_of(const char* name) {
  CUfunction function = nullptr;
  REQUIRE(cuModuleGetFunction(&function, load(), name));
  return function;
}

}  // namespace

CONFORM(cuLaunchKernel, parameters_both_ways) {
  CUfunction function = function_of("first");
  Buffer word(4);
  CUdeviceptr address = word;
  uint32_t value = 5;
  void* params[] = {&address, &value};
  expect_code("list", cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, params, nullptr),
              CUDA_SUCCESS);
  expect("result", read<uint32_t>(word), 5u);
  struct {
    CUdeviceptr address;
    uint32_t value;
  } packed{word, 6};
  size_t bytes = 12;
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                   CU_LAUNCH_PARAM_END};
  expect_code("buffer", cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, extra),
              CUDA_SUCCESS);
  expect("its result", read<uint32_t>(word), 6u);
  expect_code("both", cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, params, extra),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("neither", cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr),
              CUDA_ERROR_INVALID_VALUE);
}

CONFORM(cuLaunchKernel, wrong_shapes) {
  CUfunction function = function_of("second");
  auto shape = [&](unsigned grid_y, unsigned block_x, unsigned block_z) {
    return cuLaunchKernel(function, 1, grid_y, 1, block_x, 1, block_z, 0, nullptr, nullptr,
                          nullptr);
  };
  expect_code("good", shape(1, 1024, 1), CUDA_SUCCESS);
  expect_code("no blocks", shape(0, 1, 1), CUDA_ERROR_INVALID_VALUE);
  expect_code("65536 rows of blocks", shape(65536, 1, 1), CUDA_ERROR_INVALID_VALUE);
  expect_code("no threads", shape(1, 0, 1), CUDA_ERROR_INVALID_VALUE);
  expect_code("1025 threads", shape(1, 1025, 1), CUDA_ERROR_INVALID_VALUE);
  expect_code("65 layers of threads", shape(1, 1, 65), CUDA_ERROR_INVALID_VALUE);
  CUfunction bounded = function_of("first");
  Buffer word(4);
  expect_code("above .maxntid", launch(bounded, 1, 512, nullptr, word.at(), 1u),
              CUDA_ERROR_INVALID_VALUE);
}

namespace {

struct Word {
  Buffer buffer{32};
  CUdeviceptr address = buffer;
  void* list[2] = {&address, nullptr};
};

CUresult run(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
             unsigned bz, Word& word) {
  return cuLaunchKernel(f, gx, gy, gz, bx, by, bz, 0, nullptr, word.list, nullptr);
}

}  // namespace

CONFORM(cuLaunchKernel, shapes) {
  CUfunction shape = function_in(module_of_text(launches_text), "shape");
  Word word;
  expect_code("of every dimension", run(shape, 2, 3, 4, 5, 6, 7, word), CUDA_SUCCESS);
  REQUIRE(cuCtxSynchronize(nullptr));
  expect("threads x", read<uint32_t>(word.address), 5u);
  expect("threads y", read<uint32_t>(word.address + 4), 6u);
  expect("threads z", read<uint32_t>(word.address + 8), 7u);
  expect("blocks x", read<uint32_t>(word.address + 12), 2u);
  expect("blocks y", read<uint32_t>(word.address + 16), 3u);
  expect("blocks z", read<uint32_t>(word.address + 20), 4u);
  expect_code("most threads", run(shape, 1, 1, 1, 1024, 1, 1, word), CUDA_SUCCESS);
  expect_code("most threads in z", run(shape, 1, 1, 1, 16, 1, 64, word), CUDA_SUCCESS);
  expect_code("most blocks in y", run(shape, 1, 65535, 1, 1, 1, 1, word), CUDA_SUCCESS);
  expect_code("many blocks in x", run(shape, 100000, 1, 1, 1, 1, 1, word), CUDA_SUCCESS);
  REQUIRE(cuCtxSynchronize(nullptr));
  expect("many blocks", read<uint32_t>(word.address + 12), 100000u);
}

CONFORM(cuLaunchKernel, shapes_that_cannot_be) {
  CUmodule module = module_of_text(launches_text);
  CUfunction shape = function_in(module, "shape"), fixed = function_in(module, "fixed");
  Word word;
  write<uint32_t>(word.address, 0);
  expect_code("no blocks in x", run(shape, 0, 1, 1, 1, 1, 1, word), CUDA_ERROR_INVALID_VALUE);
  expect_code("no blocks in y", run(shape, 1, 0, 1, 1, 1, 1, word), CUDA_ERROR_INVALID_VALUE);
  expect_code("no blocks in z", run(shape, 1, 1, 0, 1, 1, 1, word), CUDA_ERROR_INVALID_VALUE);
  expect_code("no threads in x", run(shape, 1, 1, 1, 0, 1, 1, word), CUDA_ERROR_INVALID_VALUE);
  expect_code("no threads in y", run(shape, 1, 1, 1, 1, 0, 1, word), CUDA_ERROR_INVALID_VALUE);
  expect_code("no threads in z", run(shape, 1, 1, 1, 1, 1, 0, word), CUDA_ERROR_INVALID_VALUE);
  expect_code("1025 threads in x", run(shape, 1, 1, 1, 1025, 1, 1, word), CUDA_ERROR_INVALID_VALUE);
  expect_code("1025 threads in y", run(shape, 1, 1, 1, 1, 1025, 1, word), CUDA_ERROR_INVALID_VALUE);
  expect_code("65 threads in z", run(shape, 1, 1, 1, 1, 1, 65, word), CUDA_ERROR_INVALID_VALUE);
  expect_code("1056 threads in all", run(shape, 1, 1, 1, 32, 33, 1, word),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("2^31 blocks in x", run(shape, 0x80000000, 1, 1, 1, 1, 1, word),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("65536 blocks in y", run(shape, 1, 65536, 1, 1, 1, 1, word),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("65536 blocks in z", run(shape, 1, 1, 65536, 1, 1, 1, word),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("more threads than .maxntid",
              launch(function_in(module_of_text(sizes_text), "sizes"), 1, 256, nullptr, uint64_t{1},
                     word.address, 1u),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("as .reqntid", run(fixed, 1, 1, 1, 8, 2, 1, word), CUDA_SUCCESS);
  expect_code("other than .reqntid", run(fixed, 1, 1, 1, 16, 1, 1, word), CUDA_ERROR_INVALID_VALUE);
  expect_code("fewer than .reqntid", run(fixed, 1, 1, 1, 8, 1, 1, word), CUDA_ERROR_INVALID_VALUE);
  REQUIRE(cuCtxSynchronize(nullptr));
  expect("the good one ran", read<uint32_t>(word.address), 16u);
}

CONFORM(cuLaunchKernel, parameters_of_every_size) {
  CUfunction mixed = function_in(module_of_text(launches_text), "mixed");
  Word word;
  uint8_t byte = 200;
  uint32_t three[3] = {1, 2, 77777};
  uint16_t half = 60000;
  void* list[] = {&byte, &word.address, three, &half};
  expect_code("by list", cuLaunchKernel(mixed, 1, 1, 1, 1, 1, 1, 0, nullptr, list, nullptr),
              CUDA_SUCCESS);
  byte = 1, three[2] = 2, half = 3;
  REQUIRE(cuCtxSynchronize(nullptr));
  expect("byte", read<uint32_t>(word.address), 200u);
  expect("structure", read<uint32_t>(word.address + 4), 77777u);
  expect("short", read<uint32_t>(word.address + 8), 60000u);
}

CONFORM(cuLaunchKernel, parameters_in_one_buffer) {
  CUfunction mixed = function_in(module_of_text(launches_text), "mixed");
  Word word;
  unsigned char bytes[32] = {9};
  uint32_t number = 1234;
  uint16_t half = 99;
  std::memcpy(bytes + 8, &word.address, 8);
  std::memcpy(bytes + 24, &number, 4);
  std::memcpy(bytes + 28, &half, 2);
  size_t size = 30;
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, bytes, CU_LAUNCH_PARAM_BUFFER_SIZE, &size,
                   CU_LAUNCH_PARAM_END};
  auto run_extra = [&](void** params) {
    return cuLaunchKernel(mixed, 1, 1, 1, 1, 1, 1, 0, nullptr, params, extra);
  };
  expect_code("by buffer", run_extra(nullptr), CUDA_SUCCESS);
  std::memset(bytes, 0, 8);
  REQUIRE(cuCtxSynchronize(nullptr));
  expect("byte", read<uint32_t>(word.address), 9u);
  expect("structure", read<uint32_t>(word.address + 4), 1234u);
  expect("short", read<uint32_t>(word.address + 8), 99u);
  void* list[] = {bytes, &word.address, &number, &half};
  expect_code("by both", run_extra(list), CUDA_ERROR_INVALID_VALUE);
  size = 32;
  expect_code("up to the alignment", run_extra(nullptr), CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
  size = 64;
  expect_code("too many bytes", run_extra(nullptr), CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
  void* order[] = {CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_BUFFER_POINTER, bytes,
                   CU_LAUNCH_PARAM_END};
  size = 30;
  expect_code("size before pointer",
              cuLaunchKernel(mixed, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, order), CUDA_SUCCESS);
  void* unknown[] = {reinterpret_cast<void*>(uintptr_t{77}), bytes, CU_LAUNCH_PARAM_END};
  expect_code("an unknown name",
              cuLaunchKernel(mixed, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, unknown),
              CUDA_ERROR_INVALID_VALUE);
  void* no_pointer[] = {CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_END};
  expect_code("a size alone",
              cuLaunchKernel(mixed, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, no_pointer),
              CUDA_ERROR_INVALID_VALUE);
  void* no_size[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, bytes, CU_LAUNCH_PARAM_END};
  expect_code("a pointer alone",
              cuLaunchKernel(mixed, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, no_size),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("nothing failed", cuCtxSynchronize(nullptr), CUDA_SUCCESS);
}

// On the H200 the kernel reads what the buffer does not hold, and fails.
CONFORM(cuLaunchKernel, too_small_a_buffer) {
  CUfunction mixed = function_in(module_of_text(launches_text), "mixed");
  unsigned char bytes[32] = {};
  size_t size = 8;
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, bytes, CU_LAUNCH_PARAM_BUFFER_SIZE, &size,
                   CU_LAUNCH_PARAM_END};
  expect_code("too few bytes", cuLaunchKernel(mixed, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, extra),
              CUDA_SUCCESS);
}

CONFORM(cuLaunchKernel, no_parameters) {
  CUmodule module = module_of_text(launches_text);
  CUfunction nothing = function_in(module, "nothing"), shape = function_in(module, "shape");
  void* empty[] = {nullptr};
  expect_code("a kernel without any",
              cuLaunchKernel(nothing, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr),
              CUDA_SUCCESS);
  expect_code("and an empty list",
              cuLaunchKernel(nothing, 1, 1, 1, 1, 1, 1, 0, nullptr, empty, nullptr), CUDA_SUCCESS);
  void* end[] = {CU_LAUNCH_PARAM_END};
  expect_code("and an empty buffer",
              cuLaunchKernel(nothing, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, end), CUDA_SUCCESS);
  expect_code("a kernel with one",
              cuLaunchKernel(shape, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("all is well", cuCtxSynchronize(nullptr), CUDA_SUCCESS);
}

CONFORM(cuLaunchKernel, shared_memory) {
  CUfunction dynamic = function_in(module_of_text(launches_text), "dynamic");
  Word word;
  unsigned offset = 49148;
  void* list[] = {&word.address, &offset};
  auto with = [&](unsigned bytes) {
    return cuLaunchKernel(dynamic, 1, 1, 1, 1, 1, 1, bytes, nullptr, list, nullptr);
  };
  expect_code("48 KiB", with(49152), CUDA_SUCCESS);
  expect("its last word", read<uint32_t>(word.address), 49149u);
  expect_code("one byte more", with(49153), CUDA_ERROR_INVALID_VALUE);
  expect_code("1 MiB", with(1 << 20), CUDA_ERROR_INVALID_VALUE);
  expect_code("4 GiB", with(~0u), CUDA_ERROR_INVALID_VALUE);
  CUfunction sizes = function_in(module_of_text(sizes_text), "sizes");
  uint8_t a = 1;
  unsigned b = 2;
  void* list2[] = {&a, &word.address, &b};
  auto beside = [&](unsigned bytes) {
    return cuLaunchKernel(sizes, 1, 1, 1, 1, 1, 1, bytes, nullptr, list2, nullptr);
  };
  expect_code("beside static memory", beside(49152 - 512), CUDA_SUCCESS);
  expect("static memory holds", read<uint32_t>(word.address), 3u);
  expect_code("one byte more beside it", beside(49152 - 511), CUDA_ERROR_INVALID_VALUE);
}

CONFORM(cuLaunchKernel, streams) {
  CUfunction store = common_kernel("store");
  Buffer word(4);
  CUstream stream = nullptr;
  REQUIRE(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  expect_code("a stream", launch(store, 1, 1, stream, word.at(), 1u), CUDA_SUCCESS);
  REQUIRE(cuStreamSynchronize(stream));
  expect("its value", read<uint32_t>(word), 1u);
  expect_code("legacy", launch(store, 1, 1, CU_STREAM_LEGACY, word.at(), 2u), CUDA_SUCCESS);
  expect("legacy's value", read<uint32_t>(word), 2u);
  expect_code("per thread", launch(store, 1, 1, CU_STREAM_PER_THREAD, word.at(), 3u), CUDA_SUCCESS);
  REQUIRE(cuStreamSynchronize(CU_STREAM_PER_THREAD));
  expect("per thread's value", read<uint32_t>(word), 3u);
  REQUIRE(cuStreamDestroy(stream));
  expect_code("destroyed", launch(store, 1, 1, stream, word.at(), 4u), CUDA_ERROR_INVALID_HANDLE);
  expect("nothing ran", read<uint32_t>(word), 3u);
}

CONFORM(cuLaunchKernel, handles) {
  CUmodule module = module_of_text(program);
  CUfunction first = function_in(module, "first");
  auto kernel = reinterpret_cast<CUfunction>(kernel_in(library_of_text(program), "first"));
  Buffer word(4);
  expect_code("a kernel of a library", launch(kernel, 1, 1, nullptr, word.at(), 2u), CUDA_SUCCESS);
  expect("its value", read<uint32_t>(word), 9u);
  expect_code("none", launch(nullptr, 1, 1, nullptr, word.at(), 2u), CUDA_ERROR_INVALID_HANDLE);
  expect_code("none, in no shape", launch(nullptr, 0, 0, nullptr, word.at(), 2u),
              CUDA_ERROR_INVALID_HANDLE);
  expect_code("a stream as a function",
              launch(reinterpret_cast<CUfunction>(module), 1, 1, nullptr, word.at(), 2u),
              CUDA_ERROR_INVALID_HANDLE);
  REQUIRE(cuModuleUnload(module));
  expect_code("unloaded", launch(first, 1, 1, nullptr, word.at(), 2u), CUDA_ERROR_INVALID_HANDLE);
}

CONFORM(cuLaunchKernel, foreign_memory) {
  Buffer word(4);
  expect_code("refused", launch(foreign_handle<CUfunction>(), 1, 1, nullptr, word.at(), 2u),
              CUDA_ERROR_INVALID_HANDLE);
}

CONFORM(cuLaunchKernel, contexts) {
  CUfunction store = common_kernel("store");
  auto kernel = reinterpret_cast<CUfunction>(kernel_in(library_of_text(program), "first"));
  Buffer word(4);
  CUcontext primary = nullptr, made = nullptr;
  REQUIRE(cuCtxGetCurrent(&primary));
  CUstream stream = nullptr;
  REQUIRE(cuStreamCreate(&stream, 0));
  REQUIRE(cuCtxCreate(&made, nullptr, 0, 0));
  expect_code("a function of another context", launch(store, 1, 1, nullptr, word.at(), 5u),
              CUDA_ERROR_INVALID_HANDLE);
  expect_code("on a stream of its context", launch(store, 1, 1, stream, word.at(), 5u),
              CUDA_SUCCESS);
  REQUIRE(cuStreamSynchronize(stream));
  expect("it ran", read<uint32_t>(word), 5u);
  expect_code("a library's kernel in this context", launch(kernel, 1, 1, nullptr, word.at(), 1u),
              CUDA_SUCCESS);
  REQUIRE(cuCtxSynchronize(nullptr));
  expect("a counter of this context", read<uint32_t>(word), 8u);
  std::thread([&] {
    expect_code("no context", launch(store, 1, 1, nullptr, word.at(), 1u),
                CUDA_ERROR_INVALID_CONTEXT);
  }).join();
}

CONFORM(cuLaunchKernel, failures_of_kernels) {
  CUfunction trap = common_kernel("trap");
  expect_code("launches", launch(trap, 1, 1, nullptr), CUDA_SUCCESS);
  expect_code("fails", cuCtxSynchronize(nullptr), CUDA_ERROR_LAUNCH_FAILED);
  expect_code("no launch after it", launch(trap, 1, 1, nullptr), CUDA_ERROR_LAUNCH_FAILED);
}

CONFORM(cuLaunchKernel, wild_addresses) {
  expect_code("launches",
              launch(common_kernel("store"), 1, 1, nullptr, uint64_t{0x123456789000}, 1u),
              CUDA_SUCCESS);
  expect_code("fails", cuCtxSynchronize(nullptr), CUDA_ERROR_ILLEGAL_ADDRESS);
}

CONFORM(cuLaunchKernel, misaligned_addresses) {
  Buffer word(16);
  expect_code("launches", launch(common_kernel("store"), 1, 1, nullptr, word.at(2), 1u),
              CUDA_SUCCESS);
  expect_code("fails", cuCtxSynchronize(nullptr), CUDA_ERROR_MISALIGNED_ADDRESS);
}

CONFORM_WITH(cuLaunchKernel, needs_a_context, initialised) {
  expect_code("no context", cuLaunchKernel(nullptr, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr),
              CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM_WITH(cuLaunchKernel, needs_cuInit, nothing) {
  expect_code("not initialised",
              cuLaunchKernel(nullptr, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr),
              CUDA_ERROR_NOT_INITIALIZED);
}

CONFORM(cuLaunchKernel, more_launches_than_a_queue_holds) {
  CUstream stream = nullptr;
  Buffer word(4);
  REQUIRE(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  REQUIRE(cuMemsetD32(word, 0, 1));
  CUfunction add = common_kernel("add");
  REQUIRE(cuLaunchHostFunc(
      stream, [](void*) { std::this_thread::sleep_for(std::chrono::milliseconds(200)); }, nullptr));
  for (int i = 0; i < 40000; ++i) REQUIRE(launch(add, 1, 1, stream, word.at(), 1u));
  expect_code("all are done", cuStreamSynchronize(stream), CUDA_SUCCESS);
  expect("sum", read<uint32_t>(word), 40000u);
}

}  // namespace limen::conform
