// Two processes work on one buffer in turns, ordered by interprocess events only; then processes
// that export memory are killed at random moments: nothing may be left in /dev/shm.
#include <dirent.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <vector>

#include "check.h"

constexpr int count = 1 << 18, turns = 20;

__global__ void step(unsigned* v, unsigned add) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) v[i] = v[i] * 3 + add;
}

/// What both sides see: handles, and how far each side's calls are.
struct Board {
  cudaIpcMemHandle_t memory;
  cudaIpcEventHandle_t events[2];
  volatile int ready, called[2];
};

static Board* make_board() {
  void* memory = mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
                      -1, 0);
  return static_cast<Board*>(memory);
}

static void wait_until(volatile int& word, int value) {
  while (word < value) usleep(50);
}

/// One side's turns. Only the order of the calls is agreed on by the host; the work is not waited
/// for.
static void take_turns(Board* board, int side, unsigned* v, cudaEvent_t own, cudaEvent_t other) {
  cudaStream_t stream;
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  for (int turn = 0; turn < turns; ++turn) {
    if (side == 1 || turn > 0) {
      wait_until(board->called[1 - side], side == 1 ? turn + 1 : turn);
      CHECK(cudaStreamWaitEvent(stream, other, 0));
    }
    step<<<count / 256, 256, 0, stream>>>(v, unsigned(turn * 2 + side));
    CHECK(cudaGetLastError());
    CHECK(cudaEventRecord(own, stream));
    board->called[side] = turn + 1;
  }
  CHECK(cudaStreamSynchronize(stream));
}

static int second_process(Board* board) {
  wait_until(board->ready, 1);
  unsigned* v;
  cudaEvent_t own, other;
  CHECK(cudaIpcOpenMemHandle(reinterpret_cast<void**>(&v), board->memory,
                             cudaIpcMemLazyEnablePeerAccess));
  CHECK(cudaIpcOpenEventHandle(&own, board->events[1]));
  CHECK(cudaIpcOpenEventHandle(&other, board->events[0]));
  take_turns(board, 1, v, own, other);
  CHECK(cudaIpcCloseMemHandle(v));
  return 0;
}

static void in_turns(Verdict& verdict) {
  Board* board = make_board();
  const pid_t child = fork();
  if (child == 0) _exit(second_process(board));
  unsigned* v;
  cudaEvent_t events[2];
  CHECK(cudaMalloc(&v, count * sizeof *v));
  CHECK(cudaMemset(v, 0, count * sizeof *v));
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaIpcGetMemHandle(&board->memory, v));
  for (int i = 0; i < 2; ++i) {
    CHECK(cudaEventCreateWithFlags(&events[i], cudaEventDisableTiming | cudaEventInterprocess));
    CHECK(cudaIpcGetEventHandle(&board->events[i], events[i]));
  }
  board->ready = 1;
  take_turns(board, 0, v, events[0], events[1]);
  int status = 0;
  waitpid(child, &status, 0);
  verdict.expect(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the second process", status);
  unsigned want = 0;
  for (int turn = 0; turn < turns; ++turn)
    want = (want * 3 + unsigned(turn * 2)) * 3 + unsigned(turn * 2 + 1);
  std::vector<unsigned> got(count);
  CHECK(cudaMemcpy(got.data(), v, count * sizeof *v, cudaMemcpyDeviceToHost));
  for (int i = 0; i < count; ++i) verdict.equal(got[i], want, "after all turns", i);
  CHECK(cudaFree(v));
}

static int files_in_shared_memory() {
  int files = 0;
  if (DIR* folder = opendir("/dev/shm")) {
    while (const dirent* entry = readdir(folder)) files += entry->d_name[0] != '.';
    closedir(folder);
  }
  return files;
}

/// A process that exports memory until it is killed.
static int victim() {
  unsigned *own, *other;
  cudaIpcMemHandle_t handle;
  CHECK(cudaMalloc(&own, count * sizeof *own));
  CHECK(cudaIpcGetMemHandle(&handle, own));
  CHECK(cudaMemset(own, 1, count * sizeof *own));
  for (unsigned i = 0;; ++i) {
    step<<<count / 256, 256>>>(own, i);
    CHECK(cudaMalloc(&other, 4096 << (i % 8)));
    CHECK(cudaIpcGetMemHandle(&handle, other));
    CHECK(cudaFree(other));
  }
}

static void killed(Verdict& verdict, int rounds) {
  const int before = files_in_shared_memory();
  std::vector<pid_t> children;
  for (int i = 0; i < rounds; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      execl("/proc/self/exe", "ipc_two_processes", "victim", nullptr);
      _exit(4);
    }
    children.push_back(child);
  }
  usleep(100000);
  for (int i = 0; i < rounds; ++i) {
    usleep(useconds_t(7919 * (i + 1) % 20000));
    kill(children[i], SIGKILL);
    waitpid(children[i], nullptr, 0);
  }
  verdict.equal(files_in_shared_memory(), before, "files in /dev/shm");
}

int main(int argc, char** argv) {
  Verdict verdict;
  if (argc > 1 && !std::strcmp(argv[1], "victim")) return victim();
  in_turns(verdict);
  killed(verdict, 6);
  return verdict.finish();
}
