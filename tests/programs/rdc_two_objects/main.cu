// Separate compilation: device functions, variables, constants and kernels that live in another
// object, static kernels of one name in both, and a function pointer across objects.
#include "check.h"
#include "other.h"

__device__ int shared_total = 0;
static __global__ void twin(int* out) { out[threadIdx.x] = threadIdx.x + 1; }

__global__ void use_other(int* out) {
  int t = threadIdx.x;
  out[t] = other_function(t) + other_variable + other_constant[t % 4];
  atomicAdd(&shared_total, other_recursive(t % 5));
}

__global__ void use_pointer(Operation f, int* out) { out[threadIdx.x] = f(threadIdx.x); }

int main() {
  Verdict verdict;
  int *d, got[64];
  CHECK(cudaMalloc(&d, sizeof got));
  auto fetch = [&] {
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(got, d, sizeof got, cudaMemcpyDeviceToHost));
  };
  use_other<<<1, 64>>>(d);
  fetch();
  const int constants[4] = {1000, 2000, 3000, 4000};
  int total = 0;
  for (int t = 0; t < 64; ++t) {
    verdict.equal(got[t], t * t + 7 + 50 + constants[t % 4], "across objects", t);
    for (int k = t % 5; k > 0; --k) total += k;
  }
  int seen;
  CHECK(cudaMemcpyFromSymbol(&seen, shared_total, sizeof seen));
  verdict.equal(seen, total, "recursive function of the other object");
  twin<<<1, 64>>>(d);
  fetch();
  for (int t = 0; t < 64; ++t) verdict.equal(got[t], t + 1, "own static kernel", t);
  launch_other_twin(d);
  fetch();
  for (int t = 0; t < 64; ++t) verdict.equal(got[t], -t, "the other's static kernel", t);
  CHECK(set_other_variable(500));
  use_other<<<1, 64>>>(d);
  fetch();
  verdict.equal(got[3], 9 + 7 + 500 + 4000, "variable set by the other object");
  use_pointer<<<1, 64>>>(other_pointer(), d);
  fetch();
  for (int t = 0; t < 64; ++t) verdict.equal(got[t], t * t + 7, "pointer", t);
  return verdict.finish();
}
