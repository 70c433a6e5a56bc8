// Black-Scholes prices: expf, logf, sqrtf, fabsf, division and selects, against doubles.
#include <vector>

#include "check.h"

__device__ float cnd(float d) {
  const float a1 = 0.31938153f, a2 = -0.356563782f, a3 = 1.781477937f, a4 = -1.821255978f,
              a5 = 1.330274429f;
  float k = 1.0f / (1.0f + 0.2316419f * fabsf(d));
  float c = 0.39894228040143267794f * expf(-0.5f * d * d) *
            (k * (a1 + k * (a2 + k * (a3 + k * (a4 + k * a5)))));
  return d > 0 ? 1.0f - c : c;
}

__global__ void price(const float* s, const float* x, const float* t, float* call, float* put,
                      float r, float v, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float root = sqrtf(t[i]);
  float d1 = (logf(s[i] / x[i]) + (r + 0.5f * v * v) * t[i]) / (v * root);
  float d2 = d1 - v * root;
  float discount = expf(-r * t[i]);
  call[i] = s[i] * cnd(d1) - x[i] * discount * cnd(d2);
  put[i] = x[i] * discount * (1.0f - cnd(d2)) - s[i] * (1.0f - cnd(d1));
}

static double cnd_host(double d) {
  double k = 1 / (1 + 0.2316419 * std::fabs(d));
  double c =
      0.39894228040143267794 * std::exp(-0.5 * d * d) * k *
      (0.31938153 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429))));
  return d > 0 ? 1 - c : c;
}

int main() {
  const int n = 20000;
  std::vector<float> in[3], out[2];
  Random random(11);
  float* d[5];
  for (int k = 0; k < 5; ++k) CHECK(cudaMalloc(&d[k], n * sizeof(float)));
  const float low[] = {5, 1, 0.25f}, high[] = {30, 100, 10};
  for (int k = 0; k < 3; ++k) {
    in[k].resize(n);
    for (float& v : in[k]) v = low[k] + (high[k] - low[k]) * random.unit();
    CHECK(cudaMemcpy(d[k], in[k].data(), n * sizeof(float), cudaMemcpyHostToDevice));
  }
  price<<<(n + 255) / 256, 256>>>(d[0], d[1], d[2], d[3], d[4], 0.02f, 0.30f, n);
  CHECK(cudaGetLastError());
  for (int k = 0; k < 2; ++k) {
    out[k].resize(n);
    CHECK(cudaMemcpy(out[k].data(), d[3 + k], n * sizeof(float), cudaMemcpyDeviceToHost));
  }
  Verdict verdict;
  for (int i = 0; i < n; ++i) {
    double s = in[0][i], x = in[1][i], t = in[2][i], r = 0.02f, v = 0.30f, root = std::sqrt(t);
    double d1 = (std::log(s / x) + (r + 0.5 * v * v) * t) / (v * root), d2 = d1 - v * root;
    double e = std::exp(-r * t);
    verdict.near(out[0][i], s * cnd_host(d1) - x * e * cnd_host(d2), 2e-5, "call", i);
    verdict.near(out[1][i], x * e * (1 - cnd_host(d2)) - s * (1 - cnd_host(d1)), 2e-5, "put", i);
  }
  return verdict.finish();
}
