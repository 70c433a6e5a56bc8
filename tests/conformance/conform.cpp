// What cases use: the driver's symbols, observations, buffers, kernels. Observations go to the
// parent as lines "kind<tab>...", each in one write.
#include "conformance/conform.h"

#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <csignal>
#include <mutex>

#include "conformance/gate.h"
#include "conformance/run.h"

namespace limen::conform {

namespace {

std::mutex output_mutex;
std::string mutant;
constexpr unsigned crash_seconds = 5;
void* library = nullptr;

constexpr const char* common_ptx = R"(
.version 7.0
.target sm_70
.address_size 64
.visible .entry store(.param .u64 address, .param .u32 value) {
  .reg .b64 %a; .reg .b32 %v;
  ld.param.u64 %a, [address]; ld.param.u32 %v, [value];
  st.global.u32 [%a], %v;
  ret;
}
.visible .entry add(.param .u64 address, .param .u32 value) {
  .reg .b64 %a; .reg .b32 %v;
  ld.param.u64 %a, [address]; ld.param.u32 %v, [value];
  red.global.add.u32 [%a], %v;
  ret;
}
.visible .entry spin(.param .u64 flag) {
  .reg .b64 %a; .reg .b32 %v; .reg .pred %p;
  ld.param.u64 %a, [flag];
again:
  ld.volatile.global.u32 %v, [%a];
  setp.eq.u32 %p, %v, 0;
  @%p bra again;
  ret;
}
.visible .entry trap() {
  trap;
  ret;
}
)";

void send(std::string line) {
  std::lock_guard lock(output_mutex);
  for (char& c : line)
    if (c == '\n') c = ' ';
  line += '\n';
  size_t done = 0;
  while (done < line.size()) {
    ssize_t written = ::write(report_descriptor, line.data() + done, line.size() - done);
    if (written <= 0) _exit(3);
    done += static_cast<size_t>(written);
  }
}

void on_crash(int signal) {
  alarm(crash_seconds);
  sigset_t this_one;
  sigemptyset(&this_one);
  sigaddset(&this_one, signal);
  pthread_sigmask(SIG_UNBLOCK, &this_one, nullptr);
  if (crash_point) siglongjmp(*crash_point, signal);
  ::signal(signal, SIG_DFL);
  raise(signal);
}

}  // namespace

int report_descriptor = -1;
thread_local sigjmp_buf* crash_point = nullptr;

void catch_crashes() {
  struct sigaction action = {};
  action.sa_handler = on_crash;
  // The driver's own handlers come later, and hand on what is not theirs.
  for (int signal : {SIGSEGV, SIGBUS, SIGABRT}) sigaction(signal, &action, nullptr);
}

std::vector<Case>& cases() {
  static std::vector<Case> all;
  return all;
}

bool add_case(const Case& one) {
  cases().push_back(one);
  return true;
}

void set_mutant(const std::string& function) { mutant = function; }
bool is_mutant(const char* function) { return !mutant.empty() && mutant == function; }

void open_driver() {
  library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library) return;
  send(std::string("broken\t") + dlerror());
  _exit(3);
}

void* driver_symbol(const char* name) {
  if (void* found = dlsym(library, name)) return found;
  send(std::string("broken\tthe driver has no symbol ") + name);
  _exit(3);
}

CUresult called(const char* function, CUresult result) {
  // Only the function that the case is about is counted: setup calls prove nothing of theirs.
  if (running_function == function) send(std::string("call\t") + (result ? "error" : "success"));
  return result;
}

std::string_view running_function;

void observe(std::string_view label, const std::string& actual, const std::string& expected) {
  send("check\t" + std::string(label) + "\t" + actual + "\t" + expected);
}

std::string text_of(CUresult code) {
  if (code == crashed) return "crash";
  return "code " + std::to_string(static_cast<int>(code));
}

std::string text_of(std::string_view text) {
  std::string quoted = "'";
  for (char c : text) quoted += c == '\t' ? ' ' : c;
  return quoted + "'";
}

void require(CUresult code, const char* call, int line) {
  if (code == CUDA_SUCCESS) return;
  send("broken\tline " + std::to_string(line) + ": " + call + " answered " + text_of(code));
  _exit(3);
}

void skip(std::string_view why) {
  send("skip\t" + std::string(why));
  _exit(0);
}

Buffer::Buffer(size_t bytes) { REQUIRE(cuMemAlloc(&address_, bytes)); }
Buffer::~Buffer() { cuMemFree(address_); }

CUfunction load_kernel(const char* ptx, const char* name) {
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  if (closed_gates) {
    send(std::string("broken\ta kernel is loaded behind a gate, where a GPU waits for ever: ") + name);
    _exit(3);
  }
  REQUIRE(cuModuleLoadData(&module, ptx));
  REQUIRE(cuModuleGetFunction(&function, module, name));
  return function;
}

CUfunction common_kernel(const char* name) { return load_kernel(common_ptx, name); }

void* foreign_memory() {
  alignas(64) static char bytes[1024];
  return bytes;
}

}  // namespace limen::conform
