// Thrust as it comes with the toolkit: sort, sort_by_key, reduce, inclusive_scan, transform,
// unique.
#include <thrust/device_vector.h>
#include <thrust/functional.h>
#include <thrust/host_vector.h>
#include <thrust/iterator/constant_iterator.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sequence.h>
#include <thrust/sort.h>
#include <thrust/transform.h>
#include <thrust/unique.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "check.h"

int main() {
  Verdict verdict;
  const int n = 20000;
  Random random(31);
  thrust::host_vector<int> h(n);
  for (int& v : h) v = static_cast<int>(random.bits() >> 8) - (1 << 23);
  std::vector<int> want(h.begin(), h.end());
  thrust::device_vector<int> d = h, values(n), sums(n);
  for (int i = 0; i < n; ++i) h[i] = i;
  values = h;
  verdict.equal<long long>(thrust::reduce(d.begin(), d.end(), 0ll),
                           std::accumulate(want.begin(), want.end(), 0ll), "reduce");
  thrust::inclusive_scan(d.begin(), d.end(), sums.begin());
  thrust::host_vector<int> back = sums;
  unsigned sum = 0;
  for (int i = 0; i < n; ++i) verdict.equal(unsigned(back[i]), sum += unsigned(want[i]), "scan", i);
  thrust::device_vector<int> keys = d;
  thrust::sort_by_key(keys.begin(), keys.end(), values.begin(), thrust::greater<int>());
  back = values;
  thrust::host_vector<int> sorted_keys = keys;
  for (int i = 0; i < n; ++i) {
    verdict.equal(want[back[i]], sorted_keys[i], "value goes with its key", i);
    if (i) verdict.expect(sorted_keys[i - 1] >= sorted_keys[i], "descending", i);
  }
  thrust::sort(d.begin(), d.end());
  std::sort(want.begin(), want.end());
  back = d;
  for (int i = 0; i < n; ++i) verdict.equal(back[i], want[i], "sort", i);
  thrust::device_vector<double> x(n, 1.5);
  thrust::sequence(x.begin(), x.end());
  thrust::transform(x.begin(), x.end(), x.begin(), thrust::negate<double>());
  verdict.equal(double(x[n - 1]), -double(n - 1), "transform");
  thrust::transform(d.begin(), d.end(), d.begin(), d.begin(), thrust::bit_and<int>());
  thrust::device_vector<int> few(n);
  thrust::sequence(few.begin(), few.end());
  thrust::transform(few.begin(), few.end(), thrust::make_constant_iterator(100), few.begin(),
                    thrust::divides<int>());
  int distinct = static_cast<int>(thrust::unique(few.begin(), few.end()) - few.begin());
  verdict.equal(distinct, n / 100, "unique");
  return verdict.finish();
}
