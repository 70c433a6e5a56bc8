#include "conformance/copy/linear_case.h"

namespace limen::conform {

static CUresult call(void* to, CUdeviceptr from, size_t bytes) {
  return cuMemcpyDtoHAsync(to, from, bytes, nullptr);
}

CONFORM(cuMemcpyDtoHAsync, to_pageable_memory) { device_to_host(call, false); }
CONFORM(cuMemcpyDtoHAsync, to_pinned_memory) { device_to_host(call, true); }

CONFORM(cuMemcpyDtoHAsync, in_stream_order) {
  Buffer from(64);
  volatile uint32_t* to = pinned_word();
  ordered_in_stream(from, to, [&](CUstream stream) {
    return cuMemcpyDtoHAsync(const_cast<uint32_t*>(to), from, 4, stream);
  });
}

CONFORM(cuMemcpyDtoHAsync, what_cannot_be) {
  Buffer from(64);
  static uint32_t words[16];
  refuses_runs([&](size_t bytes, bool no_to, bool no_from) {
    return call(no_to ? nullptr : words, no_from ? 0 : from.at(), bytes);
  });
}

CONFORM_WITH(cuMemcpyDtoHAsync, needs_a_context, initialised) {
  expect_code("no context", call(nullptr, 0, 0), CUDA_ERROR_INVALID_CONTEXT);
}

}  // namespace limen::conform
