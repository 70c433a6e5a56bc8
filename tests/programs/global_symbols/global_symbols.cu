// __device__ variables: initial values, zero by default, pointers to other symbols, copies to and
// from symbols, kernels that change them for the next launch, static and namespaced names.
#include "check.h"

__device__ int counter;
__device__ double primes[5] = {2, 3, 5, 7, 11};
__device__ int grid_data[256];
__device__ int* pointer_to_data = &grid_data[10];
__device__ const char text[] = "limen";
static __device__ float hidden = 2.5f;
namespace inner {
__device__ struct {
  short a;
  long long b;
} pair = {-3, 1ll << 40};
}  // namespace inner
template <typename T>
__device__ T scale = T(3);

__global__ void step(double* out) {
  int old = atomicAdd(&counter, 1);
  if (old == 0) hidden *= 2;
  grid_data[threadIdx.x] += threadIdx.x;
  if (threadIdx.x < 5) out[threadIdx.x] = primes[threadIdx.x] * scale<double>;
  if (threadIdx.x == 5) out[5] = pointer_to_data[2] * 0 + text[4] + inner::pair.a;
  if (threadIdx.x == 6) out[6] = double(inner::pair.b);
}

__global__ void read_through(int* out) { out[threadIdx.x] = pointer_to_data[threadIdx.x]; }

int main() {
  Verdict verdict;
  double *d, got[7];
  CHECK(cudaMalloc(&d, sizeof got));
  step<<<1, 256>>>(d);
  step<<<1, 256>>>(d);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(got, d, sizeof got, cudaMemcpyDeviceToHost));
  const double primes_host[5] = {2, 3, 5, 7, 11};
  for (int i = 0; i < 5; ++i) verdict.equal(got[i], primes_host[i] * 3, "primes", i);
  verdict.equal(got[5], double('n' - 3), "text and pair");
  verdict.equal(got[6], double(1ll << 40), "64-bit member");
  int count, data[256];
  float hidden_value;
  CHECK(cudaMemcpyFromSymbol(&count, counter, sizeof count));
  CHECK(cudaMemcpyFromSymbol(&hidden_value, hidden, sizeof hidden_value));
  CHECK(cudaMemcpyFromSymbol(data, grid_data, sizeof data));
  verdict.equal(count, 512, "counter");
  verdict.equal(hidden_value, 5.0f, "static");
  for (int i = 0; i < 256; ++i) verdict.equal(data[i], 2 * i, "array", i);
  int patch[3] = {-1, -2, -3};
  CHECK(cudaMemcpyToSymbol(grid_data, patch, sizeof patch, 11 * sizeof(int)));
  int *out, window[8];
  CHECK(cudaMalloc(&out, sizeof window));
  read_through<<<1, 8>>>(out);
  CHECK(cudaMemcpy(window, out, sizeof window, cudaMemcpyDeviceToHost));
  for (int i = 0; i < 8; ++i) {
    verdict.equal(window[i], i >= 1 && i <= 3 ? -i : 2 * (10 + i), "through the pointer", i);
  }
  void* address;
  CHECK(cudaGetSymbolAddress(&address, grid_data));
  CHECK(cudaMemset(address, 0xff, 44));
  CHECK(cudaMemcpyFromSymbol(data, grid_data, 48, 0));
  verdict.equal(data[10], -1, "memset on a symbol");
  verdict.equal(data[11], -1, "the element after");
  return verdict.finish();
}
