// What can be launched and how: parameters of many types, templates, kernels by pointer and from
// tables, three dimensions, dynamic shared memory (also above 48 KiB), kernels with barriers and
// warp operations, printf and malloc below, launches from device functions, and the questions a
// kernel may ask (attributes, occupancy, limits, names of errors).
#include "check.h"

struct Odd {
  char c;
  double d;
  short s[3];
  long long l;
};
struct __align__(16) Wide {
  float v[4];
  int n;
};

__global__ void many(char c, double d, short s, Odd odd, float* f, Wide wide, bool flag,
                     unsigned long long u, int* out) {
  out[0] = c;
  out[1] = static_cast<int>(d * 4);
  out[2] = s;
  out[3] = odd.c + static_cast<int>(odd.d) + odd.s[2] + static_cast<int>(odd.l);
  out[4] = static_cast<int>(*f);
  out[5] = static_cast<int>(wide.v[3]) + wide.n;
  out[6] = flag;
  out[7] = static_cast<int>(u >> 40);
}

template <typename T, int n>
__global__ void fill(T* out, T value) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) out[i] = value + static_cast<T>(i);
}

__global__ void where(int* out) {
  const int block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  const int thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  const int threads = blockDim.x * blockDim.y * blockDim.z;
  out[block * threads + thread] = blockIdx.x + 10 * blockIdx.y + 100 * blockIdx.z +
                                  1000 * threadIdx.x + 10000 * threadIdx.y + 100000 * threadIdx.z;
}

__global__ void add_one(int* x) { atomicAdd(x, 1); }
__global__ void add_ten(int* x) { atomicAdd(x, 10); }
__global__ void nothing() {}
using Kernel = void (*)(int*);
__device__ Kernel table[2] = {add_one, add_ten};

__global__ void reverse(int* data, int n) {
  extern __shared__ int part[];
  for (int i = threadIdx.x; i < n; i += blockDim.x) part[i] = data[i];
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += blockDim.x) data[i] = part[n - 1 - i];
}

__global__ void reduce(const int* in, int n, int* out) {
  __shared__ int warps[32];
  int sum = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) sum += in[i];
  for (int offset = 16; offset; offset /= 2) sum += __shfl_down_sync(0xffffffffu, sum, offset);
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    int total = 0;
    for (unsigned w = 0; w < blockDim.x / 32; ++w) total += warps[w];
    *out = total;
  }
}

__device__ __noinline__ void launch_in_function(int* x, int how_often) {
  for (int i = 0; i < how_often; ++i) table[i % 2]<<<1, 2>>>(x);
}

__global__ void all_kinds(int* out, int* data, int n, float* f, int* answers) {
  Odd odd = {5, 7.5, {1, 2, 3}, 1000};
  Wide wide = {{1, 2, 3, 4}, 50};
  many<<<1, 1>>>(-3, 2.25, -1234, odd, f, wide, true, 77ull << 40, out);
  fill<int, 40><<<1, 16>>>(out + 8, 100);
  fill<double, 20><<<1, 16>>>(reinterpret_cast<double*>(out + 48), 0.5);
  where<<<dim3(3, 2, 2), dim3(4, 2, 3)>>>(out + 100);
  Kernel pick = threadIdx.x == 0 ? add_ten : add_one;
  pick<<<2, 3>>>(out + 500);
  launch_in_function(out + 501, 5);
  nothing<<<1, 1>>>();
  reverse<<<1, 64, n * sizeof(int)>>>(data, n);
  reduce<<<1, 256>>>(data, n, out + 502);

  cudaFuncAttributes attributes;
  answers[0] = cudaFuncGetAttributes(&attributes, reduce);
  answers[1] = static_cast<int>(attributes.sharedSizeBytes);
  answers[2] = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&answers[3], reduce, 256, 0);
  answers[4] = cudaDeviceGetAttribute(&answers[5], cudaDevAttrWarpSize, 0);
  size_t limit = 0;
  answers[6] = cudaDeviceGetLimit(&limit, cudaLimitDevRuntimePendingLaunchCount);
  answers[7] = static_cast<int>(limit);
  answers[8] = cudaGetDevice(&answers[9]);
  answers[10] = cudaGetDeviceCount(&answers[11]);
  answers[12] = cudaRuntimeGetVersion(&answers[13]);
  const char* text = cudaGetErrorString(cudaErrorInvalidValue);
  const char* name = cudaGetErrorName(cudaErrorInvalidValue);
  answers[14] = text[0] == 'i' && text[8] == 'a' && text[15] == 't' && text[16] == 0;
  answers[15] = name[0] == 'c' && name[4] == 'E' && name[20] == 'e' && name[21] == 0;
  void* memory = nullptr;
  answers[16] = cudaMalloc(&memory, 1000);
  answers[17] = memory != nullptr;
  static_cast<char*>(memory)[999] = 1;
  answers[18] = cudaFree(memory);
  answers[19] = attributes.maxThreadsPerBlock;
  answers[20] = attributes.binaryVersion;
  limit = 5;
  answers[21] = cudaDeviceGetLimit(&limit, cudaLimitDevRuntimeSyncDepth);
  answers[22] = static_cast<int>(limit);  // all ones
  limit = 5;
  answers[23] = cudaDeviceGetLimit(&limit, static_cast<cudaLimit>(11));
  answers[24] = static_cast<int>(limit);  // left alone
  text = cudaGetErrorString(static_cast<cudaError_t>(12345));
  answers[25] = text[0] == 'u' && text[7] == 'n';
}

