#include <unistd.h>

#include "conformance/graph/graphs.h"

namespace limen::conform {

namespace {
void count_end(void* data) { __atomic_fetch_add(static_cast<int*>(data), 1, __ATOMIC_SEQ_CST); }
/// Destructors run on a thread of the driver's own, some time after the last release.
int ends_after_a_while(int* ends, int awaited) {
  for (int i = 0; i < 2000 && __atomic_load_n(ends, __ATOMIC_SEQ_CST) < awaited; ++i) usleep(1000);
  return __atomic_load_n(ends, __ATOMIC_SEQ_CST);
}
CUuserObject new_object(int* ends, unsigned count = 1) {
  CUuserObject object = nullptr;
  REQUIRE(cuUserObjectCreate(&object, ends, count_end, count, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
  return object;
}
}  // namespace

CONFORM(cuGraphRetainUserObject, lives_as_long_as_graphs_that_use_it) {
  int ends = 0;
  CUgraph graph = new_graph();
  CUuserObject object = new_object(&ends);
  expect_code("moves", cuGraphRetainUserObject(graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE),
              CUDA_SUCCESS);
  CUgraphExec exec = instantiate(graph);
  REQUIRE(cuGraphDestroy(graph));
  usleep(20000);
  expect("the executable graph has one", ends, 0);
  run(exec);
  REQUIRE(cuGraphExecDestroy(exec));
  expect("ended with it", ends_after_a_while(&ends, 1), 1);
}

CONFORM(cuGraphRetainUserObject, a_reference_of_its_own) {
  int ends = 0;
  CUgraph graph = new_graph(), clone = nullptr;
  CUuserObject object = new_object(&ends);
  expect_code("retains", cuGraphRetainUserObject(graph, object, 2, 0), CUDA_SUCCESS);
  REQUIRE(cuGraphClone(&clone, graph));
  REQUIRE(cuUserObjectRelease(object, 1));
  REQUIRE(cuGraphDestroy(graph));
  usleep(20000);
  expect("the clone has some", ends, 0);
  REQUIRE(cuGraphDestroy(clone));
  expect("ended with it", ends_after_a_while(&ends, 1), 1);
}

CONFORM(cuGraphRetainUserObject, wrong_arguments) {
  int ends = 0;
  CUuserObject object = new_object(&ends);
  CUgraph graph = new_graph();
  expect_code("none", cuGraphRetainUserObject(graph, object, 0, 0), CUDA_ERROR_INVALID_VALUE);
  expect_code("flags", cuGraphRetainUserObject(graph, object, 1, 8), CUDA_ERROR_INVALID_VALUE);
  expect_code("no graph", cuGraphRetainUserObject(nullptr, object, 1, 0), CUDA_ERROR_INVALID_VALUE);
}

}  // namespace limen::conform
