#include "conformance/conform.h"

namespace limen::conform {
namespace {

CUlaunchConfig config_of(CUstream stream, std::vector<CUlaunchAttribute>& attributes,
                         unsigned blocks = 1, unsigned threads = 1) {
  CUlaunchConfig config{};
  config.gridDimX = blocks;
  config.gridDimY = config.gridDimZ = 1;
  config.blockDimX = threads;
  config.blockDimY = config.blockDimZ = 1;
  config.hStream = stream;
  config.attrs = attributes.data();
  config.numAttrs = static_cast<unsigned>(attributes.size());
  return config;
}

CUlaunchAttribute attribute(CUlaunchAttributeID id) {
  CUlaunchAttribute one{};
  one.id = id;
  return one;
}

/// Launches `store` with one attribute; returns the code and checks that the kernel ran or did not.
void try_attribute(const std::string& label, CUlaunchAttribute one, CUresult expected) {
  Buffer word(4);
  write<uint32_t>(word, 1);
  std::vector<CUlaunchAttribute> list{one};
  CUlaunchConfig config = config_of(nullptr, list);
  CUdeviceptr address = word;
  uint32_t value = 42;
  void* params[] = {&address, &value};
  expect_code(label, cuLaunchKernelEx(&config, common_kernel("store"), params, nullptr), expected);
  REQUIRE(cuCtxSynchronize(nullptr));
  expect(label + ": memory", read<uint32_t>(word), expected == CUDA_SUCCESS ? 42u : 1u);
}

constexpr const char* cluster_ptx = R"(
.version 8.0
.target sm_90
.address_size 64
.visible .entry ranks(.param .u64 out) {
  .reg .b64 %a, %o; .reg .b32 %r, %c, %n;
  ld.param.u64 %a, [out];
  mov.u32 %c, %ctaid.x;
  mov.u32 %r, %cluster_ctaid.x;
  mov.u32 %n, %cluster_nctaid.x;
  mul.lo.u32 %n, %n, 100;
  add.u32 %r, %r, %n;
  mul.wide.u32 %o, %c, 4;
  add.u64 %a, %a, %o;
  st.global.u32 [%a], %r;
  ret;
}
)";

}  // namespace

CONFORM(cuLaunchKernelEx, plain_launch) {
  Buffer word(4);
  write<uint32_t>(word, 0);
  std::vector<CUlaunchAttribute> none;
  CUlaunchConfig config = config_of(nullptr, none, 3, 32);
  CUdeviceptr address = word;
  uint32_t one = 1;
  void* params[] = {&address, &one};
  expect_code("launch", cuLaunchKernelEx(&config, common_kernel("add"), params, nullptr),
              CUDA_SUCCESS);
  expect("every thread ran", read<uint32_t>(word), 96u);
}

CONFORM(cuLaunchKernelEx, attributes_without_effect_here) {
  try_attribute("ignore", attribute(CU_LAUNCH_ATTRIBUTE_IGNORE), CUDA_SUCCESS);
  CUlaunchAttribute one = attribute(CU_LAUNCH_ATTRIBUTE_PRIORITY);
  one.value.priority = -1;
  try_attribute("priority", one, CUDA_SUCCESS);
  one = attribute(CU_LAUNCH_ATTRIBUTE_COOPERATIVE);
  one.value.cooperative = 1;
  try_attribute("cooperative", one, CUDA_SUCCESS);
  one = attribute(CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION);
  one.value.programmaticStreamSerializationAllowed = 1;
  try_attribute("programmatic serialisation", one, CUDA_SUCCESS);
  one = attribute(CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN);
  one.value.memSyncDomain = CU_LAUNCH_MEM_SYNC_DOMAIN_REMOTE;
  try_attribute("remote domain", one, CUDA_SUCCESS);
  one = attribute(CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP);
  one.value.memSyncDomainMap = {1, 2};
  try_attribute("domain map", one, CUDA_SUCCESS);
  one = attribute(CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE);
  one.value.clusterSchedulingPolicyPreference = CU_CLUSTER_SCHEDULING_POLICY_SPREAD;
  try_attribute("cluster policy", one, CUDA_SUCCESS);
  one = attribute(CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT);
  one.value.sharedMemCarveout = 50;
  try_attribute("carveout", one, CUDA_SUCCESS);
}

