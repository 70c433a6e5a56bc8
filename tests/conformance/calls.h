// What the generated driver_calls.cpp needs of the program that it is linked into.
#pragma once
#include <csetjmp>

#include "conformance/driver_calls.h"

namespace limen::conform {

/// Whether calls of `function` shall answer success and do nothing.
bool is_mutant(const char* function);
/// Counts the call; returns `result`.
CUresult called(const char* function, CUresult result);
/// Where a signal handler goes on in this thread; null outside of calls.
extern thread_local sigjmp_buf* crash_point;

}  // namespace limen::conform
