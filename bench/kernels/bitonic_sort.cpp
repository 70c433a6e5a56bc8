// Bitonic sort of 2^20 unsigned integers: steps within 2048 values in shared memory, longer ones in
// global memory. All peers run the same network; OpenMP keeps chunks of 2048 in cache likewise.
#include "bench.h"

constexpr int count = 1 << 20, chunk = 2048;

static std::vector<unsigned> keys() {
  bench::Random random(29);
  std::vector<unsigned> out(count);
  for (unsigned& key : out) key = random.bits();
  return out;
}

#if defined(PEER_CUDA)

__device__ void order(unsigned& low, unsigned& high, bool up) {
  if ((low > high) == up) {
    unsigned held = low;
    low = high;
    high = held;
  }
}

// Pairs of this step, `half` apart: thread t's is found by a zero bit put into t.
__device__ int first_of_pair(int t, int half) { return 2 * t - (t & (half - 1)); }

/// All lengths up to a chunk, from the start.
__global__ void sort_chunks(unsigned* keys) {
  __shared__ unsigned part[chunk];
  int base = blockIdx.x * chunk, t = threadIdx.x;
  part[t] = keys[base + t];
  part[t + chunk / 2] = keys[base + t + chunk / 2];
  for (int length = 2; length <= chunk; length *= 2)
    for (int half = length / 2; half > 0; half /= 2) {
      __syncthreads();
      int at = first_of_pair(t, half);
      order(part[at], part[at + half], ((base + at) & length) == 0);
    }
  __syncthreads();
  keys[base + t] = part[t];
  keys[base + t + chunk / 2] = part[t + chunk / 2];
}

__global__ void step_global(unsigned* keys, int length, int half) {
  int at = first_of_pair(blockIdx.x * blockDim.x + threadIdx.x, half);
  order(keys[at], keys[at + half], (at & length) == 0);
}

/// The steps of one length that stay within a chunk.
__global__ void steps_shared(unsigned* keys, int length) {
  __shared__ unsigned part[chunk];
  int base = blockIdx.x * chunk, t = threadIdx.x;
  part[t] = keys[base + t];
  part[t + chunk / 2] = keys[base + t + chunk / 2];
  bool up = (base & length) == 0;
  for (int half = chunk / 2; half > 0; half /= 2) {
    __syncthreads();
    int at = first_of_pair(t, half);
    order(part[at], part[at + half], up);
  }
  __syncthreads();
  keys[base + t] = part[t];
  keys[base + t + chunk / 2] = part[t + chunk / 2];
}

int main(int argc, char** argv) {
  unsigned *in = bench::to_device(keys()), *out = bench::on_device<unsigned>(count);
  return bench::measure(
      argc, argv,
      [&] {
        CUDA_OK(cudaMemcpyAsync(out, in, count * sizeof(unsigned), cudaMemcpyDeviceToDevice));
        sort_chunks<<<count / chunk, chunk / 2>>>(out);
        for (int length = 2 * chunk; length <= count; length *= 2) {
          for (int half = length / 2; half >= chunk; half /= 2)
            step_global<<<count / 512, 256>>>(out, length, half);
          steps_shared<<<count / chunk, chunk / 2>>>(out, length);
        }
        bench::finish();
      },
      [&] { return bench::from_device(out, count); });
}

#elif defined(PEER_OPENMP)

/// The step `half` of [at, at + half) with what lies `half` further.
static void order(unsigned* low, int half, bool up) {
  unsigned* high = low + half;
  if (up) {
#pragma omp simd
    for (int i = 0; i < half; ++i) {
      unsigned a = low[i], b = high[i];
      low[i] = a < b ? a : b, high[i] = a < b ? b : a;
    }
  } else {
#pragma omp simd
    for (int i = 0; i < half; ++i) {
      unsigned a = low[i], b = high[i];
      low[i] = a < b ? b : a, high[i] = a < b ? a : b;
    }
  }
}

/// The steps of `length` from `half` down, within the chunk at `base`.
static void steps(unsigned* keys, int base, int length, int half) {
  for (; half > 0; half /= 2)
    for (int at = base; at < base + chunk; at += 2 * half)
      order(keys + at, half, (at & length) == 0);
}