CONFORM(cuLaunchKernelEx, values_that_cannot_be) {
  CUlaunchAttribute one = attribute(CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION);
  try_attribute("cluster of nothing", one, CUDA_SUCCESS);
  one = attribute(CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN);
  one.value.memSyncDomain = static_cast<CUlaunchMemSyncDomain>(9);
  try_attribute("unknown domain", one, CUDA_ERROR_INVALID_VALUE);
  one = attribute(CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE);
  one.value.clusterSchedulingPolicyPreference = static_cast<CUclusterSchedulingPolicy>(7);
  try_attribute("unknown policy", one, CUDA_ERROR_INVALID_VALUE);
  one = attribute(CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT);
  one.value.sharedMemCarveout = 101;
  try_attribute("carveout above 100", one, CUDA_ERROR_INVALID_VALUE);
  one = attribute(CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY);
  one.value.syncPolicy = CU_SYNC_POLICY_SPIN;
  try_attribute("a stream's attribute", one, CUDA_ERROR_INVALID_VALUE);
  one = attribute(CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE);
  one.value.deviceUpdatableKernelNode.deviceUpdatable = 1;
  try_attribute("device updatable outside of a graph", one, CUDA_ERROR_NOT_SUPPORTED);
  try_attribute("unknown attribute", attribute(static_cast<CUlaunchAttributeID>(77)),
                CUDA_ERROR_INVALID_VALUE);
}

CONFORM(cuLaunchKernelEx, clusters) {
  CUfunction kernel = load_kernel(cluster_ptx, "ranks");
  Buffer out(32);
  CUlaunchAttribute one = attribute(CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION);
  one.value.clusterDim = {4, 1, 1};
  std::vector<CUlaunchAttribute> list{one};
  CUlaunchConfig config = config_of(nullptr, list, 8, 32);
  CUdeviceptr address = out;
  void* params[] = {&address};
  expect_code("launch", cuLaunchKernelEx(&config, kernel, params, nullptr), CUDA_SUCCESS);
  expect("first block", read<uint32_t>(out), 400u);
  expect("fourth block", read<uint32_t>(out.at(12)), 403u);
  expect("fifth block", read<uint32_t>(out.at(16)), 400u);
  config.gridDimX = 6;
  expect_code("grid of one and a half clusters", cuLaunchKernelEx(&config, kernel, params, nullptr),
              CUDA_ERROR_INVALID_CLUSTER_SIZE);
  list[0].value.clusterDim = {16, 1, 1};
  config.gridDimX = 16;
  expect_code("more than is portable", cuLaunchKernelEx(&config, kernel, params, nullptr),
              CUDA_ERROR_INVALID_CLUSTER_SIZE);
}

