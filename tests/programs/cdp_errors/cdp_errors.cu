// Faults of children reach the host as their parents' would: trap, assert, a wild pointer, a wild
// copy, each two levels down; what was queued behind does not run. Each case runs in a process of
// its own, because the fault stays with the context. Then: what children print comes out.
#include <sys/wait.h>
#include <unistd.h>

#include <string>

#undef NDEBUG
#include <cassert>

#include "check.h"

__global__ void faulty(int kind, int* p) {
  if (threadIdx.x != 3) return;
  if (kind == 0) __trap();
  if (kind == 1) assert(threadIdx.x == 4);
  if (kind == 2) *reinterpret_cast<volatile int*>(0x123456789000ull) = 1;
  if (kind == 3)
    cudaMemcpyAsync(reinterpret_cast<void*>(0x123456789000ull), p, 4, cudaMemcpyDeviceToDevice, 0);
}
__global__ void late(int* p) { *p = 1; }
__global__ void middle(int kind, int* p) {
  faulty<<<1, 32>>>(kind, p);
  late<<<1, 1>>>(p);
}
__global__ void top(int kind, int* p) {
  middle<<<1, 1, 0, cudaStreamFireAndForget>>>(kind, p);
  late<<<1, 1, 0, cudaStreamTailLaunch>>>(p);
}

__global__ void say(int depth, int who) {
  printf("level %d number %d\n", depth, who);
  if (depth < 3)
    for (int i = 0; i < 2; ++i) say<<<1, 1>>>(depth + 1, 2 * who + i);
}

// Codes of the host's own launches on an H200 with driver 580.159: a child's fault is no other.
constexpr int codes[] = {719, 710, 700, 700};

static int one_case(int kind) {
  Verdict verdict;
  int* p;
  CHECK(cudaHostAlloc(&p, sizeof *p, cudaHostAllocMapped));
  *p = 0;
  top<<<1, 1>>>(kind, p);
  verdict.equal<int>(cudaGetLastError(), 0, "the launch itself", kind);
  verdict.equal<int>(cudaDeviceSynchronize(), codes[kind], "code", kind);
  verdict.equal<int>(cudaDeviceSynchronize(), codes[kind], "the code stays", kind);
  verdict.equal(*p, 0, "what was queued behind", kind);
  return verdict.failures;
}

static int run(const char* self, const char* argument, std::string* output) {
  int ends[2];
  if (pipe(ends) != 0) return -1;
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], 1);
    close(ends[0]);
    execl(self, self, argument, nullptr);
    _exit(99);
  }
  close(ends[1]);
  char buffer[4096];
  for (ssize_t n; (n = read(ends[0], buffer, sizeof buffer)) > 0;) output->append(buffer, n);
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int main(int argc, char** argv) {
  if (argc > 1 && argv[1][0] == 'p') {
    say<<<1, 1>>>(0, 1);
    CHECK(cudaDeviceSynchronize());
    return 0;
  }
  if (argc > 1) return one_case(argv[1][0] - '0');
  Verdict verdict;
  for (int kind = 0; kind < 4; ++kind) {
    std::string output;
    const char argument[2] = {static_cast<char>('0' + kind), 0};
    verdict.equal(run("/proc/self/exe", argument, &output), 0, "case", kind);
    std::printf("%s", output.c_str());
  }
  std::string output;
  verdict.equal(run("/proc/self/exe", "print", &output), 0, "printing");
  int lines = 0;
  for (char c : output) lines += c == '\n';
  verdict.equal(lines, 15, "lines");
  for (int depth = 0, first = 1; depth < 4; ++depth, first *= 2)
    for (int who = first; who < 2 * first; ++who) {
      auto place = [&](int d, int w) {
        return output.find("level " + std::to_string(d) + " number " + std::to_string(w) + "\n");
      };
      verdict.expect(place(depth, who) != std::string::npos, "line is there", who);
      if (depth)
        verdict.expect(place(depth, who) > place(depth - 1, who / 2), "after its parent's", who);
    }
  return verdict.finish();
}
