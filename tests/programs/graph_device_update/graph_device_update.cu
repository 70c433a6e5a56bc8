// Kernel nodes that kernels change: parameters, blocks, switched off and on, one by one and by the
// list, from the same graph, another one and a plain launch; what is refused by kernels and host.
// source: CUDA Runtime API 13.0, cudaLaunchAttributeDeviceUpdatableKernelNode.
#include <vector>

#include "sections.h"

__device__ int total, codes[32];

struct Big {
  int words[200];
};

__global__ void add(int value, int times) { atomicAdd(&total, value * times); }
__global__ void add_words(Big big) {
  int sum = 0;
  for (int word : big.words) sum += word;
  atomicAdd(&total, sum);
}

__global__ void set(cudaGraphDeviceNode_t node, int value, int times, int blocks) {
  codes[0] = cudaGraphKernelNodeSetParam(node, 0, value);
  codes[1] = cudaGraphKernelNodeSetParam(node, 4, &times, sizeof times);
  codes[2] = cudaGraphKernelNodeSetGridDim(node, dim3(blocks, 2, 1));
}

__global__ void enable(cudaGraphDeviceNode_t node, bool on) {
  codes[0] = cudaGraphKernelNodeSetEnabled(node, on);
}

__global__ void set_words(cudaGraphDeviceNode_t node, const Big* big) {
  codes[0] = cudaGraphKernelNodeSetParam(node, 0, *big);
}

/// Alternates: the node that follows adds in every other round only.
__global__ void alternate(cudaGraphDeviceNode_t node, int* round) {
  cudaGraphKernelNodeSetEnabled(node, ++*round % 2 == 0);
  cudaGraphKernelNodeSetParam(node, 0, *round);
}

__global__ void apply(cudaGraphDeviceNode_t a, cudaGraphDeviceNode_t b) {
  int value = 7;
  alignas(cudaGraphKernelNodeUpdate) char room[4 * sizeof(cudaGraphKernelNodeUpdate)];
  auto* list = reinterpret_cast<cudaGraphKernelNodeUpdate*>(room);
  list[0].node = a;
  list[0].field = cudaGraphKernelNodeFieldGridDim;
  list[0].updateData.gridDim = dim3(3, 1, 1);
  list[1].node = b;
  list[1].field = cudaGraphKernelNodeFieldParam;
  list[1].updateData.param.pValue = &value;
  list[1].updateData.param.offset = 0;
  list[1].updateData.param.size = 4;
  list[2].node = a;
  list[2].field = cudaGraphKernelNodeFieldEnabled;
  list[2].updateData.isEnabled = 1;
  list[3].node = b;
  list[3].field = cudaGraphKernelNodeFieldInvalid;
  codes[0] = cudaGraphKernelNodeUpdatesApply(list, 3);
  codes[1] = cudaGraphKernelNodeUpdatesApply(list, 0);
  codes[2] = cudaGraphKernelNodeUpdatesApply(list + 3, 1);
}

__global__ void wrong(cudaGraphDeviceNode_t node) {
  const int value = 1;
  codes[0] = cudaGraphKernelNodeSetParam(node, 5, value);       // over the end
  codes[1] = cudaGraphKernelNodeSetParam(node, 1 << 20, value);  // far beyond it
  codes[2] = cudaGraphKernelNodeSetGridDim(node, dim3(0, 1, 1));
  codes[3] = cudaGraphKernelNodeSetGridDim(node, dim3(1, 65536, 1));
  codes[4] = cudaGetLastError();
}

__global__ void made_up(cudaGraphDeviceNode_t none) {
  const int value = 1;
  codes[0] = cudaGraphKernelNodeSetParam(none, 0, value);
  codes[1] = cudaGraphKernelNodeSetEnabled(none, true);
  codes[2] = cudaGetLastError();
}

template <typename... Args>
static cudaKernelNodeParams params_of(void** list, void (*kernel)(Args...), Args*... args) {
  int i = 0;
  ((list[i++] = args), ...);
  cudaKernelNodeParams params{};
  params.func = reinterpret_cast<void*>(kernel);
  params.gridDim = params.blockDim = dim3(1);
  params.kernelParams = list;
  return params;
}

template <typename... Args>
static cudaGraphNode_t add_kernel(cudaGraph_t graph, std::vector<cudaGraphNode_t> after,
                                  void (*kernel)(Args...), Args... args) {
  void* list[8];
  const cudaKernelNodeParams params = params_of(list, kernel, &args...);
  cudaGraphNode_t node;
  CHECK(cudaGraphAddKernelNode(&node, graph, after.data(), after.size(), &params));
  return node;
}

