// Shared by every whole-program test: error checks, a verdict, a deterministic generator.
// It is host code only and knows nothing of Limen, so that the same program runs on any driver.
// A program prints PASSED and exits 0, or prints FAILED with the reasons and exits 1.
// Thread rule: Verdict is used from one thread.
#pragma once
#include <cuda_runtime.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

/// Ends the program with FAILED when a runtime call does not answer cudaSuccess.
#define CHECK(call)                                                              \
  do {                                                                           \
    cudaError_t check_code_ = (call);                                            \
    if (check_code_ != cudaSuccess) {                                            \
      std::printf("%s:%d: %s: %s (%d)\nFAILED\n", __FILE__, __LINE__, #call,     \
                  cudaGetErrorName(check_code_), static_cast<int>(check_code_)); \
      std::exit(1);                                                              \
    }                                                                            \
  } while (0)

/// Counts failed expectations and prints the first 20 of them.
struct Verdict {
  int failures = 0;

  bool expect(bool good, const char* what, long long index = -1) {
    if (!good && failures++ < 20) std::printf("wrong: %s (at %lld)\n", what, index);
    return good;
  }

  template <typename T>
  bool equal(T got, T want, const char* what, long long index = -1) {
    if (got == want) return true;
    if (failures++ < 20) {
      std::printf("wrong: %s at %lld: got %.17g (0x%llx), want %.17g (0x%llx)\n", what, index,
                  static_cast<double>(got), static_cast<unsigned long long>(got),
                  static_cast<double>(want), static_cast<unsigned long long>(want));
    }
    return false;
  }

  /// |got - want| <= tolerance * max(1, |want|); NaN matches NaN only.
  bool near(double got, double want, double tolerance, const char* what, long long index = -1) {
    bool good = std::fabs(got - want) <= tolerance * std::fmax(1.0, std::fabs(want));
    if (want != want) good = got != got;
    if (!good && failures++ < 20) {
      std::printf("wrong: %s at %lld: got %.17g, want %.17g\n", what, index, got, want);
    }
    return good;
  }

  int finish() const {
    if (failures) std::printf("%d wrong\n", failures);
    std::printf(failures ? "FAILED\n" : "PASSED\n");
    return failures ? 1 : 0;
  }
};

/// Whether the device is NVIDIA's own: some tests ask for more there than a GPU gives (a process
/// that lives on after a fault) or must leave something out.
inline bool real_gpu() {
  static cudaDeviceProp properties;
  int device = 0;
  if (cudaGetDevice(&device) != cudaSuccess) return false;
  if (cudaGetDeviceProperties(&properties, device) != cudaSuccess) return false;
  return std::strncmp(properties.name, "NVIDIA", 6) == 0;
}

/// The splitmix64 generator: the same numbers everywhere.
struct Random {
  uint64_t state;
  explicit Random(uint64_t seed) : state(seed) {}
  uint64_t next() {
    uint64_t z = (state += 0x9e3779b97f4a7c15ull);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
  }
  uint32_t bits() { return static_cast<uint32_t>(next() >> 32); }
  uint32_t below(uint32_t n) { return static_cast<uint32_t>(next() % n); }
  float unit() { return static_cast<float>(next() >> 40) * (1.0f / 16777216.0f); }
};
