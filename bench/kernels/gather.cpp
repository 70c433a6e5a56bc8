// 2^22 floats through two random permutations: middle[i] = in[from[i]], out[to[i]] = 2 middle[i].
#include "bench.h"

constexpr int count = 1 << 22;

static std::vector<int> permutation(uint32_t seed) {
  bench::Random random(seed);
  std::vector<int> out(count);
  for (int i = 0; i < count; ++i) out[i] = i;
  for (int i = count - 1; i > 0; --i) std::swap(out[i], out[random.bits() % (i + 1)]);
  return out;
}

static std::vector<float> values() { return bench::random_floats(count, 23); }

#if defined(PEER_CUDA)

__global__ void gather(float* out, const float* in, const int* index, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[index[i]];
}

__global__ void scatter(float* out, const float* in, const int* index, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[index[i]] = 2.0f * in[i];
}

int main(int argc, char** argv) {
  float* in = bench::to_device(values());
  int *from = bench::to_device(permutation(24)), *to = bench::to_device(permutation(25));
  float *middle = bench::on_device<float>(count), *out = bench::on_device<float>(count);
  return bench::measure(
      argc, argv,
      [&] {
        gather<<<count / 256, 256>>>(middle, in, from, count);
        scatter<<<count / 256, 256>>>(out, middle, to, count);
        bench::finish();
      },
      [&] { return bench::from_device(out, count); });
}

#elif defined(PEER_OPENMP)

int main(int argc, char** argv) {
  std::vector<float> in = values(), middle(count), out(count);
  std::vector<int> from = permutation(24), to = permutation(25);
  return bench::measure(
      argc, argv,
      [&] {
        const float* source = in.data();
        float *between = middle.data(), *target = out.data();
        const int *read = from.data(), *write = to.data();
#pragma omp parallel for simd
        for (int i = 0; i < count; ++i) between[i] = source[read[i]];
#pragma omp parallel for
        for (int i = 0; i < count; ++i) target[write[i]] = 2.0f * between[i];
      },
      [&] { return out; });
}

#else

int main(int argc, char** argv) {
  bench::OpenCl cl(R"(
    kernel void gather(global float* out, global const float* in, global const int* index) {
      int i = get_global_id(0);
      out[i] = in[index[i]];
    }
    kernel void scatter(global float* out, global const float* in, global const int* index) {
      int i = get_global_id(0);
      out[index[i]] = 2.0f * in[i];
    })");
  cl_mem middle = cl.on_device<float>(count), out = cl.on_device<float>(count);
  cl_kernel gather = cl.kernel("gather", middle, cl.to_device(values()),
                               cl.to_device(permutation(24)));
  cl_kernel scatter = cl.kernel("scatter", out, middle, cl.to_device(permutation(25)));
  return bench::measure(
      argc, argv,
      [&] {
        cl.launch(gather, count, 256);
        cl.launch(scatter, count, 256);
        cl.finish();
      },
      [&] { return cl.from_device<float>(out, count); });
}

#endif
