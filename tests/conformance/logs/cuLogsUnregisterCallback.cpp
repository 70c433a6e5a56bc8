#include <atomic>

#include "conformance/conform.h"

namespace limen::conform {
namespace {

struct Heard {
  std::atomic<int> count{0};
  std::string last;
  CUlogLevel level = CU_LOG_LEVEL_WARNING;
};

void hear(void* data, CUlogLevel level, char* message, size_t length) {
  auto* heard = static_cast<Heard*>(data);
  heard->last.assign(message, length);
  heard->level = level;
  ++heard->count;
}

/// A launch that every driver refuses.
CUresult fail() {
  return cuLaunchKernel(common_kernel("trap"), 1, 1, 1, 4096, 1, 1, 0, nullptr, nullptr, nullptr);
}

}  // namespace

CONFORM(cuLogsUnregisterCallback, hears_no_more) {
  Heard heard;
  CUlogsCallbackHandle handle = nullptr;
  REQUIRE(cuLogsRegisterCallback(hear, &heard, &handle));
  expect_code("unregister", cuLogsUnregisterCallback(handle), CUDA_SUCCESS);
  fail();
  expect("silent", heard.count.load(), 0);
  expect_code("none", cuLogsUnregisterCallback(nullptr), CUDA_ERROR_INVALID_VALUE);
  expect_code("twice", cuLogsUnregisterCallback(handle), CUDA_SUCCESS);
}

}  // namespace limen::conform
