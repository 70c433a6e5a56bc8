// Memory that graphs allocate. A GraphBlock is a range of addresses, there from the time its first
// node is added; a GraphMemory is one allocation node's use of it. Allocations of one graph that
// never live at the same time share a block. Whether memory is allocated, and which blocks have
// physical memory, is kept in the order of the program's calls. Invariant: a block that is
// allocated lives on when all graphs that know it are gone, until it is freed; at most one use of
// a block is without a free node. Thread rule: any thread; one lock, under the GraphLock where both
// are held. docs/design/graphs.md
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "abi/cuda_abi.h"
#include "drivers/cpu/stream/stream.h"

namespace limen::cpu {

class Device;
struct GraphMemory;

struct GraphBlock {
  ~GraphBlock();

  Device* device = nullptr;
  uint64_t base = 0, bytes = 0;
  uint64_t block_id = 0;  ///< of the allocator's block, which a context that ends takes with it

  // Guarded by the lock of graph_memory.cpp.
  std::vector<GraphMemory*> uses;
  bool resident = false;       ///< has physical memory, as the program is told
  bool stale = false;          ///< another block has it since: the pages go when nothing needs them
  bool allocated = false;      ///< one of its uses is
  uint32_t running = 0;        ///< launches under way
  bool freed_by_call = false;  ///< the latest free was no node's
  StreamPoint freed;           ///< of the latest free in a stream
  std::weak_ptr<Stream> stream;  ///< of its latest launch or free: what follows there may take it
};

struct GraphMemory : std::enable_shared_from_this<GraphMemory> {
  ~GraphMemory();

  std::shared_ptr<GraphBlock> block;
  uint64_t graph_id = 0;  ///< of the graph with the allocation node

  // Guarded by the lock of graph_memory.cpp.
  bool freed_inside = false;     ///< by a node of the same graph
  uint32_t freed_elsewhere = 0;  ///< nodes of other graphs
  bool allocated = false;        ///< by a launch, and free to be used by anyone
};

using GraphMemoryList = std::vector<std::shared_ptr<GraphMemory>>;

/// What one executable graph does to such memory.
struct GraphMemoryUse {
  GraphMemoryList kept;    ///< allocated here, not freed here
  GraphMemoryList inside;  ///< allocated and freed here
  GraphMemoryList freed;   ///< freed here, allocated elsewhere
  bool any() const { return !kept.empty() || !inside.empty() || !freed.empty(); }
};

/// A launch in `stream` begins. errors: 1 where memory is still allocated, or is not, that must be.
CUresult begin_memory_use(const GraphMemoryUse& use, bool auto_free, Stream& stream);
void end_memory_use(const GraphMemoryUse& use);
/// Makes the memory resident, as a launch would.
void upload_memory(const GraphMemoryUse& use, Stream& stream);

/// cuMemFree and, in `stream`, cuMemFreeAsync of a graph's block. errors: 1: not allocated, or
/// freed by its graph.
CUresult free_graph_memory(uint64_t base, Stream* stream);

}  // namespace limen::cpu
