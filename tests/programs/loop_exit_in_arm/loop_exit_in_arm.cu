// Loops whose lanes leave from inside one arm of a divergent branch while values change in one arm
// only: each lane must keep its own values over the join, whatever the other lanes do.
#include <vector>

#include "check.h"

/// An exit in the else arm; y changes in that arm only, x in both, n up in one and down in the
/// other.
__host__ __device__ unsigned exit_in_else(int t, const int* table, int rounds) {
  int x = t, y = 3 * t, i = 0, n = 0;
  unsigned s = 1;
  while (true) {
    ++i;
    if ((t * 7 + i * 3) % 5 < 3 && i < rounds) {
      x = table[i & 7];
      ++n;
    } else {
      s = s * 31 + x * 7 + y;
      if (n == 0) break;
      --n;
      x = table[(i + t) & 7];
      y = table[(i * 3 + t) & 7];
    }
  }
  return s * 100 + i;
}

/// Exits in both arms, continue in one, three variables that each change in one place.
__host__ __device__ unsigned exit_in_both(int t, const int* table, int rounds) {
  unsigned a = t, b = t * 5, c = 1;
  for (int i = 0; i < rounds; ++i) {
    if ((a + i) % 3 == 0) {
      b = b * 3 + table[(t + i) & 7];
      if (b % 11 == t % 11) break;
      if (b & 1) continue;
      c += b;
    } else {
      if (c % 13 == t % 13u) return a * 31 + b * 7 + c;
      a = a + table[i & 7] + 1;
    }
    c = c * 17 + i;
  }
  return a + b * 3 + c * 5;
}

/// An inner loop left by a jump to the outer loop's end.
__host__ __device__ unsigned exit_from_inner(int t, const int* table, int rounds) {
  unsigned sum = 0, last = t;
  for (int i = 0; i < rounds; ++i) {
    unsigned found = ~0u;
    for (int j = 0; j < 8; ++j) {
      if ((table[j] + t + i) % 7 == 3) {
        found = j;
        if ((j + t) % 4 == 1) goto out;
        break;
      }
      last = last * 3 + j;
    }
    if (found == ~0u) {
      sum += last;
      continue;
    }
    sum = sum * 5 + found;
  }
out:
  return sum * 1000 + last;
}

__global__ void run(unsigned* out, const int* table, int rounds) {
  int t = threadIdx.x;
  out[t] = exit_in_else(t, table, rounds);
  out[blockDim.x + t] = exit_in_both(t, table, rounds);
  out[2 * blockDim.x + t] = exit_from_inner(t, table, rounds);
}

int main() {
  Verdict verdict;
  const int n = 96;
  int table[8], *dt;
  unsigned* d;
  for (int i = 0; i < 8; ++i) table[i] = i * i + 5;
  CHECK(cudaMalloc(&dt, sizeof table));
  CHECK(cudaMalloc(&d, 3 * n * sizeof(unsigned)));
  CHECK(cudaMemcpy(dt, table, sizeof table, cudaMemcpyHostToDevice));
  std::vector<unsigned> got(3 * n);
  for (int rounds : {1, 2, 3, 5, 10, 50}) {
    run<<<1, n>>>(d, dt, rounds);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(got.data(), d, 3 * n * sizeof(unsigned), cudaMemcpyDeviceToHost));
    for (int t = 0; t < n; ++t) {
      verdict.equal(got[t], exit_in_else(t, table, rounds), "exit in else", t);
      verdict.equal(got[n + t], exit_in_both(t, table, rounds), "exit in both", t);
      verdict.equal(got[2 * n + t], exit_from_inner(t, table, rounds), "exit from inner", t);
    }
  }
  return verdict.finish();
}
