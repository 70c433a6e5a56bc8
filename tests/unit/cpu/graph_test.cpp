// Graphs under load, without kernels: random shapes whose nodes check that what they depend on is
// over, launches, updates, captures and destruction from many threads, stale handles. What single
// calls answer is in tests/conformance.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <random>
#include <thread>
#include <vector>

#include "abi/cpu_api.h"

namespace limen::cpu {
namespace {

class Graphs : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    setenv("LIMEN_NOOP_KERNELS", "1", 1);
    setenv("LIMEN_MEMORY", "1G", 1);
    setenv("LIMEN_LOG", "off", 1);
    setenv("LIMEN_THREADS", "4", 1);
    ASSERT_EQ(cuInit(0), CUDA_SUCCESS);
  }
  void SetUp() override { ASSERT_EQ(cuCtxCreate(&context, nullptr, 0, 0), CUDA_SUCCESS); }
  void TearDown() override { EXPECT_EQ(cuCtxDestroy(context), CUDA_SUCCESS); }
  CUcontext context = nullptr;
};

/// A node that knows what must be over before it.
struct Witness {
  std::vector<const Witness*> before;
  std::atomic<int> turns{0};
  std::atomic<int>* wrong = nullptr;

  static void run(void* data) {
    auto* self = static_cast<Witness*>(data);
    const int turn = self->turns.load();
    for (const Witness* one : self->before)
      if (one->turns.load() <= turn) self->wrong->fetch_add(1);
    self->turns.store(turn + 1);
  }
};

struct RandomGraph {
  CUgraph graph = nullptr;
  std::vector<std::unique_ptr<Witness>> witnesses;
  std::atomic<int> wrong{0};

  /// Nodes are host functions, fills of a word each and empty nodes; some pass their dependencies
  /// on only.
  void build(std::mt19937& random, int count, CUdeviceptr memory, CUcontext context) {
    ASSERT_EQ(cuGraphCreate(&graph, 0), CUDA_SUCCESS);
    std::vector<CUgraphNode> nodes;
    std::vector<std::vector<const Witness*>> after;  // by node: the witnesses that are over with it
    for (int i = 0; i < count; ++i) {
      std::vector<CUgraphNode> dependencies;
      std::vector<const Witness*> before;
      const size_t some = nodes.empty() ? 0 : random() % std::min<size_t>(nodes.size(), 4);
      for (size_t k = 0; k < some; ++k) {
        const size_t from = nodes.size() - 1 - random() % std::min<size_t>(nodes.size(), 12);
        if (std::count(dependencies.begin(), dependencies.end(), nodes[from])) continue;
        dependencies.push_back(nodes[from]);
        before.insert(before.end(), after[from].begin(), after[from].end());
      }
      CUgraphNode node = nullptr;
      const unsigned kind = random() % 4;
      if (kind < 2) {
        auto& witness = witnesses.emplace_back(std::make_unique<Witness>());
        witness->before = before;
        witness->wrong = &wrong;
        CUDA_HOST_NODE_PARAMS params = {Witness::run, witness.get()};
        ASSERT_EQ(
            cuGraphAddHostNode(&node, graph, dependencies.data(), dependencies.size(), &params),
            CUDA_SUCCESS);
        before = {witness.get()};
      } else if (kind == 2) {
        CUDA_MEMSET_NODE_PARAMS params = {memory + 4 * i, 0, 1, 4, 1, 1};
        ASSERT_EQ(cuGraphAddMemsetNode(&node, graph, dependencies.data(), dependencies.size(),
                                       &params, context),
                  CUDA_SUCCESS);
      } else {
        ASSERT_EQ(cuGraphAddEmptyNode(&node, graph, dependencies.data(), dependencies.size()),
                  CUDA_SUCCESS);
      }
      nodes.push_back(node);
      after.push_back(before);
    }
  }
};

