// Stream capture and replay: a pipeline over four streams that fork and join, with kernels, copies,
// fills, host functions and stream-ordered memory, checked against the host at every replay; whole
// updates from a second capture; what may not be done while capturing.
#include <vector>

#include "check.h"

constexpr int n = 1 << 12, streams = 4, rounds = 8;

__global__ void step(uint32_t* v, uint32_t factor, uint32_t add) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  v[i] = v[i] * factor + add;
}

__global__ void gather(uint32_t* out, const uint32_t* parts) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  uint32_t sum = out[i];
  for (int s = 0; s < streams; ++s) sum += parts[s * n + i] * (s + 1);
  out[i] = sum;
}

struct Count {
  int calls = 0;
};
static void CUDART_CB count_call(void* data) { ++static_cast<Count*>(data)->calls; }

struct Pipeline {
  cudaStream_t main, side[streams];
  cudaEvent_t fork, join[streams];
  uint32_t *out, *parts, *input;
};

/// The same work, whether it runs at once or is captured.
static void enqueue(Pipeline& p, uint32_t factor, Count* count) {
  CHECK(cudaMemsetAsync(p.out, 0, n * 4, p.main));
  for (int round = 0; round < rounds; ++round) {
    CHECK(cudaEventRecord(p.fork, p.main));
    for (int s = 0; s < streams; ++s) {
      uint32_t* part = p.parts + s * n;
      CHECK(cudaStreamWaitEvent(p.side[s], p.fork, 0));
      CHECK(cudaMemcpyAsync(part, p.input, n * 4, cudaMemcpyHostToDevice, p.side[s]));
      step<<<n / 128, 128, 0, p.side[s]>>>(part, factor + s, round);
      step<<<n / 256, 256, 0, p.side[s]>>>(part, 3, s);
      CHECK(cudaEventRecord(p.join[s], p.side[s]));
      CHECK(cudaStreamWaitEvent(p.main, p.join[s], 0));
    }
    gather<<<n / 128, 128, 0, p.main>>>(p.out, p.parts);
    if (count) CHECK(cudaLaunchHostFunc(p.main, count_call, count));
  }
}

static uint32_t expected(uint32_t input, uint32_t factor) {
  uint32_t out = 0;
  for (int round = 0; round < rounds; ++round)
    for (int s = 0; s < streams; ++s)
      out += ((input * (factor + s) + round) * 3 + s) * (s + 1);
  return out;
}

static void check_all(Verdict& verdict, const Pipeline& p, uint32_t factor, const char* what) {
  std::vector<uint32_t> got(n);
  CHECK(cudaMemcpy(got.data(), p.out, n * 4, cudaMemcpyDeviceToHost));
  for (int i = 0; i < n; ++i) verdict.equal(got[i], expected(p.input[i], factor), what, i);
}

static cudaGraph_t capture(Pipeline& p, uint32_t factor, Count* count) {
  cudaGraph_t graph;
  CHECK(cudaStreamBeginCapture(p.main, cudaStreamCaptureModeGlobal));
  enqueue(p, factor, count);
  cudaStreamCaptureStatus status;
  CHECK(cudaStreamIsCapturing(p.side[0], &status));
  if (status != cudaStreamCaptureStatusActive) std::printf("the side stream is not captured\n");
  CHECK(cudaStreamEndCapture(p.main, &graph));
  return graph;
}

static void replay(Verdict& verdict, Pipeline& p) {
  Count count;
  cudaGraph_t graph = capture(p, 5, &count);
  size_t nodes = 0;
  CHECK(cudaGraphGetNodes(graph, nullptr, &nodes));
  verdict.equal<size_t>(nodes, 1 + rounds * (streams * 3 + 2), "nodes");
  verdict.equal(count.calls, 0, "host functions while capturing");
  cudaGraphExec_t exec;
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  CHECK(cudaGraphDestroy(graph));
  for (int i = 0; i < 5; ++i) {
    for (int k = 0; k < n; ++k) p.input[k] = k * 7 + i;  // the copies read it at each replay
    CHECK(cudaGraphLaunch(exec, p.main));
    CHECK(cudaStreamSynchronize(p.main));
    check_all(verdict, p, 5, "replay");
  }
  verdict.equal(count.calls, 5 * rounds, "host functions");

  // Another capture of the same shape gives the executable graph new arguments.
  Count others;
  graph = capture(p, 11, &others);
  cudaGraphExecUpdateResultInfo info;
  CHECK(cudaGraphExecUpdate(exec, graph, &info));
  verdict.equal<int>(info.result, cudaGraphExecUpdateSuccess, "update");
  CHECK(cudaGraphLaunch(exec, p.main));
  CHECK(cudaStreamSynchronize(p.main));
  check_all(verdict, p, 11, "updated replay");
  verdict.equal(others.calls, rounds, "the new host functions");
  verdict.equal(count.calls, 5 * rounds, "not the old ones");

  // Back to back, without waiting in between: replays follow each other.
  for (int i = 0; i < 20; ++i) CHECK(cudaGraphLaunch(exec, i % 2 ? p.main : p.side[i % streams]));
  CHECK(cudaDeviceSynchronize());
  check_all(verdict, p, 11, "last of many replays");
  CHECK(cudaGraphDestroy(graph));
  CHECK(cudaGraphExecDestroy(exec));
}

