// cuStreamWaitValue*, cuStreamWriteValue*, cuStreamBatchMemOp and the watch list. See memop.h.
// Invariant: an entry leaves the list before its continuation runs. Thread rule: the list is under
// its mutex, which is not held while memory is read for others or a continuation runs.
#include "drivers/cpu/stream/memop.h"

#include <pthread.h>
#include <signal.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <thread>

#include <fmt/format.h>

#include "abi/cpu_api.h"
#include "base/log.h"
#include "drivers/cpu/context.h"
#include "drivers/cpu/graph/capture.h"
#include "drivers/cpu/memory/pointer.h"
#include "drivers/cpu/stream/order.h"

namespace limen::cpu {

namespace detail {
std::atomic<uint32_t> watched{0};
}

namespace {

using Clock = std::chrono::steady_clock;

/// Between two looks at the list: as long as the waiting has taken so far, within these bounds.
constexpr auto shortest_nap = std::chrono::microseconds(5);
constexpr auto longest_nap = std::chrono::microseconds(500);
/// So long after something changed the thread only yields: hand-shakes stay quick.
constexpr auto eager_time = std::chrono::microseconds(50);

/// Reads a word through the kernel, so that unmapped memory is an answer and not a signal.
bool read_word(uint64_t address, bool wide, uint64_t* value) {
  *value = 0;
  const size_t bytes = wide ? 8 : 4;
  iovec here{value, bytes}, there{reinterpret_cast<void*>(address), bytes};
  static std::atomic<bool> refused{false};
  if (!refused.load(std::memory_order_relaxed)) {
    if (process_vm_readv(getpid(), &here, 1, &there, 1, 0) == static_cast<ssize_t>(bytes))
      return true;
    if (errno != EPERM && errno != ENOSYS) return false;
    refused = true;  // a sandbox forbids the call: the bookkeeping must do
  }
  PointerInfo info;
  if (check_range(address, bytes, true, Use::read, &info) != CUDA_SUCCESS) return false;
  *value = wide ? __atomic_load_n(reinterpret_cast<uint64_t*>(address), __ATOMIC_ACQUIRE)
                : __atomic_load_n(reinterpret_cast<uint32_t*>(address), __ATOMIC_ACQUIRE);
  return true;
}

/// source: CUDA Driver API 13.0, CUstreamWaitValue_flags: GEQ is cyclic.
bool is_satisfied(const Memop& wait, uint64_t now) {
  switch (wait.condition) {
    case CU_STREAM_WAIT_VALUE_GEQ:
      return wait.wide ? static_cast<int64_t>(now - wait.value) >= 0
                       : static_cast<int32_t>(static_cast<uint32_t>(now - wait.value)) >= 0;
    case CU_STREAM_WAIT_VALUE_EQ:
      return now == wait.value;
    case CU_STREAM_WAIT_VALUE_AND:
      return (now & wait.value) != 0;
    default: {
      const uint64_t nor = ~(now | wait.value);
      return (wait.wide ? nor : nor & 0xffffffffu) != 0;
    }
  }
}

/// A batch under way in a stream.
struct Run {
  StreamOwner* owner = nullptr;
  std::vector<Memop> operations;
  size_t at = 0;
  std::function<void()> done;
};

void fail(Run& run, const Memop& operation) {
  engine::FaultInfo fault;
  fault.kind = kernel::Fault::illegal_address;
  fault.address = operation.address;
  fault.message =
      fmt::format("a stream memory operation found no memory at {:#x}", operation.address);
  run.owner->kernel_failed(fault);
}

/// Goes on until the end (true) or a wait that is not satisfied (false).
bool advance(Run& run) {
  for (; run.at < run.operations.size(); ++run.at) {
    if (run.owner->error.load(std::memory_order_relaxed)) return true;
    const Memop& operation = run.operations[run.at];
    // Both ways a fence: what the stream did before is visible before the write, and what others
    // wrote before the awaited value is visible after the wait.
    std::atomic_thread_fence(std::memory_order_seq_cst);
    if (operation.kind == Memop::Kind::barrier) continue;
    uint64_t now;
    if (!read_word(operation.address, operation.wide, &now)) {
      fail(run, operation);
      return true;
    }
    if (operation.kind == Memop::Kind::wait) {
      if (!is_satisfied(operation, now)) return false;
      std::atomic_thread_fence(std::memory_order_seq_cst);
      continue;
    }
    if (operation.wide)
      __atomic_store_n(reinterpret_cast<uint64_t*>(operation.address), operation.value,
                       __ATOMIC_SEQ_CST);
    else
      __atomic_store_n(reinterpret_cast<uint32_t*>(operation.address),
                       static_cast<uint32_t>(operation.value), __ATOMIC_SEQ_CST);
    memory_may_have_changed();
  }
  return true;
}

/// Batches whose next wait is not satisfied, and the thread that looks after them.
class WatchList {
 public:
  void add(std::shared_ptr<Run> run) {
    std::lock_guard lock(mutex_);
    runs_.push_back(std::move(run));
    detail::watched.store(static_cast<uint32_t>(runs_.size()), std::memory_order_relaxed);
    if (!started_) start();
    changed_ = true;
    wake_.notify_one();
  }

