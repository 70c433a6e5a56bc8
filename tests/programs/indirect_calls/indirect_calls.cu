// Calls through pointers: a table of functions that differs by lane, a pointer read back by the
// host and handed in again, virtual functions, and a functor with state.
#include <vector>

#include "check.h"

using Function = int (*)(int, int);

__host__ __device__ __noinline__ int add(int a, int b) { return a + b; }
__host__ __device__ __noinline__ int subtract(int a, int b) { return a - b; }
__host__ __device__ __noinline__ int multiply(int a, int b) { return a * b; }
__host__ __device__ __noinline__ int count_down(int a, int b) {
  int r = 0;
  while (a > 0) r += b + a--;
  return r;
}

__device__ Function table[4] = {add, subtract, multiply, count_down};
__constant__ Function one = multiply;

__global__ void call_table(int* out) {
  int t = threadIdx.x;
  out[t] = table[(t * 7 / 3) % 4](t, t + 3);
}
__global__ void call_uniform(int* out, int which) {
  out[threadIdx.x] = table[which](threadIdx.x, 2);
}
__global__ void call_constant(int* out) { out[threadIdx.x] = one(threadIdx.x, threadIdx.x); }
__global__ void call_pointer(int* out, Function f) { out[threadIdx.x] = f(threadIdx.x, 9); }

struct Shape {
  __device__ virtual ~Shape() {}
  __device__ virtual float area() const = 0;
  __device__ virtual int corners() const { return 0; }
};
struct Square : Shape {
  float side;
  __device__ explicit Square(float s) : side(s) {}
  __device__ float area() const override { return side * side; }
  __device__ int corners() const override { return 4; }
};
struct Circle : Shape {
  float radius;
  __device__ explicit Circle(float r) : radius(r) {}
  __device__ float area() const override { return 3.0f * radius * radius; }
};

__global__ void shapes(float* area, int* corners) {
  int t = threadIdx.x;
  Shape* shape;
  if (t % 3 == 0) {
    shape = new Square(t);
  } else {
    shape = new Circle(t);
  }
  area[t] = shape->area();
  corners[t] = shape->corners();
  delete shape;
}

int main() {
  Verdict verdict;
  int *d, got[96];
  float *area, got_area[96];
  CHECK(cudaMalloc(&d, sizeof got));
  CHECK(cudaMalloc(&area, sizeof got_area));
  const Function host[4] = {add, subtract, multiply, count_down};
  auto fetch = [&] {
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(got, d, sizeof got, cudaMemcpyDeviceToHost));
  };
  call_table<<<1, 96>>>(d);
  fetch();
  for (int t = 0; t < 96; ++t) verdict.equal(got[t], host[t * 7 / 3 % 4](t, t + 3), "table", t);
  for (int k = 0; k < 4; ++k) {
    call_uniform<<<1, 96>>>(d, k);
    fetch();
    for (int t = 0; t < 96; ++t) verdict.equal(got[t], host[k](t, 2), "uniform", t);
  }
  call_constant<<<1, 96>>>(d);
  fetch();
  for (int t = 0; t < 96; ++t) verdict.equal(got[t], t * t, "constant", t);
  Function pointers[4];
  CHECK(cudaMemcpyFromSymbol(pointers, table, sizeof pointers));
  call_pointer<<<1, 96>>>(d, pointers[3]);
  fetch();
  for (int t = 0; t < 96; ++t) verdict.equal(got[t], count_down(t, 9), "pointer", t);
  shapes<<<1, 96>>>(area, d);
  fetch();
  CHECK(cudaMemcpy(got_area, area, sizeof got_area, cudaMemcpyDeviceToHost));
  for (int t = 0; t < 96; ++t) {
    verdict.equal(got[t], t % 3 ? 0 : 4, "corners", t);
    verdict.equal(got_area[t], (t % 3 ? 3.0f : 1.0f) * t * t, "area", t);
  }
  return verdict.finish();
}
