// Prices of 2^22 European options (call and put), single precision: logarithm, exponential, root.
#include "bench.h"

constexpr int count = 1 << 22;
constexpr float rate = 0.02f, volatility = 0.3f;

// The cumulative normal distribution by the polynomial of Abramowitz and Stegun, 26.2.17.
#define NORMAL_BODY(EXP, FABS)                                                                    \
  float k = 1.0f / (1.0f + 0.2316419f * FABS(d));                                                 \
  float tail = 0.39894228f * EXP(-0.5f * d * d) *                                                 \
               (k * (0.31938153f +                                                                \
                     k * (-0.356563782f + k * (1.781477937f +                                     \
                                               k * (-1.821255978f + k * 1.330274429f)))));        \
  return d > 0.0f ? 1.0f - tail : tail;

#define PRICE_BODY(EXP, LOG, SQRT)                                                                \
  float root = SQRT(years);                                                                       \
  float d1 = (LOG(stock / strike) + (rate + 0.5f * volatility * volatility) * years) /            \
             (volatility * root);                                                                 \
  float d2 = d1 - volatility * root;                                                              \
  float n1 = normal(d1), n2 = normal(d2), discount = strike * EXP(-rate * years);                 \
  call[i] = stock * n1 - discount * n2;                                                           \
  put[i] = discount * (1.0f - n2) - stock * (1.0f - n1);

static std::vector<float> stocks() { return bench::random_floats(count, 9, 5.0f, 30.0f); }
static std::vector<float> strikes() { return bench::random_floats(count, 10, 1.0f, 100.0f); }
static std::vector<float> times() { return bench::random_floats(count, 11, 0.25f, 10.0f); }

#if defined(PEER_CUDA)

__device__ float normal(float d) { NORMAL_BODY(expf, fabsf) }

__global__ void price(float* call, float* put, const float* s, const float* x, const float* t,
                      int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float stock = s[i], strike = x[i], years = t[i];
  PRICE_BODY(expf, logf, sqrtf)
}

int main(int argc, char** argv) {
  float *s = bench::to_device(stocks()), *x = bench::to_device(strikes());
  float *t = bench::to_device(times()), *out = bench::on_device<float>(2 * count);
  return bench::measure(
      argc, argv,
      [&] {
        price<<<count / 256, 256>>>(out, out + count, s, x, t, count);
        bench::finish();
      },
      [&] { return bench::from_device(out, 2 * count); });
}

#elif defined(PEER_OPENMP)

static inline float normal(float d) { NORMAL_BODY(std::exp, std::fabs) }

int main(int argc, char** argv) {
  std::vector<float> s = stocks(), x = strikes(), t = times(), out(2 * count);
  return bench::measure(
      argc, argv,
      [&] {
        float *call = out.data(), *put = out.data() + count;
        const float *ps = s.data(), *px = x.data(), *pt = t.data();
#pragma omp parallel for simd
        for (int i = 0; i < count; ++i) {
          float stock = ps[i], strike = px[i], years = pt[i];
          PRICE_BODY(std::exp, std::log, std::sqrt)
        }
      },
      [&] { return out; });
}

#else

#define TEXT_OF(...) #__VA_ARGS__
#define TEXT(...) TEXT_OF(__VA_ARGS__)

int main(int argc, char** argv) {
  std::string source = "constant float rate = 0.02f, volatility = 0.3f;\n float normal(float d) {";
  source += TEXT(NORMAL_BODY(exp, fabs));
  source += "}\nkernel void price(global float* call, global float* put, global const float* s,"
            " global const float* x, global const float* t, int n) {"
            " int i = get_global_id(0); if (i >= n) return;"
            " float stock = s[i], strike = x[i], years = t[i]; ";
  source += TEXT(PRICE_BODY(exp, log, sqrt));
  source += "}";
  bench::OpenCl cl(source.c_str());
  cl_mem call = cl.on_device<float>(count), put = cl.on_device<float>(count);
  cl_kernel price = cl.kernel("price", call, put, cl.to_device(stocks()), cl.to_device(strikes()),
                              cl.to_device(times()), count);
  return bench::measure(
      argc, argv,
      [&] {
        cl.launch(price, count, 256);
        cl.finish();
      },
      [&] {
        std::vector<float> out = cl.from_device<float>(call, count);
        std::vector<float> more = cl.from_device<float>(put, count);
        out.insert(out.end(), more.begin(), more.end());
        return out;
      });
}

#endif
