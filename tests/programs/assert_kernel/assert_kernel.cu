// A failing assert: its message on standard error, error 710 on every later call, and recovery by
// cudaDeviceReset on Limen. A passing assert does nothing.
#include <unistd.h>

#include <cassert>
#include <string>

#include "check.h"

__global__ void check_less(const int* values, int limit, int* out) {
  assert(values[threadIdx.x] < limit);
  out[threadIdx.x] = 1;
}

int main() {
  Verdict verdict;
  const bool gpu = real_gpu();
  int *values, *out, host[8] = {0, 1, 2, 3, 4, 5, 6, 7}, got[8];
  auto prepare = [&] {
    CHECK(cudaMalloc(&values, sizeof host));
    CHECK(cudaMalloc(&out, sizeof host));
    CHECK(cudaMemcpy(values, host, sizeof host, cudaMemcpyHostToDevice));
    CHECK(cudaMemset(out, 0, sizeof host));
  };
  prepare();
  check_less<<<1, 8>>>(values, 8, out);
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost));
  for (int i = 0; i < 8; ++i) verdict.equal(got[i], 1, "passing assert", i);

  char path[] = "/tmp/limen_assert_XXXXXX";
  int file = mkstemp(path), saved = dup(2);
  std::fflush(stderr);
  dup2(file, 2);
  check_less<<<1, 8>>>(values, 6, out);
  cudaError_t code = cudaDeviceSynchronize();
  std::fflush(stderr);
  dup2(saved, 2);
  std::string text(static_cast<size_t>(lseek(file, 0, SEEK_END)), 0);
  verdict.expect(pread(file, text.data(), text.size(), 0) == ssize_t(text.size()), "read back");
  unlink(path);
  verdict.equal(static_cast<int>(code), 710, "synchronise");
  verdict.equal(static_cast<int>(cudaDeviceSynchronize()), 710, "synchronise again");
  verdict.equal(static_cast<int>(cudaMemcpy(got, out, 4, cudaMemcpyDeviceToHost)), 710, "copy");
  void* more;
  verdict.equal(static_cast<int>(cudaMalloc(&more, 4)), 710, "allocate");
  // Where each lane runs by itself, the first failing one may end the kernel.
  const char* strategy = std::getenv("LIMEN_STRATEGY");
  int failing = strategy && !std::strcmp(strategy, "lane") ? 1 : 2;
  for (int t = 6; t < 6 + failing; ++t) {
    char want[64];
    std::snprintf(want, sizeof want, "block: [0,0,0], thread: [%d,0,0] Assertion `", t);
    verdict.expect(text.find(want) != std::string::npos, "message names the thread", t);
  }
  verdict.expect(text.find("thread: [5,0,0]") == std::string::npos, "no message of thread 5");
  verdict.expect(text.find("values[threadIdx.x] < limit` failed.") != std::string::npos, "text");
  verdict.expect(text.find("assert_kernel.cu:") != std::string::npos, "file name");
  if (verdict.failures) std::printf("--- message\n%s---\n", text.c_str());

  // A GPU cannot be had back in this process (error 46 after the reset on an H200); Limen's can.
  if (gpu) return verdict.finish();
  CHECK(cudaDeviceReset());
  prepare();
  check_less<<<1, 8>>>(values, 8, out);
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost));
  for (int i = 0; i < 8; ++i) verdict.equal(got[i], 1, "after the reset", i);
  return verdict.finish();
}
