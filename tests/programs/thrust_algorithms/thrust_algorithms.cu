// Thrust's algorithms over device vectors, beyond sorting: scans, selection, by key, sets,
// searches, merges, permutations, and comparison sort of a struct.
#include <thrust/binary_search.h>
#include <thrust/copy.h>
#include <thrust/count.h>
#include <thrust/device_vector.h>
#include <thrust/extrema.h>
#include <thrust/gather.h>
#include <thrust/inner_product.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/merge.h>
#include <thrust/partition.h>
#include <thrust/reduce.h>
#include <thrust/remove.h>
#include <thrust/scan.h>
#include <thrust/set_operations.h>
#include <thrust/sort.h>
#include <thrust/transform_reduce.h>
#include <thrust/unique.h>

#include <numeric>

#include "cub_check.h"

struct Even {
  __host__ __device__ bool operator()(int v) const { return v % 2 == 0; }
};
struct Square {
  __host__ __device__ long long operator()(int v) const { return static_cast<long long>(v) * v; }
};

template <typename T>
std::vector<T> host(const thrust::device_vector<T>& d, size_t n) {
  std::vector<T> to(n);
  if (n)
    CHECK(cudaMemcpy(to.data(), thrust::raw_pointer_cast(d.data()), n * sizeof(T),
                     cudaMemcpyDeviceToHost));
  return to;
}

void folds(Verdict& verdict, int n, const std::vector<int>& in,
           const thrust::device_vector<int>& d) {
  verdict.equal<long long>(
      thrust::transform_reduce(d.begin(), d.end(), Square{}, 0ll, thrust::plus<long long>{}),
      std::transform_reduce(in.begin(), in.end(), 0ll, std::plus<long long>{}, Square{}),
      "transform_reduce", n);
  verdict.equal<long long>(thrust::count_if(d.begin(), d.end(), Even{}),
                           std::count_if(in.begin(), in.end(), Even{}), "count_if", n);
  verdict.equal<long long>(thrust::max_element(d.begin(), d.end()) - d.begin(),
                           std::max_element(in.begin(), in.end()) - in.begin(), "max_element", n);
  std::vector<int> want(n);
  std::exclusive_scan(in.begin(), in.end(), want.begin(), 7);
  thrust::device_vector<int> out(n);
  thrust::exclusive_scan(d.begin(), d.end(), out.begin(), 7);
  same(verdict, host(out, n), want, "exclusive_scan", "int");
}

void selects(Verdict& verdict, int n, const std::vector<int>& in,
             const thrust::device_vector<int>& d) {
  std::vector<int> even, odd;
  for (int v : in) (Even{}(v) ? even : odd).push_back(v);
  thrust::device_vector<int> out(n);
  size_t count = thrust::copy_if(d.begin(), d.end(), out.begin(), Even{}) - out.begin();
  same(verdict, host(out, count), even, "copy_if", "int");
  out = d;
  count = thrust::remove_if(out.begin(), out.end(), Even{}) - out.begin();
  same(verdict, host(out, count), odd, "remove_if", "int");
  out = d;
  thrust::stable_partition(out.begin(), out.end(), Even{});
  std::vector<int> want = even;
  want.insert(want.end(), odd.begin(), odd.end());
  same(verdict, host(out, n), want, "stable_partition", "int");
}

void by_key(Verdict& verdict, int n) {
  const std::vector<int> keys = few_values<int>(n, n + 1);
  std::vector<int> want_keys;
  std::vector<float> want;
  for (int i = 0; i < n; ++i) {
    if (i == 0 || keys[i] != keys[i - 1]) want_keys.push_back(keys[i]), want.push_back(0);
    want.back() += i % 5;
  }
  std::vector<float> in(n);
  for (int i = 0; i < n; ++i) in[i] = i % 5;
  thrust::device_vector<int> k = keys, out_keys(n);
  thrust::device_vector<float> v = in, out(n);
  auto end = thrust::reduce_by_key(k.begin(), k.end(), v.begin(), out_keys.begin(), out.begin());
  same(verdict, host(out_keys, end.first - out_keys.begin()), want_keys, "reduce_by_key's keys",
       "int");
  same(verdict, host(out, end.second - out.begin()), want, "reduce_by_key", "float");
}

void ordered(Verdict& verdict, int n, std::vector<int> a, std::vector<int> b) {
  std::sort(a.begin(), a.end());
  std::sort(b.begin(), b.end());
  thrust::device_vector<int> x = a, y = b, out(2 * size_t(n)), places(n);
  std::vector<int> want(2 * size_t(n));
  thrust::merge(x.begin(), x.end(), y.begin(), y.end(), out.begin());
  std::merge(a.begin(), a.end(), b.begin(), b.end(), want.begin());
  same(verdict, host(out, want.size()), want, "merge", "int");
  size_t count =
      thrust::set_intersection(x.begin(), x.end(), y.begin(), y.end(), out.begin()) - out.begin();
  want.clear();
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(want));
  same(verdict, host(out, count), want, "set_intersection", "int");
  thrust::lower_bound(x.begin(), x.end(), y.begin(), y.end(), places.begin());
  want.clear();
  for (int v : b)
    want.push_back(static_cast<int>(std::lower_bound(a.begin(), a.end(), v) - a.begin()));
  same(verdict, host(places, n), want, "lower_bound", "int");
  thrust::gather(places.begin(), places.begin() + n / 2, thrust::counting_iterator<int>(5),
                 out.begin());
  for (int& w : want) w += 5;
  want.resize(n / 2);
  same(verdict, host(out, n / 2), want, "gather", "int");
}

void structs(Verdict& verdict, int n) {
  std::vector<Record> in = any_values<Record>(n, n + 2);
  thrust::device_vector<Record> d = in;
  thrust::stable_sort(d.begin(), d.end(), ByKey{});
  std::stable_sort(in.begin(), in.end(), ByKey{});
  same(verdict, host(d, n), in, "stable_sort", "Record");
}

int main(int argc, char** argv) {
  Verdict verdict;
  for (int n : sizes(argc, argv)) {
    Random random(n + 3);
    std::vector<int> a(n), b(n);
    for (int& v : a) v = static_cast<int>(random.below(n + 10));
    for (int& v : b) v = static_cast<int>(random.below(n + 10));
    const thrust::device_vector<int> d = a;
    folds(verdict, n, a, d);
    selects(verdict, n, a, d);
    ordered(verdict, n, a, b);
#ifdef ALL_TYPES
    by_key(verdict, n);
    structs(verdict, n);
#endif
    std::printf("%d elements done\n", n);
  }
  return verdict.finish();
}