  void look_again() {
    {
      std::lock_guard lock(mutex_);
      changed_ = true;
    }
    wake_.notify_one();
  }

 private:
  void start() {
    started_ = true;
    // Signals are the program's threads' business.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    std::thread([this] { watch(); }).detach();
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }

  void watch() {
    pthread_setname_np(pthread_self(), "limen-watch");
    Clock::time_point last_change = Clock::now();
    std::vector<std::shared_ptr<Run>> list;
    for (;;) {
      {
        std::unique_lock lock(mutex_);
        if (runs_.empty()) wake_.wait(lock, [this] { return !runs_.empty(); });
        if (changed_) last_change = Clock::now();
        changed_ = false;
        list = runs_;
      }
      bool moved = false;
      for (auto& run : list) {
        const size_t before = run->at;
        const bool over = advance(*run);
        moved |= over || run->at != before;
        if (over) finish(run);
      }
      list.clear();
      if (moved) last_change = Clock::now();
      rest(Clock::now() - last_change);
    }
  }

  void finish(const std::shared_ptr<Run>& run) {
    {
      std::lock_guard lock(mutex_);
      std::erase(runs_, run);
      detail::watched.store(static_cast<uint32_t>(runs_.size()), std::memory_order_relaxed);
    }
    run->done();
  }

  void rest(Clock::duration quiet) {
    if (quiet < eager_time) return std::this_thread::yield();
    const auto nap = std::clamp<Clock::duration>(quiet / 8, shortest_nap, longest_nap);
    std::unique_lock lock(mutex_);
    wake_.wait_for(lock, nap, [this] { return changed_; });
  }

