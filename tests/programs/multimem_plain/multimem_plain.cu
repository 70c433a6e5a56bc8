// multimem at addresses of no multicast object: stores and reductions are those of plain memory,
// ld_reduce is an illegal address. Measured: H200, driver 580.159.04.
#include <vector>

#include "check.h"

__global__ void stores(unsigned* words, float* pairs) {
  const unsigned i = threadIdx.x;
  asm volatile("multimem.st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(words + i), "r"(i * i) : "memory");
  asm volatile("multimem.st.release.sys.global.v2.f32 [%0], {%1, %2};" ::"l"(pairs + 2 * i),
               "f"(float(i)), "f"(i + 0.5f)
               : "memory");
}

/// The same value behind two addresses of which neither is the other's neighbour.
__global__ void apart(unsigned* words) {
  const unsigned i = threadIdx.x;
  unsigned *a = words + 4 * i, *b = a + 1024;
  asm volatile(
      "multimem.st.weak.global.b32 [%0], %2;\n"
      "multimem.st.weak.global.b32 [%1+4], %2;" ::"l"(a),
      "l"(b), "r"(i + 1)
      : "memory");
}

__global__ void reductions(unsigned* words, float* pairs) {
  const unsigned i = threadIdx.x;
  asm volatile("multimem.red.relaxed.gpu.global.add.u32 [%0], %1;" ::"l"(words), "r"(i) : "memory");
  asm volatile("multimem.red.relaxed.gpu.global.max.u32 [%0], %1;" ::"l"(words + 1), "r"(i) : "memory");
  asm volatile("multimem.red.relaxed.gpu.global.add.v2.f32 [%0], {%1, %2};" ::"l"(pairs), "f"(1.0f),
               "f"(2.0f)
               : "memory");
  if (i % 2)
    asm volatile("multimem.red.relaxed.gpu.global.xor.b32 [%0], %1;" ::"l"(words + 2 + i / 2), "r"(7)
                 : "memory");
}

__global__ void reads(unsigned* words, unsigned* out) {
  unsigned value;
  asm volatile("multimem.ld_reduce.relaxed.gpu.global.add.u32 %0, [%1];"
               : "=r"(value)
               : "l"(words)
               : "memory");
  *out = value;
}

int main() {
  Verdict verdict;
  constexpr int threads = 96;
  unsigned* words;
  float* pairs;
  CHECK(cudaMalloc(&words, threads * sizeof *words));
  CHECK(cudaMalloc(&pairs, 2 * threads * sizeof *pairs));
  std::vector<unsigned> got(threads);
  std::vector<float> got_pairs(2 * threads);
  const auto fetch = [&] {
    CHECK(cudaMemcpy(got.data(), words, threads * sizeof *words, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(got_pairs.data(), pairs, 2 * threads * sizeof *pairs, cudaMemcpyDeviceToHost));
  };
  stores<<<1, threads>>>(words, pairs);
  fetch();
  for (int i = 0; i < threads; ++i) {
    verdict.equal(got[i], unsigned(i * i), "stored", i);
    verdict.equal(got_pairs[2 * i], float(i), "stored first", i);
    verdict.equal(got_pairs[2 * i + 1], i + 0.5f, "stored second", i);
  }
  unsigned* many;
  std::vector<unsigned> got_many(2048);
  CHECK(cudaMalloc(&many, 2048 * sizeof *many));
  CHECK(cudaMemset(many, 0, 2048 * sizeof *many));
  apart<<<1, threads>>>(many);
  CHECK(cudaMemcpy(got_many.data(), many, 2048 * sizeof *many, cudaMemcpyDeviceToHost));
  for (int i = 0; i < 2048; ++i) {
    const int lane = i % 1024 / 4;
    const bool one = lane < threads && (i < 1024 ? i % 4 == 0 : i % 4 == 1);
    verdict.equal(got_many[i], one ? lane + 1u : 0u, "apart", i);
  }
  CHECK(cudaMemset(words, 0, threads * sizeof *words));
  CHECK(cudaMemset(pairs, 0, 2 * threads * sizeof *pairs));
  reductions<<<1, threads>>>(words, pairs);
  fetch();
  verdict.equal(got[0], unsigned(threads * (threads - 1) / 2), "sum");
  verdict.equal(got[1], unsigned(threads - 1), "largest");
  for (int i = 0; i < threads / 2; ++i) verdict.equal(got[2 + i], 7u, "odd lanes only", i);
  verdict.equal(got[2 + threads / 2], 0u, "and no more");
  verdict.equal(got_pairs[0], float(threads), "first of the pair");
  verdict.equal(got_pairs[1], 2.0f * threads, "second of the pair");
  reads<<<1, 1>>>(words, words + 1);  // the last: the device is lost with it
  verdict.equal(cudaDeviceSynchronize(), cudaErrorIllegalAddress, "reading");
  return verdict.finish();
}
