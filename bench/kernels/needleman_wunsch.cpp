// Scores of 512 global alignments of 256 letters with 256: a block a pair, along antidiagonals in
// shared memory, one barrier a step. The OpenMP peer takes the same antidiagonals as loops.
#include "bench.h"

constexpr int pairs = 512, length = 256;
constexpr int match = 2, mismatch = -1, gap = -2;

// Four letters; the second of a pair is the first with one letter in eight replaced.
static std::vector<unsigned char> letters(bool second) {
  bench::Random random(14), change(15);
  std::vector<unsigned char> out(pairs * length);
  for (unsigned char& letter : out) {
    letter = random.bits() >> 9 & 3;
    uint32_t bits = change.bits();
    if (second && (bits >> 9 & 7) == 0) letter = bits >> 13 & 3;
  }
  return out;
}

#if defined(PEER_CUDA)

__global__ void align(int* scores, const unsigned char* a, const unsigned char* b) {
  __shared__ int diagonal[3][length + 1];
  __shared__ unsigned char letters_b[length];
  int row = threadIdx.x + 1;
  unsigned char letter = a[blockIdx.x * length + threadIdx.x];
  letters_b[threadIdx.x] = b[blockIdx.x * length + threadIdx.x];
  if (threadIdx.x == 0) diagonal[0][0] = 0;
  __syncthreads();
  // Antidiagonal d holds the cells (row, d - row).
  for (int d = 1; d <= 2 * length; ++d) {
    int *now = diagonal[d % 3], *before = diagonal[(d + 2) % 3], *earlier = diagonal[(d + 1) % 3];
    int column = d - row;
    if (column == 0) {
      now[row] = row * gap;
    } else if (column > 0 && column <= length) {
      int step = letter == letters_b[column - 1] ? match : mismatch;
      now[row] = max(earlier[row - 1] + step, max(before[row - 1], before[row]) + gap);
    }
    if (row == 1 && d <= length) now[0] = d * gap;
    __syncthreads();
  }
  if (row == length) scores[blockIdx.x] = diagonal[2 * length % 3][length];
}

int main(int argc, char** argv) {
  unsigned char *a = bench::to_device(letters(false)), *b = bench::to_device(letters(true));
  int* scores = bench::on_device<int>(pairs);
  return bench::measure(
      argc, argv,
      [&] {
        align<<<pairs, length>>>(scores, a, b);
        bench::finish();
      },
      [&] { return bench::from_device(scores, pairs); });
}

#elif defined(PEER_OPENMP)

static int align(const unsigned char* a, const unsigned char* b) {
  int diagonal[3][length + 1];
  unsigned char reversed[length];
  for (int i = 0; i < length; ++i) reversed[i] = b[length - 1 - i];
  diagonal[0][0] = 0;
  for (int d = 1; d <= 2 * length; ++d) {
    int *now = diagonal[d % 3], *before = diagonal[(d + 2) % 3], *earlier = diagonal[(d + 1) % 3];
    int first = std::max(1, d - length), last = std::min(length, d - 1);
    if (d <= length) now[0] = now[d] = d * gap;
    const unsigned char* letters_b = reversed + (length - d);
#pragma omp simd
    for (int row = first; row <= last; ++row) {
      int step = a[row - 1] == letters_b[row] ? match : mismatch;
      now[row] = std::max(earlier[row - 1] + step, std::max(before[row - 1], before[row]) + gap);
    }
  }
  return diagonal[2 * length % 3][length];
}

int main(int argc, char** argv) {
  std::vector<unsigned char> a = letters(false), b = letters(true);
  std::vector<int> scores(pairs);
  return bench::measure(
      argc, argv,
      [&] {
        const unsigned char *pa = a.data(), *pb = b.data();
        int* to = scores.data();
#pragma omp parallel for
        for (int pair = 0; pair < pairs; ++pair)
          to[pair] = align(pa + pair * length, pb + pair * length);
      },
      [&] { return scores; });
}

#else

int main(int argc, char** argv) {
  bench::OpenCl cl(R"(
    #define LENGTH 256
    #define GAP -2
    kernel void align(global int* scores, global const uchar* a, global const uchar* b) {
      local int diagonal[3][LENGTH + 1];
      local uchar letters_b[LENGTH];
      int id = get_local_id(0), row = id + 1;
      uchar letter = a[get_group_id(0) * LENGTH + id];
      letters_b[id] = b[get_group_id(0) * LENGTH + id];
      if (id == 0) diagonal[0][0] = 0;
      barrier(CLK_LOCAL_MEM_FENCE);
      for (int d = 1; d <= 2 * LENGTH; ++d) {
        local int* now = diagonal[d % 3];
        local int* before = diagonal[(d + 2) % 3];
        local int* earlier = diagonal[(d + 1) % 3];
        int column = d - row;
        if (column == 0) {
          now[row] = row * GAP;
        } else if (column > 0 && column <= LENGTH) {
          int step = letter == letters_b[column - 1] ? 2 : -1;
          now[row] = max(earlier[row - 1] + step, max(before[row - 1], before[row]) + GAP);
        }
        if (row == 1 && d <= LENGTH) now[0] = d * GAP;
        barrier(CLK_LOCAL_MEM_FENCE);
      }
      if (row == LENGTH) scores[get_group_id(0)] = diagonal[2 * LENGTH % 3][LENGTH];
    })");
  cl_mem scores = cl.on_device<int>(pairs);
  cl_kernel align =
      cl.kernel("align", scores, cl.to_device(letters(false)), cl.to_device(letters(true)));
  return bench::measure(
      argc, argv,
      [&] {
        cl.launch(align, pairs * length, length);
        cl.finish();
      },
      [&] { return cl.from_device<int>(scores, pairs); });
}

#endif
