// Lanes of a warp that store to one place: which value stays. CUDA does not say; on an H200 (driver
// 580.159.04) it is the lowest lane of the last group of lanes that the store serves together: 32
// lanes of up to 4 bytes, 16 of 8, 8 of 16. Programs rely on it (HeCBench's simpleSpmv).
#include <cstdio>

__device__ int place(int lane, int kind) {
  const int scrambled[32] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3,
                             2, 3, 8, 4, 6, 2, 6, 4, 3, 3, 8, 3, 2, 7, 9, 5};
  return kind == 0 ? 0 : kind == 1 ? lane / 4 : kind == 2 ? lane / 20 : scrambled[lane];
}

template <typename T>
__device__ void set(T& to, int lane) { to = static_cast<T>(lane); }
__device__ void set(uint4& to, int lane) { to = make_uint4(lane, lane + 1, lane + 2, lane + 3); }

template <typename T>
__global__ void store(T* out, int kind, unsigned mask, bool in_shared) {
  __shared__ T shared[32];
  const int lane = threadIdx.x;
  T value;
  set(value, lane);
  __syncwarp();
  T* to = in_shared ? shared : out;
  if (in_shared) shared[lane] = out[lane];
  __syncwarp();
  if (mask >> lane & 1) to[place(lane, kind)] = value;
  __syncwarp();
  if (in_shared) out[lane] = shared[lane];
}

static int host_place(int lane, int kind) {
  const int scrambled[32] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3,
                             2, 3, 8, 4, 6, 2, 6, 4, 3, 3, 8, 3, 2, 7, 9, 5};
  return kind == 0 ? 0 : kind == 1 ? lane / 4 : kind == 2 ? lane / 20 : scrambled[lane];
}

static int first(const unsigned char& v) { return v; }
static int first(const unsigned& v) { return static_cast<int>(v); }
static int first(const unsigned long long& v) { return static_cast<int>(v); }
static int first(const uint4& v) { return static_cast<int>(v.x); }

template <typename T>
static bool check(const char* what) {
  const int group = sizeof(T) <= 4 ? 32 : sizeof(T) <= 8 ? 16 : 8;
  T *out, got[32];
  cudaMalloc(&out, sizeof got);
  for (int in_shared = 0; in_shared < 2; ++in_shared)
    for (int kind = 0; kind < 4; ++kind)
      for (unsigned mask : {0xffffffffu, 0xfffffffeu, 0x7fffffffu, 0xaaaaaaaau, 0x0ff0f00fu, 0x10u}) {
        cudaMemset(out, 0x55, sizeof got);
        store<T><<<1, 32>>>(out, kind, mask, in_shared);
        cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost);
        int want[32];
        for (int& w : want) w = -1;
        for (int g = 0; g < 32; g += group)
          for (int lane = g + group - 1; lane >= g; --lane)
            if (mask >> lane & 1) want[host_place(lane, kind)] = lane;
        for (int i = 0; i < 32; ++i)
          if (want[i] >= 0 && first(got[i]) != want[i])
            return printf("FAILED %s shared %d kind %d mask %08x place %d: %d, not %d\n", what,
                          in_shared, kind, mask, i, first(got[i]), want[i]),
                   false;
      }
  return true;
}

int main() {
  if (!check<unsigned char>("u8") || !check<unsigned>("u32") || !check<unsigned long long>("u64") ||
      !check<uint4>("v4"))
    return 1;
  if (cudaError_t e = cudaDeviceSynchronize()) return printf("FAILED %s\n", cudaGetErrorString(e)), 1;
  printf("PASSED\n");
  return 0;
}
