// Private arrays in local memory: indices that differ by lane, byte access over words, an array
// whose address escapes into a function, structs, 8- and 16-byte elements.
#include <cstring>
#include <vector>

#include "check.h"

__host__ __device__ unsigned histogram_private(unsigned seed) {
  unsigned count[16] = {};
  for (int i = 0; i < 100; ++i) {
    seed = seed * 1664525u + 1013904223u;
    ++count[seed >> 28];
  }
  unsigned r = 0;
  for (int i = 0; i < 16; ++i) r = r * 31 + count[(i * 5 + seed) & 15];
  return r;
}

__host__ __device__ unsigned bytes_over_words(unsigned seed) {
  unsigned words[8];
  for (int i = 0; i < 8; ++i) words[i] = seed * (i + 1) * 2654435761u;
  unsigned char* bytes = reinterpret_cast<unsigned char*>(words);
  for (int i = 0; i < 32; ++i) {
    int j = (i * 7 + seed) & 31;
    unsigned char t = bytes[i];
    bytes[i] = bytes[j];
    bytes[j] = t + 1;
  }
  unsigned short* halves = reinterpret_cast<unsigned short*>(words);
  unsigned r = halves[seed & 15];
  for (int i = 0; i < 8; ++i) r = r * 33 + words[i];
  return r;
}

#ifdef __CUDA_ARCH__
#define NOINLINE __noinline__
#else
#define NOINLINE
#endif
__host__ __device__ NOINLINE void rotate(unsigned* a, int n, int by) {
  unsigned first[4];
  for (int i = 0; i < by; ++i) first[i] = a[i];
  for (int i = 0; i + by < n; ++i) a[i] = a[i + by];
  for (int i = 0; i < by; ++i) a[n - by + i] = first[i];
}
__host__ __device__ unsigned escaping(unsigned seed) {
  unsigned a[20];
  for (int i = 0; i < 20; ++i) a[i] = seed + i * i;
  rotate(a, 20, 1 + seed % 4);
  rotate(a + seed % 5, 10, 2);
  unsigned r = 0;
  for (int i = 0; i < 20; ++i) r = r * 17 + a[i];
  return r;
}

struct Particle {
  double x;
  float v[3];
  short kind;
  char tag;
};
__host__ __device__ double structs(unsigned seed) {
  Particle p[6];
  for (int i = 0; i < 6; ++i) {
    p[i].x = seed + i;
    p[i].kind = short(i * 3 - 5);
    p[i].tag = char(i - 3);
    for (int k = 0; k < 3; ++k) p[i].v[k] = float(i + k);
  }
  Particle t = p[seed % 6];
  p[seed % 6] = p[(seed + 2) % 6];
  p[(seed + 2) % 6] = t;
  double r = 0;
  for (int i = 0; i < 6; ++i) r = r * 2 + p[i].x + p[i].v[seed % 3] + p[i].kind + p[i].tag;
  return r;
}

struct Results {
  unsigned a, b, c;
  double d;
};
__host__ __device__ Results everything(unsigned i) {
  return {histogram_private(i), bytes_over_words(i), escaping(i), structs(i)};
}

__global__ void run(Results* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = everything(i);
}

int main() {
  Verdict verdict;
  const int n = 333;
  std::vector<Results> got(n);
  Results* d;
  CHECK(cudaMalloc(&d, n * sizeof(Results)));
  run<<<(n + 127) / 128, 128>>>(d, n);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(got.data(), d, n * sizeof(Results), cudaMemcpyDeviceToHost));
  for (int i = 0; i < n; ++i) {
    Results want = everything(i);
    verdict.equal(got[i].a, want.a, "private histogram", i);
    verdict.equal(got[i].b, want.b, "bytes over words", i);
    verdict.equal(got[i].c, want.c, "escaping", i);
    verdict.equal(got[i].d, want.d, "structs", i);
  }
  return verdict.finish();
}
