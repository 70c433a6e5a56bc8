// Graphs launched by kernels of graphs: to be forgotten, as siblings, as tails, themselves again;
// their order, the limits on their numbers, what is refused, uploads after changes by the host.
// source: CUDA C++ Programming Guide 13.0, "Device Graph Launch".
#include <vector>

#include "sections.h"

/// What happened, in order: each entry is a mark.
struct Journal {
  int count;
  int marks[4096];
  __device__ void add(int mark) {
    const int at = atomicAdd(&count, 1);
    if (at < 4096) marks[at] = mark;
  }
};

__device__ Journal journal;
__device__ int codes[512];
__device__ int rounds, sum;
__device__ cudaGraphExec_t seen;

__global__ void mark(int value) { journal.add(value); }

/// Takes a while, so that whoever does not wait for it comes first.
__global__ void slow_mark(int value) {
  const long long begin = clock64();
  while (clock64() - begin < 30'000'000) {
  }
  journal.add(value);
}

__device__ volatile int raised;

/// Marks once another kernel has raised the flag: 0 when it does not within seconds.
__global__ void mark_when_raised(int value) {
  const long long begin = clock64();
  while (!raised && clock64() - begin < 10'000'000'000) __nanosleep(1000);
  journal.add(raised ? value : 0);
}

__global__ void raise_and_mark(int value) {
  journal.add(value);
  __threadfence();
  raised = 1;
}

struct Launches {
  int count;
  cudaGraphExec_t graph[4];
  int stream[4];  ///< 1 tail, 2 to be forgotten, 3 sibling
};

__device__ cudaStream_t stream_of(int number) {
  return reinterpret_cast<cudaStream_t>(static_cast<unsigned long long>(number) << 56);
}

__global__ void launch(Launches list, int value, int code) {
  journal.add(value);
  for (int i = 0; i < list.count; ++i)
    codes[code + i] = cudaGraphLaunch(list.graph[i], stream_of(list.stream[i]));
}

__global__ void launch_many(cudaGraphExec_t* graphs, int count, cudaStream_t stream, int code) {
  for (int i = 0; i < count; ++i) codes[code + i] = cudaGraphLaunch(graphs[i], stream);
}

__global__ void again(int most, cudaGraphExec_t worker) {
  seen = cudaGetCurrentGraphExec();
  if (++rounds >= most) return;
  codes[rounds % 64] = cudaGraphLaunch(worker, cudaStreamGraphFireAndForget) |
                       cudaGraphLaunch(cudaGetCurrentGraphExec(), cudaStreamGraphTailLaunch);
}

/// All of these are refused but the first.
__global__ void twice(int code) {
  if (++rounds > 1) return;
  codes[code] = cudaGraphLaunch(cudaGetCurrentGraphExec(), cudaStreamGraphTailLaunch);
  codes[code + 1] = cudaGraphLaunch(cudaGetCurrentGraphExec(), cudaStreamGraphTailLaunch);
  codes[code + 2] = cudaGraphLaunch(cudaGetCurrentGraphExec(), cudaStreamGraphFireAndForget);
}

/// Launches one graph twice, and asks for errors. No kernel of a graph for the device: its
/// cudaGetLastError is dynamic parallelism's.
__global__ void ask_for_errors(cudaGraphExec_t graph, int code) {
  codes[code] = cudaGraphLaunch(graph, cudaStreamGraphTailLaunch);
  codes[code + 1] = cudaGraphLaunch(graph, cudaStreamGraphTailLaunch);
  codes[code + 2] = cudaPeekAtLastError();
  codes[code + 3] = cudaGetLastError();
  codes[code + 4] = cudaGetLastError();
}

__global__ void add(int value) { atomicAdd(&sum, value); }
__global__ void leaf() { atomicAdd(&sum, 1); }
__global__ void dynamic() { leaf<<<1, 1>>>(); }
__global__ void look() { seen = cudaGetCurrentGraphExec(); }

template <typename... Args>
static cudaGraphNode_t add_kernel(cudaGraph_t graph, std::vector<cudaGraphNode_t> after,
                                  void (*kernel)(Args...), Args... args) {
  void* list[] = {&args..., nullptr};
  cudaKernelNodeParams params{};
  params.func = reinterpret_cast<void*>(kernel);
  params.gridDim = dim3(1);
  params.blockDim = dim3(1);
  params.kernelParams = list;
  cudaGraphNode_t node;
  CHECK(cudaGraphAddKernelNode(&node, graph, after.data(), after.size(), &params));
  return node;
}

template <typename... Args>
static cudaGraph_t graph_of(void (*kernel)(Args...), Args... args) {
  cudaGraph_t graph;
  CHECK(cudaGraphCreate(&graph, 0));
  add_kernel(graph, {}, kernel, args...);
  return graph;
}

static cudaGraphExec_t for_device(cudaGraph_t graph, bool upload = true) {
  cudaGraphExec_t exec;
  CHECK(cudaGraphInstantiate(&exec, graph, cudaGraphInstantiateFlagDeviceLaunch));
  if (upload) CHECK(cudaGraphUpload(exec, 0));
  CHECK(cudaDeviceSynchronize());
  return exec;
}

static cudaGraphExec_t for_host(cudaGraph_t graph) {
  cudaGraphExec_t exec;
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  return exec;
}

template <typename T>
static T read(const T& symbol) {
  T value;
  CHECK(cudaMemcpyFromSymbol(&value, symbol, sizeof value));
  return value;
}

static void reset() {
  void* at;
  CHECK(cudaGetSymbolAddress(&at, journal));
  CHECK(cudaMemset(at, 0, sizeof(Journal)));
  CHECK(cudaGetSymbolAddress(&at, codes));
  CHECK(cudaMemset(at, 0xff, sizeof codes));
  const int zero = 0;
  CHECK(cudaMemcpyToSymbol(rounds, &zero, sizeof zero));
  CHECK(cudaMemcpyToSymbol(sum, &zero, sizeof zero));
}

static void run(cudaGraphExec_t exec) {
  CHECK(cudaGraphLaunch(exec, 0));
  mark<<<1, 1>>>(99);  // behind everything that the graph's launch generates
  CHECK(cudaDeviceSynchronize());
}

static void check_marks(Verdict& verdict, std::vector<int> want, const char* what) {
  static Journal got;
  CHECK(cudaMemcpyFromSymbol(&got, journal, sizeof got));
  verdict.equal(got.count, static_cast<int>(want.size()), what);
  for (int i = 0; i < got.count && i < static_cast<int>(want.size()); ++i)
    verdict.equal(got.marks[i], want[i], what, i);
}

static void check_codes(Verdict& verdict, int first, std::vector<int> want, const char* what) {
  static int got[512];
  CHECK(cudaMemcpyFromSymbol(got, codes, sizeof got));
  for (size_t i = 0; i < want.size(); ++i)
    verdict.equal(got[first + i], want[i], what, static_cast<long long>(i));
}

/// A graph that launches the graphs of the list, by the host's launch of a graph for the host.
static void order(Verdict& verdict) {
  cudaGraphExec_t slow = for_device(graph_of(slow_mark, 10));
  cudaGraphExec_t tail_of_tail = for_device(graph_of(mark, 30));
  cudaGraphExec_t tail1 =
      for_device(graph_of(launch, Launches{1, {tail_of_tail}, {1}}, 20, 100));
  cudaGraphExec_t tail2 = for_device(graph_of(mark, 40));
  // Tails wait for the children; a tail's own tail comes before the next one.
  reset();
  run(for_host(graph_of(launch, Launches{3, {tail1, slow, tail2}, {1, 2, 1}}, 1, 0)));
  check_codes(verdict, 0, {0, 0, 0}, "codes of launches");
  check_codes(verdict, 100, {0}, "code of the tail's tail");
  check_marks(verdict, {1, 10, 20, 30, 40, 99}, "children, then tails");
  // The same from a graph for the device, twice, and in a conditional body's place: a child graph.
  cudaGraph_t parent, inner = graph_of(launch, Launches{3, {tail1, slow, tail2}, {1, 2, 1}}, 1, 0);
  CHECK(cudaGraphCreate(&parent, 0));
  cudaGraphNode_t child;
  CHECK(cudaGraphAddChildGraphNode(&child, parent, nullptr, 0, inner));
  add_kernel(parent, {child}, mark, 5);
  cudaGraphExec_t both = for_device(parent, false);
  for (int i = 0; i < 2; ++i) {
    reset();
    run(both);
    check_codes(verdict, 0, {0, 0, 0}, "codes in a graph for the device");
    check_marks(verdict, {1, 5, 10, 20, 30, 40, 99}, "in a graph for the device");
  }
  // A sibling does not hold the launching graph's tails up, but the host's launch.
  reset();
  cudaGraphExec_t waiting = for_device(graph_of(mark_when_raised, 10));
  cudaGraphExec_t raising = for_device(graph_of(raise_and_mark, 40));
  run(for_host(graph_of(launch, Launches{2, {waiting, raising}, {3, 1}}, 1, 0)));
  check_codes(verdict, 0, {0, 0}, "codes of a sibling and a tail");
  check_marks(verdict, {1, 40, 10, 99}, "a sibling is not waited for");
}

static void itself(Verdict& verdict) {
  reset();
  cudaGraphExec_t worker = for_device(graph_of(add, 3));
  cudaGraphExec_t loop = for_device(graph_of(again, 1000, worker), false);
  CHECK(cudaGraphLaunch(loop, 0));  // the first launch by the host uploads
  CHECK(cudaDeviceSynchronize());
  verdict.equal(read(rounds), 1000, "launches of itself");
  verdict.equal(read(sum), 3 * 999, "work of each round");
  verdict.expect(read(seen) == loop, "the current graph");
  check_codes(verdict, 0, std::vector<int>(64, 0), "codes in the loop");
  reset();
  run(for_device(graph_of(twice, 0)));
  check_codes(verdict, 0, {0, 1, 1}, "only one launch of itself");
  verdict.equal(read(rounds), 2, "ran again once");
  // Where there is no graph for the device, there is no current one.
  run(for_host(graph_of(look)));
  verdict.expect(read(seen) == nullptr, "no current graph in a graph for the host");
  run(for_device(graph_of(look), false));
  verdict.expect(read(seen) != nullptr, "a current graph");
  look<<<1, 1>>>();
  CHECK(cudaDeviceSynchronize());
  verdict.expect(read(seen) == nullptr, "no current graph in a launch");
}

static void limits(Verdict& verdict) {
  constexpr int count = 260;
  static cudaGraphExec_t host[count];
  cudaGraph_t graph = graph_of(add, 1);
  for (auto& exec : host) exec = for_device(graph);
  cudaGraphExec_t* graphs;
  CHECK(cudaMalloc(&graphs, sizeof host));
  CHECK(cudaMemcpy(graphs, host, sizeof host, cudaMemcpyHostToDevice));
  reset();
  cudaGraphExec_t children =
      for_host(graph_of(launch_many, graphs, 125, cudaStreamGraphFireAndForget, 0));
  for (int i = 1; i <= 2; ++i) {  // counted anew by each launch
    run(children);
    check_codes(verdict, 119, {0, 1, 1}, "120 children");
    verdict.equal(read(sum), 120 * i, "children that ran");
  }
  reset();
  run(for_host(graph_of(launch_many, graphs, count, cudaStreamGraphTailLaunch, 0)));
  check_codes(verdict, 254, {0, 1, 1}, "255 tails");
  verdict.equal(read(sum), 255, "tails that ran");
}

/// What a GPU's kernel reads unseen: a wrong one faults there (code 700 on an H200).
static void wrong_graphs(Verdict& verdict) {
  if (real_gpu()) return;
  cudaGraphExec_t host = for_host(graph_of(add, 1)), fresh = for_device(graph_of(add, 1), false);
  reset();
  run(for_host(graph_of(launch, Launches{3, {host, fresh, nullptr}, {2, 2, 2}}, 1, 0)));
  check_codes(verdict, 0, {1, 1, 1}, "not for the device; not uploaded; none");
  verdict.equal(read(sum), 0, "nothing ran");
}

static void ordinary_stream(Verdict& verdict) {
  cudaGraphExec_t good = for_device(graph_of(add, 1));
  reset();
  run(for_host(graph_of(launch, Launches{1, {good}, {0}}, 1, 0)));
  check_codes(verdict, 0, {1}, "a stream that is not for graphs");
  verdict.equal(read(sum), 0, "nothing ran");
}

/// Only graphs launch graphs. An H200's kernel ends in the call, with no code.
static void outside(Verdict& verdict) {
  if (real_gpu()) return;
  cudaGraphExec_t good = for_device(graph_of(add, 1));
  reset();
  launch<<<1, 1>>>(Launches{1, {good}, {2}}, 1, 0);
  CHECK(cudaDeviceSynchronize());
  check_codes(verdict, 0, {1}, "launch outside of a graph");
  verdict.equal(read(sum), 0, "nothing ran");
}

static void refused(Verdict& verdict) {
  cudaGraphExec_t good = for_device(graph_of(add, 1));
  // Running already, and to run already.
  cudaGraphExec_t slow = for_device(graph_of(slow_mark, 10));
  reset();
  run(for_host(graph_of(launch, Launches{4, {slow, slow, good, good}, {2, 2, 1, 1}}, 1, 0)));
  check_codes(verdict, 0, {0, 1, 0, 1}, "the same graph twice");
  verdict.equal(read(sum), 1, "ran once");
  reset();
  run(for_host(graph_of(ask_for_errors, good, 0)));
  check_codes(verdict, 0, {0, 1, 0, 0, 0}, "a refused launch is no last error");
  cudaGraphExec_t exec = nullptr;
  verdict.equal(cudaGraphInstantiate(&exec, graph_of(dynamic), cudaGraphInstantiateFlagDeviceLaunch),
                cudaErrorInvalidValue, "dynamic parallelism in a graph for the device");
  verdict.equal(cudaGraphInstantiate(&exec, graph_of(ask_for_errors, good, 0),
                                     cudaGraphInstantiateFlagDeviceLaunch),
                cudaErrorInvalidValue, "its errors in a graph for the device");
  cudaGetLastError();
}

/// The host's changes reach launches by kernels with the next upload.
static void changed(Verdict& verdict) {
  cudaGraph_t graph;
  CHECK(cudaGraphCreate(&graph, 0));
  cudaGraphNode_t node = add_kernel(graph, {}, add, 1);
  cudaGraphExec_t exec = for_device(graph);
  cudaGraphExec_t launcher = for_host(graph_of(launch, Launches{1, {exec}, {2}}, 1, 0));
  reset();
  run(launcher);
  int value = 10;
  void* list[] = {&value};
  cudaKernelNodeParams params{};
  params.func = reinterpret_cast<void*>(add);
  params.gridDim = params.blockDim = dim3(1);
  params.kernelParams = list;
  CHECK(cudaGraphExecKernelNodeSetParams(exec, node, &params));
  run(launcher);
  verdict.equal(read(sum), 2, "before the upload: as it was");
  CHECK(cudaGraphUpload(exec, 0));
  run(launcher);
  verdict.equal(read(sum), 12, "after the upload");
  value = 100;
  CHECK(cudaGraphExecKernelNodeSetParams(exec, node, &params));
  CHECK(cudaGraphLaunch(exec, 0));  // uploads, too
  run(launcher);
  verdict.equal(read(sum), 212, "after a launch by the host");
}

/// Copies and fills in graphs for the device, launched by many threads of a kernel.
__global__ void each_one(cudaGraphExec_t* graphs) {
  codes[threadIdx.x] = cudaGraphLaunch(graphs[threadIdx.x], cudaStreamGraphFireAndForget);
}

static void copies(Verdict& verdict) {
  constexpr int count = 64, bytes = 4096;
  unsigned char *from, *to, *pinned;
  CHECK(cudaMalloc(&from, count * bytes));
  CHECK(cudaMalloc(&to, count * bytes));
  CHECK(cudaMallocHost(&pinned, count * bytes));
  CHECK(cudaMemset(pinned, 0, count * bytes));
  static cudaGraphExec_t host[count];
  for (int i = 0; i < count; ++i) {
    cudaGraph_t graph;
    CHECK(cudaGraphCreate(&graph, 0));
    cudaMemsetParams fill{};
    fill.dst = from + i * bytes;
    fill.value = i;
    fill.elementSize = 1;
    fill.width = bytes;
    fill.height = 1;
    cudaGraphNode_t first, second, third;
    CHECK(cudaGraphAddMemsetNode(&first, graph, nullptr, 0, &fill));
    CHECK(cudaGraphAddMemcpyNode1D(&second, graph, &first, 1, to + i * bytes, from + i * bytes,
                                   bytes, cudaMemcpyDeviceToDevice));
    CHECK(cudaGraphAddMemcpyNode1D(&third, graph, &second, 1, pinned + i * bytes, to + i * bytes,
                                   bytes, cudaMemcpyDeviceToHost));
    host[i] = for_device(graph);
  }
  cudaGraphExec_t* graphs;
  CHECK(cudaMalloc(&graphs, sizeof host));
  CHECK(cudaMemcpy(graphs, host, sizeof host, cudaMemcpyHostToDevice));
  cudaGraph_t graph;
  CHECK(cudaGraphCreate(&graph, 0));
  cudaKernelNodeParams params{};
  void* list[] = {&graphs};
  params.func = reinterpret_cast<void*>(each_one);
  params.gridDim = dim3(1);
  params.blockDim = dim3(count);
  params.kernelParams = list;
  cudaGraphNode_t node;
  CHECK(cudaGraphAddKernelNode(&node, graph, nullptr, 0, &params));
  reset();
  CHECK(cudaGraphLaunch(for_host(graph), 0));
  CHECK(cudaDeviceSynchronize());
  check_codes(verdict, 0, std::vector<int>(count, 0), "launches by all threads");
  for (int i = 0; i < count * bytes; ++i)
    if (!verdict.equal<int>(pinned[i], i / bytes, "copied", i)) break;
  // Memory that the device does not reach.
  static unsigned char pageable[16];
  CHECK(cudaGraphCreate(&graph, 0));
  CHECK(cudaGraphAddMemcpyNode1D(&node, graph, nullptr, 0, pageable, from, 16,
                                 cudaMemcpyDeviceToHost));
  cudaGraphExec_t exec = nullptr;
  verdict.equal(cudaGraphInstantiate(&exec, graph, cudaGraphInstantiateFlagDeviceLaunch),
                cudaErrorInvalidValue, "pageable memory");
  cudaGetLastError();
}

__global__ void fail_in_round(int round, int* nowhere) {
  cudaGraphLaunch(cudaGetCurrentGraphExec(), cudaStreamGraphTailLaunch);
  if (++rounds == round) *nowhere = 1;
}

/// A fault ends a graph that would launch itself for ever. The device is lost with it.
static void fault(Verdict& verdict) {
  reset();
  CHECK(cudaGraphLaunch(for_device(graph_of(fail_in_round, 10, static_cast<int*>(nullptr))), 0));
  verdict.equal(cudaDeviceSynchronize(), cudaErrorIllegalAddress, "the fault is told");
}

/// Arguments: the sections to run; none is all.
int main(int count, char** names) {
  const Section sections[] = {
      {"order", order},
      {"itself", itself},
      {"limits", limits},
      {"refused", refused},
      {"wrong_graphs", wrong_graphs},
      {"ordinary_stream", ordinary_stream},
      {"outside", outside},
      {"changed", changed},
      {"copies", copies},
      {"fault", fault},  // the last
  };
  return run_sections(sections, count, names);
}
