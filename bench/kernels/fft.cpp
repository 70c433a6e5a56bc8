// 4096 complex transforms of 1024 points, single precision: radix 4 (Stockham), a block of 256 a
// transform, exchange through shared memory, twiddles from a table.
#include "bench.h"

constexpr int batch = 4096, points = 1024, quarter = points / 4;

// Real and imaginary parts alternate, as in CUDA's float2.
static std::vector<float> signals() {
  return bench::random_floats(size_t{2} * batch * points, 23, -1.0f, 1.0f);
}
static std::vector<float> roots() {
  std::vector<float> out(2 * points);
  for (int i = 0; i < points; ++i) {
    double angle = -2.0 * 3.14159265358979323846 * i / points;
    out[2 * i] = static_cast<float>(std::cos(angle));
    out[2 * i + 1] = static_cast<float>(std::sin(angle));
  }
  return out;
}

#if defined(PEER_CUDA)

__device__ float2 times(float2 a, float2 b) {
  return make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}
__device__ float2 plus(float2 a, float2 b) { return make_float2(a.x + b.x, a.y + b.y); }
__device__ float2 minus(float2 a, float2 b) { return make_float2(a.x - b.x, a.y - b.y); }

__global__ void fft(float2* out, const float2* in, const float2* __restrict__ root) {
  __shared__ float2 part[points];
  int id = threadIdx.x;
  float2 v[4];
  for (int m = 0; m < 4; ++m) v[m] = in[blockIdx.x * points + id + m * quarter];
  for (int p = 1; p < points; p *= 4) {
    int k = id & (p - 1), to = 4 * (id - k) + k;
    for (int m = 1; m < 4; ++m) v[m] = times(v[m], root[k * m * (quarter / p)]);
    float2 a = plus(v[0], v[2]), b = minus(v[0], v[2]), c = plus(v[1], v[3]), d = minus(v[1], v[3]);
    d = make_float2(d.y, -d.x);
    __syncthreads();
    part[to] = plus(a, c);
    part[to + p] = plus(b, d);
    part[to + 2 * p] = minus(a, c);
    part[to + 3 * p] = minus(b, d);
    __syncthreads();
    for (int m = 0; m < 4; ++m) v[m] = part[id + m * quarter];
  }
  for (int m = 0; m < 4; ++m) out[blockIdx.x * points + id + m * quarter] = v[m];
}

int main(int argc, char** argv) {
  float *in = bench::to_device(signals()), *root = bench::to_device(roots());
  float* out = bench::on_device<float>(size_t{2} * batch * points);
  return bench::measure(
      argc, argv,
      [&] {
        fft<<<batch, quarter>>>(reinterpret_cast<float2*>(out), reinterpret_cast<float2*>(in),
                                reinterpret_cast<float2*>(root));
        bench::finish();
      },
      [&] { return bench::from_device(out, size_t{2} * batch * points); });
}

#elif defined(PEER_OPENMP)

struct Signal {
  float real[points], imaginary[points];
};

// One step of radix 4; `twiddles` holds p factors for each m in turn, real and imaginary apart.
template <int p>
static void step(Signal& to, const Signal& from, const Signal& twiddles) {
  for (int base = 0; base < quarter; base += p) {
#pragma omp simd
    for (int k = 0; k < p; ++k) {
      float x[4], y[4];
      for (int m = 0; m < 4; ++m) {
        float re = from.real[base + k + m * quarter], im = from.imaginary[base + k + m * quarter];
        float c = twiddles.real[m * p + k], s = twiddles.imaginary[m * p + k];
        x[m] = re * c - im * s;
        y[m] = re * s + im * c;
      }
      float ax = x[0] + x[2], bx = x[0] - x[2], cx = x[1] + x[3], dx = y[1] - y[3];
      float ay = y[0] + y[2], by = y[0] - y[2], cy = y[1] + y[3], dy = x[3] - x[1];
      int at = 4 * base + k;
      to.real[at] = ax + cx, to.imaginary[at] = ay + cy;
      to.real[at + p] = bx + dx, to.imaginary[at + p] = by + dy;
      to.real[at + 2 * p] = ax - cx, to.imaginary[at + 2 * p] = ay - cy;
      to.real[at + 3 * p] = bx - dx, to.imaginary[at + 3 * p] = by - dy;
    }
  }
}

int main(int argc, char** argv) {
  std::vector<float> in = signals(), root = roots(), out(in.size());
  std::vector<Signal> twiddles(5);
  for (int stage = 0, p = 1; stage < 5; ++stage, p *= 4) {
    for (int m = 0; m < 4; ++m) {
      for (int k = 0; k < p; ++k) {
        twiddles[stage].real[m * p + k] = root[2 * (k * m * (quarter / p))];
        twiddles[stage].imaginary[m * p + k] = root[2 * (k * m * (quarter / p)) + 1];
      }
    }
  }
  return bench::measure(
      argc, argv,
      [&] {
        const float* from = in.data();
        float* to = out.data();
#pragma omp parallel for
        for (int i = 0; i < batch; ++i) {
          Signal a, b;
          const float* signal = from + size_t{2} * i * points;
          for (int j = 0; j < points; ++j)
            a.real[j] = signal[2 * j], a.imaginary[j] = signal[2 * j + 1];
          step<1>(b, a, twiddles[0]);
          step<4>(a, b, twiddles[1]);
          step<16>(b, a, twiddles[2]);
          step<64>(a, b, twiddles[3]);
          step<256>(b, a, twiddles[4]);
          float* spectrum = to + size_t{2} * i * points;
          for (int j = 0; j < points; ++j)
            spectrum[2 * j] = b.real[j], spectrum[2 * j + 1] = b.imaginary[j];
        }
      },
      [&] { return out; });
}

#else

int main(int argc, char** argv) {
  bench::OpenCl cl(R"(
    #define POINTS 1024
    #define QUARTER 256
    float2 times(float2 a, float2 b) {
      return (float2)(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
    }
    kernel void fft(global float2* out, global const float2* in, global const float2* root) {
      local float2 part[POINTS];
      int id = get_local_id(0), first = get_group_id(0) * POINTS + id;
      float2 v[4];
      for (int m = 0; m < 4; ++m) v[m] = in[first + m * QUARTER];
      for (int p = 1; p < POINTS; p *= 4) {
        int k = id & (p - 1), to = 4 * (id - k) + k;
        for (int m = 1; m < 4; ++m) v[m] = times(v[m], root[k * m * (QUARTER / p)]);
        float2 a = v[0] + v[2], b = v[0] - v[2], c = v[1] + v[3], d = v[1] - v[3];
        d = (float2)(d.y, -d.x);
        barrier(CLK_LOCAL_MEM_FENCE);
        part[to] = a + c;
        part[to + p] = b + d;
        part[to + 2 * p] = a - c;
        part[to + 3 * p] = b - d;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int m = 0; m < 4; ++m) v[m] = part[id + m * QUARTER];
      }
      for (int m = 0; m < 4; ++m) out[first + m * QUARTER] = v[m];
    })");
  cl_mem out = cl.on_device<float>(size_t{2} * batch * points);
  cl_kernel fft = cl.kernel("fft", out, cl.to_device(signals()), cl.to_device(roots()));
  return bench::measure(
      argc, argv,
      [&] {
        cl.launch(fft, batch * quarter, quarter);
        cl.finish();
      },
      [&] { return cl.from_device<float>(out, size_t{2} * batch * points); });
}

#endif