TEST_F(Graphs, nodes_of_random_graphs_run_after_what_they_depend_on) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  CUdeviceptr memory = 0;
  ASSERT_EQ(cuMemAlloc(&memory, 256), CUDA_SUCCESS);
  for (int round = 0; round < 60; ++round) {
    RandomGraph one;
    one.build(random, 1 + int(random() % 60), memory, context);
    // Half of them as the child of another graph, twice in a row.
    CUgraph whole = one.graph;
    const bool nested = random() % 2;
    if (nested) {
      ASSERT_EQ(cuGraphCreate(&whole, 0), CUDA_SUCCESS);
      CUgraphNode first, second;
      ASSERT_EQ(cuGraphAddChildGraphNode(&first, whole, nullptr, 0, one.graph), CUDA_SUCCESS);
      ASSERT_EQ(cuGraphAddChildGraphNode(&second, whole, &first, 1, one.graph), CUDA_SUCCESS);
    }
    CUgraphExec exec = nullptr;
    ASSERT_EQ(cuGraphInstantiateWithFlags(&exec, whole, 0), CUDA_SUCCESS);
    for (int i = 0; i < 5; ++i) ASSERT_EQ(cuGraphLaunch(exec, nullptr), CUDA_SUCCESS);
    if (random() % 2) {
      ASSERT_EQ(cuGraphExecDestroy(exec), CUDA_SUCCESS);  // while it runs
    }
    ASSERT_EQ(cuCtxSynchronize(nullptr), CUDA_SUCCESS);
    EXPECT_EQ(one.wrong.load(), 0);
    for (auto& witness : one.witnesses) EXPECT_EQ(witness->turns.load(), nested ? 10 : 5);
  }
}

