// Formats one device printf from nvcc's packed argument buffer. No locks are held and nothing is
// allocated while the kernel's memory is read, so a wild pointer may fault here.
// Thread rule: any thread; `out` belongs to the caller.
#pragma once
#include <cstdint>
#include <string>

namespace limen::engine {

/// Appends the formatted text to `out`. `args` holds each argument at its natural alignment: ints
/// in 4 bytes, long long, double and pointers in 8. Returns the number of arguments read; -1 when
/// `format` is null.
/// source: CUDA C++ Programming Guide 13.0, "Formatted Output".
int32_t format_printf(std::string& out, const char* format, const uint8_t* args);

}  // namespace limen::engine
