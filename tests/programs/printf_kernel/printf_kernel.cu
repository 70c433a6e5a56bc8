// Kernel printf: conversions, widths, strings, 64-bit values, more than 8 arguments, its return
// value. The text is judged by the program itself: it reads its own standard output back.
#include <unistd.h>

#include <string>

#include "check.h"

__global__ void print_all(const char* message, int* counts) {
  counts[0] = printf("plain\n");
  counts[1] = printf("int %d %5d %-5d| %05d %+d %x %X %o %u\n", -7, 42, 42, 42, 42, 0xbeef, 0xbeef,
                     8, 4000000000u);
  counts[2] = printf("long %lld %llx %llu\n", -1234567890123ll, 0x123456789abcdefll, ~0ull);
  counts[3] = printf("float %f %.3f %10.2f %e %g %a\n", 1.5, 3.14159, -2.5, 12345.678, 0.0001, 1.0);
  counts[4] = printf("text %s %10s|%-10s| %c %%\n", message, "right", "left", 'z');
  counts[5] = printf("many %d %d %d %d %d %d %d %d %d %d\n", 1, 2, 3, 4, 5, 6, 7, 8, 9, 10);
}

__global__ void print_ordered() {
  for (int t = 0; t < 4; ++t) {
    if (threadIdx.x == t * 16) printf("thread %d\n", t * 16);
    __syncthreads();
  }
}

int main() {
  Verdict verdict;
  char path[] = "/tmp/limen_printf_XXXXXX";
  int file = mkstemp(path), saved = dup(1);
  std::fflush(stdout);
  dup2(file, 1);
  int* counts;
  CHECK(cudaMallocManaged(&counts, 6 * sizeof(int)));
  char* message;
  CHECK(cudaMallocManaged(&message, 8));
  for (int i = 0; i < 8; ++i) message[i] = "managed"[i];
  std::printf("before\n");
  print_all<<<1, 1>>>(message, counts);
  CHECK(cudaDeviceSynchronize());
  std::printf("between\n");
  print_ordered<<<1, 64>>>();
  CHECK(cudaDeviceSynchronize());
  std::printf("after\n");
  std::fflush(stdout);
  dup2(saved, 1);
  std::string got(static_cast<size_t>(lseek(file, 0, SEEK_END)), 0);
  verdict.expect(pread(file, got.data(), got.size(), 0) == ssize_t(got.size()), "read back");
  unlink(path);
  const char want[] =
      "before\nplain\n"
      "int -7    42 42   | 00042 +42 beef BEEF 10 4000000000\n"
      "long -1234567890123 123456789abcdef 18446744073709551615\n"
      "float 1.500000 3.142      -2.50 1.234568e+04 0.0001 0x1p+0\n"
      "text managed      right|left      | z %\n"
      "many 1 2 3 4 5 6 7 8 9 10\n"
      "between\nthread 0\nthread 16\nthread 32\nthread 48\nafter\n";
  if (got != want) std::printf("--- got\n%s--- want\n%s---\n", got.c_str(), want);
  verdict.expect(got == want, "text");
  const int arguments[] = {0, 9, 3, 6, 4, 10};
  for (int i = 0; i < 6; ++i) verdict.equal(counts[i], arguments[i], "return value", i);
  return verdict.finish();
}
