// All-pairs n-body: float4 loads, shared tiles, rsqrtf, FMA; compared with doubles.
#include <vector>

#include "check.h"

constexpr int block_size = 128;

__global__ void forces(const float4* body, float3* acceleration, int n) {
  __shared__ float4 tile[block_size];
  int i = blockIdx.x * block_size + threadIdx.x;
  float4 me = i < n ? body[i] : make_float4(0, 0, 0, 0);
  float ax = 0, ay = 0, az = 0;
  for (int start = 0; start < n; start += block_size) {
    int j = start + threadIdx.x;
    tile[threadIdx.x] = j < n ? body[j] : make_float4(0, 0, 0, 0);
    __syncthreads();
#pragma unroll 8
    for (int k = 0; k < block_size; ++k) {
      float dx = tile[k].x - me.x, dy = tile[k].y - me.y, dz = tile[k].z - me.z;
      float d2 = dx * dx + dy * dy + dz * dz + 0.01f;
      float inverse = rsqrtf(d2);
      float s = tile[k].w * inverse * inverse * inverse;
      ax += dx * s;
      ay += dy * s;
      az += dz * s;
    }
    __syncthreads();
  }
  if (i < n) acceleration[i] = make_float3(ax, ay, az);
}

int main() {
  const int n = 1000;
  std::vector<float4> body(n);
  std::vector<float3> got(n);
  Random random(5);
  for (auto& b : body) {
    b = make_float4(random.unit(), random.unit(), random.unit(), random.unit() / n);
  }
  float4* db;
  float3* da;
  CHECK(cudaMalloc(&db, n * sizeof(float4)));
  CHECK(cudaMalloc(&da, n * sizeof(float3)));
  CHECK(cudaMemcpy(db, body.data(), n * sizeof(float4), cudaMemcpyHostToDevice));
  forces<<<(n + block_size - 1) / block_size, block_size>>>(db, da, n);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(got.data(), da, n * sizeof(float3), cudaMemcpyDeviceToHost));
  Verdict verdict;
  for (int i = 0; i < n; ++i) {
    double a[3] = {0, 0, 0};
    for (int j = 0; j < n; ++j) {
      double dx = double(body[j].x) - body[i].x, dy = double(body[j].y) - body[i].y,
             dz = double(body[j].z) - body[i].z;
      double inverse = 1 / std::sqrt(dx * dx + dy * dy + dz * dz + 0.01f);
      double s = body[j].w * inverse * inverse * inverse;
      a[0] += dx * s;
      a[1] += dy * s;
      a[2] += dz * s;
    }
    verdict.near(got[i].x, a[0], 1e-4, "x", i);
    verdict.near(got[i].y, a[1], 1e-4, "y", i);
    verdict.near(got[i].z, a[2], 1e-4, "z", i);
  }
  return verdict.finish();
}
