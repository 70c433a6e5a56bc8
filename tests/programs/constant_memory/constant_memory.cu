// Constant memory: uniform and divergent reads, initial values, cudaMemcpyToSymbol whole and with
// an offset, a struct, the symbol's address, and a large kernel parameter.
#include <vector>

#include "check.h"

struct Settings {
  int scale;
  float weights[5];
  unsigned char table[13];
};

__constant__ int preset[6] = {3, 1, 4, 1, 5, 9};
__constant__ float coefficients[1024];
__constant__ Settings settings;

struct Large {
  int values[900];
};

__global__ void run(int* out, float* fout) {
  int t = threadIdx.x;
  float sum = 0;
  for (int i = 0; i < 16; ++i) sum += coefficients[i] * (i + t);
  fout[t] = sum + coefficients[(t * 37) % 1024];
  out[t] = preset[t % 6] * settings.scale + settings.table[t % 13] + int(settings.weights[t % 5]);
}

__global__ void through_pointer(const int* p, int* out) { out[threadIdx.x] = p[threadIdx.x % 6]; }

__global__ void large_parameter(const Large large, int* out) {
  out[threadIdx.x] = large.values[(threadIdx.x * 7) % 900] + large.values[899];
}

int main() {
  Verdict verdict;
  const int n = 128;
  std::vector<float> c(1024), fgot(n);
  std::vector<int> got(n);
  for (int i = 0; i < 1024; ++i) c[i] = i * 0.5f;
  Settings s = {7, {1, 2, 3, 4, 5}, {}};
  for (int i = 0; i < 13; ++i) s.table[i] = static_cast<unsigned char>(250 + i);
  CHECK(cudaMemcpyToSymbol(coefficients, c.data(), 1024 * sizeof(float)));
  CHECK(cudaMemcpyToSymbol(settings, &s, sizeof s));
  int* d;
  float* fd;
  CHECK(cudaMalloc(&d, n * sizeof(int)));
  CHECK(cudaMalloc(&fd, n * sizeof(float)));
  for (int round = 0; round < 2; ++round) {
    if (round == 1) {
      float changed[4] = {100, 200, 300, 400};
      CHECK(cudaMemcpyToSymbol(coefficients, changed, sizeof changed, 8 * sizeof(float)));
      for (int i = 0; i < 4; ++i) c[8 + i] = changed[i];
      s.scale = -2;
      CHECK(cudaMemcpyToSymbolAsync(settings, &s.scale, sizeof(int), offsetof(Settings, scale)));
    }
    run<<<1, n>>>(d, fd);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(got.data(), d, n * sizeof(int), cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(fgot.data(), fd, n * sizeof(float), cudaMemcpyDeviceToHost));
    const int preset_host[6] = {3, 1, 4, 1, 5, 9};
    for (int t = 0; t < n; ++t) {
      float sum = 0;
      for (int i = 0; i < 16; ++i) sum += c[i] * (i + t);
      verdict.equal(fgot[t], sum + c[t * 37 % 1024], "float", t);
      int want = preset_host[t % 6] * s.scale + s.table[t % 13] + int(s.weights[t % 5]);
      verdict.equal(got[t], want, "int", t);
    }
  }
  void* address;
  size_t size;
  CHECK(cudaGetSymbolAddress(&address, preset));
  CHECK(cudaGetSymbolSize(&size, preset));
  verdict.equal<size_t>(size, 24, "symbol size");
  through_pointer<<<1, n>>>(static_cast<int*>(address), d);
  CHECK(cudaMemcpy(got.data(), d, n * sizeof(int), cudaMemcpyDeviceToHost));
  verdict.equal(got[5], 9, "through a pointer");
  Large large;
  for (int i = 0; i < 900; ++i) large.values[i] = i * i;
  large_parameter<<<1, n>>>(large, d);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(got.data(), d, n * sizeof(int), cudaMemcpyDeviceToHost));
  for (int t = 0; t < n; ++t) {
    int i = t * 7 % 900;
    verdict.equal(got[t], i * i + 899 * 899, "large parameter", t);
  }
  return verdict.finish();
}
