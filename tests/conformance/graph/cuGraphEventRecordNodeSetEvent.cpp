#include "conformance/graph/graphs.h"

namespace limen::conform {

CONFORM(cuGraphEventRecordNodeSetEvent, changes_the_event) {
  CUevent one = new_event(), other = new_event(), got = nullptr;
  CUgraphNode node = nullptr;
  REQUIRE(cuGraphAddEventRecordNode(&node, new_graph(), nullptr, 0, one));
  expect_code("sets", cuGraphEventRecordNodeSetEvent(node, other), CUDA_SUCCESS);
  REQUIRE(cuGraphEventRecordNodeGetEvent(node, &got));
  expect_true("the event", got == other);
}

CONFORM(cuGraphEventRecordNodeSetEvent, wrong_arguments) {
  CUgraphNode node = nullptr;
  REQUIRE(cuGraphAddEventRecordNode(&node, new_graph(), nullptr, 0, new_event()));
  expect_code("no event", cuGraphEventRecordNodeSetEvent(node, nullptr), CUDA_ERROR_INVALID_VALUE);
  expect_code("another type", cuGraphEventRecordNodeSetEvent(add_empty(new_graph()), new_event()),
              CUDA_ERROR_INVALID_VALUE);
}

}  // namespace limen::conform
