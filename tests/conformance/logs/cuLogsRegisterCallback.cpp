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

CONFORM(cuLogsRegisterCallback, hears_of_failures) {
  Heard heard;
  CUlogsCallbackHandle handle = nullptr;
  expect_code("register", cuLogsRegisterCallback(hear, &heard, &handle), CUDA_SUCCESS);
  expect_true("a handle", handle != nullptr);
  expect("nothing yet", heard.count.load(), 0);
  expect_code("a call fails", fail(), CUDA_ERROR_INVALID_VALUE);
  expect_true("it is told", heard.count.load() > 0);
  expect("as an error", heard.level, CU_LOG_LEVEL_ERROR);
  expect_true("with text", !heard.last.empty());
  const bool names = heard.last.find("CUDA_ERROR_INVALID_VALUE") != std::string::npos &&
                     heard.last.find("cuLaunchKernel") != std::string::npos;
  expect_true("that names the code and the call", names);
  expect_code("no function", cuLogsRegisterCallback(nullptr, nullptr, &handle),
              CUDA_ERROR_INVALID_VALUE);
  Heard second;
  expect_code("without handle", cuLogsRegisterCallback(hear, &second, nullptr), CUDA_SUCCESS);
  fail();
  expect_true("both hear", second.count.load() > 0);
}

}  // namespace limen::conform
