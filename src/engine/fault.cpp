// Fault handlers and landings; see fault.h. The handler rewrites the interrupted context so that
// sigreturn continues at the landing: the signal mask and the alternate stack need no care then.
// Chaining: each time a host handler is found in front of ours, the next *generation* of our entry
// goes in front of it. A host handler that calls "the previous one" reaches an older generation,
// whose own predecessor differs, so chains never loop.
// Thread rule: install_mutex guards the tables; the handler reads entries written before it was
// installed.
#include "engine/fault.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <iterator>
#include <mutex>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#define LIMEN_ENGINE_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#include <sanitizer/asan_interface.h>
#define LIMEN_ENGINE_ASAN 1
#endif
#endif

namespace limen::engine {

__thread KernelThread* kernel_thread __attribute__((tls_model("initial-exec"))) = nullptr;

namespace {

constexpr int signal_count = std::size(fault_signals);
constexpr int generations = 8;
constexpr size_t signal_stack_bytes = 128 * 1024;  // a chained sanitizer report needs about 64 KiB

using Entry = void (*)(int, siginfo_t*, void*);
struct sigaction previous_action[signal_count][generations];
std::atomic<int> installed[signal_count];  ///< generations
std::mutex install_mutex;
thread_local void* signal_stack = nullptr;

std::atomic<uint32_t> moves_under_way{0};
std::atomic<uint64_t> moves_ended{0};
/// How many had ended when this thread last tried again; the handler may not allocate them.
__thread uint64_t moves_seen __attribute__((tls_model("initial-exec"))) = 0;
__thread uint32_t moving_here __attribute__((tls_model("initial-exec"))) = 0;

/// Whether the fault may be due to a PageMove and has not been tried again since.
bool try_again(int signal) {
  if (signal != SIGSEGV || moving_here) return false;
  while (moves_under_way.load(std::memory_order_acquire)) sched_yield();
  const uint64_t ended = moves_ended.load(std::memory_order_acquire);
  if (moves_seen == ended) return false;
  moves_seen = ended;
  return true;
}

int index_of(int signal) {
  for (int i = 0; i < signal_count; ++i)
    if (fault_signals[i] == signal) return i;
  return 0;
}

bool claim(int signal, siginfo_t* info, void* context) {
  if (info->si_code > 0 && try_again(signal)) return true;
  KernelThread* thread = kernel_thread;
  if (thread == nullptr || !thread->in_kernel.load(std::memory_order_relaxed)) return false;
  if (info->si_code <= 0) return false;  // sent by kill, tgkill or sigqueue: not the kernel's doing
  const Interrupted at = interrupted_at(context);
  MachineFault& fault = thread->fault;
  fault.signal = signal;
  fault.code = info->si_code;
  fault.address = reinterpret_cast<uint64_t>(info->si_addr);
  // A non-canonical address reaches us as SI_KERNEL with address 0.
  fault.address_known = info->si_code != SI_KERNEL;
  fault.pc = at.pc;
  const auto in_guard = [&](uint64_t address) {
    return address >= thread->guard_begin && address < thread->guard_end;
  };
  fault.in_guard = signal == SIGSEGV && (in_guard(fault.address) || in_guard(at.sp));
  thread->in_kernel.store(false, std::memory_order_relaxed);
  land_after_handler(context, *thread->landing);
  return true;
}

/// Does what the kernel would have done had `action` been installed instead of ours.
void chain(const struct sigaction& action, int signal, siginfo_t* info, void* context) {
  const bool sent = info->si_code <= 0;
  const bool plain = (action.sa_flags & SA_SIGINFO) == 0;
  if (plain && action.sa_handler == SIG_IGN && sent) return;
  if (plain && (action.sa_handler == SIG_DFL || action.sa_handler == SIG_IGN)) {
    // A synchronous fault happens again on return and then ends the process with the right core.
    struct sigaction standard{};
    standard.sa_handler = SIG_DFL;
    sigaction(signal, &standard, nullptr);
    if (sent) syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), signal);
    return;
  }
  sigset_t mask = action.sa_mask, old;
  sigaddset(&mask, signal);
  pthread_sigmask(SIG_BLOCK, &mask, &old);
  if ((action.sa_flags & SA_NODEFER) != 0) {
    sigset_t own;
    sigemptyset(&own);
    sigaddset(&own, signal);
    pthread_sigmask(SIG_UNBLOCK, &own, nullptr);
  }
  if (plain)
    action.sa_handler(signal);
  else
    action.sa_sigaction(signal, info, context);
  pthread_sigmask(SIG_SETMASK, &old, nullptr);
}