static cudaGraphDeviceNode_t make_updatable(cudaGraphNode_t node) {
  cudaLaunchAttributeValue value{};
  value.deviceUpdatableKernelNode.deviceUpdatable = 1;
  CHECK(cudaGraphKernelNodeSetAttribute(node, cudaLaunchAttributeDeviceUpdatableKernelNode, &value));
  CHECK(cudaGraphKernelNodeGetAttribute(node, cudaLaunchAttributeDeviceUpdatableKernelNode, &value));
  return value.deviceUpdatableKernelNode.devNode;
}

static cudaGraphExec_t instantiate(cudaGraph_t graph) {
  cudaGraphExec_t exec;
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  CHECK(cudaGraphUpload(exec, 0));
  return exec;
}

static int launch(cudaGraphExec_t exec) {
  const int zero = 0;
  CHECK(cudaMemcpyToSymbol(total, &zero, sizeof zero));
  CHECK(cudaGraphLaunch(exec, 0));
  CHECK(cudaDeviceSynchronize());
  int value;
  CHECK(cudaMemcpyFromSymbol(&value, total, sizeof value));
  return value;
}

static void check_codes(Verdict& verdict, std::vector<int> want, const char* what) {
  CHECK(cudaDeviceSynchronize());
  int got[32];
  CHECK(cudaMemcpyFromSymbol(got, codes, sizeof got));
  for (size_t i = 0; i < want.size(); ++i) verdict.equal(got[i], want[i], what, (long long)i);
}

static void by_launches(Verdict& verdict) {
  cudaGraph_t graph;
  CHECK(cudaGraphCreate(&graph, 0));
  cudaGraphNode_t first = add_kernel(graph, {}, add, 1, 1);
  cudaGraphNode_t second = add_kernel(graph, {first}, add, 10, 1);
  cudaGraphDeviceNode_t a = make_updatable(first), b = make_updatable(second);
  verdict.expect(a && b && a != b, "handles");
  cudaGraphExec_t exec = instantiate(graph);
  verdict.equal(launch(exec), 11, "as built");
  set<<<1, 1>>>(a, 5, 2, 4);
  check_codes(verdict, {0, 0, 0}, "setting");
  for (int i = 0; i < 2; ++i) verdict.equal(launch(exec), 5 * 2 * 8 + 10, "changes last");
  enable<<<1, 1>>>(b, false);
  check_codes(verdict, {0}, "switching off");
  verdict.equal(launch(exec), 80, "switched off");
  enable<<<1, 1>>>(b, true);
  enable<<<1, 1>>>(a, false);
  verdict.equal(launch(exec), 10, "switched on, and the other off");
  apply<<<1, 1>>>(a, b);
  check_codes(verdict, {0, 0, 1}, "lists");
  verdict.equal(launch(exec), 5 * 2 * 3 + 7, "a list's changes");
  // The host's change comes back to all of the node.
  int value = 100, times = 1;
  void* list[2];
  cudaKernelNodeParams params = params_of(list, add, &value, &times);
  CHECK(cudaGraphExecKernelNodeSetParams(exec, first, &params));
  CHECK(cudaGraphUpload(exec, 0));
  verdict.equal(launch(exec), 107, "the host's change");
  CHECK(cudaGraphNodeSetEnabled(exec, first, 0));
  CHECK(cudaGraphUpload(exec, 0));
  verdict.equal(launch(exec), 7, "the host's switch");
}

/// What a node refuses, which is no last error.
static void wrong_changes(Verdict& verdict) {
  cudaGraph_t graph;
  CHECK(cudaGraphCreate(&graph, 0));
  cudaGraphDeviceNode_t node = make_updatable(add_kernel(graph, {}, add, 5, 2));
  cudaGraphExec_t exec = instantiate(graph);
  wrong<<<1, 1>>>(node);
  check_codes(verdict, {1, 1, 1, 1, 0}, "wrong changes");
  verdict.equal(launch(exec), 10, "unchanged by them");
}

/// A GPU's kernel reads any handle for one: code 700 on an H200.
static void made_up_handles(Verdict& verdict) {
  if (real_gpu()) return;
  made_up<<<1, 1>>>(reinterpret_cast<cudaGraphDeviceNode_t>(0x1230));
  check_codes(verdict, {1, 1, 0}, "no node");
}

