#include "conformance/graph/graphs.h"

namespace limen::conform {

CONFORM(cuGraphKernelNodeSetAttribute, is_kept) {
  Buffer out(4);
  CUgraph graph = new_graph();
  CUgraphNode node = add_kernel(graph, {}, "store", out, 6);
  CUkernelNodeAttrValue value, got;
  std::memset(&value, 0, sizeof value);
  value.priority = -1;
  expect_code("sets", cuGraphKernelNodeSetAttribute(node, CU_LAUNCH_ATTRIBUTE_PRIORITY, &value),
              CUDA_SUCCESS);
  REQUIRE(cuGraphKernelNodeGetAttribute(node, CU_LAUNCH_ATTRIBUTE_PRIORITY, &got));
  expect("priority", got.priority, -1);
  value.cooperative = 1;
  expect_code("cooperative",
              cuGraphKernelNodeSetAttribute(node, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &value),
              CUDA_SUCCESS);
  run(graph);
  expect("still runs", read<uint32_t>(out), 6u);
}

CONFORM(cuGraphKernelNodeSetAttribute, nodes_that_kernels_change) {
  Buffer out(4);
  CUgraph graph = new_graph();
  CUgraphNode node = add_kernel(graph, {}, "store", out, 6);
  CUkernelNodeAttrValue value, got;
  std::memset(&value, 0, sizeof value);
  const auto id = CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE;
  expect_code("not yet", cuGraphKernelNodeSetAttribute(node, id, &value), CUDA_SUCCESS);
  value.deviceUpdatableKernelNode.deviceUpdatable = 2;
  expect_code("no such value", cuGraphKernelNodeSetAttribute(node, id, &value),
              CUDA_ERROR_INVALID_VALUE);
  value.deviceUpdatableKernelNode.deviceUpdatable = 1;
  expect_code("sets", cuGraphKernelNodeSetAttribute(node, id, &value), CUDA_SUCCESS);
  REQUIRE(cuGraphKernelNodeGetAttribute(node, id, &got));
  expect("kept", got.deviceUpdatableKernelNode.deviceUpdatable, 1);
  expect_true("a handle", got.deviceUpdatableKernelNode.devNode != nullptr);
  value.deviceUpdatableKernelNode.deviceUpdatable = 0;
  expect_code("no way back", cuGraphKernelNodeSetAttribute(node, id, &value),
              CUDA_ERROR_NOT_SUPPORTED);
  run(graph);
  expect("runs", read<uint32_t>(out), 6u);
}

CONFORM(cuGraphKernelNodeSetAttribute, wrong_arguments) {
  Buffer out(4);
  CUgraph graph = new_graph();
  CUgraphNode node = add_kernel(graph, {}, "store", out, 6);
  CUkernelNodeAttrValue value;
  std::memset(&value, 0, sizeof value);
  expect_code("no such attribute",
              cuGraphKernelNodeSetAttribute(node, static_cast<CUkernelNodeAttrID>(99), &value),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no kernel",
              cuGraphKernelNodeSetAttribute(add_empty(graph), CU_LAUNCH_ATTRIBUTE_PRIORITY, &value),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no value",
              cuGraphKernelNodeSetAttribute(node, CU_LAUNCH_ATTRIBUTE_PRIORITY, nullptr),
              CUDA_ERROR_INVALID_VALUE);
}

}  // namespace limen::conform