  std::mutex mutex_;
  std::condition_variable wake_;
  bool started_ = false, changed_ = false;
  std::vector<std::shared_ptr<Run>> runs_;
};

/// Never destroyed: its thread outlives static destructors.
WatchList& watch_list() {
  static auto* list = new WatchList;
  return *list;
}

CUresult check_place(uint64_t address, bool wide, Use use) {
  const uint64_t bytes = wide ? 8 : 4;
  if (!address || address % bytes) return CUDA_ERROR_INVALID_VALUE;
  PointerInfo info;
  if (CUresult result = check_range(address, bytes, true, use, &info)) return result;
  // source: CUDA Driver API 13.0, "Stream Memory Operations": no managed memory.
  return info.memory == Memory::managed ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

CUresult no_flush() {
  return report({Code::not_supported,
                 "a flush of remote writes: no device here has remote writes to flush "
                 "(CU_DEVICE_ATTRIBUTE_CAN_FLUSH_REMOTE_WRITES is 0)",
                 ""});
}

CUresult read_wait(uint64_t address, uint64_t value, bool wide, unsigned flags, Memop* out) {
  const unsigned condition = flags & ~unsigned(CU_STREAM_WAIT_VALUE_FLUSH);
  if (condition > CU_STREAM_WAIT_VALUE_NOR) return CUDA_ERROR_INVALID_VALUE;
  if (CUresult result = check_place(address, wide, Use::read)) return result;
  if (flags & CU_STREAM_WAIT_VALUE_FLUSH) return no_flush();
  *out = {Memop::Kind::wait, wide, condition, address, value};
  return CUDA_SUCCESS;
}

CUresult read_write(uint64_t address, uint64_t value, bool wide, unsigned flags, Memop* out) {
  // source: cuda.h 13.0: CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER "is not supported in the v2 API".
  if (flags != CU_STREAM_WRITE_VALUE_DEFAULT) return CUDA_ERROR_INVALID_VALUE;
  if (CUresult result = check_place(address, wide, Use::write)) return result;
  *out = {Memop::Kind::write, wide, 0, address, value};
  return CUDA_SUCCESS;
}

CUresult read_memop(const CUstreamBatchMemOpParams& params, Memop* out) {
  const auto& wait = params.waitValue;
  const auto& write = params.writeValue;
  switch (params.operation) {
    case CU_STREAM_MEM_OP_WAIT_VALUE_32:
      return read_wait(wait.address, wait.value, false, wait.flags, out);
    case CU_STREAM_MEM_OP_WAIT_VALUE_64:
      return read_wait(wait.address, wait.value64, true, wait.flags, out);
    case CU_STREAM_MEM_OP_WRITE_VALUE_32:
      return read_write(write.address, write.value, false, write.flags, out);
    case CU_STREAM_MEM_OP_WRITE_VALUE_64:
      return read_write(write.address, write.value64, true, write.flags, out);
    case CU_STREAM_MEM_OP_BARRIER:
      *out = Memop{};
      return params.memoryBarrier.flags <= CU_STREAM_MEMORY_BARRIER_TYPE_GPU
                 ? CUDA_SUCCESS
                 : CUDA_ERROR_INVALID_VALUE;
    case CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES:
      return params.flushRemoteWrites.flags ? CUDA_ERROR_INVALID_VALUE : no_flush();
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}

/// One operation as a batch has it.
CUstreamBatchMemOpParams describe(bool is_wait, uint64_t address, uint64_t value, bool wide,
                                  unsigned flags) {
  CUstreamBatchMemOpParams params{};
  if (is_wait) {
    params.waitValue.address = address, params.waitValue.value64 = value;
    params.waitValue.flags = flags;
    params.operation = wide ? CU_STREAM_MEM_OP_WAIT_VALUE_64 : CU_STREAM_MEM_OP_WAIT_VALUE_32;
  } else {
    params.writeValue.address = address, params.writeValue.value64 = value;
    params.writeValue.flags = flags;
    params.operation = wide ? CU_STREAM_MEM_OP_WRITE_VALUE_64 : CU_STREAM_MEM_OP_WRITE_VALUE_32;
  }
  return params;
}

CUresult queue_one(CUstream stream, CUresult (*read)(uint64_t, uint64_t, bool, unsigned, Memop*),
                   uint64_t address, uint64_t value, bool wide, unsigned flags) {
  ResolvedStream on;
  if (CUresult result = resolve_stream(stream, &on, UnderCapture::record)) return result;
  Memop operation;
  if (CUresult result = read(address, value, wide, flags, &operation)) return result;
  if (on.capture) {
    const CUstreamBatchMemOpParams params = describe(read == read_wait, address, value, wide, flags);
    return capture_mem_ops(on, &params, 1);
  }
  before_work(*on.context, *on.stream);
  queue_memops(*on.stream, {operation});
  return CUDA_SUCCESS;
}

}  // namespace

void detail::look_again() { watch_list().look_again(); }

CUresult read_memops(unsigned count, const CUstreamBatchMemOpParams* params, unsigned flags,
                     std::vector<Memop>* out) {
  constexpr unsigned most_operations = 255;  // source: CUDA Driver API 13.0, cuStreamBatchMemOp
  if (flags || count > most_operations || (count && !params)) return CUDA_ERROR_INVALID_VALUE;
  out->assign(count, {});
  for (unsigned i = 0; i < count; ++i)
    if (CUresult result = read_memop(params[i], &(*out)[i])) return result;
  return CUDA_SUCCESS;
}

uint64_t queue_memops(Stream& stream, std::vector<Memop> operations) {
  auto run = std::make_shared<Run>();
  run->owner = &stream.owner();
  run->operations = std::move(operations);
  return stream.deferred([run](std::function<void()> done) {
    if (advance(*run)) return true;
    run->done = std::move(done);
    watch_list().add(run);
    return false;
  });
}

CUresult cuStreamWaitValue32(CUstream stream, CUdeviceptr addr, cuuint32_t value,
                             unsigned int flags) {
  return queue_one(stream, read_wait, addr, value, false, flags);
}

CUresult cuStreamWaitValue64(CUstream stream, CUdeviceptr addr, cuuint64_t value,
                             unsigned int flags) {
  return queue_one(stream, read_wait, addr, value, true, flags);
}

CUresult cuStreamWriteValue32(CUstream stream, CUdeviceptr addr, cuuint32_t value,
                              unsigned int flags) {
  return queue_one(stream, read_write, addr, value, false, flags);
}

CUresult cuStreamWriteValue64(CUstream stream, CUdeviceptr addr, cuuint64_t value,
                              unsigned int flags) {
  return queue_one(stream, read_write, addr, value, true, flags);
}

CUresult cuStreamBatchMemOp(CUstream stream, unsigned int count,
                            CUstreamBatchMemOpParams* paramArray, unsigned int flags) {
  ResolvedStream on;
  if (CUresult result = resolve_stream(stream, &on, UnderCapture::record)) return result;
  std::vector<Memop> operations;
  if (CUresult result = read_memops(count, paramArray, flags, &operations)) return result;
  if (operations.empty()) return CUDA_SUCCESS;
  if (on.capture) return capture_mem_ops(on, paramArray, count);
  before_work(*on.context, *on.stream);
  queue_memops(*on.stream, std::move(operations));
  return CUDA_SUCCESS;
}

}  // namespace limen::cpu
