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

CONFORM(cuGraphReleaseUserObject, gives_the_reference_back) {
  int ends = 0;
  CUgraph graph = new_graph();
  CUuserObject object = new_object(&ends);
  REQUIRE(cuGraphRetainUserObject(graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE));
  expect_code("releases", cuGraphReleaseUserObject(graph, object, 1), CUDA_SUCCESS);
  expect("ended", ends_after_a_while(&ends, 1), 1);
  expect_code("the graph goes without it", cuGraphDestroy(graph), CUDA_SUCCESS);
}

CONFORM(cuGraphReleaseUserObject, wrong_arguments) {
  int ends = 0;
  CUgraph graph = new_graph();
  CUuserObject object = new_object(&ends);
  expect_code("that it does not have", cuGraphReleaseUserObject(graph, object, 1), CUDA_SUCCESS);
  usleep(20000);
  expect("the program's own stays", __atomic_load_n(&ends, __ATOMIC_SEQ_CST), 1);
  expect_code("none", cuGraphReleaseUserObject(graph, object, 0), CUDA_ERROR_INVALID_VALUE);
}

}  // namespace limen::conform
