#include <sys/wait.h>
#include <unistd.h>

#include "conformance/conform.h"

namespace limen::conform {

CONFORM_WITH(cuInit, makes_devices_known, nothing) {
  int count = -1;
  expect_code("before", cuDeviceGetCount(&count), CUDA_ERROR_NOT_INITIALIZED);
  expect_code("flags", cuInit(1), CUDA_ERROR_INVALID_VALUE);
  expect_code("init", cuInit(0), CUDA_SUCCESS);
  expect_code("again", cuInit(0), CUDA_SUCCESS);
  expect_code("after", cuDeviceGetCount(&count), CUDA_SUCCESS);
  expect_true("some", count > 0);
}

CONFORM(cuInit, a_forked_child_has_none) {
  pid_t child = fork();
  if (child == 0) {
    int count = 0;
    _exit(cuDeviceGetCount(&count) == CUDA_ERROR_NOT_INITIALIZED &&
                  cuInit(0) == CUDA_ERROR_NOT_INITIALIZED
              ? 7
              : 8);
  }
  int status = 0;
  waitpid(child, &status, 0);
  expect("the child's code", WIFEXITED(status) ? WEXITSTATUS(status) : -1, 7);
  expect_code("the parent goes on", cuCtxSynchronize(nullptr), CUDA_SUCCESS);
}

}  // namespace limen::conform
