// What the conformance suite's calls (driver_calls.h) ask of a program: the driver is whichever
// libcuda.so.1 the loader finds, there are no mutants, nothing is counted. Thread rule: any thread.
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

#include "conformance/calls.h"

namespace limen::conform {

void* driver_symbol(const char* name) {
  static void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  void* found = library ? dlsym(library, name) : nullptr;
  if (!found) {
    std::fprintf(stderr, "%s: %s\n", name, dlerror());
    std::_Exit(1);
  }
  return found;
}
thread_local sigjmp_buf* crash_point = nullptr;
bool is_mutant(const char*) { return false; }
CUresult called(const char*, CUresult result) { return result; }

}  // namespace limen::conform
