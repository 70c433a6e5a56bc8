// The host's own signal handlers: SIGSEGV raised by host code reaches the host's handler, a
// kernel's wild pointer does not, timers interrupt launches, and the handlers are still installed
// at the end.
#include <sys/mman.h>
#include <sys/time.h>
#include <csetjmp>
#include <csignal>
#include <cstring>

#include "check.h"

static sigjmp_buf back;
static volatile sig_atomic_t segv_count, alarm_count;
static void* volatile segv_address;

static void on_segv(int, siginfo_t* info, void*) {
  ++segv_count;
  segv_address = info->si_addr;
  siglongjmp(back, 1);
}
static void on_alarm(int) { ++alarm_count; }

__global__ void store(int* p) { p[threadIdx.x] = 3; }
__global__ void spin(int* p, int turns) {
  unsigned x = threadIdx.x;
  for (int i = 0; i < turns; ++i) x = x * 1664525u + 1013904223u;
  p[threadIdx.x] = x;
}

static bool host_fault(volatile char* address) {
  int before = segv_count;
  if (sigsetjmp(back, 1) == 0) {
    *address = 1;
    return false;
  }
  return segv_count == before + 1 && segv_address == address;
}

int main() {
  Verdict verdict;
  struct sigaction segv = {}, seen = {};
  segv.sa_sigaction = on_segv;
  segv.sa_flags = SA_SIGINFO | SA_NODEFER;
  sigaction(SIGSEGV, &segv, nullptr);
  sigaction(SIGBUS, &segv, nullptr);
  char* page =
      static_cast<char*>(mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  verdict.expect(host_fault(page), "host fault before the driver starts");
  int* d;
  CHECK(cudaMalloc(&d, 4096));
  store<<<1, 32>>>(d);
  CHECK(cudaDeviceSynchronize());
  verdict.expect(host_fault(page), "host fault with the driver running");

  // Timers during launches and waits.
  signal(SIGALRM, on_alarm);
  itimerval timer = {{0, 2000}, {0, 2000}};
  setitimer(ITIMER_REAL, &timer, nullptr);
  for (int k = 0; k < 200; ++k) {
    spin<<<4, 32>>>(d, 20000);
    CHECK(cudaDeviceSynchronize());
  }
  itimerval off = {};
  setitimer(ITIMER_REAL, &off, nullptr);
  std::printf("%d alarms\n", int(alarm_count));

  // A handler installed after the driver's start replaces whatever is there; both must work.
  sigaction(SIGSEGV, &segv, nullptr);
  verdict.expect(host_fault(page + 100), "host fault with a later handler");
  int before = segv_count;
  store<<<1, 32>>>(reinterpret_cast<int*>(0x123456789000ull));
  int code = cudaDeviceSynchronize();
  verdict.equal(code, 700, "a kernel's wild pointer");
  verdict.equal<int>(segv_count, before, "the host's handler is not called for a kernel");
  CHECK(cudaDeviceReset());
  verdict.expect(host_fault(page + 200), "host fault after the reset");
  sigaction(SIGSEGV, nullptr, &seen);
  verdict.expect((seen.sa_flags & SA_SIGINFO) != 0, "a handler is installed");
  return verdict.finish();
}
