// trap, a wild pointer, a null pointer and a misaligned access: each poisons the context with its
// own code, and cudaDeviceReset brings the device back.
#include <string>

#include "check.h"

__global__ void trap(int who) {
  if (threadIdx.x == who) __trap();
}
__global__ void trap_asm(int who) {
  if (threadIdx.x == who) asm volatile("trap;");
}
__global__ void store(int* p) { p[threadIdx.x] = 1; }
__global__ void load(const int* p, int* out) { out[threadIdx.x] = p[threadIdx.x]; }
__global__ void misaligned(char* p) {
  *reinterpret_cast<int*>(p + (threadIdx.x == 3 ? 2 : 4 * threadIdx.x)) = 5;
}
__global__ void fine(int* p) { p[threadIdx.x] = threadIdx.x + 1; }

// Codes as an H200 with driver 580.159 gives them.
struct Case {
  const char* name;
  int code;
};
constexpr Case cases[] = {{"trap", 719},        {"trap_asm", 719},  {"wild store", 700},
                          {"null store", 700},  {"wild load", 700}, {"misaligned", 716},
                          {"past the end", 700}};
constexpr int case_count = sizeof cases / sizeof cases[0];

static void run_case(int c, Verdict& verdict) {
  int* p;
  CHECK(cudaMalloc(&p, 4096));
  switch (c) {
    case 0:
      trap<<<1, 64>>>(40);
      break;
    case 1:
      trap_asm<<<2, 64>>>(3);
      break;
    case 2:
      store<<<1, 32>>>(reinterpret_cast<int*>(0x123456789000ull));
      break;
    case 3:
      store<<<1, 32>>>(nullptr);
      break;
    case 4:
      load<<<1, 32>>>(reinterpret_cast<int*>(0x7f0123456780ull & ~0xffull), p);
      break;
    case 5:
      misaligned<<<1, 32>>>(reinterpret_cast<char*>(p));
      break;
    default:
      store<<<1, 32>>>(p + (64ll << 20));
      break;
  }
  int first = cudaDeviceSynchronize(), again = cudaDeviceSynchronize();
  void* more;
  int allocate = cudaMalloc(&more, 16);
  int last = cudaGetLastError(), after = cudaGetLastError();
  std::printf("%s: sync %d, again %d, malloc %d, last %d %d\n", cases[c].name, first, again,
              allocate, last, after);
  std::fflush(stdout);
  verdict.equal(first, cases[c].code, cases[c].name);
  verdict.equal(again, cases[c].code, "sticky");
  verdict.equal(allocate, cases[c].code, "malloc afterwards");
}

static void recover(int c, Verdict& verdict) {
  CHECK(cudaDeviceReset());
  cudaGetLastError();
  int *q, host[32];
  CHECK(cudaMalloc(&q, sizeof host));
  fine<<<1, 32>>>(q);
  CHECK(cudaMemcpy(host, q, sizeof host, cudaMemcpyDeviceToHost));
  for (int i = 0; i < 32; ++i) verdict.equal(host[i], i + 1, "after the reset", c);
}

int main(int argc, char** argv) {
  Verdict verdict;
  if (argc > 1) {
    run_case(std::atoi(argv[1]), verdict);
    return verdict.finish();
  }
  bool apart = real_gpu();  // a GPU is lost to the process after a fault: one process a case
  for (int c = 0; c < case_count; ++c) {
    if (apart) {
      verdict.expect(std::system((std::string(argv[0]) + " " + std::to_string(c)).c_str()) == 0,
                     cases[c].name);
    } else {
      run_case(c, verdict);
      recover(c, verdict);
    }
  }
  return verdict.finish();
}
