#include "conformance/graph/graphs.h"

namespace limen::conform {

CONFORM(cuGraphEventWaitNodeGetEvent, gives_what_was_set) {
  CUevent event = new_event(), got = nullptr;
  CUgraphNode node = nullptr;
  REQUIRE(cuGraphAddEventWaitNode(&node, new_graph(), nullptr, 0, event));
  expect_code("asks", cuGraphEventWaitNodeGetEvent(node, &got), CUDA_SUCCESS);
  expect_true("the event", got == event);
}

CONFORM(cuGraphEventWaitNodeGetEvent, wrong_arguments) {
  CUgraph graph = new_graph();
  CUevent got = nullptr;
  CUgraphNode node = nullptr;
  REQUIRE(cuGraphAddEventRecordNode(&node, graph, nullptr, 0, new_event()));
  expect_code("another type", cuGraphEventWaitNodeGetEvent(node, &got), CUDA_ERROR_INVALID_VALUE);
  expect_code("no node", cuGraphEventWaitNodeGetEvent(nullptr, &got), CUDA_ERROR_INVALID_VALUE);
}

}  // namespace limen::conform