TEST_F(Graphs, threads_build_capture_launch_and_destroy_apart) {
  constexpr int threads = 16, rounds = 40;
  std::atomic<int> calls{0}, failures{0};
  std::vector<std::thread> all;
  for (int t = 0; t < threads; ++t) {
    all.emplace_back([&, t] {
      auto check = [&](CUresult result) { failures += result != CUDA_SUCCESS; };
      check(cuCtxSetCurrent(context));
      CUstream stream, side;
      CUevent fork, join;
      check(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
      check(cuStreamCreate(&side, CU_STREAM_NON_BLOCKING));
      check(cuEventCreate(&fork, CU_EVENT_DISABLE_TIMING));
      check(cuEventCreate(&join, CU_EVENT_DISABLE_TIMING));
      auto count = [](void* data) { ++*static_cast<std::atomic<int>*>(data); };
      for (int round = 0; round < rounds; ++round) {
        CUgraph graph = nullptr;
        check(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
        check(cuLaunchHostFunc(stream, count, &calls));
        check(cuEventRecord(fork, stream));
        check(cuStreamWaitEvent(side, fork, 0));
        check(cuLaunchHostFunc(side, count, &calls));
        check(cuLaunchHostFunc(stream, count, &calls));
        check(cuEventRecord(join, side));
        check(cuStreamWaitEvent(stream, join, 0));
        check(cuStreamEndCapture(stream, &graph));
        CUgraphExec exec = nullptr;
        check(cuGraphInstantiateWithFlags(&exec, graph, 0));
        check(cuGraphLaunch(exec, stream));
        check(cuGraphLaunch(exec, side));
        CUgraphExecUpdateResultInfo info;
        check(cuGraphExecUpdate(exec, graph, &info));
        check(cuGraphLaunch(exec, t % 2 ? stream : side));
        check(cuGraphDestroy(graph));
        check(cuGraphExecDestroy(exec));
      }
      check(cuStreamSynchronize(stream));
      check(cuStreamSynchronize(side));
      check(cuEventDestroy(fork));
      check(cuEventDestroy(join));
      check(cuStreamDestroy(stream));
      check(cuStreamDestroy(side));
    });
  }
  for (std::thread& thread : all) thread.join();
  EXPECT_EQ(failures.load(), 0);
  EXPECT_EQ(calls.load(), threads * rounds * 9);
}

TEST_F(Graphs, one_executable_graph_may_be_launched_by_many_threads) {
  std::atomic<int> running{0}, overlaps{0}, calls{0};
  struct State {
    std::atomic<int>*running, *overlaps, *calls;
  } state{&running, &overlaps, &calls};
  CUDA_HOST_NODE_PARAMS params = {[](void* data) {
                                    auto* seen = static_cast<State*>(data);
                                    if (seen->running->fetch_add(1)) ++*seen->overlaps;
                                    ++*seen->calls;
                                    --*seen->running;
                                  },
                                  &state};
  CUgraph graph = nullptr;
  CUgraphNode node = nullptr;
  CUgraphExec exec = nullptr;
  ASSERT_EQ(cuGraphCreate(&graph, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphAddHostNode(&node, graph, nullptr, 0, &params), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphInstantiateWithFlags(&exec, graph, 0), CUDA_SUCCESS);
  std::atomic<int> failures{0};
  std::vector<std::thread> all;
  for (int t = 0; t < 8; ++t) {
    all.emplace_back([&] {
      failures += cuCtxSetCurrent(context) != CUDA_SUCCESS;
      CUstream stream;
      failures += cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING) != CUDA_SUCCESS;
      for (int i = 0; i < 100; ++i) {
        failures += cuGraphLaunch(exec, stream) != CUDA_SUCCESS;
        if (i % 10 == 0)
          failures += cuGraphExecHostNodeSetParams(exec, node, &params) != CUDA_SUCCESS;
      }
      failures += cuStreamSynchronize(stream) != CUDA_SUCCESS;
    });
  }
  for (std::thread& thread : all) thread.join();
  EXPECT_EQ(failures.load(), 0);
  EXPECT_EQ(calls.load(), 800);
  EXPECT_EQ(overlaps.load(), 0);
}

TEST_F(Graphs, stale_and_foreign_handles_are_refused) {
  CUgraph graph = nullptr;
  CUgraphNode node = nullptr;
  CUgraphExec exec = nullptr;
  CUuserObject object = nullptr;
  ASSERT_EQ(cuGraphCreate(&graph, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphAddEmptyNode(&node, graph, nullptr, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphInstantiateWithFlags(&exec, graph, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuUserObjectCreate(
                &object, nullptr, [](void*) {}, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC),
            CUDA_SUCCESS);
  ASSERT_EQ(cuGraphDestroy(graph), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphExecDestroy(exec), CUDA_SUCCESS);
  ASSERT_EQ(cuUserObjectRelease(object, 1), CUDA_SUCCESS);
  CUgraphNodeType type;
  EXPECT_EQ(cuGraphDestroy(graph), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuGraphNodeGetType(node, &type), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuGraphLaunch(exec, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuUserObjectRelease(object, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuGraphNodeGetType(reinterpret_cast<CUgraphNode>(context), &type),
            CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Graphs, memory_freed_under_a_graph_is_an_error_of_the_context) {
  CUdeviceptr memory = 0;
  ASSERT_EQ(cuMemAlloc(&memory, 1 << 20), CUDA_SUCCESS);
  CUgraph graph = nullptr;
  CUgraphNode node = nullptr;
  CUgraphExec exec = nullptr;
  CUDA_MEMSET_NODE_PARAMS params = {memory, 0, 1, 4, 1 << 18, 1};
  ASSERT_EQ(cuGraphCreate(&graph, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphAddMemsetNode(&node, graph, nullptr, 0, &params, context), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphInstantiateWithFlags(&exec, graph, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuMemFree(memory), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphLaunch(exec, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxSynchronize(nullptr), CUDA_ERROR_ILLEGAL_ADDRESS);
}

TEST_F(Graphs, a_stream_destroyed_while_capturing_ends_the_capture) {
  CUstream stream = nullptr;
  ASSERT_EQ(cuStreamCreate(&stream, CU_STREAM_DEFAULT), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamDestroy(stream), CUDA_SUCCESS);
  CUdeviceptr memory = 0;
  EXPECT_EQ(cuMemAlloc(&memory, 64), CUDA_SUCCESS);
  EXPECT_EQ(cuMemsetD32Async(memory, 1, 1, nullptr), CUDA_SUCCESS);
}

TEST_F(Graphs, a_context_that_ends_takes_its_graphs_work_with_it) {
  CUcontext other = nullptr;
  ASSERT_EQ(cuCtxCreate(&other, nullptr, 0, 0), CUDA_SUCCESS);
  CUdeviceptr memory = 0;
  ASSERT_EQ(cuMemAlloc(&memory, 64), CUDA_SUCCESS);
  CUgraph graph = nullptr;
  CUgraphNode node = nullptr;
  CUgraphExec exec = nullptr;
  CUDA_MEMSET_NODE_PARAMS params = {memory, 0, 1, 4, 4, 1};
  ASSERT_EQ(cuGraphCreate(&graph, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphAddMemsetNode(&node, graph, nullptr, 0, &params, other), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphInstantiateWithFlags(&exec, graph, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuCtxDestroy(other), CUDA_SUCCESS);
  ASSERT_EQ(cuCtxSetCurrent(context), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphLaunch(exec, nullptr), CUDA_ERROR_CONTEXT_IS_DESTROYED);
  EXPECT_EQ(cuGraphExecDestroy(exec), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphDestroy(graph), CUDA_SUCCESS);
}

}  // namespace
}  // namespace limen::cpu
