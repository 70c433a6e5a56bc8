// Sort of 2^22 unsigned integers by eight bits a pass, least significant first. A CUDA block counts the
// digits of 2048 keys, a scan makes places of the counts, and each warp ranks its keys by
// __match_any_sync. OpenMP and OpenCL do the same with a thread or work-item a part.
#include "bench.h"

constexpr int count = 1 << 22;
constexpr int digits = 256, block = 256, each = 8, tile = block * each, tiles = count / tile;

static std::vector<unsigned> keys() {
  bench::Random random(30);
  std::vector<unsigned> out(count);
  for (unsigned& key : out) key = random.bits();
  return out;
}

#if defined(PEER_CUDA)

constexpr unsigned whole_warp = 0xffffffffu;

__device__ unsigned digit_of(unsigned key, int shift) { return key >> shift & (digits - 1); }

/// Exclusive sums of one value a thread of a block of 256.
__device__ unsigned scan_block(unsigned* shared, unsigned mine) {
  int id = threadIdx.x;
  shared[id] = mine;
  __syncthreads();
  for (int offset = 1; offset < block; offset *= 2) {
    unsigned before = id >= offset ? shared[id - offset] : 0;
    __syncthreads();
    shared[id] += before;
    __syncthreads();
  }
  return shared[id] - mine;
}

__global__ void count_digits(unsigned* counts, const unsigned* in, int shift) {
  __shared__ unsigned part[digits];
  part[threadIdx.x] = 0;
  __syncthreads();
  for (int k = 0; k < each; ++k)
    atomicAdd(&part[digit_of(in[blockIdx.x * tile + k * block + threadIdx.x], shift)], 1u);
  __syncthreads();
  counts[threadIdx.x * tiles + blockIdx.x] = part[threadIdx.x];
}

/// A block a digit: its counts of all tiles become exclusive sums, their total goes to `totals`.
__global__ void scan_counts(unsigned* counts, unsigned* totals) {
  __shared__ unsigned shared[block];
  constexpr int own = tiles / block;
  unsigned* mine = counts + blockIdx.x * tiles + threadIdx.x * own;
  unsigned value[own], sum = 0;
#pragma unroll
  for (int k = 0; k < own; ++k) {
    value[k] = sum;
    sum += mine[k];
  }
  unsigned before = scan_block(shared, sum);
#pragma unroll
  for (int k = 0; k < own; ++k) mine[k] = before + value[k];
  if (threadIdx.x == block - 1) totals[blockIdx.x] = before + sum;
}

__global__ void scatter(unsigned* out, const unsigned* in, const unsigned* counts,
                        const unsigned* totals, int shift) {
  constexpr int warps = block / 32;
  __shared__ unsigned shared[block], place[warps][digits];
  int id = threadIdx.x, lane = id % 32, warp = id / 32;
  for (int k = 0; k < warps; ++k) place[k][id] = 0;
  __syncthreads();
  // A warp's keys lie together, so that equal digits keep their order.
  unsigned key[each], rank[each];
  for (int k = 0; k < each; ++k) {
    key[k] = in[blockIdx.x * tile + (warp * each + k) * 32 + lane];
    unsigned digit = digit_of(key[k], shift), same = __match_any_sync(whole_warp, digit);
    int leader = __ffs(same) - 1;
    unsigned before = 0;
    if (lane == leader) {
      before = place[warp][digit];
      place[warp][digit] = before + __popc(same);
    }
    __syncwarp();
    rank[k] = __shfl_sync(whole_warp, before, leader) + __popc(same & ((1u << lane) - 1));
  }
  unsigned base = scan_block(shared, totals[id]) + counts[id * tiles + blockIdx.x];
  for (int k = 0; k < warps; ++k) {
    unsigned here = place[k][id];
    place[k][id] = base;
    base += here;
  }
  __syncthreads();
  for (int k = 0; k < each; ++k) out[place[warp][digit_of(key[k], shift)] + rank[k]] = key[k];
}

