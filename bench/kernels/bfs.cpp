// Breadth-first search, level by level, through a random graph of 2^19 nodes with 16 edges each: a
// queue of the level's nodes, a thread a node, atomics that claim a neighbour and a place in the next
// queue. The host reads the length of each queue.
#include "bench.h"

constexpr int nodes = 1 << 19, degree = 16;

struct Graph {
  std::vector<int> begin, edge;
};

/// Degrees from 1 to 31, ends anywhere.
static Graph make_graph() {
  Graph out;
  bench::Random random(31);
  out.begin.push_back(0);
  for (int node = 0; node < nodes; ++node) {
    int edges = 1 + static_cast<int>(random.bits() % (2 * degree - 1));
    for (int i = 0; i < edges; ++i) out.edge.push_back(static_cast<int>(random.bits() % nodes));
    out.begin.push_back(static_cast<int>(out.edge.size()));
  }
  return out;
}

#if defined(PEER_CUDA)

__global__ void start(int* distance, int* queue, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) distance[i] = i == 0 ? 0 : -1;
  if (i == 0) queue[0] = 0;
}

__global__ void visit(int* distance, int* next, int* next_length, const int* queue, int length,
                      const int* begin, const int* edge, int level) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= length) return;
  int node = queue[i];
  for (int k = begin[node]; k < begin[node + 1]; ++k) {
    int other = edge[k];
    if (distance[other] < 0 && atomicCAS(&distance[other], -1, level) == -1)
      next[atomicAdd(next_length, 1)] = other;
  }
}

int main(int argc, char** argv) {
  Graph graph = make_graph();
  int *begin = bench::to_device(graph.begin), *edge = bench::to_device(graph.edge);
  int *distance = bench::on_device<int>(nodes), *next_length = bench::on_device<int>(1);
  int *queue = bench::on_device<int>(nodes), *next = bench::on_device<int>(nodes);
  return bench::measure(
      argc, argv,
      [&] {
        start<<<nodes / 256, 256>>>(distance, queue, nodes);
        for (int level = 1, length = 1; length > 0; ++level) {
          CUDA_OK(cudaMemsetAsync(next_length, 0, sizeof(int)));
          visit<<<(length + 255) / 256, 256>>>(distance, next, next_length, queue, length, begin,
                                               edge, level);
          CUDA_OK(cudaMemcpy(&length, next_length, sizeof(int), cudaMemcpyDeviceToHost));
          std::swap(queue, next);
        }
        bench::finish();
      },
      [&] { return bench::from_device(distance, nodes); });
}

#elif defined(PEER_OPENMP)

int main(int argc, char** argv) {
  Graph graph = make_graph();
  std::vector<int> distances(nodes), one(nodes), two(nodes);
  return bench::measure(
      argc, argv,
      [&] {
        const int *begin = graph.begin.data(), *edge = graph.edge.data();
        int *distance = distances.data(), *queue = one.data(), *next = two.data();
#pragma omp parallel for
        for (int i = 0; i < nodes; ++i) distance[i] = i == 0 ? 0 : -1;
        queue[0] = 0;
        for (int level = 1, length = 1; length > 0; ++level) {
          int next_length = 0;
#pragma omp parallel
          {
            // Places are taken in lots, so that threads seldom meet at the counter.
            int found[256], finds = 0;
            auto flush = [&] {
              int at = __atomic_fetch_add(&next_length, finds, __ATOMIC_RELAXED);
              std::copy(found, found + finds, next + at);
              finds = 0;
            };
#pragma omp for schedule(static)
            for (int i = 0; i < length; ++i) {
              int node = queue[i];
              for (int k = begin[node]; k < begin[node + 1]; ++k) {
                int other = edge[k], unseen = -1;
                if (__atomic_load_n(&distance[other], __ATOMIC_RELAXED) < 0 &&
                    __atomic_compare_exchange_n(&distance[other], &unseen, level, false,
                                                __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
                  found[finds++] = other;
                  if (finds == 256) flush();
                }
              }
            }
            flush();
          }
          length = next_length;
          std::swap(queue, next);
        }
      },
      [&] { return distances; });
}

#else

int main(int argc, char** argv) {
  bench::OpenCl cl(R"(
    kernel void start(global int* distance, global int* queue) {
      int i = get_global_id(0);
      distance[i] = i == 0 ? 0 : -1;
      if (i == 0) queue[0] = 0;
    }
    kernel void visit(global int* distance, global int* next, global int* next_length,
                      global const int* queue, int length, global const int* begin,
                      global const int* edge, int level) {
      int i = get_global_id(0);
      if (i >= length) return;
      int node = queue[i];
      for (int k = begin[node]; k < begin[node + 1]; ++k) {
        int other = edge[k];
        if (distance[other] < 0 && atomic_cmpxchg(&distance[other], -1, level) == -1)
          next[atomic_inc(next_length)] = other;
      }
    })");
  Graph graph = make_graph();
  cl_mem begin = cl.to_device(graph.begin), edge = cl.to_device(graph.edge);
  cl_mem distance = cl.on_device<int>(nodes), next_length = cl.on_device<int>(1);
  cl_mem queue = cl.on_device<int>(nodes), next = cl.on_device<int>(nodes);
  cl_kernel start = cl.kernel("start", distance, queue);
  cl_kernel visit = cl.kernel("visit", distance, next, next_length, queue, 0, begin, edge, 0);
  return bench::measure(
      argc, argv,
      [&] {
        cl.set_argument(start, 1, queue);
        cl.launch(start, nodes, 256);
        for (int level = 1, length = 1; length > 0; ++level) {
          cl.clear(next_length, sizeof(int));
          cl.set_argument(visit, 1, next);
          cl.set_argument(visit, 3, queue);
          cl.set_argument(visit, 4, length);
          cl.set_argument(visit, 7, level);
          cl.launch(visit, (length + 255) / 256 * 256, 256);
          length = cl.from_device<int>(next_length, 1)[0];
          std::swap(queue, next);
        }
        cl.finish();
      },
      [&] { return cl.from_device<int>(distance, nodes); });
}

#endif
