#include <sys/stat.h>
#include <sys/wait.h>

#include "conformance/coredump/settings.h"

namespace limen::conform {

CONFORM(cuCoredumpSetAttribute, a_failing_kernel_leaves_a_dump) {
  const std::string path = dump_path("core");
  expect_code("enable", set_switch(cuCoredumpSetAttribute, CU_COREDUMP_ENABLE_ON_EXCEPTION, true),
              CUDA_SUCCESS);
  expect_code("without the host",
              set_switch(cuCoredumpSetAttribute, CU_COREDUMP_TRIGGER_HOST, false), CUDA_SUCCESS);
  expect_code("file", set_name(cuCoredumpSetAttribute, CU_COREDUMP_FILE, path), CUDA_SUCCESS);
  REQUIRE(launch(common_kernel("trap"), 1, 1, nullptr));
  expect_code("kernel fails", cuCtxSynchronize(nullptr), CUDA_ERROR_LAUNCH_FAILED);
  struct stat info {};
  // The H200 dumps contexts only that were made for it, and says nothing.
  expect("the file is there", stat(path.c_str(), &info), -1);
  expect("and not empty", info.st_size > 0, false);
  unlink(path.c_str());
}

CONFORM_WITH(cuCoredumpSetAttribute, a_context_made_for_it_leaves_a_dump, initialised) {
  const std::string path = dump_path("made");
  CUcontext context = nullptr;
  REQUIRE(cuCtxCreate(&context, nullptr, CU_CTX_COREDUMP_ENABLE, 0));
  expect("it is on", get_switch(cuCoredumpGetAttribute, CU_COREDUMP_ENABLE_ON_EXCEPTION), true);
  expect_code("without the host",
              set_switch(cuCoredumpSetAttribute, CU_COREDUMP_TRIGGER_HOST, false), CUDA_SUCCESS);
  expect_code("file", set_name(cuCoredumpSetAttribute, CU_COREDUMP_FILE, path), CUDA_SUCCESS);
  REQUIRE(launch(common_kernel("trap"), 1, 1, nullptr));
  expect_code("kernel fails", cuCtxSynchronize(nullptr), CUDA_ERROR_LAUNCH_FAILED);
  struct stat info {};
  expect("the file is there", stat(path.c_str(), &info), 0);
  expect_true("and not empty", info.st_size > 0);
  unlink(path.c_str());
}

CONFORM(cuCoredumpSetAttribute, is_the_context_s) {
  expect_code("lightweight", set_switch(cuCoredumpSetAttribute, CU_COREDUMP_LIGHTWEIGHT, true),
              CUDA_SUCCESS);
  expect("of the context", get_switch(cuCoredumpGetAttribute, CU_COREDUMP_LIGHTWEIGHT), true);
  expect("not of all", get_switch(cuCoredumpGetAttributeGlobal, CU_COREDUMP_LIGHTWEIGHT), false);
}

CONFORM(cuCoredumpSetAttribute, wrong_arguments) {
  expect_code("the pipe is the process's",
              set_name(cuCoredumpSetAttribute, CU_COREDUMP_PIPE, "/tmp/pipe"),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("and so is its switch",
              set_switch(cuCoredumpSetAttribute, CU_COREDUMP_ENABLE_USER_TRIGGER, true),
              CUDA_ERROR_INVALID_VALUE);
  bool on = true;
  expect_code("no size", cuCoredumpSetAttribute(CU_COREDUMP_LIGHTWEIGHT, &on, nullptr),
              CUDA_ERROR_INVALID_VALUE);
}

CONFORM_WITH(cuCoredumpSetAttribute, needs_a_context, initialised) {
  expect_code("no context", set_switch(cuCoredumpSetAttribute, CU_COREDUMP_LIGHTWEIGHT, true),
              CUDA_ERROR_INVALID_CONTEXT);
}

}  // namespace limen::conform
