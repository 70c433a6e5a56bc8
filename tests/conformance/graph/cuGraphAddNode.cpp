#include "conformance/gate.h"
#include "conformance/graph/graphs.h"

namespace limen::conform {

CONFORM(cuGraphAddNode, nodes_of_several_types) {
  Buffer out(8);
  CUgraph graph = new_graph();
  CUgraphNodeParams fill = node_params(CU_GRAPH_NODE_TYPE_MEMSET);
  fill.memset = {out.at(), 0, 3, 4, 1, 1, nullptr};
  CUgraphNode first = nullptr, second = nullptr, third = nullptr;
  expect_code("fill", cuGraphAddNode(&first, graph, nullptr, nullptr, 0, &fill), CUDA_SUCCESS);
  CUgraphNodeParams kernel = node_params(CU_GRAPH_NODE_TYPE_KERNEL);
  CUdeviceptr address = out;
  uint32_t value = 4;
  void* list[] = {&address, &value};
  CUDA_KERNEL_NODE_PARAMS plain = kernel_params(common_kernel("add"), list);
  std::memcpy(&kernel.kernel, &plain, sizeof plain);
  expect_code("kernel", cuGraphAddNode(&second, graph, &first, nullptr, 1, &kernel), CUDA_SUCCESS);
  CUgraphNodeParams copy = node_params(CU_GRAPH_NODE_TYPE_MEMCPY);
  copy.memcpy.copyParams = row_copy(out.at(4), out, 4);
  expect_code("copy", cuGraphAddNode(&third, graph, &second, nullptr, 1, &copy), CUDA_SUCCESS);
  run(graph);
  expect("value", read<uint32_t>(out.at(4)), 7u);
}

CONFORM(cuGraphAddNode, programmatic_edges) {
  Buffer out(4);
  CUgraph graph = new_graph();
  CUgraphNode first = add_kernel(graph, {}, "store", out, 1), second = nullptr;
  CUgraphNodeParams kernel = node_params(CU_GRAPH_NODE_TYPE_KERNEL);
  CUdeviceptr address = out;
  uint32_t value = 4;
  void* list[] = {&address, &value};
  CUDA_KERNEL_NODE_PARAMS plain = kernel_params(common_kernel("add"), list);
  std::memcpy(&kernel.kernel, &plain, sizeof plain);
  CUgraphEdgeData data{};
  data.from_port = CU_GRAPH_KERNEL_NODE_PORT_DEFAULT;
  data.type = CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC;
  expect_code("needs a port", cuGraphAddNode(&second, graph, &first, &data, 1, &kernel),
              CUDA_ERROR_INVALID_VALUE);
  data.from_port = CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC;
  expect_code("with one", cuGraphAddNode(&second, graph, &first, &data, 1, &kernel), CUDA_SUCCESS);
  expect("edges", count_edges(graph), 1u);
}

// The second kernel begins while the first still runs: only so does the first end.
CONFORM(cuGraphAddNode, launch_order_edges) {
  HostWord word;
  Buffer out(4);
  CUgraph graph = new_graph();
  CUdeviceptr address = word.at();
  void* list[] = {&address};
  CUDA_KERNEL_NODE_PARAMS spin = kernel_params(common_kernel("spin"), list);
  CUgraphNode first = nullptr, second = nullptr;
  REQUIRE(cuGraphAddKernelNode(&first, graph, nullptr, 0, &spin));
  CUgraphNodeParams kernel = node_params(CU_GRAPH_NODE_TYPE_KERNEL);
  uint32_t value = 4;
  void* opens[] = {&address, &value};
  CUDA_KERNEL_NODE_PARAMS plain = kernel_params(common_kernel("store"), opens);
  std::memcpy(&kernel.kernel, &plain, sizeof plain);
  CUgraphEdgeData data{};
  data.from_port = CU_GRAPH_KERNEL_NODE_PORT_LAUNCH_ORDER;
  expect_code("adds", cuGraphAddNode(&second, graph, &first, &data, 1, &kernel), CUDA_SUCCESS);
  add_fill(graph, {first, second}, out, 9);
  CUgraphExec exec = instantiate(graph);
  for (int i = 0; i < 3; ++i) {
    word.set(0);
    write<uint32_t>(out, 0);
    run(exec);
    expect("opened " + std::to_string(i), word.value(), 4u);
    expect("then both were over " + std::to_string(i), read<uint32_t>(out), 9u);
  }
}

CONFORM(cuGraphAddNode, wrong_arguments) {
  CUgraph graph = new_graph();
  CUgraphNode node = nullptr;
  CUgraphNodeParams params = node_params(CU_GRAPH_NODE_TYPE_EMPTY);
  expect_code("no parameters", cuGraphAddNode(&node, graph, nullptr, nullptr, 0, nullptr),
              CUDA_ERROR_INVALID_VALUE);
  params.reserved0[1] = 1;
  expect_code("reserved", cuGraphAddNode(&node, graph, nullptr, nullptr, 0, &params),
              CUDA_ERROR_INVALID_VALUE);
  params = node_params(static_cast<CUgraphNodeType>(77));
  expect_code("no such type", cuGraphAddNode(&node, graph, nullptr, nullptr, 0, &params),
              CUDA_ERROR_INVALID_VALUE);
}

namespace {

/// A kernel that counts *counter down and says whether to go on.
constexpr const char* loop_ptx = R"(
.version 8.0
.target sm_70
.address_size 64
.extern .func cudaGraphSetConditional(.param .b64 handle, .param .b32 value);
.visible .entry count_down(.param .u64 handle, .param .u64 counter) {
  .reg .b64 %h, %a; .reg .b32 %v;
  ld.param.u64 %h, [handle]; ld.param.u64 %a, [counter];
  ld.global.u32 %v, [%a];
  sub.u32 %v, %v, 1;
  st.global.u32 [%a], %v;
  { .param .b64 p0; .param .b32 p1;
    st.param.b64 [p0], %h; st.param.b32 [p1], %v;
    call.uni cudaGraphSetConditional, (p0, p1); }
  ret;
}
.visible .entry set(.param .u64 handle, .param .u64 value) {
  .reg .b64 %h, %a; .reg .b32 %v;
  ld.param.u64 %h, [handle]; ld.param.u64 %a, [value];
  ld.global.u32 %v, [%a];
  { .param .b64 p0; .param .b32 p1;
    st.param.b64 [p0], %h; st.param.b32 [p1], %v;
    call.uni cudaGraphSetConditional, (p0, p1); }
  ret;
}
)";

CUgraphNode add_setter(CUgraph graph, Nodes after, const char* name,
                       CUgraphConditionalHandle handle, CUdeviceptr address) {
  void* list[] = {&handle, &address};
  CUDA_KERNEL_NODE_PARAMS params = kernel_params(load_kernel(loop_ptx, name), list);
  CUgraphNode node = nullptr;
  REQUIRE(cuGraphAddKernelNode(&node, graph, after.begin(), after.size(), &params));
  return node;
}

CUgraphNode add_conditional(CUgraph graph, Nodes after, CUgraphConditionalHandle handle,
                            CUgraphConditionalNodeType type, unsigned size, CUgraph* bodies) {
  CUgraphNodeParams params = node_params(CU_GRAPH_NODE_TYPE_CONDITIONAL);
  params.conditional.handle = handle;
  params.conditional.type = type;
  params.conditional.size = size;
  params.conditional.ctx = context_now();
  CUgraphNode node = nullptr;
  REQUIRE(cuGraphAddNode(&node, graph, after.begin(), nullptr, after.size(), &params));
  for (unsigned i = 0; i < size; ++i) bodies[i] = params.conditional.phGraph_out[i];
  return node;
}

CUgraphConditionalHandle new_handle(CUgraph graph, unsigned value, unsigned flags) {
  CUgraphConditionalHandle handle = 0;
  REQUIRE(cuGraphConditionalHandleCreate(&handle, graph, context_now(), value, flags));
  return handle;
}

}  // namespace

