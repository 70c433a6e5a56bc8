// Programs for kill_test.py, which kills them at random moments. Each works until then, with what
// could leave something behind; wrong results end it with exit status 1.
//   kill_victim kernels SEED     compiles and runs kernels, storing them in the disk cache
//   kill_victim pools            exports pools, memory of cuMemCreate and cuMemAlloc, events
//   kill_victim dumps            kernels that fault, with core dumps and their pipe
//   kill_victim exporter         prints handles of memory and of an event, then records it for ever
//   kill_victim importer HANDLES opens both again and again; prints the code that ends this
//   kill_victim all              each of them once
// Thread rule: one thread.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>

#include "conformance/driver_calls.h"

namespace limen::conform {
namespace {

constexpr uint32_t kernel_count = 48;
constexpr uint64_t block_bytes = uint64_t{3} << 20;

void check(CUresult code, const char* call, int line) {
  if (code == CUDA_SUCCESS) return;
  std::fprintf(stderr, "kill_victim: line %d: %s answered %d\n", line, call,
               static_cast<int>(code));
  std::_Exit(1);
}
#define CHECK(call) check(call, #call, __LINE__)

void expect(uint32_t got, uint32_t want, const char* what) {
  if (got == want) return;
  std::fprintf(stderr, "kill_victim: %s: got %u, want %u\n", what, got, want);
  std::_Exit(1);
}

/// A kernel of its own for each number: an entry of its own in the cache.
std::string text_of(uint32_t number) {
  std::string text =
      ".version 7.0\n.target sm_70\n.address_size 64\n"
      ".visible .entry f(.param .u64 out) {\n.reg .b64 %a; .reg .b32 %v;\n"
      "ld.param.u64 %a, [out]; mov.u32 %v, " +
      std::to_string(number) + ";\n";
  // Some length, so that storing takes a while.
  for (uint32_t i = 0; i < 40; ++i) text += "mad.lo.u32 %v, %v, %v, 12345;\n";
  return text + "st.global.u32 [%a], %v; ret; }\n";
}
uint32_t result_of(uint32_t number) {
  for (uint32_t i = 0; i < 40; ++i) number = number * number + 12345;
  return number;
}

uint32_t read_word(CUdeviceptr from) {
  uint32_t word = 0;
  CHECK(cuMemcpyDtoH(&word, from, sizeof word));
  return word;
}

void run_kernel(uint32_t number) {
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  CUdeviceptr out = 0;
  CHECK(cuModuleLoadData(&module, text_of(number).c_str()));
  CHECK(cuModuleGetFunction(&function, module, "f"));
  CHECK(cuMemAlloc(&out, 4));
  void* arguments[] = {&out};
  CHECK(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr));
  expect(read_word(out), result_of(number), "a kernel");
  CHECK(cuMemFree(out));
  CHECK(cuModuleUnload(module));
}

void share_pool() {
  CUmemPoolProps props{};
  props.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  props.handleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  props.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  CUmemoryPool pool = nullptr;
  CHECK(cuMemPoolCreate(&pool, &props));
  CUdeviceptr block = 0;
  CHECK(cuMemAllocFromPoolAsync(&block, block_bytes, pool, nullptr));
  CHECK(cuMemsetD32Async(block, 7, block_bytes / 4, nullptr));
  int descriptor = -1;
  CHECK(cuMemPoolExportToShareableHandle(&descriptor, pool,
                                         CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
  CUmemPoolPtrExportData data;
  CHECK(cuMemPoolExportPointer(&data, block));
  expect(read_word(block + block_bytes - 4), 7, "a shared pool");
  CHECK(cuMemFreeAsync(block, nullptr));
  CHECK(cuStreamSynchronize(nullptr));
  close(descriptor);
  CHECK(cuMemPoolDestroy(pool));
}

void share_mapping() {
  CUmemAllocationProp prop{};
  prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  prop.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  prop.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  constexpr size_t bytes = size_t{4} << 20;
  CUmemGenericAllocationHandle memory = 0;
  CUdeviceptr at = 0;
  int descriptor = -1;
  CHECK(cuMemCreate(&memory, bytes, &prop, 0));
  CHECK(cuMemExportToShareableHandle(&descriptor, memory, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
                                     0));
  CHECK(cuMemAddressReserve(&at, bytes, 0, 0, 0));
  CHECK(cuMemMap(at, bytes, 0, memory, 0));
  CUmemAccessDesc access{prop.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  CHECK(cuMemSetAccess(at, bytes, &access, 1));
  CHECK(cuMemsetD32(at, 9, bytes / 4));
  expect(read_word(at + bytes - 4), 9, "mapped memory");
  CHECK(cuMemUnmap(at, bytes));
  CHECK(cuMemAddressFree(at, bytes));
  CHECK(cuMemRelease(memory));
  close(descriptor);
}

struct Handles {
  CUipcMemHandle memory;
  CUipcEventHandle event;
};

Handles export_all(CUdeviceptr* block, CUevent* event) {
  Handles handles;
  CHECK(cuMemAlloc(block, block_bytes));
  CHECK(cuMemsetD32(*block, 0, block_bytes / 4));
  CHECK(cuEventCreate(event, CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING));
  CHECK(cuIpcGetMemHandle(&handles.memory, *block));
  CHECK(cuIpcGetEventHandle(&handles.event, *event));
  return handles;
}

void share_once() {
  share_pool();
  share_mapping();
  CUdeviceptr block = 0;
  CUevent event = nullptr;
  export_all(&block, &event);
  CHECK(cuEventRecord(event, nullptr));
  CHECK(cuEventSynchronize(event));
  CHECK(cuEventDestroy(event));
  CHECK(cuMemFree(block));
}

void fault_once() {
  CUcontext context = nullptr;
  CHECK(cuCtxCreate(&context, nullptr, CU_CTX_USER_COREDUMP_ENABLE, 0));
  CUdeviceptr block = 0;
  CHECK(cuMemAlloc(&block, block_bytes));
  CHECK(cuMemsetD32(block, 5, block_bytes / 4));
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  CHECK(cuModuleLoadData(&module, text_of(0).c_str()));
  CHECK(cuModuleGetFunction(&function, module, "f"));
  CUdeviceptr nowhere = 4096;
  void* arguments[] = {&nowhere};
  CHECK(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr));
  expect(cuCtxSynchronize(context), CUDA_ERROR_ILLEGAL_ADDRESS, "a fault");
  cuCtxDestroy(context);
}

[[noreturn]] void export_for_ever() {
  CUdeviceptr block = 0;
  CUevent event = nullptr;
  const Handles handles = export_all(&block, &event);
  unsigned char bytes[sizeof handles];
  std::memcpy(bytes, &handles, sizeof bytes);
  for (unsigned char byte : bytes) std::printf("%02x", byte);
  std::puts("");
  std::fflush(stdout);
  for (uint32_t i = 1;; ++i) {
    CHECK(cuMemsetD32Async(block, i, block_bytes / 4, nullptr));
    CHECK(cuEventRecord(event, nullptr));
    if (i % 16 == 0) CHECK(cuStreamSynchronize(nullptr));
  }
}

Handles read_handles(const char* text) {
  Handles handles;
  unsigned char bytes[sizeof handles] = {};
  for (unsigned char& byte : bytes) {
    const std::string digits(text, strnlen(text, 2));
    byte = static_cast<unsigned char>(std::stoul(digits, nullptr, 16));
    text += digits.size();
  }
  std::memcpy(&handles, bytes, sizeof handles);
  return handles;
}

/// Ends when the exporter is gone; what was opened before stays readable all the while.
int import_until_refused(const char* text) {
  const Handles handles = read_handles(text);
  CUdeviceptr kept = 0;
  CHECK(cuIpcOpenMemHandle(&kept, handles.memory, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
  CUevent kept_event = nullptr;
  CHECK(cuIpcOpenEventHandle(&kept_event, handles.event));
  std::puts("opened");
  std::fflush(stdout);
  CUresult refused;
  for (;;) {
    CHECK(cuEventRecord(kept_event, nullptr));
    CHECK(cuStreamWaitEvent(nullptr, kept_event, 0));
    read_word(kept);
    read_word(kept + block_bytes - 4);
    CUevent event = nullptr;
    refused = cuIpcOpenEventHandle(&event, handles.event);
    if (refused) break;
    CHECK(cuStreamWaitEvent(nullptr, event, 0));
    CHECK(cuStreamSynchronize(nullptr));
    CHECK(cuEventSynchronize(event));
    CHECK(cuEventDestroy(event));
  }
  CHECK(cuIpcCloseMemHandle(kept));
  expect(cuIpcOpenMemHandle(&kept, handles.memory, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS), refused,
         "memory of a dead process");
  CHECK(cuEventSynchronize(kept_event));
  std::printf("refused %d\n", static_cast<int>(refused));
  return 0;
}

int run(const std::string& role, const char* argument) {
  CHECK(cuInit(0));
  CUcontext context = nullptr;
  CHECK(cuDevicePrimaryCtxRetain(&context, 0));
  CHECK(cuCtxSetCurrent(context));
  std::mt19937 random(static_cast<unsigned>(std::atoi(argument)));
  if (role == "exporter") export_for_ever();
  if (role == "importer") return import_until_refused(argument);
  while (role == "kernels") run_kernel(1 + static_cast<uint32_t>(random()) % kernel_count);
  while (role == "pools") share_once();
  while (role == "dumps") fault_once();
  if (role != "all") return 2;
  for (uint32_t number = 1; number <= kernel_count; ++number) run_kernel(number);
  share_once();
  fault_once();
  return 0;
}

}  // namespace
}  // namespace limen::conform

int main(int count, char** words) {
  if (count != 2 && count != 3) {
    std::fprintf(stderr, "usage: kill_victim kernels|pools|dumps|exporter|importer|all [WORD]\n");
    return 2;
  }
  return limen::conform::run(words[1], count == 3 ? words[2] : "0");
}