int main() {
  Verdict verdict;
  const int n = 20000;  // 78 KiB of dynamic shared memory
  CHECK(cudaFuncSetAttribute(reverse, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             n * static_cast<int>(sizeof(int))));
  int *out, *data, *answers;
  float* f;
  static int host[1024], numbers[n], told[32];
  CHECK(cudaMalloc(&out, sizeof host));
  CHECK(cudaMalloc(&data, sizeof numbers));
  CHECK(cudaMalloc(&answers, sizeof told));
  CHECK(cudaMalloc(&f, sizeof(float)));
  const float value = 321;
  for (int i = 0; i < n; ++i) numbers[i] = i;
  CHECK(cudaMemset(out, 0, sizeof host));
  CHECK(cudaMemset(answers, 0xff, sizeof told));
  CHECK(cudaMemcpy(data, numbers, sizeof numbers, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(f, &value, sizeof value, cudaMemcpyHostToDevice));
  all_kinds<<<1, 1>>>(out, data, n, f, answers);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(told, answers, sizeof told, cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(numbers, data, sizeof numbers, cudaMemcpyDeviceToHost));

  const int want[] = {-3, 9, -1234, 5 + 7 + 3 + 1000, 321, 54, 1, 77};
  for (int i = 0; i < 8; ++i) verdict.equal(host[i], want[i], "parameter", i);
  for (int i = 0; i < 40; ++i) verdict.equal(host[8 + i], 100 + i, "template of int", i);
  for (int i = 0; i < 20; ++i) {
    double got;
    std::memcpy(&got, host + 48 + 2 * i, sizeof got);
    verdict.equal(got, 0.5 + i, "template of double", i);
  }
  for (int i = 0; i < 12 * 24; ++i) {
    const int b = i / 24, t = i % 24;
    verdict.equal(host[100 + i],
                  b % 3 + 10 * (b / 3 % 2) + 100 * (b / 6) + 1000 * (t % 4) + 10000 * (t / 4 % 2) +
                      100000 * (t / 8),
                  "dimensions", i);
  }
  verdict.equal(host[500], 60, "kernel by pointer");
  verdict.equal(host[501], 3 * 2 * 1 + 2 * 2 * 10, "kernels from a table");
  verdict.equal(host[502], n / 2 * (n - 1), "sum");
  for (int i = 0; i < n; ++i) verdict.equal(numbers[i], n - 1 - i, "reversed", i);

  cudaFuncAttributes attributes;
  CHECK(cudaFuncGetAttributes(&attributes, reduce));
  int blocks, devices;
  size_t limit;
  CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, reduce, 256, 0));
  CHECK(cudaGetDeviceCount(&devices));
  CHECK(cudaDeviceGetLimit(&limit, cudaLimitDevRuntimePendingLaunchCount));
  const int want_told[] = {0,
                           static_cast<int>(attributes.sharedSizeBytes),
                           0,
                           blocks,
                           0,
                           32,
                           0,
                           static_cast<int>(limit),
                           0,
                           0,
                           0,
                           devices,
                           0,
                           6000,  // the version of the device runtime on an H200, CUDA 13.0
                           1,
                           1,
                           0,
                           1,
                           0,
                           1024,
                           attributes.binaryVersion,
                           static_cast<int>(cudaErrorUnsupportedLimit),
                           -1,
                           static_cast<int>(cudaErrorInvalidValue),
                           5,
                           1};
  for (int i = 0; i < 26; ++i) verdict.equal(told[i], want_told[i], "answer", i);
  return verdict.finish();
}
