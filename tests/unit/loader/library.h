// Opens the libcuda.so.1 under test with the fake driver behind it. Tests that change the process's
// state (cuInit, fork, the environment) run in a child, so that their order does not matter.
#pragma once
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "abi/cuda_abi.h"
#include "fake_driver.h"

namespace limen::test {

inline void* library() {
  static void* const handle = [] {
    setenv("LIMEN_DRIVER", FAKE_DRIVER, 0);
    return dlopen(LIBCUDA, RTLD_NOW | RTLD_LOCAL);
  }();
  return handle;
}

/// The exported function of that name, called with the signature written at the call.
template <typename... Args>
CUresult call(const char* name, Args... args) {
  auto* function = reinterpret_cast<CUresult (*)(Args...)>(dlsym(library(), name));
  if (!function) {
    ADD_FAILURE() << name << " is not exported";
    return CUDA_ERROR_UNKNOWN;
  }
  return function(args...);
}

inline FakeRecord& record() {
  static void* const fake = dlopen(FAKE_DRIVER, RTLD_NOW | RTLD_LOCAL);
  return *reinterpret_cast<FakeRecord* (*)()>(dlsym(fake, "limen_fake_record"))();
}

/// Runs `body` in a child; a failed expectation or a signal there fails the test here.
template <typename Body>
void in_child(Body body) {
  std::fflush(nullptr);
  pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    body();
    std::fflush(nullptr);
    _exit(::testing::Test::HasFailure() ? 1 : 0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status)) << "child ended by signal " << WTERMSIG(status);
  if (WIFEXITED(status)) {
    EXPECT_EQ(WEXITSTATUS(status), 0) << "the failures are printed above";
  }
}

}  // namespace limen::test
