#include "conformance/graph/graphs.h"

namespace limen::conform {

CONFORM(cuGraphExecGetFlags, those_of_the_instantiation) {
  CUgraphExec exec = nullptr;
  cuuint64_t flags = 99;
  REQUIRE(cuGraphInstantiateWithFlags(&exec, new_graph(),
                                      CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY));
  expect_code("asks", cuGraphExecGetFlags(exec, &flags), CUDA_SUCCESS);
  expect("flags", flags, 0u);
  REQUIRE(cuGraphInstantiateWithFlags(&exec, new_graph(),
                                      CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH));
  REQUIRE(cuGraphExecGetFlags(exec, &flags));
  expect("one that is told", flags, uint64_t{CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH});
}

CONFORM(cuGraphExecGetFlags, wrong_arguments) {
  cuuint64_t flags;
  expect_code("no graph", cuGraphExecGetFlags(nullptr, &flags), CUDA_ERROR_INVALID_VALUE);
  expect_code("no result", cuGraphExecGetFlags(instantiate(new_graph()), nullptr),
              CUDA_ERROR_INVALID_VALUE);
}

}  // namespace limen::conform