CONFORM(cuLaunchKernelEx, programmatic_event) {
  CUstream stream = nullptr, other = nullptr;
  REQUIRE(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  REQUIRE(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
  CUevent event = nullptr, timed = nullptr;
  REQUIRE(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
  REQUIRE(cuEventCreate(&timed, CU_EVENT_DEFAULT));
  void* memory = nullptr;
  REQUIRE(cuMemHostAlloc(&memory, 4, CU_MEMHOSTALLOC_DEVICEMAP));
  auto* open = static_cast<volatile uint32_t*>(memory);
  *open = 0;
  CUlaunchAttribute one = attribute(CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT);
  one.value.programmaticEvent.event = timed;
  std::vector<CUlaunchAttribute> list{one};
  CUlaunchConfig config = config_of(stream, list);
  void* params[] = {&memory};
  CUfunction spin = common_kernel("spin");
  expect_code("event with timing", cuLaunchKernelEx(&config, spin, params, nullptr),
              CUDA_ERROR_NOT_SUPPORTED);
  list[0].value.programmaticEvent.event = event;
  expect_code("launch", cuLaunchKernelEx(&config, spin, params, nullptr), CUDA_SUCCESS);
  expect_code("not over", cuEventQuery(event), CUDA_ERROR_NOT_READY);
  *open = 1;
  expect_code("over", cuEventSynchronize(event), CUDA_SUCCESS);
}

CONFORM(cuLaunchKernelEx, launch_completion_event) {
  CUstream stream = nullptr;
  REQUIRE(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  CUevent event = nullptr;
  REQUIRE(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
  void* memory = nullptr;
  REQUIRE(cuMemHostAlloc(&memory, 4, CU_MEMHOSTALLOC_DEVICEMAP));
  auto* open = static_cast<volatile uint32_t*>(memory);
  *open = 0;
  CUlaunchAttribute one = attribute(CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT);
  one.value.launchCompletionEvent.event = event;
  std::vector<CUlaunchAttribute> list{one};
  CUlaunchConfig config = config_of(stream, list);
  void* params[] = {&memory};
  expect_code("launch", cuLaunchKernelEx(&config, common_kernel("spin"), params, nullptr),
              CUDA_SUCCESS);
  expect_code("all blocks have begun", cuEventSynchronize(event), CUDA_SUCCESS);
  expect_code("and run", cuStreamQuery(stream), CUDA_ERROR_NOT_READY);
  *open = 1;
  REQUIRE(cuStreamSynchronize(stream));
  list[0].value.launchCompletionEvent.event = nullptr;
  expect_code("no event", cuLaunchKernelEx(&config, common_kernel("spin"), params, nullptr),
              CUDA_ERROR_INVALID_HANDLE);
}

// source: CUDA C++ Programming Guide 13.0, programmatic dependent launch in graphs: which event
// becomes which edge.
CONFORM(cuLaunchKernelEx, events_in_captures) {
  struct Wanted {
    const char* label;
    CUlaunchAttributeID id;
    int at_block_start;
    unsigned char port, type;
  };
  const Wanted all[] = {
      {"programmatic", CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT, 0,
       CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC, CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC},
      {"at block start", CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT, 1,
       CU_GRAPH_KERNEL_NODE_PORT_LAUNCH_ORDER, CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC},
      {"completion", CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT, 0,
       CU_GRAPH_KERNEL_NODE_PORT_LAUNCH_ORDER, CU_GRAPH_DEPENDENCY_TYPE_DEFAULT}};
  CUstream first = nullptr, second = nullptr;
  REQUIRE(cuStreamCreate(&first, CU_STREAM_NON_BLOCKING));
  REQUIRE(cuStreamCreate(&second, CU_STREAM_NON_BLOCKING));
  CUevent event = nullptr, join = nullptr;
  REQUIRE(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
  REQUIRE(cuEventCreate(&join, CU_EVENT_DISABLE_TIMING));
  Buffer word(8);
  for (const Wanted& wanted : all) {
    const std::string label = wanted.label;
    CUlaunchAttribute one = attribute(wanted.id);
    if (wanted.id == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT)
      one.value.programmaticEvent = {event, 0, wanted.at_block_start};
    else
      one.value.launchCompletionEvent = {event, 0};
    std::vector<CUlaunchAttribute> list{one}, none;
    CUdeviceptr a = word, b = word.at(4);
    uint32_t value = 6;
    void *params[] = {&a, &value}, *others[] = {&b, &value};
    CUlaunchConfig config = config_of(first, list), plain = config_of(second, none);
    write<uint32_t>(a, 0);
    write<uint32_t>(b, 0);
    REQUIRE(cuStreamBeginCapture(first, CU_STREAM_CAPTURE_MODE_RELAXED));
    expect_code(label, cuLaunchKernelEx(&config, common_kernel("store"), params, nullptr),
                CUDA_SUCCESS);
    REQUIRE(cuStreamWaitEvent(second, event, 0));
    REQUIRE(cuLaunchKernelEx(&plain, common_kernel("store"), others, nullptr));
    REQUIRE(cuEventRecord(join, second));
    REQUIRE(cuStreamWaitEvent(first, join, 0));
    CUgraph graph = nullptr;
    REQUIRE(cuStreamEndCapture(first, &graph));
    CUgraphNode from = nullptr, to = nullptr;
    CUgraphEdgeData data{};
    size_t count = 1;
    expect_code(label + ": an edge", cuGraphGetEdges(graph, &from, &to, &data, &count),
                CUDA_SUCCESS);
    expect(label + ": port", data.from_port, wanted.port);
    expect(label + ": type", data.type, wanted.type);
    CUgraphExec exec = nullptr;
    REQUIRE(cuGraphInstantiateWithFlags(&exec, graph, 0));
    REQUIRE(cuGraphLaunch(exec, first));
    REQUIRE(cuStreamSynchronize(first));
    expect(label + ": first ran", read<uint32_t>(a), 6u);
    expect(label + ": second ran", read<uint32_t>(b), 6u);
  }
}

CONFORM(cuLaunchKernelEx, wrong_arguments) {
  std::vector<CUlaunchAttribute> none;
  CUlaunchConfig config = config_of(nullptr, none);
  expect_code("no configuration",
              cuLaunchKernelEx(nullptr, common_kernel("trap"), nullptr, nullptr),
              CUDA_ERROR_INVALID_VALUE);
  config.numAttrs = 1;
  config.attrs = nullptr;
  expect_code("attributes without a list",
              cuLaunchKernelEx(&config, common_kernel("trap"), nullptr, nullptr),
              CUDA_ERROR_INVALID_VALUE);
  config.numAttrs = 0;
  config.blockDimX = 0;
  expect_code("no threads", cuLaunchKernelEx(&config, common_kernel("trap"), nullptr, nullptr),
              CUDA_ERROR_INVALID_VALUE);
}

}  // namespace limen::conform
