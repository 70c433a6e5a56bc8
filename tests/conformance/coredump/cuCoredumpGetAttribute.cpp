#include "conformance/coredump/settings.h"

namespace limen::conform {

CONFORM(cuCoredumpGetAttribute, flags_follow_lightweight) {
  int flags = -1;
  size_t size = sizeof flags;
  expect_code("flags", cuCoredumpGetAttribute(CU_COREDUMP_GENERATION_FLAGS, &flags, &size),
              CUDA_SUCCESS);
  expect("none", flags, 0);
  REQUIRE(set_switch(cuCoredumpSetAttribute, CU_COREDUMP_LIGHTWEIGHT, true));
  expect_code("after", cuCoredumpGetAttribute(CU_COREDUMP_GENERATION_FLAGS, &flags, &size),
              CUDA_SUCCESS);
  expect("all that leave out", flags & CU_COREDUMP_LIGHTWEIGHT_FLAGS,
         int{CU_COREDUMP_LIGHTWEIGHT_FLAGS});
}

CONFORM(cuCoredumpGetAttribute, wrong_arguments) {
  char text[1024] = {};
  size_t size = 2;
  expect_code("too small for a name", cuCoredumpGetAttribute(CU_COREDUMP_FILE, text, &size),
              CUDA_SUCCESS);
  expect_true("it is cut", std::strlen(text) <= 2);
  expect_code("no size", cuCoredumpGetAttribute(CU_COREDUMP_FILE, text, nullptr),
              CUDA_ERROR_INVALID_VALUE);
}

CONFORM_WITH(cuCoredumpGetAttribute, needs_a_context, initialised) {
  bool on = false;
  size_t size = sizeof on;
  expect_code("no context", cuCoredumpGetAttribute(CU_COREDUMP_LIGHTWEIGHT, &on, &size),
              CUDA_ERROR_INVALID_CONTEXT);
}

}  // namespace limen::conform