CONFORM(cuGraphAddNode, a_while_node_runs_until_its_kernel_says_so) {
  Buffer out(12);
  CUgraph graph = new_graph(), body = nullptr;
  CUgraphConditionalHandle handle = new_handle(graph, 1, CU_GRAPH_COND_ASSIGN_DEFAULT);
  CUgraphNode start = add_fill(graph, {add_fill(graph, {}, out, 10)}, out.at(4), 0);
  CUgraphNode loop = add_conditional(graph, {start}, handle, CU_GRAPH_COND_TYPE_WHILE, 1, &body);
  add_setter(body, {add_kernel(body, {}, "add", out.at(4), 3)}, "count_down", handle, out);
  add_copy(graph, {loop}, out.at(8), out.at(4));
  CUgraphExec exec = instantiate(graph);
  for (int i = 0; i < 3; ++i) {
    run(exec);
    expect("sum " + std::to_string(i), read<uint32_t>(out.at(8)), 30u);
  }
}

CONFORM(cuGraphAddNode, an_update_brings_the_handle_of_the_other_graph) {
  Buffer out(8);
  auto build = [&](uint32_t turns, uint32_t step) {
    CUgraph graph = new_graph(), body = nullptr;
    CUgraphConditionalHandle handle = new_handle(graph, 1, CU_GRAPH_COND_ASSIGN_DEFAULT);
    CUgraphNode start = add_fill(graph, {add_fill(graph, {}, out, turns)}, out.at(4), 0);
    add_conditional(graph, {start}, handle, CU_GRAPH_COND_TYPE_WHILE, 1, &body);
    add_setter(body, {add_kernel(body, {}, "add", out.at(4), step)}, "count_down", handle, out);
    return graph;
  };
  CUgraphExec exec = instantiate(build(3, 1));
  run(exec);
  expect("sum", read<uint32_t>(out.at(4)), 3u);
  CUgraph other = build(5, 10);
  CUgraphExecUpdateResultInfo info{};
  expect_code("updates", cuGraphExecUpdate(exec, other, &info), CUDA_SUCCESS);
  REQUIRE(cuGraphDestroy(other));
  run(exec);
  expect("the new sum", read<uint32_t>(out.at(4)), 50u);
}

