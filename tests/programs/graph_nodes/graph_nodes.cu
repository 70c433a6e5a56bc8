// Graphs made node by node through the runtime API: power iteration in a while node whose kernel
// decides when it has converged, an if node, a child graph used twice, single nodes changed and
// switched off in the executable graph, events of a graph, a user object.
#include <atomic>
#include <chrono>
#include <thread>

#include "check.h"

constexpr int n = 64;

__global__ void multiply(float* to, const float* matrix, const float* from) {
  int row = threadIdx.x;
  float sum = 0;
  for (int k = 0; k < n; ++k) sum += matrix[row * n + k] * from[k];
  to[row] = sum;
}

/// Normalises by the largest element, which converges to the eigenvalue; sets the condition.
__global__ void normalise(float* vector, const float* next, float* value, int* turns,
                          cudaGraphConditionalHandle handle) {
  float largest = 0;
  for (int k = 0; k < n; ++k) largest = fmaxf(largest, fabsf(next[k]));
  for (int k = 0; k < n; ++k) vector[k] = next[k] / largest;
  const bool again = fabsf(largest - *value) > 1e-5f * largest && *turns < 1000;
  *value = largest;
  ++*turns;
  cudaGraphSetConditional(handle, again);
}

__global__ void add(int* v, int a) { atomicAdd(v, a); }
__global__ void set_if(cudaGraphConditionalHandle handle, const int* v, int bound) {
  cudaGraphSetConditional(handle, *v > bound);
}

template <typename... Args>
static cudaGraphNode_t add_kernel(cudaGraph_t graph, const cudaGraphNode_t* after, size_t count,
                                  void (*kernel)(Args...), dim3 threads, Args... args) {
  void* list[] = {&args...};
  cudaKernelNodeParams params{};
  params.func = reinterpret_cast<void*>(kernel);
  params.gridDim = dim3(1);
  params.blockDim = threads;
  params.kernelParams = list;
  cudaGraphNode_t node;
  CHECK(cudaGraphAddKernelNode(&node, graph, after, count, &params));
  return node;
}

static void power_iteration(Verdict& verdict) {
  float *matrix, *vector, *next, *value;
  int* turns;
  CHECK(cudaMallocManaged(&matrix, n * n * sizeof(float)));
  CHECK(cudaMallocManaged(&vector, n * sizeof(float)));
  CHECK(cudaMallocManaged(&next, n * sizeof(float)));
  CHECK(cudaMallocManaged(&value, sizeof(float)));
  CHECK(cudaMallocManaged(&turns, sizeof(int)));
  for (int i = 0; i < n; ++i)
    for (int k = 0; k < n; ++k) matrix[i * n + k] = i == k ? 5.0f + i * 0.05f : 1.0f / (1 + abs(i - k));
  cudaGraph_t graph;
  CHECK(cudaGraphCreate(&graph, 0));
  cudaGraphConditionalHandle handle;
  CHECK(cudaGraphConditionalHandleCreate(&handle, graph, 1, cudaGraphCondAssignDefault));
  cudaGraphNodeParams params{};
  params.type = cudaGraphNodeTypeConditional;
  params.conditional.handle = handle;
  params.conditional.type = cudaGraphCondTypeWhile;
  params.conditional.size = 1;
  cudaGraphNode_t loop;
  CHECK(cudaGraphAddNode(&loop, graph, nullptr, nullptr, 0, &params));
  cudaGraph_t body = params.conditional.phGraph_out[0];
  cudaGraphNode_t first = add_kernel(body, nullptr, 0, multiply, dim3(n), next,
                                     static_cast<const float*>(matrix), static_cast<const float*>(vector));
  add_kernel(body, &first, 1, normalise, dim3(1), vector, static_cast<const float*>(next), value, turns,
             handle);
  cudaGraphExec_t exec;
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  float largest = 0;
  for (int round = 0; round < 2; ++round) {
    for (int k = 0; k < n; ++k) vector[k] = 1;
    *value = 0, *turns = 0;
    CHECK(cudaGraphLaunch(exec, 0));
    CHECK(cudaDeviceSynchronize());
    verdict.expect(*turns > 3 && *turns < 1000, "turns of the loop", *turns);
    if (round == 0) largest = *value;
    verdict.near(*value, largest, 1e-6, "the same value each time");
  }
  for (int i = 0; i < n; ++i) {
    double sum = 0;
    for (int k = 0; k < n; ++k) sum += double(matrix[i * n + k]) * vector[k];
    verdict.near(sum, double(largest) * vector[i], 1e-2, "eigenvector", i);
  }
  CHECK(cudaGraphExecDestroy(exec));
  CHECK(cudaGraphDestroy(graph));
}