/// Memory that belongs to the graph.
static void allocate_inside(Verdict& verdict, Pipeline& p) {
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  uint32_t *memory, *host;
  CHECK(cudaMallocHost(&host, 4));
  CHECK(cudaStreamBeginCapture(p.main, cudaStreamCaptureModeGlobal));
  CHECK(cudaMallocAsync(&memory, n * 4, p.main));
  CHECK(cudaMemsetAsync(memory, 1, n * 4, p.main));
  step<<<n / 128, 128, 0, p.main>>>(memory, 2, 9);
  CHECK(cudaMemcpyAsync(host, memory + n - 1, 4, cudaMemcpyDeviceToHost, p.main));
  CHECK(cudaFreeAsync(memory, p.main));
  CHECK(cudaStreamEndCapture(p.main, &graph));
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  for (int i = 0; i < 3; ++i) {
    *host = 0;
    CHECK(cudaGraphLaunch(exec, p.main));
    CHECK(cudaStreamSynchronize(p.main));
    verdict.equal(*host, 0x01010101u * 2 + 9, "memory of the graph", i);
  }
  CHECK(cudaGraphExecDestroy(exec));
  CHECK(cudaGraphDestroy(graph));
  CHECK(cudaFreeHost(host));
}

static void wrong_use(Verdict& verdict, Pipeline& p) {
  cudaGraph_t graph = nullptr;
  void* memory;
  CHECK(cudaStreamBeginCapture(p.main, cudaStreamCaptureModeGlobal));
  verdict.equal<int>(cudaMalloc(&memory, 16), cudaErrorStreamCaptureUnsupported, "cudaMalloc");
  verdict.equal<int>(cudaStreamEndCapture(p.main, &graph), cudaErrorStreamCaptureInvalidated, "end");
  verdict.expect(graph == nullptr, "no graph");
  CHECK(cudaStreamBeginCapture(p.main, cudaStreamCaptureModeGlobal));
  CHECK(cudaEventRecord(p.fork, p.main));
  CHECK(cudaStreamWaitEvent(p.side[0], p.fork, 0));
  step<<<1, 32, 0, p.side[0]>>>(p.out, 1, 0);
  verdict.equal<int>(cudaStreamEndCapture(p.main, &graph), cudaErrorStreamCaptureUnjoined, "unjoined");
  cudaGetLastError();
  // All streams are as before.
  for (int s = 0; s < streams; ++s) step<<<1, 32, 0, p.side[s]>>>(p.out, 1, 0);
  CHECK(cudaDeviceSynchronize());
}

int main() {
  Verdict verdict;
  Pipeline p;
  CHECK(cudaStreamCreateWithFlags(&p.main, cudaStreamNonBlocking));
  CHECK(cudaEventCreateWithFlags(&p.fork, cudaEventDisableTiming));
  for (int s = 0; s < streams; ++s) {
    CHECK(cudaStreamCreateWithFlags(&p.side[s], cudaStreamNonBlocking));
    CHECK(cudaEventCreateWithFlags(&p.join[s], cudaEventDisableTiming));
  }
  CHECK(cudaMalloc(&p.out, n * 4));
  CHECK(cudaMalloc(&p.parts, n * 4 * streams));
  CHECK(cudaMallocHost(&p.input, n * 4));
  for (int k = 0; k < n; ++k) p.input[k] = k;
  enqueue(p, 2, nullptr);
  CHECK(cudaDeviceSynchronize());
  check_all(verdict, p, 2, "without a graph");
  replay(verdict, p);
  allocate_inside(verdict, p);
  wrong_use(verdict, p);
  return verdict.finish();
}
