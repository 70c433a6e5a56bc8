// CUB's segmented algorithms: reductions, segmented sort (its small, middle and large segments go
// different ways) and segmented radix sort. Segments may be empty, and lie between elements that
// belong to none.
#include <cub/cub.cuh>

#include "cub_check.h"

/// Offsets of segments of 0 to about `longest` elements: many short, few long.
std::vector<int> segments(int n, int longest, int seed) {
  Random random(seed);
  std::vector<int> offsets{0};
  while (offsets.back() < n) {
    const unsigned kind = random.below(20);
    const int length = kind < 4    ? 0
                       : kind < 16 ? random.below(70)
                       : kind < 19 ? random.below(900)
                                   : random.below(longest);
    offsets.push_back(std::min(n, offsets.back() + length));
  }
  return offsets;
}

template <typename T>
void reduces(Verdict& verdict, int n, const char* type) {
  const std::vector<T> in = any_values<T>(n, n + 1);
  const std::vector<int> offsets = segments(n, 20000, n + 2);
  const int count = static_cast<int>(offsets.size()) - 1;
  std::vector<T> sums(count), lows(count, std::numeric_limits<T>::max());
  std::vector<int> at(count);
  for (int s = 0; s < count; ++s)
    for (int i = offsets[s]; i < offsets[s + 1]; ++i) {
      sums[s] = std::is_integral_v<T>
                    ? T((unsigned long long)(sums[s]) + (unsigned long long)(in[i]))
                    : sums[s] + in[i];
      lows[s] = std::min(lows[s], in[i]);
    }
  Array<T> d(in), out(count);
  Array<int> o(offsets);
  with_scratch([&](void* t, size_t& b) {
    return cub::DeviceSegmentedReduce::Sum(t, b, d.data, out.data, count, o.data, o.data + 1);
  });
  same(verdict, out.host(), sums, "DeviceSegmentedReduce::Sum", type);
  with_scratch([&](void* t, size_t& b) {
    return cub::DeviceSegmentedReduce::Min(t, b, d.data, out.data, count, o.data, o.data + 1);
  });
  same(verdict, out.host(), lows, "DeviceSegmentedReduce::Min", type);
}

template <typename T>
void sorts(Verdict& verdict, int n, bool radix, const char* type) {
  const std::vector<T> in = any_values<T>(n, n + 3);
  const std::vector<int> offsets = segments(n, 9000, n + 4);
  const int count = static_cast<int>(offsets.size()) - 1;
  std::vector<T> want = in;
  for (int s = 0; s < count; ++s)
    std::sort(want.begin() + offsets[s], want.begin() + offsets[s + 1]);
  Array<T> d(in), out(n);
  Array<int> o(offsets);
  if (n == 0) return;
  with_scratch([&](void* t, size_t& b) {
    return radix ? cub::DeviceSegmentedRadixSort::SortKeys(t, b, d.data, out.data, n, count, o.data,
                                                           o.data + 1)
                 : cub::DeviceSegmentedSort::SortKeys(t, b, d.data, out.data, n, count, o.data,
                                                      o.data + 1);
  });
  same(verdict, out.host(), want,
       radix ? "DeviceSegmentedRadixSort::SortKeys" : "DeviceSegmentedSort::SortKeys", type);
}

/// Few segments of one kind: without the parts for the others.
void pairs(Verdict& verdict, int n) {
  const std::vector<int> keys = few_values<int>(n, n + 5);
  const std::vector<int> offsets{0, n / 3, n / 3, n};
  std::vector<double> values(n);
  std::vector<int> order(n);
  for (int i = 0; i < n; ++i) values[i] = i, order[i] = i;
  for (int s = 0; s < 3; ++s)
    std::stable_sort(order.begin() + offsets[s], order.begin() + offsets[s + 1],
                     [&](int a, int b) { return keys[a] > keys[b]; });
  std::vector<double> want(order.begin(), order.end());
  Array<int> k(keys), k_out(n), o(offsets);
  Array<double> v(values), v_out(n);
  if (n == 0) return;
  with_scratch([&](void* t, size_t& b) {
    return cub::DeviceSegmentedSort::StableSortPairsDescending(
        t, b, k.data, k_out.data, v.data, v_out.data, n, 3, o.data, o.data + 1);
  });
  same(verdict, v_out.host(), want, "DeviceSegmentedSort::StableSortPairsDescending",
       "int and double");
}

int main(int argc, char** argv) {
  Verdict verdict;
  for (int n : sizes(argc, argv)) {
    reduces<int>(verdict, n, "int");
    sorts<int>(verdict, n, false, "int");
#ifdef ALL_TYPES
    reduces<unsigned long long>(verdict, n, "uint64");
    reduces<double>(verdict, n, "double");
    reduces<signed char>(verdict, n, "int8");
    sorts<unsigned long long>(verdict, n, false, "uint64");
    sorts<double>(verdict, n, true, "double");
    sorts<signed char>(verdict, n, true, "int8");
    pairs(verdict, n);
#endif
    std::printf("%d elements done\n", n);
  }
  return verdict.finish();
}
