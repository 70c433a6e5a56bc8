// The worker thread; see worker.h. Region strategy blocks are run here, fiber blocks in block_set.
// Thread rule: as worker.h.
#include "engine/worker.h"

#include <fmt/format.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include <algorithm>

#include "engine/machine.h"
#include "engine/scheduler.h"

namespace limen::engine {
namespace {

constexpr size_t stack_bytes = size_t{8} << 20;  // kernels may recurse
constexpr size_t guard_bytes = 1 << 20;          // frames of recursive kernels may be large
constexpr uint64_t chunk_target = 16'000 * 16;   // sixteenths of a nanosecond a chunk should take
constexpr uint64_t most_chunk = uint64_t{1} << 32;
constexpr uint64_t visit_ns = 20'000;       // a worker with resident blocks helps this long
constexpr uint64_t look_every_ns = 20'000;  // a spinning worker looks for other work
// And lets the program's own threads run. Not more often: on a busy machine each sched_yield may
// cost a spinning kernel a whole time slice.
constexpr uint64_t yield_every_ns = 100'000;
constexpr uint32_t yield_every_rounds = 4;

constexpr uint64_t longest_nap_ns = 100'000;
constexpr uint64_t shortest_nap_ns = 5'000;

/// KernelThread::guard_* of the worker's own stack.
void use_own_stack(KernelThread& thread, void* stack) {
  const auto base = reinterpret_cast<uint64_t>(stack);
  thread.guard_begin = base;
  thread.guard_end = thread.stack_begin = base + guard_bytes;
  thread.stack_end = thread.stack_begin + stack_bytes;
}

thread_local Worker* this_worker = nullptr;

}  // namespace

Worker* current_worker() { return this_worker; }

Worker::Worker(Scheduler& scheduler, uint32_t index, size_t fiber_stack_bytes)
    : scheduler_(scheduler), index_(index), blocks_(*this, fiber_stack_bytes) {
  record_.worker = this;
}

Worker::~Worker() {
  if (stack_ != nullptr) munmap(stack_, guard_bytes + stack_bytes);
}

bool Worker::start(int core) {
  void* memory = mmap(nullptr, guard_bytes + stack_bytes, PROT_NONE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (memory == MAP_FAILED) return false;
  auto* base = static_cast<uint8_t*>(memory);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  bool ok = mprotect(base + guard_bytes, stack_bytes, PROT_READ | PROT_WRITE) == 0 &&
            pthread_attr_setstack(&attributes, base + guard_bytes, stack_bytes) == 0;
  if (ok) {
    stack_ = memory;
    // The thread starts with every signal blocked and opens the synchronous ones itself.
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    ok = pthread_create(&thread_handle_, &attributes, &Worker::enter, this) == 0;
    pthread_sigmask(SIG_SETMASK, &old, nullptr);
  }
  pthread_attr_destroy(&attributes);
  if (!ok) {
    munmap(memory, guard_bytes + stack_bytes);
    stack_ = nullptr;
    return false;
  }
  if (core >= 0) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(static_cast<size_t>(core), &set);
    pthread_setaffinity_np(thread_handle_, sizeof set, &set);
  }
  return true;
}

void Worker::join() { pthread_join(thread_handle_, nullptr); }

void* Worker::enter(void* self) {
  auto* worker = static_cast<Worker*>(self);
  this_worker = worker;
  kernel_thread = &worker->thread;
  prepare_thread_signals();
  install_fault_handlers(true);
  pthread_setname_np(pthread_self(), fmt::format("limen-w{}", worker->index_).c_str());
  prctl(PR_SET_TIMERSLACK, 1000UL, 0, 0, 0);  // timed parks are tens of microseconds
  worker->loop();
  kernel_thread = nullptr;
  release_thread_signals();
  return nullptr;
}

void Worker::loop() {
  for (;;) {
    if (!blocks_.empty()) {
      serve_blocks();
      continue;
    }
    blocks_.offer_stacks();
    Work work;
    if (!scheduler_.next_work(*this, work)) return;
    if (work.grid != nullptr)
      run_grid(*work.grid, false);
    else
      work.task();
  }
}

/// One slice of the resident blocks, then a look at what else there is.
void Worker::serve_blocks() {
  const BlockSet::Slice slice = blocks_.run_slice();
  if (slice == BlockSet::Slice::empty) return;
  const uint64_t now = now_ns();
  if (scheduler_.epoch() != seen_epoch || now - last_look_ns_ > look_every_ns) {
    last_look_ns_ = now;
    Work work;
    if (scheduler_.try_work(*this, work)) {
      if (work.grid != nullptr)
        run_grid(*work.grid, work.grid->priority >= blocks_.most_urgent());
      else
        work.task();
      if (left != nullptr) scheduler_.leave(*left, index_);
      left = nullptr;
      last_look_ns_ = 0;  // there may be more of it
      return;
    }
  }
  if (blocks_.admit_more(slice) || slice == BlockSet::Slice::over) return;
  if (slice == BlockSet::Slice::sleeping) {
    nap(blocks_.next_wake_ns());
  } else if (++rounds_ >= yield_every_rounds && now - last_yield_ns_ > yield_every_ns) {
    sched_yield();
    rounds_ = 0;
    last_yield_ns_ = now_ns();
  }
}

/// All fibers sleep: so does the thread, but not so long that other streams' work waits much.
void Worker::nap(uint64_t wake_ns) {
  const uint64_t now = now_ns();
  if (wake_ns <= now) return;
  const uint64_t length = std::min(wake_ns - now, longest_nap_ns);
  if (length < shortest_nap_ns) {
    cpu_pause();
    return;
  }
  const timespec duration{0, static_cast<long>(length)};
  clock_nanosleep(CLOCK_MONOTONIC, 0, &duration, nullptr);
}

void Worker::run_grid(GridRun& grid, bool once) {
  if (grid.next.load(std::memory_order_relaxed) == 0) install_fault_handlers(false);
  if (grid.fibers) {
    // Without stacks for it the grid stays listed; look again when others may have returned some.
    if (!blocks_.join(grid) && blocks_.empty()) nap(now_ns() + longest_nap_ns);
    return;
  }
  run_region(grid, once);
  left = &grid;
}

// ---- Region strategy ---------------------------------------------------------------------------

/// Blocks to take next; `most` grows from 1, so a kernel whose blocks have become much dearer since
/// its last launch is noticed after one of them.
uint64_t Worker::chunk_size(const GridRun& grid, uint64_t most) const {
  const uint32_t cost = grid.block_cost.load(std::memory_order_relaxed);
  if (cost == 0) return 1;
  const uint64_t by_time = chunk_target / cost;
  const uint32_t workers = grid.desired.load(std::memory_order_relaxed);
  const uint64_t by_share = workers <= 1 ? by_time : grid.unclaimed() / (2 * workers);
  return std::max<uint64_t>(1, std::min({by_time, by_share, most}));
}

bool Worker::prepare_region(GridRun& grid) {
  const KernelCode& code = *grid.spec->code;
  const kernel::KernelMeta& meta = code.meta;
  const uint32_t width = std::max(1u, meta.width);
  const size_t warps = (grid.block_threads + width - 1) / width;
  record_.grid = &grid;
  context_.launch = &grid.launch;
  context_.block = &record_;
  context_.worker = grid.sm_of(index_);
  context_.shared = shared_.get(grid.launch.shared_bytes, shared_alignment(meta));
  context_.local = local_.get(size_t{meta.local_frame_bytes} * warps * width, 64);
  context_.slots = slots_.get(size_t{meta.slot_bytes} * warps, 64);
  if (context_.shared != nullptr && context_.local != nullptr && context_.slots != nullptr)
    return true;
  pending = {true,
             kernel::Fault::out_of_resources,
             UINT32_MAX,
             0,
             0,
             fmt::format("no memory for a block: {} bytes shared, {} local, {} of slots",
                         grid.launch.shared_bytes, size_t{meta.local_frame_bytes} * warps * width,
                         size_t{meta.slot_bytes} * warps)};
  return false;
}

void Worker::run_region(GridRun& grid, bool once) {
  uint64_t begin = 0, most = 1;
  uint64_t count = grid.claim(1, begin);
  if (count == 0) return;
  if (!prepare_region(grid)) {
    block_coordinates(grid.launch, begin, context_.ctaid);
    grid.record_fault(take_fault(record_, context_, nullptr));
  }
  const FloatControl host_control = read_float_control();
  const FloatControl kernel_control = float_control_of_kernel(grid.spec->code->meta.flush_denormals);
  const bool timed = grid.total > 1;
  const int priority = grid.priority;
  const uint64_t entered = timed ? now_ns() : 0;
  uint64_t start = entered;
  while (count != 0) {
    if (grid.cancelled()) {
      count += grid.claim(grid.total, begin);
    } else {
      grid.tell_begun(begin, count);
      write_float_control(kernel_control);
      run_chunk(grid, begin, count);
      write_float_control(host_control);
      if (timed) {
        const uint64_t end = now_ns();
        note_cost(grid, end - start, count);
        start = end;
      }
    }
    if (finish_blocks(grid, count)) return;
    if (scheduler_.has_more_urgent(priority) || (once && start - entered > visit_ns)) return;
    most = std::min(2 * most, most_chunk);
    count = grid.claim(chunk_size(grid, most), begin);
  }
}

void Worker::run_chunk(GridRun& grid, uint64_t begin, uint64_t count) {
  use_own_stack(thread, stack_);
  thread.landing = &landing_;
  if (limen_engine_mark(&landing_) == 0) {
    run_blocks(grid, begin, count);
    return;
  }
  forget_frames_below(thread.stack_begin);
  if (pending.set && pending.kind == kernel::Fault::none)
    pending = {};  // the kernel noticed that its grid was cancelled
  else
    grid.record_fault(take_fault(record_, context_, nullptr));
}

__attribute__((noinline)) void Worker::run_blocks(GridRun& grid, uint64_t begin, uint64_t count) {
  const kernel::BlockFn run = grid.spec->code->block_fn;
  const kernel::LaunchContext& launch = grid.launch;
  uint32_t first[3];
  block_coordinates(launch, begin, first);
  // Scalars: an array would be written in halves and read whole, which stalls every block.
  uint32_t x = first[0], y = first[1], z = first[2];
  thread.in_kernel.store(true, std::memory_order_relaxed);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  for (; count != 0 && !grid.cancelled(); --count) {
    context_.ctaid[0] = x;
    context_.ctaid[1] = y;
    context_.ctaid[2] = z;
    run(&context_);
    if (++x != launch.grid[0]) continue;
    x = 0;
    if (++y != launch.grid[1]) continue;
    y = 0;
    ++z;
  }
  std::atomic_signal_fence(std::memory_order_seq_cst);
  thread.in_kernel.store(false, std::memory_order_relaxed);
}

void Worker::give_back_memory() {
  constexpr size_t kept_bytes = 256 * 1024;
  shared_.trim(kept_bytes);
  local_.trim(kept_bytes);
  slots_.trim(kept_bytes);
  blocks_.give_back_memory();
}

// ---- Shared by the strategies ------------------------------------------------------------------

void Worker::note_cost(GridRun& grid, uint64_t elapsed_ns, uint64_t blocks) {
  const uint64_t cost = std::clamp<uint64_t>(elapsed_ns * 16 / blocks, 1, UINT32_MAX);
  const uint64_t old = grid.block_cost.load(std::memory_order_relaxed);
  // Rises fast and falls slowly: too few workers costs more than one too many.
  const uint64_t mean = old == 0 ? cost : cost > old ? (old + cost) / 2 : (3 * old + cost) / 4;
  const auto known = static_cast<uint32_t>(std::max<uint64_t>(1, mean));
  grid.block_cost.store(known, std::memory_order_relaxed);
  const uint64_t rest = grid.unclaimed();
  if (rest == 0) return;
  const uint32_t workers = scheduler_.worthwhile(rest, known);
  if (workers > grid.desired.load(std::memory_order_relaxed))
    scheduler_.raise_desired(grid, workers);
}

bool Worker::finish_blocks(GridRun& grid, uint64_t blocks) {
  if (grid.finished.fetch_add(blocks, std::memory_order_acq_rel) + blocks != grid.total)
    return false;
  scheduler_.remember_cost(grid.cost_key, grid.block_cost.load(std::memory_order_relaxed));
  grid.flush_text();
  const std::unique_ptr<GridSpec> spec = std::move(grid.spec);
  FaultInfo info;
  if (grid.fault.kind != kernel::Fault::none) {
    info = std::move(grid.fault);
    grid.fault = {};
  }
  // Before anybody can see the grid complete: who unloads a module then finds its memory free.
  spec->keep_alive.reset();
  spec->code.reset();
  in_done = true;
  if (spec->children)
    spec->children->blocks_over(info, std::move(spec->done));
  else if (spec->done)
    spec->done(info);
  in_done = false;
  return true;
}

void Worker::stop_kernel() {
  thread.in_kernel.store(false, std::memory_order_relaxed);
  limen_engine_land(thread.landing);
}

FaultInfo Worker::take_fault(const BlockRecord& record, const kernel::BlockContext& context,
                             const Fiber* fiber) {
  FaultInfo info;
  const MachineFault machine = thread.fault;
  thread.fault = {};
  std::string detail;
  uint32_t linear = UINT32_MAX;
  if (pending.set) {
    info.kind = pending.kind;
    info.line = pending.line;
    info.address = pending.address;
    linear = pending.thread;
    detail = std::move(pending.detail);
  } else if (machine.in_guard) {
    info.kind = kernel::Fault::stack_overflow;
    info.address = machine.address;
  } else {
    info.address = machine.address;
    switch (machine.signal) {
      case SIGILL:
      case SIGTRAP:  // where that is what __builtin_trap raises
        info.kind = kernel::Fault::illegal_instruction;
        break;
      case SIGFPE:
        info.kind = kernel::Fault::trap;
        break;
      case SIGBUS:
        info.kind = machine.code == BUS_ADRALN ? kernel::Fault::misaligned_address
                                               : kernel::Fault::illegal_address;
        break;
      default:
        info.kind = kernel::Fault::illegal_address;
        break;
    }
    if (!machine.address_known)
      detail = "address not canonical";
    else if (machine.signal == SIGSEGV && machine.address == 0)
      detail = "null pointer";
  }
  pending = {};
  std::copy(std::begin(context.ctaid), std::end(context.ctaid), info.ctaid);
  const auto* block = record.fibers ? static_cast<const FiberBlock*>(&record) : nullptr;
  if (linear == UINT32_MAX && fiber != nullptr && block->lanes)
    linear = block->first_thread(*fiber);
  if (linear != UINT32_MAX && linear < record.grid->block_threads) {
    info.thread_known = true;
    thread_coordinates(record.grid->launch.block, linear, info.thread);
  } else if (fiber != nullptr && detail.empty() && !block->lanes) {
    detail = fmt::format("warp {}", fiber->context.warp);
  }
  describe_fault(info, record.grid->spec->code->name, detail);
  return info;
}

}  // namespace limen::engine
