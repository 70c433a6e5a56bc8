// match.all.sync whose lanes name different members in one instruction: each group has its own
// answer.
#include <cstdio>

__global__ void match(unsigned* out, int* all) {
  const int lane = threadIdx.x;
  const unsigned members = lane < 16 ? 0x0000ffffu : 0xffff0000u;
  const int value = lane < 16 ? 7 : lane == 20 ? 1 : 2;
  int same = 0;
  out[lane] = __match_all_sync(members, value, &same);
  all[lane] = same;
}

int main() {
  unsigned *out, got[32];
  int *all, same[32];
  cudaMalloc(&out, sizeof got);
  cudaMalloc(&all, sizeof same);
  match<<<1, 32>>>(out, all);
  cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost);
  cudaMemcpy(same, all, sizeof same, cudaMemcpyDeviceToHost);
  for (int i = 0; i < 32; ++i)
    if (got[i] != (i < 16 ? 0xffffu : 0u) || (same[i] != 0) != (i < 16))
      return printf("FAILED lane %d: %08x, %d\n", i, got[i], same[i]), 1;
  printf("PASSED\n");
  return 0;
}
