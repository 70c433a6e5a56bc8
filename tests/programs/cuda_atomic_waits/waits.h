// Shared by the two files of this program: objects that host and device see.
#pragma once
#include <new>
#include <utility>

#include "check.h"

void barrier_waits(Verdict& verdict);

/// `n` objects in managed memory, each made of the same arguments; kept to the program's end.
template <typename T, typename... A>
T* make(int n, A... arguments) {
  T* p;
  CHECK(cudaMallocManaged(&p, n * sizeof(T)));
  for (int i = 0; i < n; ++i) new (p + i) T(arguments...);
  return p;
}

/// Waits for the kernel launched last; says which one did not end well.
inline void finished(const char* what) {
  cudaError_t code = cudaGetLastError();
  if (code == cudaSuccess) code = cudaDeviceSynchronize();
  if (code != cudaSuccess) {
    std::printf("%s: %s\nFAILED\n", what, cudaGetErrorName(code));
    std::exit(1);
  }
  std::printf("%s\n", what);
  std::fflush(stdout);
}
