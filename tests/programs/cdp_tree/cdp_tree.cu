// A tree over points of the plane, built top down: the blocks of a grid split their node's points
// into four quadrants with counters in dynamic shared memory, allocate the children's node records
// with malloc, and launch one grid of four blocks for them. The host walks the tree and checks that
// every leaf holds exactly the points of its square.
#include <algorithm>
#include <vector>

#include "check.h"

constexpr int threads = 128, most_points = 24, most_depth = 9;

struct Node {
  float x, y, size;
  int begin, end;  ///< points of the node
  int depth;
  int first_child;  ///< of four; -1 in a leaf
};

__device__ int node_count;

struct Task {
  Node* nodes;
  int first;  ///< node of block 0
  float2 *points, *other;
};

__global__ void split(Task task) {
  extern __shared__ int counters[];  // 4 counts, 4 places, the first child
  Node& node = task.nodes[task.first + blockIdx.x];
  const int t = threadIdx.x, n = node.end - node.begin;
  if (n <= most_points || node.depth >= most_depth) {
    if (t == 0) node.first_child = -1;
    // Leaves leave their points where the host looks: in the first of the two arrays.
    if (node.depth % 2 != 0)
      for (int i = node.begin + t; i < node.end; i += threads) task.other[i] = task.points[i];
    return;
  }
  if (t < 9) counters[t] = 0;
  __syncthreads();
  const float half = node.size / 2;
  auto quadrant = [&](float2 p) { return (p.x >= node.x + half) + 2 * (p.y >= node.y + half); };
  for (int i = node.begin + t; i < node.end; i += threads)
    atomicAdd(&counters[quadrant(task.points[i])], 1);
  __syncthreads();
  if (t == 0) {
    const int first = atomicAdd(&node_count, 4);
    int at = node.begin;
    for (int q = 0; q < 4; ++q) {
      counters[4 + q] = at;
      Node& child = task.nodes[first + q];
      child = {node.x + (q & 1) * half, node.y + (q >> 1) * half, half, at, at + counters[q],
               node.depth + 1, -2};
      at += counters[q];
    }
    node.first_child = first;
    counters[8] = first;
  }
  __syncthreads();
  for (int i = node.begin + t; i < node.end; i += threads) {
    const float2 p = task.points[i];
    task.other[atomicAdd(&counters[4 + quadrant(p)], 1)] = p;
  }
  __syncthreads();
  if (t == 0) {
    Task* copy = static_cast<Task*>(malloc(sizeof(Task)));
    *copy = {task.nodes, counters[8], task.other, task.points};
    split<<<4, threads, 9 * sizeof(int)>>>(*copy);
    free(copy);
  }
}

int main() {
  Verdict verdict;
  CHECK(cudaDeviceSetLimit(cudaLimitDevRuntimePendingLaunchCount, 8192));
  const int n = 30000, most_nodes = 1 << 15;
  std::vector<float2> points(n);
  Random random(3);
  for (auto& p : points) {
    p.x = random.unit() * random.unit();  // dense at the origin: an uneven tree
    p.y = random.unit();
  }
  float2 *a, *b;
  Node* nodes;
  CHECK(cudaMalloc(&a, n * sizeof(float2)));
  CHECK(cudaMalloc(&b, n * sizeof(float2)));
  CHECK(cudaMalloc(&nodes, most_nodes * sizeof(Node)));
  CHECK(cudaMemcpy(a, points.data(), n * sizeof(float2), cudaMemcpyHostToDevice));
  const Node root = {0, 0, 1, 0, n, 0, -2};
  const int one = 1;
  CHECK(cudaMemcpy(nodes, &root, sizeof root, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpyToSymbol(node_count, &one, sizeof one));
  split<<<1, threads, 9 * sizeof(int)>>>({nodes, 0, a, b});
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
  int count;
  CHECK(cudaMemcpyFromSymbol(&count, node_count, sizeof count));
  std::vector<Node> tree(count);
  CHECK(cudaMemcpy(tree.data(), nodes, count * sizeof(Node), cudaMemcpyDeviceToHost));
  std::vector<float2> sorted(n);
  CHECK(cudaMemcpy(sorted.data(), a, n * sizeof(float2), cudaMemcpyDeviceToHost));

  int leaves = 0, covered = 0, deepest = 0;
  std::vector<int> todo{0};
  while (!todo.empty()) {
    const Node node = tree[todo.back()];
    todo.pop_back();
    deepest = std::max(deepest, node.depth);
    if (node.first_child >= 0) {
      verdict.expect(node.first_child + 4 <= count, "child index", node.first_child);
      for (int q = 0; q < 4; ++q) todo.push_back(node.first_child + q);
      continue;
    }
    verdict.equal(node.first_child, -1, "leaf was visited", leaves);
    verdict.expect(node.end - node.begin <= most_points || node.depth == most_depth, "leaf is small",
                   node.begin);
    ++leaves;
    covered += node.end - node.begin;
    for (int i = node.begin; i < node.end; ++i) {
      const float2 p = sorted[i];
      verdict.expect(p.x >= node.x && p.x < node.x + node.size && p.y >= node.y &&
                         p.y < node.y + node.size,
                     "point in its square", i);
    }
  }
  verdict.equal(covered, n, "points in leaves");
  verdict.expect(count > 1000, "the tree grew", count);
  auto before = [](float2 p, float2 q) { return p.x != q.x ? p.x < q.x : p.y < q.y; };
  std::sort(points.begin(), points.end(), before);
  std::sort(sorted.begin(), sorted.end(), before);
  for (int i = 0; i < n; ++i)
    verdict.expect(points[i].x == sorted[i].x && points[i].y == sorted[i].y, "same points", i);
  std::printf("%d nodes, %d leaves, depth %d\n", count, leaves, deepest);
  return verdict.finish();
}
