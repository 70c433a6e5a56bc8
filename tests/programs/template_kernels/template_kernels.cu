// Template kernels with long mangled names, lambdas, functors, kernels in namespaces and anonymous
// namespaces, kernel pointers, cudaLaunchKernel by hand, structures by value.
#include <vector>

#include "check.h"

template <typename T, typename F, int N>
__global__ void transform(const T* in, T* out, int n, F f) {
  int i = (blockIdx.x * blockDim.x + threadIdx.x) * N;
#pragma unroll
  for (int k = 0; k < N; ++k) {
    if (i + k < n) out[i + k] = f(in[i + k]);
  }
}

template <typename T>
struct Affine {
  T a, b;
  __device__ T operator()(T x) const { return a * x + b; }
};

namespace {
__global__ void hidden(int* out) { out[threadIdx.x] = -int(threadIdx.x); }
}  // namespace
namespace outer::inner {
__global__ void hidden(int* out) { out[threadIdx.x] = 2 * threadIdx.x; }
}  // namespace outer::inner

struct Mixed {
  char c;
  double d;
  short s[3];
  float3 f;
};
__global__ void by_value(char a, Mixed m, short b, float4 v, const Mixed n, double* out) {
  out[0] = a + m.c + m.d + m.s[0] + m.s[1] + m.s[2] + m.f.x + m.f.y + m.f.z;
  out[1] = b + v.x + v.y + v.z + v.w;
  out[2] = n.c + n.d + n.s[2] + n.f.z;
}

template <typename T>
void check_transform(Verdict& verdict, T a, T b) {
  const int n = 1001;
  std::vector<T> in(n), out(n);
  for (int i = 0; i < n; ++i) in[i] = static_cast<T>(i % 50);
  T *din, *dout;
  CHECK(cudaMalloc(&din, n * sizeof(T)));
  CHECK(cudaMalloc(&dout, n * sizeof(T)));
  CHECK(cudaMemcpy(din, in.data(), n * sizeof(T), cudaMemcpyHostToDevice));
  transform<T, Affine<T>, 3><<<6, 64>>>(din, dout, n, Affine<T>{a, b});
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(out.data(), dout, n * sizeof(T), cudaMemcpyDeviceToHost));
  for (int i = 0; i < n; ++i) verdict.equal(out[i], T(a * in[i] + b), "affine", i);
  T shift = b;
  auto lambda = [shift] __device__(T x) { return T(x - shift); };
  transform<T, decltype(lambda), 1><<<16, 64>>>(din, dout, n, lambda);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(out.data(), dout, n * sizeof(T), cudaMemcpyDeviceToHost));
  for (int i = 0; i < n; ++i) verdict.equal(out[i], T(in[i] - shift), "lambda", i);
  CHECK(cudaFree(din));
  CHECK(cudaFree(dout));
}

int main() {
  Verdict verdict;
  check_transform<int>(verdict, 3, -4);
  check_transform<float>(verdict, 1.5f, 0.25f);
  check_transform<double>(verdict, 0.125, 7);
  check_transform<unsigned char>(verdict, 2, 1);
  check_transform<long long>(verdict, 1ll << 33, 5);
  check_transform<short>(verdict, -2, 9);
  int *d, got[32];
  CHECK(cudaMalloc(&d, sizeof got));
  void (*kernels[2])(int*) = {hidden, outer::inner::hidden};
  kernels[1]<<<1, 32>>>(d);
  CHECK(cudaMemcpy(got, d, sizeof got, cudaMemcpyDeviceToHost));
  for (int i = 0; i < 32; ++i) verdict.equal(got[i], 2 * i, "namespace", i);
  void* arguments[] = {&d};
  CHECK(cudaLaunchKernel(reinterpret_cast<void*>(kernels[0]), dim3(1), dim3(32), arguments, 0, 0));
  CHECK(cudaMemcpy(got, d, sizeof got, cudaMemcpyDeviceToHost));
  for (int i = 0; i < 32; ++i) verdict.equal(got[i], -i, "anonymous namespace", i);
  double *out, sums[3];
  CHECK(cudaMalloc(&out, sizeof sums));
  Mixed m = {1, 2.5, {3, 4, 5}, {6, 7, 8}}, n = {10, 20.25, {30, 40, 50}, {60, 70, 80}};
  by_value<<<1, 1>>>(100, m, -7, make_float4(1, 2, 3, 4), n, out);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(sums, out, sizeof sums, cudaMemcpyDeviceToHost));
  verdict.equal(sums[0], 136.5, "by value");
  verdict.equal(sums[1], 3.0, "between structures");
  verdict.equal(sums[2], 160.25, "second structure");
  return verdict.finish();
}
