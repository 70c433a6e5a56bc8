// Many host threads over many streams of one context: allocations in stream order and plain, fills,
// kernels, copies, events across streams, host functions, streams that are destroyed with work in
// them. Every chain of work ends in a value known beforehand, seen by a host function and by the
// host; at the end every host function has run, every byte is free again, and the process has not
// grown. Runs on whichever libcuda.so.1 the loader finds.
//   driver_stress [--seconds N] [--threads N] [--streams N] [--seed N]
// Exit status: 0 good, 1 something was lost, wrong or leaked, 2 wrong use.
// Thread rule: streams are shared by all threads, everything else has one owner.
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "conformance/driver_calls.h"

namespace limen::conform {

namespace {

constexpr const char* kernels = R"(
.version 7.0
.target sm_70
.address_size 64
.visible .entry add(.param .u64 words, .param .u32 count, .param .u32 value) {
  .reg .b64 %a, %o; .reg .b32 %i, %n, %v, %t, %b; .reg .pred %p;
  ld.param.u64 %a, [words]; ld.param.u32 %n, [count]; ld.param.u32 %v, [value];
  mov.u32 %i, %ctaid.x; mov.u32 %b, %ntid.x; mov.u32 %t, %tid.x;
  mad.lo.u32 %i, %i, %b, %t;
  setp.ge.u32 %p, %i, %n;
  @%p ret;
  mul.wide.u32 %o, %i, 4;
  add.u64 %a, %a, %o;
  red.global.add.u32 [%a], %v;
  ret;
}
)";

struct Options {
  int seconds = 5, threads = 64, streams = 64;
  unsigned seed = 1;
};

struct Shared {
  CUcontext context = nullptr;
  CUfunction add = nullptr;
  std::vector<CUstream> streams;
  std::atomic<bool> over{false};
  std::atomic<uint64_t> chains{0}, queued{0}, ran{0}, wrong{0};
};

Shared shared;

void check(CUresult code, const char* call, int line) {
  if (code == CUDA_SUCCESS) return;
  std::fprintf(stderr, "driver_stress: line %d: %s answered %d\n", line, call,
               static_cast<int>(code));
  std::_Exit(1);
}
#define CHECK(call) check(call, #call, __LINE__)

void complain(const char* what, uint32_t got, uint32_t want) {
  if (shared.wrong.fetch_add(1) < 20)
    std::fprintf(stderr, "driver_stress: %s: got %u, want %u\n", what, got, want);
}

/// One chain of work; lives until its host function has run.
struct Chain {
  uint32_t* host = nullptr;  ///< pinned: first and last word as the device left them
  uint32_t want = 0;
  std::atomic<bool> done{false};
};

void note_seen(void* data) {
  auto* chain = static_cast<Chain*>(data);
  for (int i = 0; i < 2; ++i)
    if (chain->host[i] != chain->want) complain("in a host function", chain->host[i], chain->want);
  shared.ran.fetch_add(1);
  chain->done.store(true, std::memory_order_release);
}

class Worker {
 public:
  explicit Worker(unsigned seed) : random_(seed) {}

  void run() {
    CHECK(cuCtxSetCurrent(shared.context));
    CHECK(cuMemHostAlloc(reinterpret_cast<void**>(&chain_.host), 8, 0));
    while (!shared.over) one_chain();
    CHECK(cuMemFreeHost(chain_.host));
  }

 private:
  uint32_t below(uint32_t limit) { return static_cast<uint32_t>(random_()) % limit; }
  CUstream any_stream() {
    return shared.streams[below(static_cast<uint32_t>(shared.streams.size()))];
  }

  void one_chain() {
    const bool own = below(8) == 0;
    CUstream stream = any_stream();
    if (own) CHECK(cuStreamCreate(&stream, below(2) ? CU_STREAM_NON_BLOCKING : CU_STREAM_DEFAULT));
    words_ = 1 + below(4096);
    ordered_ = below(2) != 0;
    // A plain allocation is there at once, a stream-ordered one for what is queued behind it.
    if (ordered_)
      CHECK(cuMemAllocAsync(&memory_, words_ * 4, stream));
    else
      CHECK(cuMemAlloc(&memory_, words_ * 4));
    chain_.want = below(1000);
    chain_.done.store(false);
    CHECK(cuMemsetD32Async(memory_, chain_.want, words_, stream));
    for (uint32_t i = below(4); i-- > 0;) {
      add_in(stream);
      if (below(2)) stream = cross(stream, own);
    }
    finish(stream);
    if (own) CHECK(cuStreamDestroy(own_ ? own_ : stream));
    own_ = nullptr;
    shared.chains.fetch_add(1);
  }

  void add_in(CUstream stream) {
    uint32_t value = 1 + below(100);
    void* arguments[] = {&memory_, &words_, &value};
    const unsigned threads = 32u << below(4);
    CHECK(cuLaunchKernel(shared.add, (words_ + threads - 1) / threads, 1, 1, threads, 1, 1, 0,
                         stream, arguments, nullptr));
    chain_.want += value;
  }

  /// The chain goes on in another stream, after an event that may be destroyed at once.
  CUstream cross(CUstream from, bool own) {
    CUevent event = nullptr;
    CHECK(cuEventCreate(&event, below(2) ? CU_EVENT_DISABLE_TIMING : CU_EVENT_DEFAULT));
    CHECK(cuEventRecord(event, from));
    CUstream to = any_stream();
    CHECK(cuStreamWaitEvent(to, event, 0));
    CHECK(cuEventDestroy(event));
    if (own && !own_) own_ = from;
    return to;
  }

