// malloc and free in kernels, new and delete, a block of memory that outlives its kernel, and the
// null pointer when the heap is used up (cudaLimitMallocHeapSize).
#include <vector>

#include "check.h"

struct Node {
  Node* next;
  int value;
};

__global__ void build_list(int* out, int n) {
  Node* head = nullptr;
  for (int i = 0; i < n; ++i) {
    Node* node = static_cast<Node*>(malloc(sizeof(Node)));
    if (!node) {
      out[threadIdx.x] = -1;
      return;
    }
    node->next = head;
    node->value = i * (threadIdx.x + 1);
    head = node;
  }
  int sum = 0;
  while (head) {
    Node* next = head->next;
    sum += head->value;
    free(head);
    head = next;
  }
  out[threadIdx.x] = sum;
}

struct Thing {
  int a, b;
  __device__ Thing(int a, int b) : a(a), b(b) {}
};

__global__ void use_new(int* out) {
  Thing* thing = new Thing(threadIdx.x, 5);
  int* array = new int[threadIdx.x + 1];
  for (int i = 0; i <= threadIdx.x; ++i) array[i] = thing->b;
  int sum = 0;
  for (int i = 0; i <= threadIdx.x; ++i) sum += array[i];
  out[threadIdx.x] = sum + thing->a + (reinterpret_cast<size_t>(array) % 16 ? 1000000 : 0);
  delete thing;
  delete[] array;
}

__device__ int* kept[64];

__global__ void allocate_kept() {
  __shared__ int* block;
  if (threadIdx.x == 0) block = static_cast<int*>(malloc(blockDim.x * sizeof(int)));
  __syncthreads();
  block[threadIdx.x] = blockIdx.x * 1000 + threadIdx.x;
  if (threadIdx.x == 0) kept[blockIdx.x] = block;
}

__global__ void read_kept(int* out) {
  out[blockIdx.x * blockDim.x + threadIdx.x] = kept[blockIdx.x][threadIdx.x];
  __syncthreads();
  if (threadIdx.x == 0) free(kept[blockIdx.x]);
}

__global__ void too_much(int* out) {
  void* p = malloc(size_t(1) << 40);
  out[0] = p == nullptr;
  int count = 0;
  void* chain = nullptr;
  while (count < 100000) {
    void** block = static_cast<void**>(malloc(1 << 16));
    if (!block) break;
    *block = chain;
    chain = block;
    ++count;
  }
  out[1] = count;
  while (chain) {
    void* next = *static_cast<void**>(chain);
    free(chain);
    chain = next;
  }
  void* again = malloc(1 << 16);
  out[2] = again != nullptr;
  free(again);
  free(nullptr);
}

int main() {
  Verdict verdict;
  CHECK(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 16 << 20));
  size_t limit = 0;
  CHECK(cudaDeviceGetLimit(&limit, cudaLimitMallocHeapSize));
  verdict.expect(limit >= (16u << 20), "the limit", static_cast<long long>(limit));
  int* d;
  CHECK(cudaMalloc(&d, 4096 * sizeof(int)));
  std::vector<int> got(4096);
  auto fetch = [&](int n) {
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(got.data(), d, n * sizeof(int), cudaMemcpyDeviceToHost));
  };
  build_list<<<1, 96>>>(d, 20);
  fetch(96);
  for (int i = 0; i < 96; ++i) verdict.equal(got[i], 190 * (i + 1), "list", i);
  use_new<<<1, 64>>>(d);
  fetch(64);
  for (int i = 0; i < 64; ++i) verdict.equal(got[i], 5 * (i + 1) + i, "new", i);
  allocate_kept<<<16, 64>>>();
  read_kept<<<16, 64>>>(d);
  fetch(1024);
  for (int i = 0; i < 1024; ++i) verdict.equal(got[i], i / 64 * 1000 + i % 64, "kept", i);
  too_much<<<1, 1>>>(d);
  fetch(3);
  verdict.equal(got[0], 1, "1 TiB gives null");
  verdict.expect(got[1] >= 100 && got[1] < 4096, "blocks of 64 KiB before null", got[1]);
  verdict.equal(got[2], 1, "memory comes back");
  return verdict.finish();
}