int main(int argc, char** argv) {
  unsigned* in = bench::to_device(keys());
  unsigned *one = bench::on_device<unsigned>(count), *two = bench::on_device<unsigned>(count);
  unsigned* counts = bench::on_device<unsigned>(digits * tiles);
  unsigned* totals = bench::on_device<unsigned>(digits);
  return bench::measure(
      argc, argv,
      [&] {
        const unsigned* from = in;
        for (int pass = 0; pass < 4; ++pass) {
          unsigned* to = pass % 2 ? two : one;
          count_digits<<<tiles, block>>>(counts, from, 8 * pass);
          scan_counts<<<digits, block>>>(counts, totals);
          scatter<<<tiles, block>>>(to, from, counts, totals, 8 * pass);
          from = to;
        }
        bench::finish();
      },
      [&] { return bench::from_device(two, count); });
}

#elif defined(PEER_OPENMP)

int main(int argc, char** argv) {
  std::vector<unsigned> in = keys(), one(count), two(count);
  std::vector<std::array<unsigned, digits>> counts(omp_get_max_threads());
  return bench::measure(
      argc, argv,
      [&] {
#pragma omp parallel
        {
          bench::Part part(count);
          int threads = omp_get_num_threads(), me = omp_get_thread_num();
          const unsigned* from = in.data();
          for (int pass = 0; pass < 4; ++pass) {
            unsigned *to = pass % 2 ? two.data() : one.data(), shift = 8 * pass;
            std::array<unsigned, digits> mine = {};
            for (size_t i = part.begin; i < part.end; ++i) ++mine[from[i] >> shift & 255];
            counts[me] = mine;
#pragma omp barrier
            unsigned place = 0;
            for (int digit = 0; digit < digits; ++digit)
              for (int thread = 0; thread < threads; ++thread) {
                if (thread == me) mine[digit] = place;
                place += counts[thread][digit];
              }
            for (size_t i = part.begin; i < part.end; ++i)
              to[mine[from[i] >> shift & 255]++] = from[i];
            from = to;
#pragma omp barrier
          }
        }
      },
      [&] { return two; });
}

#else

int main(int argc, char** argv) {
  // OpenCL 1.2 has neither votes nor matches: a work-item goes through a part of its own.
  constexpr int parts = 256;
  bench::OpenCl cl(R"(
    #define DIGITS 256
    kernel void count_digits(global uint* counts, global const uint* in, int shift, int each) {
      int part = get_global_id(0), parts = get_global_size(0);
      uint mine[DIGITS];
      for (int d = 0; d < DIGITS; ++d) mine[d] = 0;
      for (int i = part * each; i < (part + 1) * each; ++i) ++mine[in[i] >> shift & 255];
      for (int d = 0; d < DIGITS; ++d) counts[d * parts + part] = mine[d];
    }
    kernel void scan_counts(global uint* counts, int n) {
      uint sum = 0;
      for (int i = 0; i < n; ++i) {
        uint here = counts[i];
        counts[i] = sum;
        sum += here;
      }
    }
    kernel void scatter(global uint* out, global const uint* in, global const uint* counts, int shift,
                        int each) {
      int part = get_global_id(0), parts = get_global_size(0);
      uint mine[DIGITS];
      for (int d = 0; d < DIGITS; ++d) mine[d] = counts[d * parts + part];
      for (int i = part * each; i < (part + 1) * each; ++i) out[mine[in[i] >> shift & 255]++] = in[i];
    })");
  cl_mem in = cl.to_device(keys());
  cl_mem one = cl.on_device<unsigned>(count), two = cl.on_device<unsigned>(count);
  cl_mem counts = cl.on_device<unsigned>(digits * parts);
  cl_kernel count_digits = cl.kernel("count_digits", counts, in, 0, count / parts);
  cl_kernel scan_counts = cl.kernel("scan_counts", counts, digits * parts);
  cl_kernel scatter = cl.kernel("scatter", one, in, counts, 0, count / parts);
  return bench::measure(
      argc, argv,
      [&] {
        cl_mem from = in;
        for (int pass = 0; pass < 4; ++pass) {
          cl_mem to = pass % 2 ? two : one;
          cl.set_argument(count_digits, 1, from);
          cl.set_argument(count_digits, 2, 8 * pass);
          cl.set_argument(scatter, 0, to);
          cl.set_argument(scatter, 1, from);
          cl.set_argument(scatter, 3, 8 * pass);
          cl.launch(count_digits, parts, 1);
          cl.launch(scan_counts, 1, 1);
          cl.launch(scatter, parts, 1);
          from = to;
        }
        cl.finish();
      },
      [&] { return cl.from_device<unsigned>(two, count); });
}

#endif
