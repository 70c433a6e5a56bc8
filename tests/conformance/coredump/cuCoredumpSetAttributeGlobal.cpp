#include <sys/resource.h>
#include <sys/wait.h>

#include <csignal>
#include <cstdlib>
#include <fstream>

#include "conformance/coredump/settings.h"

namespace limen::conform {

CONFORM_WITH(cuCoredumpSetAttributeGlobal, is_read_back, initialised) {
  expect_code("lightweight",
              set_switch(cuCoredumpSetAttributeGlobal, CU_COREDUMP_LIGHTWEIGHT, true),
              CUDA_SUCCESS);
  expect("is on", get_switch(cuCoredumpGetAttributeGlobal, CU_COREDUMP_LIGHTWEIGHT), true);
  expect_code("file", set_name(cuCoredumpSetAttributeGlobal, CU_COREDUMP_FILE, "/tmp/some_core"),
              CUDA_SUCCESS);
  expect("its name", get_name(cuCoredumpGetAttributeGlobal, CU_COREDUMP_FILE), "/tmp/some_core");
  expect_code("host", set_switch(cuCoredumpSetAttributeGlobal, CU_COREDUMP_TRIGGER_HOST, false),
              CUDA_SUCCESS);
  expect("is off", get_switch(cuCoredumpGetAttributeGlobal, CU_COREDUMP_TRIGGER_HOST), false);
}

CONFORM_WITH(cuCoredumpSetAttributeGlobal, of_contexts_to_come, initialised) {
  CUcontext context = nullptr;
  REQUIRE(cuCtxCreate(&context, nullptr, 0, 0));
  expect_code("host",
              set_switch(cuCoredumpSetAttributeGlobal, CU_COREDUMP_ENABLE_ON_EXCEPTION, true),
              CUDA_SUCCESS);
  expect("of the context", get_switch(cuCoredumpGetAttribute, CU_COREDUMP_ENABLE_ON_EXCEPTION),
         false);
  REQUIRE(cuCtxCreate(&context, nullptr, 0, 0));
  expect("of the next", get_switch(cuCoredumpGetAttribute, CU_COREDUMP_ENABLE_ON_EXCEPTION), true);
}

CONFORM_WITH(cuCoredumpSetAttributeGlobal, pipe_is_fixed_once_enabled, initialised) {
  const std::string pipe = dump_path("pipe");
  expect_code("pipe", set_name(cuCoredumpSetAttributeGlobal, CU_COREDUMP_PIPE, pipe), CUDA_SUCCESS);
  expect_code("enable",
              set_switch(cuCoredumpSetAttributeGlobal, CU_COREDUMP_ENABLE_USER_TRIGGER, true),
              CUDA_SUCCESS);
  expect_code("another pipe",
              set_name(cuCoredumpSetAttributeGlobal, CU_COREDUMP_PIPE, "/tmp/other"),
              CUDA_ERROR_NOT_SUPPORTED);
  unlink(pipe.c_str());
}

CONFORM_WITH(cuCoredumpSetAttributeGlobal, wrong_arguments, initialised) {
  bool on = true;
  size_t size = 1;
  expect_code("unknown",
              cuCoredumpSetAttributeGlobal(static_cast<CUcoredumpSettings>(77), &on, &size),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no size", cuCoredumpSetAttributeGlobal(CU_COREDUMP_LIGHTWEIGHT, &on, nullptr),
              CUDA_ERROR_INVALID_VALUE);
  size = 0;
  expect_code("no bytes", cuCoredumpSetAttributeGlobal(CU_COREDUMP_LIGHTWEIGHT, &on, &size),
              CUDA_ERROR_INVALID_VALUE);
  size = 0;
  expect_code("size only", cuCoredumpSetAttributeGlobal(CU_COREDUMP_LIGHTWEIGHT, nullptr, &size),
              CUDA_SUCCESS);
  expect("of a switch", size, 1u);
}

CONFORM_WITH(cuCoredumpSetAttributeGlobal, the_environment_wins, nothing) {
  const std::string path = dump_path("env");
  setenv("CUDA_COREDUMP_FILE", path.c_str(), 1);
  setenv("CUDA_ENABLE_COREDUMP_ON_EXCEPTION", "1", 1);
  setenv("CUDA_ENABLE_CPU_COREDUMP_ON_EXCEPTION", "0", 1);
  REQUIRE(cuInit(0));
  expect("file", get_name(cuCoredumpGetAttributeGlobal, CU_COREDUMP_FILE) == path, true);
  expect("on exception", get_switch(cuCoredumpGetAttributeGlobal, CU_COREDUMP_ENABLE_ON_EXCEPTION),
         true);
  expect_code("cannot be changed",
              set_name(cuCoredumpSetAttributeGlobal, CU_COREDUMP_FILE, "/tmp/other"),
              CUDA_ERROR_INVALID_VALUE);
  CUcontext context = nullptr;
  REQUIRE(cuCtxCreate(&context, nullptr, 0, 0));
  REQUIRE(launch(common_kernel("trap"), 1, 1, nullptr));
  expect_code("kernel fails", cuCtxSynchronize(nullptr), CUDA_ERROR_LAUNCH_FAILED);
  expect("a dump is there", access(path.c_str(), R_OK), 0);
  unlink(path.c_str());
}

CONFORM_WITH(cuCoredumpSetAttributeGlobal, the_host_aborts, nothing) {
  const std::string path = dump_path("abort");
  pid_t child = fork();
  if (child == 0) {
    const rlimit none{0, 0};
    setrlimit(RLIMIT_CORE, &none);
    CUcontext context = nullptr;
    if (cuInit(0) || set_name(cuCoredumpSetAttributeGlobal, CU_COREDUMP_FILE, path) ||
        set_switch(cuCoredumpSetAttributeGlobal, CU_COREDUMP_ENABLE_ON_EXCEPTION, true) ||
        cuCtxCreate(&context, nullptr, 0, 0) || launch(common_kernel("trap"), 1, 1, nullptr))
      _exit(1);
    cuCtxSynchronize(nullptr);
    _exit(2);
  }
  int status = 0;
  waitpid(child, &status, 0);
  expect("by its signal", WIFSIGNALED(status) ? WTERMSIG(status) : -WEXITSTATUS(status),
         int{SIGABRT});
  expect("after the dump", access(path.c_str(), R_OK), 0);
  unlink(path.c_str());
}

CONFORM_WITH(cuCoredumpSetAttributeGlobal, the_pipe_asks_for_a_dump, initialised) {
  const std::string pipe = dump_path("ask"), path = dump_path("asked");
  expect_code("pipe", set_name(cuCoredumpSetAttributeGlobal, CU_COREDUMP_PIPE, pipe), CUDA_SUCCESS);
  expect_code("file", set_name(cuCoredumpSetAttributeGlobal, CU_COREDUMP_FILE, path), CUDA_SUCCESS);
  expect_code("without the host",
              set_switch(cuCoredumpSetAttributeGlobal, CU_COREDUMP_TRIGGER_HOST, false),
              CUDA_SUCCESS);
  expect_code("enable",
              set_switch(cuCoredumpSetAttributeGlobal, CU_COREDUMP_ENABLE_USER_TRIGGER, true),
              CUDA_SUCCESS);
  CUcontext context = nullptr;
  REQUIRE(cuCtxCreate(&context, nullptr, 0, 0));
  Buffer memory(4096);
  std::ofstream(pipe) << "now" << std::flush;
  for (int i = 0; i < 200 && access(path.c_str(), R_OK) != 0; ++i) usleep(50000);
  expect("a dump is there", access(path.c_str(), R_OK), 0);
  expect_code("the context goes on", cuMemsetD32(memory, 1, 4), CUDA_SUCCESS);
  unlink(path.c_str());
  unlink(pipe.c_str());
}

CONFORM_WITH(cuCoredumpSetAttributeGlobal, the_pipe_ends_the_host, nothing) {
  const std::string pipe = dump_path("end"), path = dump_path("ended");
  pid_t child = fork();
  if (child == 0) {
    const rlimit none{0, 0};
    setrlimit(RLIMIT_CORE, &none);
    signal(SIGABRT, SIG_DFL);
    CUcontext context = nullptr;
    if (cuInit(0) || set_name(cuCoredumpSetAttributeGlobal, CU_COREDUMP_PIPE, pipe) ||
        set_name(cuCoredumpSetAttributeGlobal, CU_COREDUMP_FILE, path) ||
        set_switch(cuCoredumpSetAttributeGlobal, CU_COREDUMP_ENABLE_USER_TRIGGER, true) ||
        cuCtxCreate(&context, nullptr, 0, 0))
      _exit(1);
    std::ofstream(pipe) << "now" << std::flush;
    sleep(20);
    _exit(2);
  }
  int status = 0;
  waitpid(child, &status, 0);
  expect("by its signal", WIFSIGNALED(status) ? WTERMSIG(status) : -WEXITSTATUS(status),
         int{SIGABRT});
  expect("after the dump", access(path.c_str(), R_OK), 0);
  unlink(path.c_str());
  unlink(pipe.c_str());
}

}  // namespace limen::conform
