// Memory that graphs allocate: a block with a fixed address from the time its node is added, and
// whether it is allocated, as the order of the program's calls has it. Invariant: a block that is
// allocated lives on when all graphs that know it are gone, until it is freed. Thread rule: any
// thread; one lock, under the GraphLock where both are held.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "abi/cuda_abi.h"

namespace limen::cpu {

class Device;

struct GraphMemory : std::enable_shared_from_this<GraphMemory> {
  ~GraphMemory();

  Device* device = nullptr;
  uint64_t base = 0, bytes = 0;
  uint64_t block_id = 0;  ///< of the allocator's block, which a context that ends takes with it
  uint64_t graph_id = 0;  ///< of the graph with the allocation node

  // Guarded by the lock of graph_memory.cpp.
  bool freed_inside = false;     ///< by a node of the same graph
  uint32_t freed_elsewhere = 0;  ///< nodes of other graphs
  bool allocated = false;        ///< by a launch, and free to be used by anyone
  bool resident = false;         ///< counted as reserved
  uint32_t running = 0;          ///< launches under way
};

using GraphMemoryList = std::vector<std::shared_ptr<GraphMemory>>;

/// What one executable graph does to such memory.
struct GraphMemoryUse {
  GraphMemoryList kept;    ///< allocated here, not freed here
  GraphMemoryList inside;  ///< allocated and freed here
  GraphMemoryList freed;   ///< freed here, allocated elsewhere
  bool any() const { return !kept.empty() || !inside.empty() || !freed.empty(); }
};

/// A launch begins. errors: 1 where memory is still allocated, or is not, that must be.
CUresult begin_memory_use(const GraphMemoryUse& use, bool auto_free);
void end_memory_use(const GraphMemoryUse& use);
/// Makes the memory resident, as a launch would.
void upload_memory(const GraphMemoryUse& use);

/// cuMemFree and cuMemFreeAsync of a graph's block. errors: 1: not allocated, or freed by its
/// graph.
CUresult free_graph_memory(uint64_t base);

}  // namespace limen::cpu
