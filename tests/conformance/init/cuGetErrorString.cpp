#include "conformance/conform.h"

namespace limen::conform {

namespace {

std::string text_for(int code) {
  const char* text = nullptr;
  if (cuGetErrorString(static_cast<CUresult>(code), &text)) return "refused";
  return text ? text : "null";
}

}  // namespace

// Programs print these, and some compare them.
CONFORM_WITH(cuGetErrorString, says_what_NVIDIAs_driver_says, nothing) {
  expect("0", text_for(0), "no error");
  expect("1", text_for(1), "invalid argument");
  expect("2", text_for(2), "out of memory");
  expect("3", text_for(3), "initialization error");
  expect("100", text_for(100), "no CUDA-capable device is detected");
  expect("101", text_for(101), "invalid device ordinal");
  expect("201", text_for(201), "invalid device context");
  expect("209", text_for(209), "no kernel image is available for execution on the device");
  expect("400", text_for(400), "invalid resource handle");
  expect("500", text_for(500), "named symbol not found");
  expect("600", text_for(600), "device not ready");
  expect("700", text_for(700), "an illegal memory access was encountered");
  expect("719", text_for(719), "unspecified launch failure");
  expect("801", text_for(801), "operation not supported");
  expect("999", text_for(999), "unknown error");
}

CONFORM_WITH(cuGetErrorString, numbers_that_are_no_code, nothing) {
  for (int code : {-1, 50, 998, 1000, 1 << 30}) {
    const char* text = "kept";
    const std::string label = std::to_string(code);
    expect_code(label, cuGetErrorString(static_cast<CUresult>(code), &text),
                CUDA_ERROR_INVALID_VALUE);
    expect_true(label + ": no text", text == nullptr);
  }
}

}  // namespace limen::conform
