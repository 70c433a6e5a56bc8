#include "conformance/copy/linear_case.h"

namespace limen::conform {

static CUresult call(CUdeviceptr to, const void* from, size_t bytes) {
  return cuMemcpyHtoD(to, from, bytes);
}

CONFORM(cuMemcpyHtoD, from_pageable_memory) { host_to_device(call, false); }
CONFORM(cuMemcpyHtoD, from_pinned_memory) { host_to_device(call, true); }

CONFORM(cuMemcpyHtoD, the_source_may_change_afterwards) {
  Buffer to(64);
  uint32_t word = 5;
  expect_code("copies", cuMemcpyHtoD(to, &word, 4), CUDA_SUCCESS);
  word = 6;
  expect("what it was", read<uint32_t>(to), 5u);
}

CONFORM(cuMemcpyHtoD, what_cannot_be) {
  Buffer to(64);
  static uint32_t words[16];
  refuses_runs([&](size_t bytes, bool no_to, bool no_from) {
    return call(no_to ? 0 : to.at(), no_from ? nullptr : words, bytes);
  });
}

CONFORM_WITH(cuMemcpyHtoD, needs_a_context, initialised) {
  expect_code("no context", call(0, nullptr, 0), CUDA_ERROR_INVALID_CONTEXT);
}

}  // namespace limen::conform
