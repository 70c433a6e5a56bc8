// CUB's device-wide sorts: radix sort of keys and of pairs, both ways, by a part of the bits and of
// a struct by its members; merge sort by a comparison, stable and of pairs. Radix sort of many
// elements waits for earlier blocks in the arms of branches that differ by lane.
#include <cub/cub.cuh>

#include <numeric>

#include "cub_check.h"

template <typename T>
std::vector<int> order_of(const std::vector<T>& keys, bool descending) {
  std::vector<int> order(keys.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    return descending ? ByKey{}(keys[b], keys[a]) : ByKey{}(keys[a], keys[b]);
  });
  return order;
}

template <typename T, typename I>
std::vector<T> taken(const std::vector<T>& from, const std::vector<I>& order) {
  std::vector<T> to;
  to.reserve(order.size());
  for (I i : order) to.push_back(from[i]);
  return to;
}

/// Keys of every size and sign; floats with both infinities and subnormals.
template <typename T>
std::vector<T> sort_keys(int n, int seed) {
  std::vector<T> keys = any_values<T>(n, seed);
  if constexpr (std::is_floating_point_v<T>) {
    Random random(seed + 77);
    for (T& k : keys) k = (k + T(random.unit())) * (random.below(4) ? T(1) : T(1e30));
    if (n > 10)
      keys[3] = T(1) / T(0), keys[5] = T(-1) / T(0), keys[7] = std::numeric_limits<T>::denorm_min();
  }
  return keys;
}

template <typename T>
void radix_keys(Verdict& verdict, int n, const char* type) {
  const std::vector<T> in = sort_keys<T>(n, n + 1);
  Array<T> d(in), out(n);
  with_scratch([&](void* t, size_t& b) {
    return cub::DeviceRadixSort::SortKeys(t, b, d.data, out.data, n);
  });
  std::vector<T> want = in;
  std::sort(want.begin(), want.end());
  same(verdict, out.host(), want, "DeviceRadixSort::SortKeys", type);
}

template <typename T>
void radix_pairs(Verdict& verdict, int n, const char* type) {
  const std::vector<T> in = few_values<T>(n, n + 2);
  std::vector<int> places(n);
  std::iota(places.begin(), places.end(), 0);
  Array<T> k(in), k_out(n);
  Array<int> v(places), v_out(n);
  cub::DoubleBuffer<T> keys(k.data, k_out.data);
  cub::DoubleBuffer<int> values(v.data, v_out.data);
  with_scratch([&](void* t, size_t& b) {
    return cub::DeviceRadixSort::SortPairsDescending(t, b, keys, values, n);
  });
  const std::vector<int> order = order_of(in, true);
  std::vector<int> got(n);
  if (n) CHECK(cudaMemcpy(got.data(), values.Current(), n * sizeof(int), cudaMemcpyDeviceToHost));
  same(verdict, got, order, "DeviceRadixSort::SortPairsDescending", type);
  std::vector<T> got_keys(n);
  if (n) CHECK(cudaMemcpy(got_keys.data(), keys.Current(), n * sizeof(T), cudaMemcpyDeviceToHost));
  same(verdict, got_keys, taken(in, order), "SortPairsDescending's keys", type);
}

/// A part of the bits: stable for equal parts.
void radix_bits(Verdict& verdict, int n) {
  const std::vector<unsigned> in = any_values<unsigned>(n, n + 3);
  std::vector<unsigned> parts = in;
  for (unsigned& p : parts) p = p >> 5 & 0x7ff;
  Array<unsigned> d(in), out(n);
  with_scratch([&](void* t, size_t& b) {
    return cub::DeviceRadixSort::SortKeys(t, b, d.data, out.data, n, 5, 16);
  });
  same(verdict, out.host(), taken(in, order_of(parts, false)), "SortKeys by bits 5 to 15",
       "unsigned");
}

#ifdef ALL_TYPES
struct TwoMembers {
  float high;
  short low;
  __host__ __device__ bool operator==(const TwoMembers& o) const {
    return high == o.high && low == o.low;
  }
};
struct Members {
  __host__ __device__ cuda::std::tuple<float&, short&> operator()(TwoMembers& key) const {
    return {key.high, key.low};
  }
};

void radix_struct(Verdict& verdict, int n) {
  Random random(n + 4);
  std::vector<TwoMembers> in(n);
  for (TwoMembers& k : in) k = {float(int(random.below(100)) - 50), short(random.bits())};
  Array<TwoMembers> d(in), out(n);
  with_scratch([&](void* t, size_t& b) {
    return cub::DeviceRadixSort::SortKeys(t, b, d.data, out.data, n, Members{});
  });
  std::sort(in.begin(), in.end(), [](const TwoMembers& a, const TwoMembers& b) {
    return a.high < b.high || (a.high == b.high && a.low < b.low);
  });
  same(verdict, out.host(), in, "DeviceRadixSort::SortKeys", "struct");
}
#endif

template <typename T>
void merge(Verdict& verdict, int n, const char* type) {
  const std::vector<T> in = few_values<T>(n, n + 5);
  const std::vector<int> order = order_of(in, false);
  std::vector<int> places(n);
  std::iota(places.begin(), places.end(), 0);
  Array<T> k(in);
  Array<int> v(places);
  with_scratch([&](void* t, size_t& b) {
    return cub::DeviceMergeSort::StableSortPairs(t, b, k.data, v.data, n, ByKey{});
  });
  same(verdict, k.host(), taken(in, order), "DeviceMergeSort::StableSortPairs", type);
  same(verdict, v.host(), order, "StableSortPairs' values", type);
}

template <typename T>
void all_of(Verdict& verdict, int n, const char* type) {
  radix_keys<T>(verdict, n, type);
  radix_pairs<T>(verdict, n, type);
  merge<T>(verdict, n, type);
}

int main(int argc, char** argv) {
  Verdict verdict;
  for (int n : sizes(argc, argv)) {
#ifdef ALL_TYPES
    all_of<int>(verdict, n, "int");
    all_of<unsigned long long>(verdict, n, "uint64");
    all_of<float>(verdict, n, "float");
    all_of<double>(verdict, n, "double");
    all_of<signed char>(verdict, n, "int8");
    radix_bits(verdict, n);
    radix_struct(verdict, n);
#else
    radix_pairs<float>(verdict, n, "float");
#endif
    merge<Record>(verdict, n, "Record");
    std::printf("%d elements done\n", n);
  }
  return verdict.finish();
}
