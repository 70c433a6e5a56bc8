// The bookkeeping of graphs' memory and the cuDevice*GraphMem* calls. Blocks are committed when
// their node is added, because nodes that use them are checked then; what NVIDIA's driver maps at
// the launch is only counted then. Thread rule: see the header.
#include "drivers/cpu/graph/graph_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>

#include "abi/cpu_api.h"
#include "drivers/cpu/context.h"
#include "drivers/cpu/graph/graph.h"
#include "drivers/cpu/memory/pool.h"

namespace limen::cpu {

namespace {

struct Counters {
  uint64_t used = 0, used_high = 0, reserved = 0, reserved_high = 0;
  uint64_t idle = 0;  ///< reserved, of no block
};

struct Book {
  std::mutex mutex;
  std::map<uint64_t, GraphMemory*> blocks;                     ///< by base, all that are alive
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

void make_resident(GraphMemory& memory) {
  if (memory.resident) return;
  memory.resident = true;
  Counters& counters = book().counters[memory.device];
  const uint64_t need = whole_pages(memory.bytes), reused = std::min(need, counters.idle);
  counters.idle -= reused;
  counters.reserved += need - reused;
  counters.reserved_high = std::max(counters.reserved_high, counters.reserved);
}

void set_allocated(const std::shared_ptr<GraphMemory>& memory, bool allocated) {
  if (memory->allocated == allocated) return;
  memory->allocated = allocated;
  Counters& counters = book().counters[memory->device];
  counters.used += allocated ? memory->bytes : uint64_t{0} - memory->bytes;
  counters.used_high = std::max(counters.used_high, counters.used);
  if (allocated)
    book().allocated[memory->base] = memory;
  else
    book().allocated.erase(memory->base);
}

/// The pages of a block that nothing uses go back to the system; the address stays.
void drop_pages(const GraphMemory& memory) {
  constexpr uint64_t small_page = 4096;
  const uint64_t begin = (memory.base + small_page - 1) / small_page * small_page;
  const uint64_t end = (memory.base + memory.bytes) / small_page * small_page;
  if (begin < end) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
}

CUresult find_device(CUdevice ordinal, Device** device) {
  *device = driver().device(ordinal);
  return *device ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

}  // namespace

GraphMemory::~GraphMemory() {
  std::lock_guard lock(book().mutex);
  book().blocks.erase(base);
  if (resident) book().counters[device].idle += whole_pages(bytes);
  Allocation block;
  if (device->memory().find(base, &block) && block.id == block_id) device->memory().release(base);
}

CUresult read_alloc(const Graph& graph, CUDA_MEM_ALLOC_NODE_PARAMS_v2& params, AllocNode* out) {
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
  memory->device = device;
  memory->bytes = params.bytesize;
  memory->graph_id = graph.id;
  memory->base = device->memory().allocate(params.bytesize, MemoryKind::graph, context->owner);
  if (!memory->base) {
    trim_pools(*device);
    memory->base = device->memory().allocate(params.bytesize, MemoryKind::graph, context->owner);
  }
  if (!memory->base) return CUDA_ERROR_OUT_OF_MEMORY;
  Allocation block;
  if (device->memory().find(memory->base, &block)) memory->block_id = block.id;
  {
    std::lock_guard lock(book().mutex);
    book().blocks[memory->base] = memory.get();
  }
  params.dptr = memory->base;
  std::memcpy(&out->params, &params, sizeof out->params);
  out->params.accessDescs = nullptr;
  out->memory = std::move(memory);
  return CUDA_SUCCESS;
}

/// The allocation nodes that a graph knows, itself or in the graphs around it.
static std::shared_ptr<GraphMemory> find_alloc(const Graph& graph, uint64_t base) {
  for (const GraphNode* node : graph.nodes) {
    if (auto* alloc = std::get_if<AllocNode>(&node->work); alloc && alloc->memory->base == base)
      return alloc->memory;
    if (auto* child = std::get_if<ChildNode>(&node->work))
      if (auto found = find_alloc(*child->graph, base)) return found;
  }
  return nullptr;
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
  if (found == book().blocks.end() || found->second->freed_inside) return CUDA_ERROR_INVALID_VALUE;
  out->memory = found->second->weak_from_this().lock();
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

CUresult begin_memory_use(const GraphMemoryUse& use, bool auto_free) {
  if (!use.any()) return CUDA_SUCCESS;
  std::lock_guard lock(book().mutex);
  for (const auto& memory : use.kept)
    if (memory->allocated && !auto_free) return CUDA_ERROR_INVALID_VALUE;
  for (const auto& memory : use.freed)
    if (!memory->allocated) return CUDA_ERROR_INVALID_VALUE;
  for (const GraphMemoryList* list : {&use.kept, &use.inside, &use.freed}) {
    for (const auto& memory : *list) {
      ++memory->running;
      make_resident(*memory);
    }
  }
  for (const auto& memory : use.kept) set_allocated(memory, true);
  for (const auto& memory : use.freed) set_allocated(memory, false);
  return CUDA_SUCCESS;
}

void end_memory_use(const GraphMemoryUse& use) {
  if (!use.any()) return;
  std::lock_guard lock(book().mutex);
  for (const GraphMemoryList* list : {&use.kept, &use.inside, &use.freed})
    for (const auto& memory : *list) --memory->running;
}

void upload_memory(const GraphMemoryUse& use) {
  if (!use.any()) return;
  std::lock_guard lock(book().mutex);
  for (const GraphMemoryList* list : {&use.kept, &use.inside})
    for (const auto& memory : *list) make_resident(*memory);
}

CUresult free_graph_memory(uint64_t base) {
  std::shared_ptr<GraphMemory> last;  // outlives the lock, which its destructor takes
  std::lock_guard lock(book().mutex);
  auto found = book().allocated.find(base);
  if (found == book().allocated.end()) return CUDA_ERROR_INVALID_VALUE;
  last = found->second;
  set_allocated(last, false);
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
  counters.reserved -= counters.idle;
  counters.idle = 0;
  for (auto& [base, memory] : book().blocks) {
    if (memory->device != device || !memory->resident || memory->allocated || memory->running)
      continue;
    memory->resident = false;
    counters.reserved -= whole_pages(memory->bytes);
    drop_pages(*memory);
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
      bytes = counters.reserved;
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
      counters.reserved_high = counters.reserved;
      return CUDA_SUCCESS;
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}

}  // namespace limen::cpu
