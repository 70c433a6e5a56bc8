// Price of a European call by Monte Carlo: 8192 threads with 256 paths each, normal numbers from
// cuRAND's device generator Philox4x32-10 and Box and Muller's transform. The peers have the same
// generator written out (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011), so
// that every thread's price is the same.
#include "bench.h"

constexpr int threads = 8192, draws = 64, block = 128;
constexpr unsigned seed = 20261130;
constexpr float stock = 100.0f, strike = 105.0f;
// (rate - volatility^2 / 2) years and volatility sqrt(years), at 2%, 30% and one year.
constexpr float drift = -0.025f, spread = 0.3f;

#if defined(PEER_CUDA)

#include <curand_kernel.h>

__device__ float payoff(float normal) {
  return fmaxf(stock * expf(drift + spread * normal) - strike, 0.0f);
}

__global__ void price(float* out, int count) {
  int id = blockIdx.x * blockDim.x + threadIdx.x;
  curandStatePhilox4_32_10_t state;
  curand_init(seed, id, 0, &state);
  float sum = 0.0f;
  for (int i = 0; i < count; ++i) {
    float4 normal = curand_normal4(&state);
    sum += payoff(normal.x) + payoff(normal.y) + payoff(normal.z) + payoff(normal.w);
  }
  out[id] = sum / (4 * count);
}

int main(int argc, char** argv) {
  float* out = bench::on_device<float>(threads);
  return bench::measure(
      argc, argv,
      [&] {
        price<<<threads / block, block>>>(out, draws);
        bench::finish();
      },
      [&] { return bench::from_device(out, threads); });
}

#else

// The sum of the four payoffs of draw `index` of sequence `id`.
#define DRAW_BODY(EXP, LOG, SQRT, SIN, COS, MAX, UNROLL)                              \
  unsigned x0 = index, x1 = 0, x2 = id, x3 = 0, key0 = seed, key1 = 0;                \
  UNROLL for (int round = 0; round < 10; ++round) {                                   \
    Wide left = (Wide)0xD2511F53u * x0, right = (Wide)0xCD9E8D57u * x2;               \
    x0 = (unsigned)(right >> 32) ^ x1 ^ key0;                                         \
    x2 = (unsigned)(left >> 32) ^ x3 ^ key1;                                          \
    x1 = (unsigned)right;                                                             \
    x3 = (unsigned)left;                                                              \
    key0 += 0x9E3779B9u;                                                              \
    key1 += 0xBB67AE85u;                                                              \
  }                                                                                   \
  float scale = 2.3283064e-10f, turn = 2.3283064e-10f * 6.2831855f;                   \
  float radius0 = SQRT(-2.0f * LOG(x0 * scale + 0.5f * scale));                       \
  float radius1 = SQRT(-2.0f * LOG(x2 * scale + 0.5f * scale));                       \
  float angle0 = x1 * turn + 0.5f * turn, angle1 = x3 * turn + 0.5f * turn;           \
  float p0 = MAX(stock * EXP(drift + spread * radius0 * SIN(angle0)) - strike, 0.0f); \
  float p1 = MAX(stock * EXP(drift + spread * radius0 * COS(angle0)) - strike, 0.0f); \
  float p2 = MAX(stock * EXP(drift + spread * radius1 * SIN(angle1)) - strike, 0.0f); \
  float p3 = MAX(stock * EXP(drift + spread * radius1 * COS(angle1)) - strike, 0.0f); \
  return p0 + p1 + p2 + p3;

#if defined(PEER_OPENMP)

// A sine, because g++ joins the sine and cosine of one angle into a call that it cannot vectorise.
static inline float cosine(float angle) { return std::sin(angle + 1.57079633f); }

static inline float draw(unsigned id, unsigned index) {
  using Wide = uint64_t;
  DRAW_BODY(std::exp, std::log, std::sqrt, std::sin, cosine, std::max, _Pragma("GCC unroll 10"))
}

int main(int argc, char** argv) {
  std::vector<float> out(threads);
  return bench::measure(
      argc, argv,
      [&] {
        float* to = out.data();
#pragma omp parallel for
        for (int id = 0; id < threads; ++id) {
          float sum = 0.0f;
#pragma omp simd reduction(+ : sum)
          for (int i = 0; i < draws; ++i) sum += draw(id, i);
          to[id] = sum / (4 * draws);
        }
      },
      [&] { return out; });
}

#else

#define TEXT_OF(...) #__VA_ARGS__
#define TEXT(...) TEXT_OF(__VA_ARGS__)

int main(int argc, char** argv) {
  std::string source =
      "typedef ulong Wide;\n"
      "constant unsigned seed = 20261130;\n"
      "constant float stock = 100.0f, strike = 105.0f, drift = -0.025f, spread = 0.3f;\n"
      "float draw(unsigned id, unsigned index) {";
  source += TEXT(DRAW_BODY(exp, log, sqrt, sin, cos, fmax, ));
  source +=
      "}\nkernel void price(global float* out, int count) {"
      " int id = get_global_id(0); float sum = 0.0f;"
      " for (int i = 0; i < count; ++i) sum += draw(id, i);"
      " out[id] = sum / (4 * count); }";
  bench::OpenCl cl(source.c_str());
  cl_mem out = cl.on_device<float>(threads);
  cl_kernel price = cl.kernel("price", out, draws);
  return bench::measure(
      argc, argv,
      [&] {
        cl.launch(price, threads, block);
        cl.finish();
      },
      [&] { return cl.from_device<float>(out, threads); });
}

#endif
#endif
