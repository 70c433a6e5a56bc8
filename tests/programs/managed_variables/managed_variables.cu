// __managed__ variables and managed allocations shared by host and device, with advice and
// prefetch.
#include "check.h"

struct Item {
  Item* next;
  int value;
};

__managed__ int total = 5;
__managed__ float table[300];
__managed__ Item* head;

__global__ void accumulate(int n) {
  int i = threadIdx.x;
  if (i < n) {
    table[i] = table[i] * 2 + 1;
    atomicAdd(&total, i);
  }
}

__global__ void walk() {
  int sum = 0;
  for (Item* item = head; item; item = item->next) {
    sum += item->value;
    item->value = -item->value;
  }
  total = sum;
}

int main() {
  Verdict verdict;
  verdict.equal(total, 5, "initial value");
  for (int i = 0; i < 300; ++i) table[i] = float(i);
  accumulate<<<1, 320>>>(300);
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
  verdict.equal(total, 5 + 299 * 300 / 2, "total");
  for (int i = 0; i < 300; ++i) verdict.equal(table[i], 2.0f * i + 1, "table", i);
  for (int i = 0; i < 50; ++i) {
    Item* item;
    CHECK(cudaMallocManaged(&item, sizeof(Item)));
    item->value = i;
    item->next = head;
    head = item;
  }
  walk<<<1, 1>>>();
  CHECK(cudaDeviceSynchronize());
  verdict.equal(total, 49 * 50 / 2, "list");
  int expected = 49;
  while (head) {
    verdict.equal(head->value, -expected, "item", expected);
    --expected;
    Item* next = head->next;
    CHECK(cudaFree(head));
    head = next;
  }
  int copy;
  CHECK(cudaMemcpyFromSymbol(&copy, total, sizeof copy));
  verdict.equal(copy, total, "as a symbol");
  void* address;
  CHECK(cudaGetSymbolAddress(&address, table));
  verdict.expect(address == static_cast<void*>(table), "one address for host and device");
  return verdict.finish();
}
