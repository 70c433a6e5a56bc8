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

CONFORM_WITH(cuCoredumpSetAttributeGlobal, contexts_follow, initialised) {
  CUcontext context = nullptr;
  REQUIRE(cuCtxCreate(&context, nullptr, 0, 0));
  expect_code("host", set_switch(cuCoredumpSetAttributeGlobal, CU_COREDUMP_ENABLE_ON_EXCEPTION, true),
              CUDA_SUCCESS);
  expect("of the context", get_switch(cuCoredumpGetAttribute, CU_COREDUMP_ENABLE_ON_EXCEPTION),
         true);  // to measure on H200
}

CONFORM_WITH(cuCoredumpSetAttributeGlobal, pipe_is_fixed_once_enabled, initialised) {
  const std::string pipe = dump_path("pipe");
  expect_code("pipe", set_name(cuCoredumpSetAttributeGlobal, CU_COREDUMP_PIPE, pipe), CUDA_SUCCESS);
  expect_code("enable",
              set_switch(cuCoredumpSetAttributeGlobal, CU_COREDUMP_ENABLE_USER_TRIGGER, true),
              CUDA_SUCCESS);
  expect_code("another pipe",
              set_name(cuCoredumpSetAttributeGlobal, CU_COREDUMP_PIPE, "/tmp/other"),
              CUDA_ERROR_NOT_PERMITTED);  // to measure on H200
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
              CUDA_ERROR_INVALID_VALUE);  // to measure on H200
  size = 0;
  expect_code("size only", cuCoredumpSetAttributeGlobal(CU_COREDUMP_LIGHTWEIGHT, nullptr, &size),
              CUDA_SUCCESS);
  expect("of a switch", size, 1u);  // to measure on H200
}

}  // namespace limen::conform