template <int generation>
void entry(int signal, siginfo_t* info, void* context) {
  if (claim(signal, info, context)) return;
  chain(previous_action[index_of(signal)][generation], signal, info, context);
}

constexpr Entry entries[generations] = {entry<0>, entry<1>, entry<2>, entry<3>,
                                        entry<4>, entry<5>, entry<6>, entry<7>};

bool is_ours(const struct sigaction& action) {
  if ((action.sa_flags & SA_SIGINFO) == 0) return false;
  for (Entry one : entries)
    if (action.sa_sigaction == one) return true;
  return false;
}

bool same_handler(const struct sigaction& a, const struct sigaction& b) {
  return ((a.sa_flags ^ b.sa_flags) & SA_SIGINFO) == 0 && a.sa_handler == b.sa_handler;
}

/// True when ours was in front already.
bool install_one(int index) {
  struct sigaction current;
  if (sigaction(fault_signals[index], nullptr, &current) != 0 || is_ours(current)) return true;
  std::lock_guard hold(install_mutex);
  if (sigaction(fault_signals[index], nullptr, &current) != 0 || is_ours(current)) return true;
  int top = installed[index].load() - 1;
  const bool known = top >= 0 && same_handler(previous_action[index][top], current);
  // Past the last generation the newest one is reused: a host that keeps stacking new handlers
  // which each call their predecessor loses the middle of its chain, never our claim.
  if (!known && top + 1 < generations) ++top;
  previous_action[index][top] = current;
  installed[index].store(top + 1);
  struct sigaction action{};
  action.sa_sigaction = entries[top];
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigaction(fault_signals[index], &action, nullptr);
  return false;
}

}  // namespace

void install_fault_handlers(bool full) {
  if (install_one(0) && !full) return;
  for (int i = 1; i < signal_count; ++i) install_one(i);
}

PageMove::PageMove() {
  install_fault_handlers(true);
  ++moving_here;
  moves_under_way.fetch_add(1, std::memory_order_acq_rel);
}

PageMove::~PageMove() {
  moves_ended.fetch_add(1, std::memory_order_acq_rel);
  moves_under_way.fetch_sub(1, std::memory_order_acq_rel);
  --moving_here;
}

void prepare_thread_signals() {
  sigset_t mask;
  sigfillset(&mask);
  for (int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS})
    sigdelset(&mask, signal);
  pthread_sigmask(SIG_SETMASK, &mask, nullptr);
  void* memory = mmap(nullptr, signal_stack_bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return;
  stack_t stack{};
  stack.ss_sp = memory;
  stack.ss_size = signal_stack_bytes;
  if (sigaltstack(&stack, nullptr) == 0)
    signal_stack = memory;
  else
    munmap(memory, signal_stack_bytes);
}

void release_thread_signals() {
  if (signal_stack == nullptr) return;
  stack_t off{};
  off.ss_flags = SS_DISABLE;
  sigaltstack(&off, nullptr);
  munmap(signal_stack, signal_stack_bytes);
  signal_stack = nullptr;
}

void forget_frames_below([[maybe_unused]] uint64_t low) {
#ifdef LIMEN_ENGINE_ASAN
  const auto here = reinterpret_cast<uint64_t>(__builtin_frame_address(0));
  if (low != 0 && low < here)
    __asan_unpoison_memory_region(reinterpret_cast<void*>(low), here - low);
#endif
}

}  // namespace limen::engine
