// Matrix product with an 8x8 block of accumulators a thread and float4 loads from shared memory.
#include <vector>

#include "check.h"

constexpr int tile = 128, depth = 8;

__global__ __launch_bounds__(256) void sgemm(int m, int n, int k, const float* a, const float* b,
                                             float* c) {
  __shared__ __align__(16) float ta[depth][tile], tb[depth][tile];
  const int t = threadIdx.x, tx = t % 16, ty = t / 16;
  const float* a0 = a + blockIdx.y * tile * k;
  const float* b0 = b + blockIdx.x * tile;
  float acc[8][8] = {};
  for (int k0 = 0; k0 < k; k0 += depth) {
    float4 va = *reinterpret_cast<const float4*>(a0 + (t / 2) * k + k0 + (t % 2) * 4);
    ta[(t % 2) * 4 + 0][t / 2] = va.x;
    ta[(t % 2) * 4 + 1][t / 2] = va.y;
    ta[(t % 2) * 4 + 2][t / 2] = va.z;
    ta[(t % 2) * 4 + 3][t / 2] = va.w;
    *reinterpret_cast<float4*>(&tb[t / 32][(t % 32) * 4]) =
        *reinterpret_cast<const float4*>(b0 + (k0 + t / 32) * n + (t % 32) * 4);
    __syncthreads();
#pragma unroll
    for (int d = 0; d < depth; ++d) {
      float ra[8], rb[8];
#pragma unroll
      for (int i = 0; i < 8; i += 4) {
        float4 x = *reinterpret_cast<const float4*>(&ta[d][ty * 8 + i]);
        float4 y = *reinterpret_cast<const float4*>(&tb[d][tx * 8 + i]);
        ra[i] = x.x, ra[i + 1] = x.y, ra[i + 2] = x.z, ra[i + 3] = x.w;
        rb[i] = y.x, rb[i + 1] = y.y, rb[i + 2] = y.z, rb[i + 3] = y.w;
      }
#pragma unroll
      for (int i = 0; i < 8; ++i) {
#pragma unroll
        for (int j = 0; j < 8; ++j) acc[i][j] = fmaf(ra[i], rb[j], acc[i][j]);
      }
    }
    __syncthreads();
  }
  for (int i = 0; i < 8; ++i) {
    float* row = c + (blockIdx.y * tile + ty * 8 + i) * n + blockIdx.x * tile + tx * 8;
    *reinterpret_cast<float4*>(row) = make_float4(acc[i][0], acc[i][1], acc[i][2], acc[i][3]);
    *reinterpret_cast<float4*>(row + 4) = make_float4(acc[i][4], acc[i][5], acc[i][6], acc[i][7]);
  }
}

int main() {
  const int m = 256, n = 128, k = 64;
  std::vector<float> a(m * k), b(k * n), c(m * n);
  Random random(9);
  for (float& v : a) v = random.unit() - 0.5f;
  for (float& v : b) v = random.unit() - 0.5f;
  float *da, *db, *dc;
  CHECK(cudaMalloc(&da, a.size() * sizeof(float)));
  CHECK(cudaMalloc(&db, b.size() * sizeof(float)));
  CHECK(cudaMalloc(&dc, c.size() * sizeof(float)));
  CHECK(cudaMemcpy(da, a.data(), a.size() * sizeof(float), cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(db, b.data(), b.size() * sizeof(float), cudaMemcpyHostToDevice));
  sgemm<<<dim3(n / tile, m / tile), 256>>>(m, n, k, da, db, dc);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(c.data(), dc, c.size() * sizeof(float), cudaMemcpyDeviceToHost));
  Verdict verdict;
  for (int i = 0; i < m; ++i) {
    for (int j = 0; j < n; ++j) {
      float want = 0;  // the same chain of fused operations, so the same bits
      for (int l = 0; l < k; ++l) want = std::fmaf(a[i * k + l], b[l * n + j], want);
      verdict.equal(c[i * n + j], want, "product", i * n + j);
    }
  }
  return verdict.finish();
}
