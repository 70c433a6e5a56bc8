// Shared by the tests of CUB's and Thrust's device-wide algorithms: device arrays, scratch memory,
// the sizes to run and element types whose sums are exact in any order.
// A program takes the largest size as its argument; without it the sizes are those of CI. With
// -DALL_TYPES it runs every element type, without it the few that CI has time for.
#pragma once
#include <algorithm>
#include <cstdlib>
#include <type_traits>
#include <vector>

#include "check.h"

/// `count` elements of device memory, freed at the end of the scope; never empty, so that `data` is
/// an address even for no elements.
template <typename T>
struct Array {
  T* data = nullptr;
  size_t count;

  explicit Array(size_t n) : count(n) { CHECK(cudaMalloc(&data, (n + 1) * sizeof(T))); }
  explicit Array(const std::vector<T>& from) : Array(from.size()) {
    if (count) CHECK(cudaMemcpy(data, from.data(), count * sizeof(T), cudaMemcpyHostToDevice));
  }
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;
  ~Array() { cudaFree(data); }

  /// The first `n` elements.
  std::vector<T> host(size_t n) const {
    std::vector<T> to(n);
    if (n) CHECK(cudaMemcpy(to.data(), data, n * sizeof(T), cudaMemcpyDeviceToHost));
    return to;
  }
  std::vector<T> host() const { return host(count); }
};

/// Calls a CUB algorithm as all of them want it: for the size of its scratch memory, then with it.
template <typename Call>
void with_scratch(Call&& call) {
  size_t bytes = 0;
  CHECK(call(nullptr, bytes));
  Array<char> scratch(bytes);
  CHECK(call(static_cast<void*>(scratch.data), bytes));
  CHECK(cudaDeviceSynchronize());
}

/// None, one, odd numbers within a block and over several, and with an argument up to that many.
inline std::vector<int> sizes(int argc, char** argv) {
  const int most = argc > 1 ? std::atoi(argv[1]) : 20011;
  std::vector<int> all;
  for (int n : {0, 1, 777, 20011, 65536, 1000003})
    if (n <= most) all.push_back(n);
  if (all.empty() || all.back() != most) all.push_back(most);
  return all;
}

/// x -> a * x + b, a composition of `steps` such. Three words, more than CUB publishes in one
/// store. Composing is associative, not commutative.
struct Affine {
  unsigned a, b, steps;
  __host__ __device__ bool operator==(const Affine& o) const {
    return a == o.a && b == o.b && steps == o.steps;
  }
  __host__ __device__ bool operator!=(const Affine& o) const { return !(*this == o); }
};

struct Compose {
  __host__ __device__ Affine operator()(const Affine& f, const Affine& g) const {
    return Affine{f.a * g.a, g.a * f.b + g.b, f.steps + g.steps};
  }
};

/// An odd-sized record, ordered by its key alone: stability shows.
struct Record {
  short key;
  char name[3];
  int place;
  __host__ __device__ bool operator==(const Record& o) const {
    return key == o.key && place == o.place && name[0] == o.name[0] && name[2] == o.name[2];
  }
  __host__ __device__ bool operator!=(const Record& o) const { return !(*this == o); }
};

struct ByKey {
  template <typename T>
  __host__ __device__ bool operator()(const T& a, const T& b) const {
    return a < b;
  }
  __host__ __device__ bool operator()(const Record& a, const Record& b) const {
    return a.key < b.key;
  }
};

/// Any value of the type for integers; for floats small whole numbers, whose sums are exact.
template <typename T>
T any_value(Random& random) {
  if constexpr (std::is_same_v<T, Affine>) {
    return Affine{random.bits() | 1, random.bits(), 1};
  } else if constexpr (std::is_same_v<T, Record>) {
    const unsigned r = random.bits();
    return Record{static_cast<short>(r % 1000),
                  {static_cast<char>(r >> 10), 0, static_cast<char>(r >> 20)},
                  static_cast<int>(random.bits())};
  } else if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(static_cast<int>(random.below(7)) - 3);
  } else {
    return static_cast<T>(random.next());
  }
}

template <typename T>
std::vector<T> any_values(size_t n, uint64_t seed) {
  Random random(seed);
  std::vector<T> values(n);
  for (T& v : values) v = any_value<T>(random);
  return values;
}

/// Values of which many are equal, in runs now and then.
template <typename T>
std::vector<T> few_values(size_t n, uint64_t seed) {
  Random random(seed);
  std::vector<T> values(n);
  T last = any_value<T>(random);
  for (T& v : values) {
    const unsigned r = random.below(8);
    if (r < 3) last = any_value<T>(random);
    v = last;
  }
  return values;
}

/// Element by element; says which algorithm, type and size went wrong.
template <typename T>
void same(Verdict& verdict, const std::vector<T>& got, const std::vector<T>& want, const char* what,
          const char* type) {
  if (!verdict.expect(got.size() == want.size(), what, static_cast<long long>(got.size()))) return;
  for (size_t i = 0; i < want.size(); ++i) {
    if (got[i] == want[i]) continue;
    char text[160];
    std::snprintf(text, sizeof text, "%s of %s, %zu elements", what, type, want.size());
    verdict.expect(false, text, static_cast<long long>(i));
    return;
  }
}
