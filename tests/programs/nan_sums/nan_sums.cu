// NaNs in sums of f64 that memory makes: red, atom and bulk reductions of global memory, atom of
// shared memory. Of two NaNs the one that is added stays, as it is; in shared memory it is made
// quiet. Measured: H200, driver 580.159.04.
#include <cstdint>
#include <cstring>
#include <vector>

#include "check.h"

enum Way { by_red, by_atom, by_bulk, in_shared, ways };

__global__ void add(double* to, double value, int way) {
  __shared__ alignas(16) double room[2];
  switch (way) {
    case by_red:
      asm volatile("red.global.add.f64 [%0], %1;" ::"l"(to), "d"(value) : "memory");
      break;
    case by_atom: {
      double old;
      asm volatile("atom.global.add.f64 %0, [%1], %2;" : "=d"(old) : "l"(to), "d"(value) : "memory");
      to[1] = old;
      break;
    }
    case by_bulk:
      room[0] = room[1] = value;
      asm volatile("fence.proxy.async;" ::: "memory");
      asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f64 [%0], [%1], 16;" ::"l"(to),
                   "r"(unsigned(__cvta_generic_to_shared(room)))
                   : "memory");
      asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;" ::: "memory");
      break;
    default:
      room[0] = *to;
      atomicAdd(&room[0], value);
      *to = room[0];
  }
}

static double number(uint64_t bits) {
  double d;
  std::memcpy(&d, &bits, 8);
  return d;
}

static bool is_nan(uint64_t bits) { return (bits & ~(1ull << 63)) > 0x7ff0000000000000; }

static uint64_t wanted(uint64_t old, uint64_t value, int way) {
  const uint64_t quiet = way == in_shared ? 1ull << 51 : 0;
  if (is_nan(value)) return value | quiet;
  if (is_nan(old)) return old | quiet;
  const double sum = number(old) + number(value);
  uint64_t bits;
  std::memcpy(&bits, &sum, 8);
  return sum != sum ? 0xfff8000000000000 : bits;
}

int main() {
  Verdict verdict;
  const std::vector<uint64_t> edges{
      0x7ff0000000000001, 0x7ff0000000000002, 0x7ff8000000000000, 0x7ff8000000000005,
      0xfff8000000000003, 0xfff0000000000007, 0x7fffffffffffffff, 0x7ff0000000000000,
      0xfff0000000000000, 0x3ff0000000000000, 0x8000000000000000, 1};
  double* device;
  CHECK(cudaMalloc(&device, 16));
  long long at = 0;
  for (uint64_t old : edges)
    for (uint64_t value : edges)
      for (int way = 0; way < ways; ++way, ++at) {
        const uint64_t both[2] = {old, old};
        uint64_t got[2];
        CHECK(cudaMemcpy(device, both, 16, cudaMemcpyHostToDevice));
        add<<<1, 1>>>(device, number(value), way);
        CHECK(cudaMemcpy(got, device, 16, cudaMemcpyDeviceToHost));
        verdict.equal(got[0], wanted(old, value, way), "sum", at);
        if (way == by_atom) verdict.equal(got[1], old, "the old value", at);
      }
  return verdict.finish();
}
