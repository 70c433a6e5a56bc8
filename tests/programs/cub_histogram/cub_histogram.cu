// CUB's device-wide histograms: even and given ranges, few and many bins, several channels, samples
// outside of all bins.
#include <cub/cub.cuh>

#include "cub_check.h"

/// Samples in and around [-100, 300], whole numbers or quarters.
template <typename T>
std::vector<T> samples(int n, int seed) {
  Random random(seed);
  std::vector<T> values(n);
  for (T& v : values) {
    const int quarters = static_cast<int>(random.below(1700)) - 420;
    v = std::is_floating_point_v<T> ? T(quarters) / T(4) : T(quarters / 4);
  }
  return values;
}

template <typename T>
void even(Verdict& verdict, int n, int bins, const char* type) {
  const std::vector<T> in = samples<T>(n, n + bins);
  using Level = std::conditional_t<std::is_floating_point_v<T>, T, int>;
  const Level low = sizeof(T) == 1 ? -100 : -50, high = low + Level(bins);
  std::vector<int> want(bins);
  for (T v : in)
    if (Level(v) >= low && Level(v) < high)
      ++want[static_cast<int>(std::floor(double(Level(v)) - double(low)))];
  Array<T> d(in);
  Array<int> counts(bins);
  with_scratch([&](void* t, size_t& b) {
    return cub::DeviceHistogram::HistogramEven(t, b, d.data, counts.data, bins + 1, low, high, n);
  });
  same(verdict, counts.host(), want, "DeviceHistogram::HistogramEven", type);
}

template <typename T>
void ranges(Verdict& verdict, int n, const char* type) {
  const std::vector<T> in = samples<T>(n, n + 5);
  using Level = std::conditional_t<std::is_floating_point_v<T>, T, int>;
  const std::vector<Level> levels{-90, -17, -1, 0, 2, 64, 65, 100, 127};
  std::vector<int> want(levels.size() - 1);
  for (T v : in) {
    const auto at = std::upper_bound(levels.begin(), levels.end(), Level(v)) - levels.begin();
    if (at > 0 && at < static_cast<long>(levels.size())) ++want[at - 1];
  }
  Array<T> d(in);
  Array<Level> l(levels);
  Array<int> counts(want.size());
  with_scratch([&](void* t, size_t& b) {
    return cub::DeviceHistogram::HistogramRange(t, b, d.data, counts.data,
                                                static_cast<int>(levels.size()), l.data, n);
  });
  same(verdict, counts.host(), want, "DeviceHistogram::HistogramRange", type);
}

/// Three of four channels of bytes.
void channels(Verdict& verdict, int pixels) {
  const std::vector<unsigned char> in = any_values<unsigned char>(4 * size_t(pixels), pixels + 6);
  std::vector<int> want(3 * 256);
  for (size_t i = 0; i < in.size(); ++i)
    if (i % 4 < 3) ++want[i % 4 * 256 + in[i]];
  Array<unsigned char> d(in);
  Array<int> counts(3 * 256);
  with_scratch([&](void* t, size_t& b) {
    return cub::DeviceHistogram::MultiHistogramEven<4, 3>(
        t, b, d.data, cuda::std::array<int*, 3>{counts.data, counts.data + 256, counts.data + 512},
        cuda::std::array<int, 3>{257, 257, 257}, cuda::std::array<int, 3>{0, 0, 0},
        cuda::std::array<int, 3>{256, 256, 256}, pixels);
  });
  same(verdict, counts.host(), want, "DeviceHistogram::MultiHistogramEven", "4 x uint8");
}

int main(int argc, char** argv) {
  Verdict verdict;
  for (int n : sizes(argc, argv)) {
    even<int>(verdict, n, 200, "int");
    even<int>(verdict, n, 1000, "int, many bins");
    ranges<float>(verdict, n, "float");
    channels(verdict, n / 4);
#ifdef ALL_TYPES
    even<float>(verdict, n, 200, "float");
    even<double>(verdict, n, 200, "double");
    even<unsigned char>(verdict, n, 200, "uint8");
    ranges<int>(verdict, n, "int");
    ranges<double>(verdict, n, "double");
    ranges<unsigned char>(verdict, n, "uint8");
#endif
    std::printf("%d elements done\n", n);
  }
  return verdict.finish();
}
