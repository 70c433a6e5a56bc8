// CUB's device-wide reductions and scans: sums, extrema, where they are, reductions and scans by
// key, a scan whose operator does not commute. Scans wait for earlier blocks (decoupled look-back).
#include <cub/cub.cuh>

#include "cub_check.h"

struct Larger {
  template <typename T>
  __host__ __device__ T operator()(const T& a, const T& b) const {
    return a < b ? b : a;
  }
};

/// Sums of T as the device makes them: small integers wrap.
template <typename T>
T sum_of(T a, T b) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<unsigned long long>(a) + static_cast<unsigned long long>(b));
  else
    return a + b;
}

template <typename T>
void reductions(Verdict& verdict, int n, const char* type) {
  const std::vector<T> in = any_values<T>(n, n + 1);
  Array<T> d(in), out(1);
  with_scratch(
      [&](void* t, size_t& b) { return cub::DeviceReduce::Sum(t, b, d.data, out.data, n); });
  T want{};
  for (T v : in) want = sum_of(want, v);
  same(verdict, out.host(), {want}, "DeviceReduce::Sum", type);
  const T first = any_values<T>(1, 9)[0];
  with_scratch([&](void* t, size_t& b) {
    return cub::DeviceReduce::Reduce(t, b, d.data, out.data, n, Larger{}, first);
  });
  want = first;
  for (T v : in) want = Larger{}(want, v);
  same(verdict, out.host(), {want}, "DeviceReduce::Reduce", type);
  if (n == 0) return;
  Array<long long> at(1);
  with_scratch([&](void* t, size_t& b) {
    return cub::DeviceReduce::ArgMin(t, b, d.data, out.data, at.data, n);
  });
  const auto least = std::min_element(in.begin(), in.end());
  same(verdict, out.host(), {*least}, "DeviceReduce::ArgMin", type);
  same(verdict, at.host(), {static_cast<long long>(least - in.begin())}, "ArgMin's place", type);
}

template <typename T>
void scans(Verdict& verdict, int n, const char* type) {
  const std::vector<T> in = any_values<T>(n, n + 2);
  std::vector<T> before(n), with(n), highest(n);
  T sum{}, high{};
  for (int i = 0; i < n; ++i) {
    before[i] = sum;
    with[i] = sum = sum_of(sum, in[i]);
    highest[i] = high = i ? Larger{}(high, in[i]) : in[i];
  }
  Array<T> d(in), out(n);
  with_scratch(
      [&](void* t, size_t& b) { return cub::DeviceScan::InclusiveSum(t, b, d.data, out.data, n); });
  same(verdict, out.host(), with, "DeviceScan::InclusiveSum", type);
  with_scratch([&](void* t, size_t& b) {
    return cub::DeviceScan::InclusiveScan(t, b, d.data, out.data, Larger{}, n);
  });
  same(verdict, out.host(), highest, "DeviceScan::InclusiveScan", type);
  with_scratch([&](void* t, size_t& b) { return cub::DeviceScan::ExclusiveSum(t, b, d.data, n); });
  same(verdict, d.host(), before, "DeviceScan::ExclusiveSum in place", type);
}

void compositions(Verdict& verdict, int n) {
  const std::vector<Affine> in = any_values<Affine>(n, n + 3);
  const Affine start{3, 5, 0};
  std::vector<Affine> before(n), with(n);
  Affine all = start;
  for (int i = 0; i < n; ++i) {
    before[i] = all;
    all = Compose{}(all, in[i]);
    with[i] = i ? Compose{}(with[i - 1], in[i]) : in[i];
  }
  Array<Affine> d(in), out(n);
  with_scratch([&](void* t, size_t& b) {
    return cub::DeviceScan::ExclusiveScan(t, b, d.data, out.data, Compose{}, start, n);
  });
  same(verdict, out.host(), before, "DeviceScan::ExclusiveScan", "Affine");
  with_scratch([&](void* t, size_t& b) {
    return cub::DeviceScan::InclusiveScan(t, b, d.data, out.data, Compose{}, n);
  });
  same(verdict, out.host(), with, "DeviceScan::InclusiveScan", "Affine");
}

template <typename T>
void by_key(Verdict& verdict, int n, const char* type) {
  const std::vector<int> keys = few_values<int>(n, n + 4);
  const std::vector<T> in = any_values<T>(n, n + 5);
  std::vector<int> runs;
  std::vector<T> totals, before(n);
  for (int i = 0; i < n; ++i) {
    if (i == 0 || keys[i] != keys[i - 1]) runs.push_back(keys[i]), totals.push_back(T{});
    before[i] = totals.back();
    totals.back() = sum_of(totals.back(), in[i]);
  }
  Array<int> k(keys), unique(n), count(1);
  Array<T> d(in), out(n);
  with_scratch([&](void* t, size_t& b) {
    return cub::DeviceScan::ExclusiveSumByKey(t, b, k.data, d.data, out.data, n);
  });
  same(verdict, out.host(), before, "DeviceScan::ExclusiveSumByKey", type);
  with_scratch([&](void* t, size_t& b) {
    return cub::DeviceReduce::ReduceByKey(t, b, k.data, unique.data, d.data, out.data, count.data,
                                          cuda::std::plus<>{}, n);
  });
  same(verdict, count.host(), {static_cast<int>(runs.size())}, "ReduceByKey's count", type);
  same(verdict, unique.host(runs.size()), runs, "ReduceByKey's keys", type);
  same(verdict, out.host(runs.size()), totals, "DeviceReduce::ReduceByKey", type);
}

template <typename T>
void all_of(Verdict& verdict, int n, const char* type) {
  reductions<T>(verdict, n, type);
  scans<T>(verdict, n, type);
  by_key<T>(verdict, n, type);
}

int main(int argc, char** argv) {
  Verdict verdict;
  for (int n : sizes(argc, argv)) {
    all_of<int>(verdict, n, "int");
    compositions(verdict, n);
#ifdef ALL_TYPES
    all_of<unsigned long long>(verdict, n, "uint64");
    all_of<float>(verdict, n, "float");
    all_of<double>(verdict, n, "double");
    all_of<signed char>(verdict, n, "int8");
#else
    scans<signed char>(verdict, n, "int8");
#endif
    std::printf("%d elements done\n", n);
  }
  return verdict.finish();
}
