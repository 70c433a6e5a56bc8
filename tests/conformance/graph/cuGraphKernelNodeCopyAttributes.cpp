#include "conformance/graph/graphs.h"

namespace limen::conform {

CONFORM(cuGraphKernelNodeCopyAttributes, all_of_them) {
  Buffer out(4);
  CUgraph graph = new_graph();
  CUgraphNode from = add_kernel(graph, {}, "store", out, 1),
              to = add_kernel(graph, {}, "store", out, 1);
  CUkernelNodeAttrValue value;
  std::memset(&value, 0, sizeof value);
  value.priority = -2;
  REQUIRE(cuGraphKernelNodeSetAttribute(from, CU_LAUNCH_ATTRIBUTE_PRIORITY, &value));
  expect_code("copies", cuGraphKernelNodeCopyAttributes(to, from), CUDA_SUCCESS);
  value.priority = 0;
  REQUIRE(cuGraphKernelNodeGetAttribute(to, CU_LAUNCH_ATTRIBUTE_PRIORITY, &value));
  expect("priority", value.priority, -2);
}

CONFORM(cuGraphKernelNodeCopyAttributes, wrong_arguments) {
  Buffer out(4);
  CUgraph graph = new_graph();
  CUgraphNode kernel = add_kernel(graph, {}, "store", out, 1);
  expect_code("from another type", cuGraphKernelNodeCopyAttributes(kernel, add_empty(graph)),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("to nothing", cuGraphKernelNodeCopyAttributes(nullptr, kernel),
              CUDA_ERROR_INVALID_VALUE);
}

}  // namespace limen::conform
