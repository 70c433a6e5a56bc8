// State spaces, vectors, initialisers, structures and parameters for the parser; never run.
#include <cstdint>
struct Big {
  char tag;
  double values[5];
  int2 pair;
  short tail[3];
};
struct Node {
  const Node* next;
  int (*fn)(int);
  float weight[2][3];
};
__device__ int twice(int x) { return 2 * x; }
__device__ int cube(int x) { return x * x * x; }
__constant__ float table[16] = {1.5f, -2.25f, 3e-20f, 4.0f};
__constant__ double exact[2][2] = {{1.0, 0.1}, {-0.0, 1e300}};
__device__ int matrix[2][3][2] = {{{1, 2}, {3}}, {{4, 5}}};
__device__ char text[] = "hello, \"world\"\n";
__device__ const char* words[] = {"alpha", "beta", nullptr};
__device__ Node nodes[2] = {{nullptr, twice, {{1, 2, 3}, {4, 5, 6}}}, {nullptr, cube, {}}};
__device__ int (*operations[])(int) = {twice, cube};
__device__ __managed__ int counter = 7;
__device__ int target_of_pointers[4] = {1, 2, 3, 4};
__device__ int* pointer = &target_of_pointers[2];
__device__ float4 quads[4];
__device__ Big big_global;
extern __shared__ double dynamic[];
__global__ void spaces(Big by_value, float4* v, uint2* w, const int* __restrict__ ro, int n) {
  __shared__ float tile[32][33];
  __shared__ Big shared_big;
  int local[24];
  for (int i = 0; i < 24; ++i) local[(i * n) % 24] = ro[i] + by_value.tail[i % 3];
  tile[threadIdx.y][threadIdx.x] = table[n & 15] + (float)exact[n & 1][1];
  if (threadIdx.x == 0) shared_big = by_value;
  __syncthreads();
  float4 q = v[threadIdx.x];
  q.x += tile[threadIdx.x][threadIdx.y] + local[n % 24] + shared_big.values[n % 5];
  v[threadIdx.x + 1] = q;
  uint2 u = w[threadIdx.x];
  w[threadIdx.x + 1] = make_uint2(u.y, u.x);
  dynamic[threadIdx.x] = matrix[n & 1][2][1] + text[n] + words[n & 1][0] + counter + *pointer;
  big_global = by_value;
  quads[n & 3] = q;
  nodes[1].weight[1][n & 1] = operations[n & 1](n) + nodes[n & 1].fn(n);
  __stcs(&w[9].x, __ldcg(&w[8].x) + __ldcs(&w[7].y) + __ldlu(&w[5].x) + __ldcv(&w[4].x));
}
__global__ void volatiles(volatile int* p, volatile float* s) {
  __shared__ volatile int lock[4];
  lock[threadIdx.x & 3] = p[0];
  __threadfence();
  s[1] = lock[1];
  __threadfence_block();
  p[2] = s[3];
  __threadfence_system();
}
