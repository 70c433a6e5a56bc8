// fork after the driver is initialised: the child's calls answer error 3 and do not hang or crash,
// the parent goes on, and a child that execs starts anew.
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

#include "check.h"

__global__ void add_one(int* v) { v[threadIdx.x] += 1; }

static int use_device(Verdict& verdict) {
  int *d, got[32];
  CHECK(cudaMalloc(&d, sizeof got));
  CHECK(cudaMemset(d, 0, sizeof got));
  add_one<<<1, 32>>>(d);
  CHECK(cudaMemcpy(got, d, sizeof got, cudaMemcpyDeviceToHost));
  for (int i = 0; i < 32; ++i) verdict.equal(got[i], 1, "kernel", i);
  return verdict.failures;
}

static int wait_for(pid_t child, Verdict& verdict, const char* what) {
  int status = 0;
  for (int k = 0; k < 300; ++k) {
    if (waitpid(child, &status, WNOHANG) == child) {
      verdict.expect(WIFEXITED(status), what, status);
      return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    }
    usleep(100000);
  }
  verdict.expect(false, "the child hangs");
  return -1;
}

int main(int argc, char** argv) {
  Verdict verdict;
  if (argc > 1 && !std::strcmp(argv[1], "child")) return use_device(verdict) ? 9 : 42;
  use_device(verdict);
  std::fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    void* p;
    int codes[4] = {cudaMalloc(&p, 16), cudaDeviceSynchronize(), 0, 0};
    cudaStream_t stream;
    codes[2] = cudaStreamCreate(&stream);
    add_one<<<1, 32>>>(nullptr);
    codes[3] = cudaGetLastError();
    std::printf("child: malloc %d, sync %d, stream %d, launch %d\n", codes[0], codes[1], codes[2],
                codes[3]);
    std::fflush(stdout);
    bool good =
        codes[0] == cudaErrorInitializationError && codes[1] == cudaErrorInitializationError &&
        codes[2] == cudaErrorInitializationError && codes[3] == cudaErrorInitializationError;
    exit(good ? 7 : 8);  // through the exit handlers, which must not hang
  }
  verdict.equal(wait_for(child, verdict, "a child that uses the device"), 7, "child's codes");
  use_device(verdict);
  child = fork();
  if (child == 0) exit(5);
  verdict.equal(wait_for(child, verdict, "a child that does nothing"), 5, "plain child");
  child = fork();
  if (child == 0) {
    execl("/proc/self/exe", argv[0], "child", nullptr);
    _exit(11);
  }
  verdict.equal(wait_for(child, verdict, "a child that execs"), 42, "child after exec");
  use_device(verdict);
  return verdict.finish();
}
