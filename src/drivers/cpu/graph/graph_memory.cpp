// The bookkeeping of graphs' memory and the cuDevice*GraphMem* calls. Physical memory goes from
// block to block: a launch takes it from blocks that its stream, or nobody, needs any more. Blocks
// are committed when their node is added, because nodes that use them are checked then; what
// NVIDIA's driver maps at the launch is only counted then. Thread rule: see the header.
#include "drivers/cpu/graph/graph_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <unordered_set>
#include <utility>

#include "abi/cpu_api.h"
#include "drivers/cpu/context.h"
#include "drivers/cpu/graph/graph.h"
#include "drivers/cpu/memory/pool.h"

namespace limen::cpu {

namespace {

/// source: CUDA C++ Programming Guide 13.0, "Checking Memory Footprint": reserved is what the
/// driver holds for graphs, used what at least one graph has mapped. What the program freed itself
/// stays mapped beyond its graph's end, until it is trimmed or a launch needs it: source,
/// cuda.core's test_graph_mem_set_attributes.
struct Counters {
  uint64_t used = 0, used_high = 0;
  uint64_t left = 0;  ///< of `used`: of graphs that are gone
  uint64_t idle = 0;  ///< reserved, of no graph
  uint64_t reserved_high = 0;
  uint64_t reserved() const { return used + idle; }
};

struct Book {
  std::mutex mutex;
  std::map<uint64_t, GraphBlock*> blocks;                      ///< by base, all that are alive
  std::map<uint64_t, std::shared_ptr<GraphMemory>> allocated;  ///< by base
  std::map<Device*, Counters> counters;
};
Book& book() {
  static auto* made = new Book;
  return *made;
}

/// Physical memory comes in pages of this size. source: cuMemGetAllocationGranularity, H200.
constexpr uint64_t page_bytes = 2 << 20;

uint64_t whole_pages(uint64_t bytes) { return (bytes + page_bytes - 1) / page_bytes * page_bytes; }

/// Nothing that was queued touches the block any more, and the program may not either.
bool is_unused(const GraphBlock& block) {
  return !block.allocated && !block.running && block.freed.reached();
}

/// The pages of a block that nothing uses go back to the system; the address stays.
void drop_pages(GraphBlock& block) {
  constexpr uint64_t small_page = 4096;
  const uint64_t begin = (block.base + small_page - 1) / small_page * small_page;
  const uint64_t end = (block.base + block.bytes) / small_page * small_page;
  if (begin < end) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
  block.stale = false;
}

/// Takes physical memory from blocks that have it and do not need it when the stream comes to what
/// is queued next. Returns the bytes still missing.
uint64_t take_from_others(const GraphBlock& taker, uint64_t need, const Stream& stream) {
  for (auto& [base, other] : book().blocks) {
    if (!need) break;
    if (other == &taker || other->device != taker.device || !other->resident || other->allocated)
      continue;
    if (!is_unused(*other) && other->stream.lock().get() != &stream) continue;
    other->resident = false;
    other->stale = true;
    const uint64_t given = whole_pages(other->bytes), taken = std::min(given, need);
    Counters& counters = book().counters[taker.device];
    counters.used -= given;
    counters.idle += given - taken;
    need -= taken;
  }
  return need;
}

void make_resident(GraphBlock& block, Stream& stream) {
  if (!block.resident) {
    Counters& counters = book().counters[block.device];
    const uint64_t bytes = whole_pages(block.bytes);
    const uint64_t reused = std::min(bytes, counters.idle);
    counters.idle -= reused;
    const uint64_t inherited = std::min(bytes - reused, counters.left);
    counters.left -= inherited;
    counters.used -= inherited;
    take_from_others(block, bytes - reused - inherited, stream);
    counters.used += bytes;
    counters.used_high = std::max(counters.used_high, counters.used);
    counters.reserved_high = std::max(counters.reserved_high, counters.reserved());
    block.resident = true;
    block.stale = false;
  }
  block.stream = stream.weak_from_this();
}

/// What other blocks were given is not needed twice.
void drop_stale_pages() {
  for (auto& [base, block] : book().blocks)
    if (block->stale && is_unused(*block)) drop_pages(*block);
}

void set_allocated(const std::shared_ptr<GraphMemory>& memory, bool allocated) {
  if (memory->allocated == allocated) return;
  memory->allocated = memory->block->allocated = allocated;
  if (allocated)
    book().allocated[memory->block->base] = memory;
  else
    book().allocated.erase(memory->block->base);
}

CUresult find_device(CUdevice ordinal, Device** device) {
  *device = driver().device(ordinal);
  return *device ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

/// A block whose uses are all freed before a node with these dependencies runs; the smallest of
/// `bytes` at least. source: CUDA C++ Programming Guide 13.0, "Address Reuse within a Graph".
std::shared_ptr<GraphBlock> find_free_block(const std::vector<GraphEdge>& dependencies,
                                            const Device& device, uint64_t bytes) {
  std::unordered_set<const GraphNode*> before;
  std::vector<const GraphNode*> todo;
  for (const GraphEdge& edge : dependencies) todo.push_back(edge.node);
  std::unordered_set<const GraphMemory*> freed;
  while (!todo.empty()) {
    const GraphNode* node = todo.back();
    todo.pop_back();
    if (!before.insert(node).second) continue;
    if (auto* free = std::get_if<FreeNode>(&node->work)) freed.insert(free->memory.get());
    for (const GraphEdge& edge : node->in) todo.push_back(edge.node);
  }
  std::shared_ptr<GraphBlock> best;
  std::lock_guard lock(book().mutex);
  for (const GraphMemory* memory : freed) {
    const std::shared_ptr<GraphBlock>& block = memory->block;
    if (!memory->freed_inside || block->device != &device || block->bytes < bytes) continue;
    if (best && best->bytes <= block->bytes) continue;
    const bool all_freed = std::all_of(block->uses.begin(), block->uses.end(),
                                       [&](GraphMemory* use) { return freed.count(use) != 0; });
    if (all_freed) best = block;
  }
  return best;
}

std::shared_ptr<GraphBlock> make_block(Context& context, Device& device, uint64_t bytes) {
  auto block = std::make_shared<GraphBlock>();
  block->device = &device;
  block->bytes = bytes;
  block->base = device.memory().allocate(bytes, MemoryKind::graph, context.owner);
  if (!block->base) {
    trim_pools(device);
    block->base = device.memory().allocate(bytes, MemoryKind::graph, context.owner);
  }
  if (!block->base) return nullptr;
  Allocation found;
  if (device.memory().find(block->base, &found)) block->block_id = found.id;
  std::lock_guard lock(book().mutex);
  book().blocks[block->base] = block.get();
  return block;
}

}  // namespace

GraphBlock::~GraphBlock() {
  if (!base) return;
  std::lock_guard lock(book().mutex);
  // Another may have the address by now, when a context took the block with it.
  if (auto found = book().blocks.find(base); found != book().blocks.end() && found->second == this)
    book().blocks.erase(found);
  Allocation found;
  const bool is_there = device->memory().find(base, &found) && found.id == block_id;
  if (resident) {
    Counters& counters = book().counters[device];
    if (is_there && freed_by_call) {
      counters.left += whole_pages(bytes);
    } else {
      counters.used -= whole_pages(bytes);
      counters.idle += whole_pages(bytes);
    }
  }
  if (is_there) device->memory().release(base);
}

GraphMemory::~GraphMemory() {
  std::lock_guard lock(book().mutex);
  std::erase(block->uses, this);
}

CUresult read_alloc(const Graph& graph, const std::vector<GraphEdge>& dependencies,
                    CUDA_MEM_ALLOC_NODE_PARAMS_v2& params, AllocNode* out) {
  const CUmemPoolProps& props = params.poolProps;
  if (!params.bytesize || props.allocType != CU_MEM_ALLOCATION_TYPE_PINNED ||
      props.location.type != CU_MEM_LOCATION_TYPE_DEVICE || props.handleTypes)
    return CUDA_ERROR_INVALID_VALUE;
  Device* device = driver().device(props.location.id);
  if (!device) return CUDA_ERROR_INVALID_VALUE;
  if (params.accessDescCount && !params.accessDescs) return CUDA_ERROR_INVALID_VALUE;
  for (size_t i = 0; i < params.accessDescCount; ++i) {
    const CUmemAccessDesc& access = params.accessDescs[i];
    if (access.location.type != CU_MEM_LOCATION_TYPE_DEVICE || !driver().device(access.location.id))
      return CUDA_ERROR_INVALID_VALUE;
    out->access.push_back(access);
  }
  Context* context;
  if (CUresult result = current(&context)) return result;
  if (&context->device != device) context = device->primary();
  auto memory = std::make_shared<GraphMemory>();
  memory->graph_id = graph.id;
  memory->block = find_free_block(dependencies, *device, params.bytesize);
  if (!memory->block) memory->block = make_block(*context, *device, params.bytesize);
  if (!memory->block) {
    memory->block = std::make_shared<GraphBlock>();  // for the destructor
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  {
    std::lock_guard lock(book().mutex);
    memory->block->uses.push_back(memory.get());
  }
  params.dptr = memory->block->base;
  std::memcpy(&out->params, &params, sizeof out->params);
  out->params.accessDescs = nullptr;
  out->memory = std::move(memory);
  return CUDA_SUCCESS;
}

/// The allocation that a free node would free, in the graph itself or in the graphs inside it. Of
/// several at one address it is the one without a free node.
static std::shared_ptr<GraphMemory> find_alloc(const Graph& graph, uint64_t base) {
  std::shared_ptr<GraphMemory> any;
  for (const GraphNode* node : graph.nodes) {
    if (auto* alloc = std::get_if<AllocNode>(&node->work);
        alloc && alloc->memory->block->base == base) {
      any = alloc->memory;
      if (!any->freed_inside) return any;
    }
    if (auto* child = std::get_if<ChildNode>(&node->work))
      if (auto found = find_alloc(*child->graph, base)) return found;
  }
  return any;
}

CUresult read_free(const Graph& graph, CUdeviceptr address, FreeNode* out) {
  if (!address) return CUDA_ERROR_INVALID_VALUE;
  out->address = address;
  out->memory = find_alloc(graph, address);
  std::lock_guard lock(book().mutex);
  if (out->memory) {
    if (out->memory->freed_inside || out->memory->freed_elsewhere) return CUDA_ERROR_INVALID_VALUE;
    out->memory->freed_inside = true;
    return CUDA_SUCCESS;
  }
  auto found = book().blocks.find(address);
  if (found == book().blocks.end()) return CUDA_ERROR_INVALID_VALUE;
  for (GraphMemory* use : found->second->uses)
    if (!use->freed_inside) out->memory = use->weak_from_this().lock();
  if (!out->memory) return CUDA_ERROR_INVALID_VALUE;
  ++out->memory->freed_elsewhere;
  return CUDA_SUCCESS;
}

void forget_free(const FreeNode& node) {
  std::lock_guard lock(book().mutex);
  if (node.memory->freed_elsewhere)
    --node.memory->freed_elsewhere;
  else
    node.memory->freed_inside = false;
}

CUresult begin_memory_use(const GraphMemoryUse& use, bool auto_free, Stream& stream) {
  if (!use.any()) return CUDA_SUCCESS;
  std::lock_guard lock(book().mutex);
  for (const auto& memory : use.kept)
    if (memory->allocated && !auto_free) return CUDA_ERROR_INVALID_VALUE;
  for (const auto& memory : use.freed)
    if (!memory->allocated) return CUDA_ERROR_INVALID_VALUE;
  const GraphMemoryList* const lists[] = {&use.kept, &use.inside, &use.freed};
  // Counted first: a launch takes nothing from itself.
  for (const GraphMemoryList* list : lists)
    for (const auto& memory : *list) {
      ++memory->block->running;
      memory->block->stream.reset();
    }
  for (const GraphMemoryList* list : lists)
    for (const auto& memory : *list) make_resident(*memory->block, stream);
  for (const auto& memory : use.kept) set_allocated(memory, true);
  for (const auto& memory : use.freed) set_allocated(memory, false);
  for (const GraphMemoryList* list : lists)
    for (const auto& memory : *list) memory->block->freed_by_call = false;
  drop_stale_pages();
  return CUDA_SUCCESS;
}

void end_memory_use(const GraphMemoryUse& use) {
  if (!use.any()) return;
  std::lock_guard lock(book().mutex);
  for (const GraphMemoryList* list : {&use.kept, &use.inside, &use.freed})
    for (const auto& memory : *list) --memory->block->running;
}

void upload_memory(const GraphMemoryUse& use, Stream& stream) {
  if (!use.any()) return;
  std::lock_guard lock(book().mutex);
  for (const GraphMemoryList* list : {&use.kept, &use.inside})
    for (const auto& memory : *list) make_resident(*memory->block, stream);
}

CUresult free_graph_memory(uint64_t base, Stream* stream) {
  std::shared_ptr<GraphMemory> last;  // outlives the lock, which its destructor takes
  std::lock_guard lock(book().mutex);
  auto found = book().allocated.find(base);
  if (found == book().allocated.end()) return CUDA_ERROR_INVALID_VALUE;
  last = found->second;
  set_allocated(last, false);
  last->block->freed_by_call = true;
  // What is queued before the free may still touch the pages.
  last->block->freed = stream && !stream->idle() ? stream->tail() : StreamPoint{};
  if (stream) last->block->stream = stream->weak_from_this();
  return CUDA_SUCCESS;
}

CUresult cuGraphAddMemAllocNode(CUgraphNode* phGraphNode, CUgraph hGraph,
                                const CUgraphNode* dependencies, size_t numDependencies,
                                CUDA_MEM_ALLOC_NODE_PARAMS* nodeParams) {
  if (!nodeParams) return CUDA_ERROR_INVALID_VALUE;
  CUgraphNodeParams params;
  std::memset(&params, 0, sizeof params);
  params.type = CU_GRAPH_NODE_TYPE_MEM_ALLOC;
  std::memcpy(&params.alloc, nodeParams, sizeof *nodeParams);
  CUresult result = add_node(phGraphNode, hGraph, dependencies, nullptr, numDependencies, params);
  if (result == CUDA_SUCCESS) nodeParams->dptr = params.alloc.dptr;
  return result;
}

CUresult cuGraphMemAllocNodeGetParams(CUgraphNode hNode, CUDA_MEM_ALLOC_NODE_PARAMS* params_out) {
  if (!params_out) return CUDA_ERROR_INVALID_VALUE;
  GraphLock lock;
  GraphNode* node;
  if (CUresult result = resolve_node(hNode, &node)) return result;
  auto* alloc = std::get_if<AllocNode>(&node->work);
  if (!alloc) return CUDA_ERROR_INVALID_VALUE;
  *params_out = alloc->params;
  params_out->accessDescs = alloc->access.empty() ? nullptr : alloc->access.data();
  return CUDA_SUCCESS;
}

CUresult cuGraphAddMemFreeNode(CUgraphNode* phGraphNode, CUgraph hGraph,
                               const CUgraphNode* dependencies, size_t numDependencies,
                               CUdeviceptr dptr) {
  CUgraphNodeParams params;
  std::memset(&params, 0, sizeof params);
  params.type = CU_GRAPH_NODE_TYPE_MEM_FREE;
  params.free.dptr = dptr;
  return add_node(phGraphNode, hGraph, dependencies, nullptr, numDependencies, params);
}

CUresult cuGraphMemFreeNodeGetParams(CUgraphNode hNode, CUdeviceptr* dptr_out) {
  if (!dptr_out) return CUDA_ERROR_INVALID_VALUE;
  GraphLock lock;
  GraphNode* node;
  if (CUresult result = resolve_node(hNode, &node)) return result;
  auto* free = std::get_if<FreeNode>(&node->work);
  if (!free) return CUDA_ERROR_INVALID_VALUE;
  *dptr_out = free->address;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGraphMemTrim(CUdevice dev) {
  Device* device;
  if (CUresult result = find_device(dev, &device)) return result;
  std::lock_guard lock(book().mutex);
  Counters& counters = book().counters[device];
  counters.idle = 0;
  counters.used -= std::exchange(counters.left, 0);
  for (auto& [base, block] : book().blocks) {
    if (block->device != device || !is_unused(*block)) continue;
    if (block->resident || block->stale) drop_pages(*block);
    if (std::exchange(block->resident, false)) counters.used -= whole_pages(block->bytes);
  }
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetGraphMemAttribute(CUdevice dev, CUgraphMem_attribute attr, void* value) {
  Device* device;
  if (CUresult result = find_device(dev, &device)) return result;
  if (!value) return CUDA_ERROR_INVALID_VALUE;
  std::lock_guard lock(book().mutex);
  const Counters& counters = book().counters[device];
  uint64_t bytes;
  switch (attr) {
    case CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT:
      bytes = counters.used;
      break;
    case CU_GRAPH_MEM_ATTR_USED_MEM_HIGH:
      bytes = counters.used_high;
      break;
    case CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT:
      bytes = counters.reserved();
      break;
    case CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH:
      bytes = counters.reserved_high;
      break;
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
  std::memcpy(value, &bytes, sizeof bytes);
  return CUDA_SUCCESS;
}

CUresult cuDeviceSetGraphMemAttribute(CUdevice dev, CUgraphMem_attribute attr, void* value) {
  Device* device;
  if (CUresult result = find_device(dev, &device)) return result;
  if (!value) return CUDA_ERROR_INVALID_VALUE;
  uint64_t bytes;
  std::memcpy(&bytes, value, sizeof bytes);
  if (bytes) return CUDA_ERROR_INVALID_VALUE;
  std::lock_guard lock(book().mutex);
  Counters& counters = book().counters[device];
  switch (attr) {
    case CU_GRAPH_MEM_ATTR_USED_MEM_HIGH:
      counters.used_high = counters.used;
      return CUDA_SUCCESS;
    case CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH:
      counters.reserved_high = counters.reserved();
      return CUDA_SUCCESS;
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}

}  // namespace limen::cpu
