#include "conformance/copy/linear_case.h"

namespace limen::conform {

static CUresult call(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  return cuMemcpyAsync(to, from, bytes, nullptr);
}

CONFORM(cuMemcpyAsync, device_to_device) { device_to_device(call); }

CONFORM(cuMemcpyAsync, host_to_device) {
  host_to_device([](CUdeviceptr to, const void* from,
                    size_t bytes) { return call(to, address_of(from), bytes); },
                 false);
}

CONFORM(cuMemcpyAsync, device_to_host) {
  device_to_host(
      [](void* to, CUdeviceptr from, size_t bytes) { return call(address_of(to), from, bytes); },
      true);
}

CONFORM(cuMemcpyAsync, in_stream_order) {
  Buffer from(64);
  volatile uint32_t* to = pinned_word();
  ordered_in_stream(from, to, [&](CUstream stream) {
    return cuMemcpyAsync(address_of(const_cast<uint32_t*>(to)), from, 4, stream);
  });
}

CONFORM(cuMemcpyAsync, what_cannot_be) {
  Buffer to(64), from(64);
  refuses_runs([&](size_t bytes, bool no_to, bool no_from) {
    return call(no_to ? 0 : to.at(), no_from ? 0 : from.at(), bytes);
  });
}

CONFORM_WITH(cuMemcpyAsync, needs_a_context, initialised) {
  expect_code("no context", cuMemcpyAsync(0, 0, 0, nullptr), CUDA_ERROR_INVALID_CONTEXT);
}

}  // namespace limen::conform