CONFORM(cuGraphAddNode, an_if_node_with_two_arms) {
  Buffer out(8);
  CUgraph graph = new_graph(), arms[2];
  CUgraphConditionalHandle handle = new_handle(graph, 0, 0);
  CUgraphNode set = add_setter(graph, {}, "set", handle, out.at(4));
  add_conditional(graph, {set}, handle, CU_GRAPH_COND_TYPE_IF, 2, arms);
  add_fill(arms[0], {}, out, 100);
  add_fill(arms[1], {}, out, 200);
  CUgraphExec exec = instantiate(graph);
  for (uint32_t value : {1u, 0u, 5u}) {
    write<uint32_t>(out.at(4), value);
    run(exec);
    expect("with " + std::to_string(value), read<uint32_t>(out), value ? 100u : 200u);
  }
}

CONFORM(cuGraphAddNode, a_switch_node) {
  Buffer out(8);
  CUgraph graph = new_graph(), bodies[3];
  CUgraphConditionalHandle handle = new_handle(graph, 0, 0);
  CUgraphNode set = add_setter(graph, {}, "set", handle, out.at(4));
  add_conditional(graph, {set}, handle, CU_GRAPH_COND_TYPE_SWITCH, 3, bodies);
  for (uint32_t i = 0; i < 3; ++i) add_fill(bodies[i], {}, out, 10 + i);
  CUgraphExec exec = instantiate(graph);
  for (uint32_t value = 0; value < 4; ++value) {
    write<uint32_t>(out, 9);
    write<uint32_t>(out.at(4), value);
    run(exec);
    expect("with " + std::to_string(value), read<uint32_t>(out), value < 3 ? 10 + value : 9u);
  }
}

