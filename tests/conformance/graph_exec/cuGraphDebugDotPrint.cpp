#include <unistd.h>

#include <cstdio>

#include "conformance/graph/graphs.h"

namespace limen::conform {

CONFORM(cuGraphDebugDotPrint, writes_a_digraph) {
  Buffer out(4);
  CUgraph graph = new_graph();
  add_kernel(graph, {add_fill(graph, {}, out, 1)}, "add", out, 1);
  const std::string path = "/tmp/limen_conformance_" + std::to_string(getpid()) + ".dot";
  expect_code("prints", cuGraphDebugDotPrint(graph, path.c_str(), CU_GRAPH_DEBUG_DOT_FLAGS_VERBOSE),
              CUDA_SUCCESS);
  std::string text;
  if (FILE* file = std::fopen(path.c_str(), "r")) {
    char part[4096];
    for (size_t got; (got = std::fread(part, 1, sizeof part, file)) > 0;) text.append(part, got);
    std::fclose(file);
    std::remove(path.c_str());
  }
  expect_true("a digraph", text.find("digraph") != std::string::npos);
  expect_true("an edge", text.find("->") != std::string::npos);
}

CONFORM(cuGraphDebugDotPrint, wrong_arguments) {
  CUgraph graph = new_graph();
  expect_code("no path", cuGraphDebugDotPrint(graph, nullptr, 0), CUDA_ERROR_INVALID_VALUE);
  expect_code("no graph", cuGraphDebugDotPrint(nullptr, "/tmp/x.dot", 0), CUDA_ERROR_INVALID_VALUE);
  expect_code("no such folder", cuGraphDebugDotPrint(graph, "/no/such/folder/x.dot", 0),
              CUDA_ERROR_OPERATING_SYSTEM);
}

}  // namespace limen::conform