static void children_and_changes(Verdict& verdict) {
  int* v;
  CHECK(cudaMallocManaged(&v, 4 * sizeof(int)));
  cudaGraph_t child, graph;
  CHECK(cudaGraphCreate(&child, 0));
  CHECK(cudaGraphCreate(&graph, 0));
  cudaGraphNode_t inner = add_kernel(child, nullptr, 0, add, dim3(32), v, 1), nodes[3];
  add_kernel(child, &inner, 1, add, dim3(1), v, 100);
  cudaMemsetParams fill{};
  fill.dst = v, fill.elementSize = 4, fill.width = 4, fill.height = 1;
  CHECK(cudaGraphAddMemsetNode(&nodes[0], graph, nullptr, 0, &fill));
  CHECK(cudaGraphAddChildGraphNode(&nodes[1], graph, nodes, 1, child));
  CHECK(cudaGraphAddChildGraphNode(&nodes[2], graph, nodes + 1, 1, child));
  cudaGraphNode_t last = add_kernel(graph, nodes + 2, 1, add, dim3(1), v, 5);
  cudaGraphConditionalHandle handle;
  CHECK(cudaGraphConditionalHandleCreate(&handle, graph, 0, 0));
  const int* seen = v;
  cudaGraphNode_t test = add_kernel(graph, &last, 1, set_if, dim3(1), handle, seen, 200);
  cudaGraphNodeParams params{};
  params.type = cudaGraphNodeTypeConditional;
  params.conditional.handle = handle;
  params.conditional.type = cudaGraphCondTypeIf;
  params.conditional.size = 1;
  cudaGraphNode_t conditional;
  CHECK(cudaGraphAddNode(&conditional, graph, &test, nullptr, 1, &params));
  add_kernel(params.conditional.phGraph_out[0], nullptr, 0, add, dim3(1), v + 1, 1);
  cudaGraphExec_t exec;
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  auto run = [&](int sum, int taken, const char* what) {
    CHECK(cudaGraphLaunch(exec, 0));
    CHECK(cudaDeviceSynchronize());
    verdict.equal(v[0], sum, what);
    verdict.equal(v[1], taken, what);
  };
  run(2 * 132 + 5, 1, "as built");
  // The last kernel takes another argument, in the executable graph only.
  int other = -100;
  void* list[] = {&v, &other};
  cudaKernelNodeParams kernel{};
  kernel.func = reinterpret_cast<void*>(add);
  kernel.gridDim = dim3(1), kernel.blockDim = dim3(1), kernel.kernelParams = list;
  CHECK(cudaGraphExecKernelNodeSetParams(exec, last, &kernel));
  run(2 * 132 - 100, 0, "with another argument");
  CHECK(cudaGraphNodeSetEnabled(exec, last, 0));
  run(2 * 132, 1, "with the node off");
  CHECK(cudaGraphNodeSetEnabled(exec, last, 1));
  run(2 * 132 - 100, 0, "with the node on");
  CHECK(cudaGraphExecDestroy(exec));
  CHECK(cudaGraphDestroy(graph));
  CHECK(cudaGraphDestroy(child));
}

static std::atomic<int> ended{0};
static void CUDART_CB count_end(void*) { ++ended; }

static void events_and_objects(Verdict& verdict) {
  int *v, *copy;
  CHECK(cudaMalloc(&v, sizeof(int)));
  CHECK(cudaMallocHost(&copy, sizeof(int)));
  CHECK(cudaMemset(v, 0, sizeof(int)));
  cudaEvent_t event;
  CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  cudaGraph_t graph;
  CHECK(cudaGraphCreate(&graph, 0));
  cudaGraphNode_t first = add_kernel(graph, nullptr, 0, add, dim3(32), v, 2), record;
  CHECK(cudaGraphAddEventRecordNode(&record, graph, &first, 1, event));
  cudaUserObject_t object;
  CHECK(cudaUserObjectCreate(&object, nullptr, count_end, 1, cudaUserObjectNoDestructorSync));
  CHECK(cudaGraphRetainUserObject(graph, object, 1, cudaGraphUserObjectMove));
  cudaGraphExec_t exec;
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  CHECK(cudaGraphDestroy(graph));
  cudaStream_t one, two;
  CHECK(cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking));
  CHECK(cudaStreamCreateWithFlags(&two, cudaStreamNonBlocking));
  for (int i = 1; i <= 10; ++i) {
    CHECK(cudaGraphLaunch(exec, one));
    CHECK(cudaStreamWaitEvent(two, event, 0));
    CHECK(cudaMemcpyAsync(copy, v, sizeof(int), cudaMemcpyDeviceToHost, two));
    CHECK(cudaStreamSynchronize(two));
    verdict.equal(*copy, 64 * i, "the event of the graph", i);
  }
  verdict.equal(ended.load(), 0, "the object lives with the executable graph");
  CHECK(cudaStreamSynchronize(one));
  CHECK(cudaGraphExecDestroy(exec));
  for (int i = 0; i < 2000 && !ended; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  verdict.equal(ended.load(), 1, "and ends with it");
}

int main() {
  Verdict verdict;
  power_iteration(verdict);
  children_and_changes(verdict);
  events_and_objects(verdict);
  return verdict.finish();
}
