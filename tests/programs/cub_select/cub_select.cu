// CUB's device-wide selection: by a condition, by flags, without repetitions, partitions in two and
// three parts, run lengths. All of them wait for earlier blocks (decoupled look-back).
#include <cub/cub.cuh>

#include "cub_check.h"

/// Takes about one in three, by the value's bytes; a struct by its place.
struct Third {
  template <typename T>
  __host__ __device__ bool operator()(const T& v) const {
    return static_cast<long long>(v) % 3 == 0;
  }
  __host__ __device__ bool operator()(const Record& v) const { return v.place % 3 == 0; }
};
struct Negative {
  template <typename T>
  __host__ __device__ bool operator()(const T& v) const {
    return v < T(0);
  }
};

template <typename T>
void selections(Verdict& verdict, int n, const char* type) {
  const std::vector<T> in = any_values<T>(n, n + 1);
  std::vector<char> flags(n);
  Random random(n + 2);
  for (char& f : flags) f = random.below(100) < 30;
  std::vector<T> third, rest, flagged;
  for (int i = 0; i < n; ++i) {
    (Third{}(in[i]) ? third : rest).push_back(in[i]);
    if (flags[i]) flagged.push_back(in[i]);
  }
  Array<T> d(in), out(n);
  Array<char> f(flags);
  Array<int> count(1);
  auto check = [&](std::vector<T> want, const char* what) {
    const int chosen = count.host()[0];
    same(verdict, out.host(chosen), want, what, type);
  };
  with_scratch([&](void* t, size_t& b) {
    return cub::DeviceSelect::If(t, b, d.data, out.data, count.data, n, Third{});
  });
  check(third, "DeviceSelect::If");
  with_scratch([&](void* t, size_t& b) {
    return cub::DeviceSelect::Flagged(t, b, d.data, f.data, out.data, count.data, n);
  });
  check(flagged, "DeviceSelect::Flagged");
  with_scratch([&](void* t, size_t& b) {
    return cub::DevicePartition::If(t, b, d.data, out.data, count.data, n, Third{});
  });
  check(third, "DevicePartition::If");
  std::vector<T> all = out.host();
  std::reverse(all.begin() + third.size(), all.end());  // the others come from the end
  same(verdict, std::vector<T>(all.begin() + third.size(), all.end()), rest,
       "DevicePartition::If, others", type);
}

template <typename T>
void uniques(Verdict& verdict, int n, const char* type) {
  const std::vector<T> in = few_values<T>(n, n + 3);
  std::vector<T> want;
  std::vector<int> lengths;
  for (int i = 0; i < n; ++i) {
    if (i == 0 || in[i] != in[i - 1]) want.push_back(in[i]), lengths.push_back(0);
    ++lengths.back();
  }
  Array<T> d(in), out(n);
  Array<int> count(1), length(n);
  with_scratch([&](void* t, size_t& b) {
    return cub::DeviceSelect::Unique(t, b, d.data, out.data, count.data, n);
  });
  same(verdict, out.host(count.host()[0]), want, "DeviceSelect::Unique", type);
  with_scratch([&](void* t, size_t& b) {
    return cub::DeviceRunLengthEncode::Encode(t, b, d.data, out.data, length.data, count.data, n);
  });
  same(verdict, out.host(count.host()[0]), want, "DeviceRunLengthEncode::Encode", type);
  same(verdict, length.host(want.size()), lengths, "Encode's lengths", type);
}

template <typename T>
void three_parts(Verdict& verdict, int n, const char* type) {
  const std::vector<T> in = any_values<T>(n, n + 4);
  std::vector<T> parts[3];
  for (const T& v : in) parts[Negative{}(v) ? 0 : Third{}(v) ? 1 : 2].push_back(v);
  Array<T> d(in), a(n), b_(n), c(n);
  Array<int> counts(2);
  with_scratch([&](void* t, size_t& b) {
    return cub::DevicePartition::If(t, b, d.data, a.data, b_.data, c.data, counts.data, n,
                                    Negative{}, Third{});
  });
  const std::vector<int> got = counts.host();
  if (n == 0) return;
  same(verdict, a.host(got[0]), parts[0], "three-way DevicePartition::If, first", type);
  same(verdict, b_.host(got[1]), parts[1], "three-way DevicePartition::If, second", type);
  same(verdict, c.host(n - got[0] - got[1]), parts[2], "three-way DevicePartition::If, third",
       type);
}

template <typename T>
void all_of(Verdict& verdict, int n, const char* type) {
  selections<T>(verdict, n, type);
  uniques<T>(verdict, n, type);
  if constexpr (std::is_signed_v<T>) three_parts<T>(verdict, n, type);
}

int main(int argc, char** argv) {
  Verdict verdict;
  for (int n : sizes(argc, argv)) {
#ifdef ALL_TYPES
    all_of<int>(verdict, n, "int");
    all_of<unsigned long long>(verdict, n, "uint64");
    all_of<float>(verdict, n, "float");
    all_of<signed char>(verdict, n, "int8");
    all_of<Record>(verdict, n, "Record");
#else
    selections<Record>(verdict, n, "Record");
    uniques<int>(verdict, n, "int");
#endif
    all_of<double>(verdict, n, "double");
    std::printf("%d elements done\n", n);
  }
  return verdict.finish();
}
