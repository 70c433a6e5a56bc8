#include "conformance/graph/graphs.h"

namespace limen::conform {

CONFORM(cuGraphEventRecordNodeGetEvent, gives_what_was_set) {
  CUevent event = new_event(), got = nullptr;
  CUgraphNode node = nullptr;
  REQUIRE(cuGraphAddEventRecordNode(&node, new_graph(), nullptr, 0, event));
  expect_code("asks", cuGraphEventRecordNodeGetEvent(node, &got), CUDA_SUCCESS);
  expect_true("the event", got == event);
}

CONFORM(cuGraphEventRecordNodeGetEvent, wrong_arguments) {
  CUgraph graph = new_graph();
  CUevent got = nullptr;
  CUgraphNode node = nullptr;
  REQUIRE(cuGraphAddEventWaitNode(&node, graph, nullptr, 0, new_event()));
  expect_code("another type", cuGraphEventRecordNodeGetEvent(node, &got), CUDA_ERROR_INVALID_VALUE);
  expect_code("no node", cuGraphEventRecordNodeGetEvent(nullptr, &got), CUDA_ERROR_INVALID_VALUE);
}

}  // namespace limen::conform
