// The second object of rdc_two_objects.
#include <cuda_runtime.h>

#include "other.h"

__device__ int other_variable = 50;
__constant__ int other_constant[4] = {1000, 2000, 3000, 4000};

__device__ int other_function(int x) { return x * x + 7; }
__device__ int other_recursive(int x) { return x <= 0 ? 0 : x + other_recursive(x - 1); }

static __global__ void twin(int* out) { out[threadIdx.x] = -int(threadIdx.x); }
static __device__ Operation pointer = other_function;

void launch_other_twin(int* out) { twin<<<1, 64>>>(out); }
cudaError_t set_other_variable(int value) {
  return cudaMemcpyToSymbol(other_variable, &value, sizeof value);
}
Operation other_pointer() {
  Operation f = nullptr;
  cudaMemcpyFromSymbol(&f, pointer, sizeof f);
  return f;
}