CONFORM(cuGraphAddNode, a_loop_in_a_loop) {
  Buffer out(12);
  CUgraph graph = new_graph(), outer = nullptr, inner = nullptr;
  CUgraphConditionalHandle rows = new_handle(graph, 1, CU_GRAPH_COND_ASSIGN_DEFAULT);
  CUgraphConditionalHandle columns = new_handle(graph, 1, CU_GRAPH_COND_ASSIGN_DEFAULT);
  CUgraphNode start = add_fill(graph, {add_fill(graph, {}, out, 4)}, out.at(8), 0);
  add_conditional(graph, {start}, rows, CU_GRAPH_COND_TYPE_WHILE, 1, &outer);
  Buffer one(4);
  write<uint32_t>(one, 1);
  CUgraphNode again = add_setter(outer, {add_fill(outer, {}, out.at(4), 5)}, "set", columns, one);
  CUgraphNode loop = add_conditional(outer, {again}, columns, CU_GRAPH_COND_TYPE_WHILE, 1, &inner);
  add_setter(inner, {add_kernel(inner, {}, "add", out.at(8), 1)}, "count_down", columns, out.at(4));
  add_setter(outer, {loop}, "count_down", rows, out);
  run(graph);
  expect("turns", read<uint32_t>(out.at(8)), 20u);
}

CONFORM(cuGraphAddNode, conditional_nodes_are_checked) {
  CUgraph graph = new_graph(), other = new_graph(), body = nullptr;
  CUgraphConditionalHandle handle = new_handle(graph, 1, 0);
  auto add = [&](CUgraph to, CUgraphConditionalHandle of, CUgraphConditionalNodeType type,
                 unsigned size) {
    CUgraphNodeParams params = node_params(CU_GRAPH_NODE_TYPE_CONDITIONAL);
    params.conditional.handle = of;
    params.conditional.type = type;
    params.conditional.size = size;
    params.conditional.ctx = context_now();
    CUgraphNode node = nullptr;
    return cuGraphAddNode(&node, to, nullptr, nullptr, 0, &params);
  };
  expect_code("a handle that is none", add(graph, 12345, CU_GRAPH_COND_TYPE_IF, 1),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("another graph's handle", add(other, handle, CU_GRAPH_COND_TYPE_IF, 1),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("three arms", add(graph, handle, CU_GRAPH_COND_TYPE_IF, 3), CUDA_ERROR_INVALID_VALUE);
  expect_code("two bodies of a loop", add(graph, handle, CU_GRAPH_COND_TYPE_WHILE, 2),
              CUDA_ERROR_INVALID_VALUE);
  add_conditional(graph, {}, handle, CU_GRAPH_COND_TYPE_IF, 1, &body);
  CUDA_HOST_NODE_PARAMS host = {[](void*) {}, nullptr};
  CUgraphNode node = nullptr;
  expect_code("a host node in a body", cuGraphAddHostNode(&node, body, nullptr, 0, &host),
              CUDA_SUCCESS);
  CUgraph clone = nullptr;
  expect_code("clone", cuGraphClone(&clone, graph), CUDA_ERROR_NOT_SUPPORTED);
}

CONFORM(cuGraphAddNode, a_host_node_in_a_body) {
  CUgraph graph = new_graph(), body = nullptr;
  CUgraphConditionalHandle handle = new_handle(graph, 1, CU_GRAPH_COND_ASSIGN_DEFAULT);
  add_conditional(graph, {}, handle, CU_GRAPH_COND_TYPE_IF, 1, &body);
  int calls = 0;
  CUDA_HOST_NODE_PARAMS host = {[](void* count) { ++*static_cast<int*>(count); }, &calls};
  CUgraphNode node = nullptr;
  REQUIRE(cuGraphAddHostNode(&node, body, nullptr, 0, &host));
  CUgraphExec exec = nullptr;
  expect_code("instantiates", cuGraphInstantiateWithFlags(&exec, graph, 0),
              CUDA_ERROR_INVALID_VALUE);
  if (exec) run(exec);
  expect("calls", calls, 0);
}

}  // namespace limen::conform
