// Words of one relaxed or volatile vector access belong together, as CUB's scans need: writers
// store pairs whose halves agree, readers in other blocks never see two halves of different pairs.
// With addresses the same for a warp, side by side, and downwards by lane.
#include "check.h"

__device__ void put(int2* p, int2 v) {
  asm volatile("st.relaxed.gpu.v2.s32 [%0], {%1, %2};" ::"l"(p), "r"(v.x), "r"(v.y) : "memory");
}
__device__ int2 get(const int2* p) {
  int2 v;
  asm volatile("ld.relaxed.gpu.v2.s32 {%0, %1}, [%2];" : "=r"(v.x), "=r"(v.y) : "l"(p) : "memory");
  return v;
}
__device__ void put(longlong2* p, longlong2 v) {
  asm volatile("st.relaxed.gpu.v2.s64 [%0], {%1, %2};" ::"l"(p), "l"(v.x), "l"(v.y) : "memory");
}
__device__ longlong2 get(const longlong2* p) {
  longlong2 v;
  asm volatile("ld.relaxed.gpu.v2.s64 {%0, %1}, [%2];" : "=l"(v.x), "=l"(v.y) : "l"(p) : "memory");
  return v;
}

template <typename Pair>
__global__ void race(Pair* cells, int* torn, int rounds, int way) {
  const int lane = threadIdx.x;
  Pair* cell = cells + (way == 0 ? 0 : way == 1 ? lane : 31 - lane);
  int bad = 0;
  for (int i = 1; i <= rounds; ++i) {
    if (blockIdx.x == 0) {
      Pair v;
      v.x = v.y = i;
      put(cell, v);
    } else {
      const Pair v = get(cell);
      bad += v.x != v.y;
    }
  }
  atomicAdd(torn, bad);
}

template <typename Pair>
void run(Verdict& verdict, const char* what) {
  Pair* cells;
  int* torn;
  CHECK(cudaMallocManaged(&cells, 32 * sizeof(Pair)));
  CHECK(cudaMallocManaged(&torn, sizeof(int)));
  CHECK(cudaMemset(cells, 0, 32 * sizeof(Pair)));
  *torn = 0;
  for (int way = 0; way < 3; ++way) {
    race<<<2, 32>>>(cells, torn, way == 0 ? 2000000 : 200000, way);
    CHECK(cudaDeviceSynchronize());
    verdict.equal(*torn, 0, what, way);
    *torn = 0;
  }
}

int main() {
  Verdict verdict;
  run<int2>(verdict, "pairs of 4 bytes");
  run<longlong2>(verdict, "pairs of 8 bytes");
  return verdict.finish();
}
