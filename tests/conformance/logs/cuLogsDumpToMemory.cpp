#include "conformance/conform.h"

namespace limen::conform {
namespace {

CUresult fail() {
  return cuLaunchKernel(common_kernel("trap"), 1, 1, 1, 4096, 1, 1, 0, nullptr, nullptr, nullptr);
}

}  // namespace

CONFORM(cuLogsDumpToMemory, from_an_iterator_on) {
  CUlogIterator at = 0, end = 0;
  REQUIRE(cuLogsCurrent(&at, 0));
  char text[4096] = "unchanged";
  size_t size = sizeof text;
  expect_code("nothing new", cuLogsDumpToMemory(&at, text, &size, 0), CUDA_SUCCESS);
  expect("no bytes", size, 0u);
  fail();
  size = sizeof text;
  expect_code("a failure", cuLogsDumpToMemory(&at, text, &size, 0), CUDA_SUCCESS);
  expect_true("some bytes", size > 0 && size < sizeof text);
  expect_true("terminated there", std::strlen(text) == size);
  expect("by a line end", text[size - 1], '\n');
  REQUIRE(cuLogsCurrent(&end, 0));
  expect_true("the iterator moved on", at == end);
  size = sizeof text;
  expect_code("once only", cuLogsDumpToMemory(&at, text, &size, 0), CUDA_SUCCESS);
  expect("nothing left", size, 0u);
}

CONFORM(cuLogsDumpToMemory, little_room) {
  for (int i = 0; i < 5; ++i) fail();
  char text[32768];
  size_t size = sizeof text;
  expect_code("all", cuLogsDumpToMemory(nullptr, text, &size, 0), CUDA_SUCCESS);
  const size_t all = size;
  expect_true("five and more", all > 100);
  size = 4;
  expect_code("no room", cuLogsDumpToMemory(nullptr, text, &size, 0), CUDA_ERROR_INVALID_VALUE);
  expect("no bytes", size, 0u);
  size = all - 20;
  expect_code("some room", cuLogsDumpToMemory(nullptr, text, &size, 0), CUDA_SUCCESS);
  expect_true("some of it", size > 0);
  expect("within the room", size <= all - 20, false);
}

CONFORM(cuLogsDumpToMemory, wrong_arguments) {
  char text[64];
  size_t size = sizeof text;
  expect_code("no buffer", cuLogsDumpToMemory(nullptr, nullptr, &size, 0),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no size", cuLogsDumpToMemory(nullptr, text, nullptr, 0), CUDA_ERROR_INVALID_VALUE);
  expect_code("flags", cuLogsDumpToMemory(nullptr, text, &size, 1), CUDA_ERROR_INVALID_VALUE);
}

}  // namespace limen::conform
