#include "conformance/graph/graphs.h"

namespace limen::conform {

CONFORM(cuGraphKernelNodeGetAttribute, at_first) {
  Buffer out(4);
  CUgraphNode node = add_kernel(new_graph(), {}, "store", out, 6);
  CUkernelNodeAttrValue value;
  std::memset(&value, 0xff, sizeof value);
  expect_code("priority", cuGraphKernelNodeGetAttribute(node, CU_LAUNCH_ATTRIBUTE_PRIORITY, &value),
              CUDA_SUCCESS);
  expect("is 0", value.priority, 0);
  std::memset(&value, 0xff, sizeof value);
  expect_code("cooperative",
              cuGraphKernelNodeGetAttribute(node, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &value),
              CUDA_SUCCESS);
  expect("is not", value.cooperative, 0);
}

CONFORM(cuGraphKernelNodeGetAttribute, wrong_arguments) {
  CUkernelNodeAttrValue value;
  Buffer out(4);
  CUgraphNode node = add_kernel(new_graph(), {}, "store", out, 6);
  expect_code("no such attribute",
              cuGraphKernelNodeGetAttribute(node, static_cast<CUkernelNodeAttrID>(99), &value),
              CUDA_ERROR_INVALID_VALUE);
  expect_code(
      "no kernel",
      cuGraphKernelNodeGetAttribute(add_empty(new_graph()), CU_LAUNCH_ATTRIBUTE_PRIORITY, &value),
      CUDA_ERROR_INVALID_VALUE);
}

}  // namespace limen::conform