int main(int argc, char** argv) {
  std::vector<unsigned> in = keys(), out(count);
  return bench::measure(
      argc, argv,
      [&] {
        const unsigned* from = in.data();
        unsigned* to = out.data();
#pragma omp parallel
        {
#pragma omp for
          for (int base = 0; base < count; base += chunk) {
            std::copy(from + base, from + base + chunk, to + base);
            for (int length = 2; length <= chunk; length *= 2) steps(to, base, length, length / 2);
          }
          for (int length = 2 * chunk; length <= count; length *= 2) {
            for (int half = length / 2; half >= chunk; half /= 2) {
#pragma omp for
              for (int pair = 0; pair < count / 2; pair += chunk) {
                int at = 2 * pair - (pair & (half - 1));
                bool up = (at & length) == 0;
                unsigned *low = to + at, *high = low + half;
#pragma omp simd
                for (int i = 0; i < chunk; ++i) {
                  unsigned a = low[i], b = high[i], least = a < b ? a : b, most = a < b ? b : a;
                  low[i] = up ? least : most, high[i] = up ? most : least;
                }
              }
            }
#pragma omp for
            for (int base = 0; base < count; base += chunk) steps(to, base, length, chunk / 2);
          }
        }
      },
      [&] { return out; });
}

#else

int main(int argc, char** argv) {
  bench::OpenCl cl(R"(
    #define CHUNK 2048
    #define ORDER(low, high, up) { uint a = low, b = high; if ((a > b) == (up)) { low = b; high = a; } }
    int first_of_pair(int t, int half_length) { return 2 * t - (t & (half_length - 1)); }
    kernel void sort_chunks(global uint* keys, global const uint* in) {
      local uint part[CHUNK];
      int base = get_group_id(0) * CHUNK, t = get_local_id(0);
      part[t] = in[base + t];
      part[t + CHUNK / 2] = in[base + t + CHUNK / 2];
      for (int length = 2; length <= CHUNK; length *= 2)
        for (int h = length / 2; h > 0; h /= 2) {
          barrier(CLK_LOCAL_MEM_FENCE);
          int at = first_of_pair(t, h);
          ORDER(part[at], part[at + h], ((base + at) & length) == 0);
        }
      barrier(CLK_LOCAL_MEM_FENCE);
      keys[base + t] = part[t];
      keys[base + t + CHUNK / 2] = part[t + CHUNK / 2];
    }
    kernel void step_global(global uint* keys, int length, int h) {
      int at = first_of_pair(get_global_id(0), h);
      ORDER(keys[at], keys[at + h], (at & length) == 0);
    }
    kernel void steps_local(global uint* keys, int length) {
      local uint part[CHUNK];
      int base = get_group_id(0) * CHUNK, t = get_local_id(0);
      part[t] = keys[base + t];
      part[t + CHUNK / 2] = keys[base + t + CHUNK / 2];
      bool up = (base & length) == 0;
      for (int h = CHUNK / 2; h > 0; h /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        int at = first_of_pair(t, h);
        ORDER(part[at], part[at + h], up);
      }
      barrier(CLK_LOCAL_MEM_FENCE);
      keys[base + t] = part[t];
      keys[base + t + CHUNK / 2] = part[t + CHUNK / 2];
    })");
  cl_mem in = cl.to_device(keys()), out = cl.on_device<unsigned>(count);
  cl_kernel sort_chunks = cl.kernel("sort_chunks", out, in);
  cl_kernel step_global = cl.kernel("step_global", out, 0, 0);
  cl_kernel steps_local = cl.kernel("steps_local", out, 0);
  return bench::measure(
      argc, argv,
      [&] {
        cl.launch(sort_chunks, count / 2, chunk / 2);
        for (int length = 2 * chunk; length <= count; length *= 2) {
          cl.set_argument(step_global, 1, length);
          cl.set_argument(steps_local, 1, length);
          for (int half = length / 2; half >= chunk; half /= 2) {
            cl.set_argument(step_global, 2, half);
            cl.launch(step_global, count / 2, 256);
          }
          cl.launch(steps_local, count / 2, chunk / 2);
        }
        cl.finish();
      },
      [&] { return cl.from_device<unsigned>(out, count); });
}

#endif