/// From within the graph, and by a capture.
static void within(Verdict& verdict) {
  int* round;
  CHECK(cudaMalloc(&round, sizeof *round));
  CHECK(cudaMemset(round, 0, sizeof *round));
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  cudaGraph_t graph, inner;
  CHECK(cudaGraphCreate(&graph, 0));
  CHECK(cudaStreamBeginCaptureToGraph(stream, graph, nullptr, nullptr, 0,
                                      cudaStreamCaptureModeGlobal));
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeDeviceUpdatableKernelNode;
  attribute.val.deviceUpdatableKernelNode.deviceUpdatable = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = config.blockDim = dim3(1);
  config.stream = stream;
  config.attrs = &attribute;
  config.numAttrs = 1;
  CHECK(cudaLaunchKernelEx(&config, add, 1, 1));
  CHECK(cudaStreamEndCapture(stream, &inner));
  cudaGraphDeviceNode_t handle = attribute.val.deviceUpdatableKernelNode.devNode;
  verdict.expect(handle != nullptr, "a handle by capture");
  cudaGraphNode_t node;
  size_t one = 1;
  CHECK(cudaGraphGetNodes(graph, &node, &one));
  cudaGraphNode_t before = add_kernel(graph, {}, alternate, handle, round);
  CHECK(cudaGraphAddDependencies(graph, &before, &node, nullptr, 1));
  cudaGraphExec_t exec = instantiate(graph);
  for (int i = 1; i <= 6; ++i) verdict.equal(launch(exec), i % 2 ? 0 : i, "every other round", i);
  // Outside of a capture the attribute is wrong.
  config.stream = 0;
  verdict.equal(cudaLaunchKernelEx(&config, add, 1, 1), cudaErrorNotSupported, "plain launch");
  cudaGetLastError();
}

static void large_parameters(Verdict& verdict) {
  Big big{};
  cudaGraph_t graph;
  CHECK(cudaGraphCreate(&graph, 0));
  cudaGraphNode_t node = add_kernel(graph, {}, add_words, big);
  cudaGraphDeviceNode_t handle = make_updatable(node);
  cudaGraphExec_t exec = instantiate(graph);
  int want = 0;
  for (int i = 0; i < 200; ++i) want += big.words[i] = i * i;
  Big* on_device;
  CHECK(cudaMalloc(&on_device, sizeof big));
  CHECK(cudaMemcpy(on_device, &big, sizeof big, cudaMemcpyHostToDevice));
  set_words<<<1, 1>>>(handle, on_device);
  check_codes(verdict, {0}, "800 bytes");
  verdict.equal(launch(exec), want, "their sum");
}

/// What the host is refused.
static void refused(Verdict& verdict) {
  cudaGraph_t graph, clone;
  CHECK(cudaGraphCreate(&graph, 0));
  cudaGraphNode_t node = add_kernel(graph, {}, add, 1, 1);
  cudaGraphNode_t plain = add_kernel(graph, {}, add, 1, 1);
  cudaGraphDeviceNode_t handle = make_updatable(node);
  verdict.expect(make_updatable(node) == handle, "the same handle again");
  cudaLaunchAttributeValue value{};
  verdict.equal(
      cudaGraphKernelNodeSetAttribute(node, cudaLaunchAttributeDeviceUpdatableKernelNode, &value),
      cudaErrorNotSupported, "no way back");
  value.deviceUpdatableKernelNode.deviceUpdatable = 2;
  verdict.equal(
      cudaGraphKernelNodeSetAttribute(plain, cudaLaunchAttributeDeviceUpdatableKernelNode, &value),
      cudaErrorInvalidValue, "neither 0 nor 1");
  verdict.equal(cudaGraphKernelNodeCopyAttributes(plain, node), cudaErrorNotSupported, "copy from");
  verdict.equal(cudaGraphKernelNodeCopyAttributes(node, plain), cudaErrorNotSupported, "copy to");
  verdict.equal(cudaGraphDestroyNode(node), cudaErrorNotSupported, "removing the node");
  verdict.equal(cudaGraphClone(&clone, graph), cudaErrorNotSupported, "clone");
  cudaGraphExec_t exec = instantiate(graph), second = nullptr;
  verdict.equal(cudaGraphInstantiate(&second, graph, 0), cudaErrorNotSupported, "a second one");
  cudaGraphExecUpdateResultInfo info{};
  verdict.equal(cudaGraphExecUpdate(exec, graph, &info), cudaErrorNotSupported, "update");
  CHECK(cudaGraphExecDestroy(exec));
  CHECK(cudaGraphInstantiate(&second, graph, 0));
  verdict.equal(launch(second), 2, "instantiated anew");
  cudaGetLastError();
}

/// Arguments: the sections to run; none is all.
int main(int count, char** names) {
  const Section sections[] = {
      {"by_launches", by_launches},
      {"wrong_changes", wrong_changes},
      {"made_up_handles", made_up_handles},
      {"within", within},
      {"large_parameters", large_parameters},
      {"refused", refused},
  };
  return run_sections(sections, count, names);
}
