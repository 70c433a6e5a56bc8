#include <sys/stat.h>
#include <unistd.h>

#include "conformance/conform.h"

namespace limen::conform {

CONFORM(cuCheckpointProcessGetRestoreThreadId, names_a_thread_of_the_process) {
  int thread = 0, again = 0;
  expect_code("get", cuCheckpointProcessGetRestoreThreadId(getpid(), &thread), CUDA_SUCCESS);
  struct stat info {};
  const std::string path = "/proc/self/task/" + std::to_string(thread);
  expect("a thread", stat(path.c_str(), &info), 0);
  expect_true("not this one", thread != getpid());
  expect_code("again", cuCheckpointProcessGetRestoreThreadId(getpid(), &again), CUDA_SUCCESS);
  expect_true("the same", thread == again);
  expect_code("no result", cuCheckpointProcessGetRestoreThreadId(getpid(), nullptr),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no process", cuCheckpointProcessGetRestoreThreadId(0, &thread),
              CUDA_ERROR_OPERATING_SYSTEM);
}

}  // namespace limen::conform