  void finish(CUstream stream) {
    CHECK(cuMemcpyDtoHAsync(&chain_.host[0], memory_, 4, stream));
    CHECK(cuMemcpyDtoHAsync(&chain_.host[1], memory_ + (words_ - 1) * 4, 4, stream));
    shared.queued.fetch_add(1);
    CHECK(cuLaunchHostFunc(stream, note_seen, &chain_));
    if (ordered_) CHECK(cuMemFreeAsync(memory_, stream));
    wait_for(stream);
    if (!chain_.done.load(std::memory_order_acquire))
      complain("a host function was overtaken", 0, 1);
    if (!ordered_) CHECK(cuMemFree(memory_));
  }

  void wait_for(CUstream stream) {
    CUevent event = nullptr;
    switch (below(4)) {
      case 0:
        CHECK(cuStreamSynchronize(stream));
        return;
      case 1:
        CHECK(cuEventCreate(&event, CU_EVENT_BLOCKING_SYNC));
        break;
      default:
        CHECK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    }
    CHECK(cuEventRecord(event, stream));
    if (below(2)) {
      CHECK(cuEventSynchronize(event));
    } else {
      CUresult code;
      while ((code = cuEventQuery(event)) == CUDA_ERROR_NOT_READY) std::this_thread::yield();
      CHECK(code);
    }
    CHECK(cuEventDestroy(event));
  }

  std::mt19937 random_;
  Chain chain_;
  CUdeviceptr memory_ = 0;
  uint32_t words_ = 0;
  bool ordered_ = false;
  CUstream own_ = nullptr;  ///< the chain's own stream, once the chain has left it
};

size_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  size_t total = 0, resident = 0;
  file >> total >> resident;
  return resident * static_cast<size_t>(sysconf(_SC_PAGESIZE));
}

size_t free_bytes() {
  size_t free = 0, total = 0;
  CHECK(cuMemGetInfo(&free, &total));
  return free;
}

void trim_pool() {
  CUmemoryPool pool = nullptr;
  CHECK(cuDeviceGetDefaultMemPool(&pool, 0));
  uint64_t used = 0;
  CHECK(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &used));
  if (used) complain("bytes of the pool still in use", static_cast<uint32_t>(used), 0);
  CHECK(cuMemPoolTrimTo(pool, 0));
}

/// All threads for `seconds`; what they made is gone afterwards.
void run_threads(const Options& options, double seconds, unsigned seed) {
  shared.over = false;
  std::vector<std::thread> threads;
  for (int i = 0; i < options.threads; ++i)
    threads.emplace_back([seed, i] { Worker(seed * 1000 + static_cast<unsigned>(i)).run(); });
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  shared.over = true;
  for (std::thread& thread : threads) thread.join();
  CHECK(cuCtxSynchronize(shared.context));
  trim_pool();
}

int stress(const Options& options) {
  CUmodule module = nullptr;
  CHECK(cuInit(0));
  CHECK(cuDevicePrimaryCtxRetain(&shared.context, 0));
  CHECK(cuCtxSetCurrent(shared.context));
  CHECK(cuModuleLoadData(&module, kernels));
  CHECK(cuModuleGetFunction(&shared.add, module, "add"));
  shared.streams.resize(static_cast<size_t>(options.streams));
  for (size_t i = 0; i < shared.streams.size(); ++i)
    CHECK(cuStreamCreateWithPriority(&shared.streams[i],
                                     i % 2 ? CU_STREAM_NON_BLOCKING : CU_STREAM_DEFAULT,
                                     -static_cast<int>(i % 3)));
  // Half of the time is for everything to reach its size; the second half may not add to it.
  run_threads(options, options.seconds / 2.0, options.seed);
  const size_t free_before = free_bytes(), resident_before = resident_bytes();
  run_threads(options, options.seconds / 2.0, options.seed + 1);
  const size_t free_after = free_bytes(), resident_after = resident_bytes();
  std::printf("%llu chains, %llu host functions, resident %zu KiB then %zu KiB\n",
              static_cast<unsigned long long>(shared.chains.load()),
              static_cast<unsigned long long>(shared.ran.load()), resident_before >> 10,
              resident_after >> 10);
  if (shared.ran != shared.queued)
    complain("host functions run", static_cast<uint32_t>(shared.ran),
             static_cast<uint32_t>(shared.queued));
  if (free_after < free_before)
    complain("KiB of device memory lost", static_cast<uint32_t>((free_before - free_after) >> 10),
             0);
  // Allocators keep some pages back; a leak of a few bytes a chain would show as more.
  if (resident_after > resident_before + resident_before / 8 + (16u << 20))
    complain("KiB more than half way",
             static_cast<uint32_t>((resident_after - resident_before) >> 10), 0);
  for (CUstream stream : shared.streams) CHECK(cuStreamDestroy(stream));
  CHECK(cuDevicePrimaryCtxRelease(0));
  std::puts(shared.wrong ? "FAILED" : "PASSED");
  return shared.wrong ? 1 : 0;
}

bool parse(int count, char** words, Options& options) {
  for (int i = 1; i + 1 < count; i += 2) {
    const std::string word = words[i];
    const int number = std::atoi(words[i + 1]);
    if (number <= 0) return false;
    if (word == "--seconds") {
      options.seconds = number;
    } else if (word == "--threads") {
      options.threads = number;
    } else if (word == "--streams") {
      options.streams = number;
    } else if (word == "--seed") {
      options.seed = static_cast<unsigned>(number);
    } else {
      return false;
    }
  }
  return count % 2 == 1;
}

}  // namespace
}  // namespace limen::conform

int main(int count, char** words) {
  limen::conform::Options options;
  if (!limen::conform::parse(count, words, options)) {
    std::fprintf(stderr,
                 "usage: driver_stress [--seconds N] [--threads N] [--streams N] [--seed N]\n");
    return 2;
  }
  return limen::conform::stress(options);
}
