#include "conformance/coredump/settings.h"

namespace limen::conform {

CONFORM_WITH(cuCoredumpGetAttributeGlobal, defaults, initialised) {
  expect("on exception", get_switch(cuCoredumpGetAttributeGlobal, CU_COREDUMP_ENABLE_ON_EXCEPTION),
         false);
  expect("host too", get_switch(cuCoredumpGetAttributeGlobal, CU_COREDUMP_TRIGGER_HOST), true);
  expect("lightweight", get_switch(cuCoredumpGetAttributeGlobal, CU_COREDUMP_LIGHTWEIGHT), false);
  expect("by pipe", get_switch(cuCoredumpGetAttributeGlobal, CU_COREDUMP_ENABLE_USER_TRIGGER),
         false);
  int flags = -1;
  size_t size = sizeof flags;
  expect_code("flags", cuCoredumpGetAttributeGlobal(CU_COREDUMP_GENERATION_FLAGS, &flags, &size),
              CUDA_SUCCESS);
  expect("no flags", flags, 0);
  expect("file", get_name(cuCoredumpGetAttributeGlobal, CU_COREDUMP_FILE), "");
}

CONFORM_WITH(cuCoredumpGetAttributeGlobal, sizes, initialised) {
  size_t size = 0;
  expect_code("of a switch", cuCoredumpGetAttributeGlobal(CU_COREDUMP_LIGHTWEIGHT, nullptr, &size),
              CUDA_SUCCESS);
  expect("one byte", size, 1u);
  expect_code("of a name", cuCoredumpGetAttributeGlobal(CU_COREDUMP_FILE, nullptr, &size),
              CUDA_SUCCESS);
  expect("1024 bytes", size, 1024u);
  expect_code("of the flags",
              cuCoredumpGetAttributeGlobal(CU_COREDUMP_GENERATION_FLAGS, nullptr, &size),
              CUDA_SUCCESS);
  expect("an integer", size, 4u);
  expect_code("no size", cuCoredumpGetAttributeGlobal(CU_COREDUMP_FILE, nullptr, nullptr),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("unknown", cuCoredumpGetAttributeGlobal(CU_COREDUMP_MAX, nullptr, &size),
              CUDA_ERROR_INVALID_VALUE);
}

}  // namespace limen::conform
