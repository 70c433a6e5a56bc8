#include "conformance/copy/linear_case.h"

namespace limen::conform {

static CUresult call(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  return cuMemcpy(to, from, bytes);
}

CONFORM(cuMemcpy, device_to_device) { device_to_device(call); }

CONFORM(cuMemcpy, host_to_device) {
  host_to_device([](CUdeviceptr to, const void* from,
                    size_t bytes) { return call(to, address_of(from), bytes); },
                 false);
}

CONFORM(cuMemcpy, device_to_host) {
  device_to_host(
      [](void* to, CUdeviceptr from, size_t bytes) { return call(address_of(to), from, bytes); },
      true);
}

CONFORM(cuMemcpy, what_cannot_be) {
  Buffer to(64), from(64);
  refuses_runs([&](size_t bytes, bool no_to, bool no_from) {
    return call(no_to ? 0 : to.at(), no_from ? 0 : from.at(), bytes);
  });
}

CONFORM_WITH(cuMemcpy, needs_a_context, initialised) {
  expect_code("no context", cuMemcpy(0, 0, 0), CUDA_ERROR_INVALID_CONTEXT);
}

}  // namespace limen::conform
