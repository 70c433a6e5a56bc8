// What main.cu uses of other.cu.
#pragma once
using Operation = int (*)(int);

extern __device__ int other_variable;
extern __constant__ int other_constant[4];
extern __device__ int shared_total;
__device__ int other_function(int x);
__device__ int other_recursive(int x);
void launch_other_twin(int* out);
cudaError_t set_other_variable(int value);
Operation other_pointer();
