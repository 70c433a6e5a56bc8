// Pointer classification and the cuPointer* calls. Reads bookkeeping only, never the memory itself.
// Thread rule: see the header.
#include "drivers/cpu/memory/pointer.h"

#include <atomic>
#include <cstring>
#include <mutex>
#include <unordered_map>

#include "abi/cpu_api.h"
#include "drivers/cpu/context.h"
#include "drivers/cpu/memory/pool.h"

namespace limen::cpu {

namespace {

/// Whether a block's copies shall be synchronous, by id, where the program said so: told back only,
/// since copies of this driver are ordered as if all were.
struct SyncBook {
  std::mutex mutex;
  std::unordered_map<uint64_t, bool> blocks;
  std::atomic<bool> used{false};
};
SyncBook& sync_book() {
  static auto* made = new SyncBook;
  return *made;
}

/// Managed memory begins synchronous and can be changed like the rest. source: cuda-python's
/// test_cuda_pointer_attr, which holds on NVIDIA's driver.
bool is_sync(const PointerInfo& info) {
  const bool at_first = info.memory == Memory::managed;
  SyncBook& book = sync_book();
  if (!book.used.load(std::memory_order_acquire)) return at_first;
  std::lock_guard lock(book.mutex);
  auto found = book.blocks.find(info.block.id);
  return found == book.blocks.end() ? at_first : found->second;
}

/// Writes one attribute. `known`: the pointer is one of ours; else zeros stand for "no such
/// memory".
CUresult write_attribute(void* data, CUpointer_attribute attribute, CUdeviceptr ptr, bool known,
                         const PointerInfo& info) {
  auto put = [data](auto value) {
    std::memcpy(data, &value, sizeof value);
    return CUDA_SUCCESS;
  };
  bool on_device = info.memory == Memory::device || info.memory == Memory::managed;
  switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT: {
      Context* owner = known ? context_of_owner(info.block.owner) : nullptr;
      return put(handle_of(owner));
    }
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
      return put(!known ? 0u : unsigned(on_device ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST));
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
      return put(known ? ptr : CUdeviceptr{0});
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
      // Device memory has no host address on NVIDIA's devices, and programs branch on that.
      if (known && info.memory == Memory::device) return CUDA_ERROR_INVALID_VALUE;
      return put(known ? ptr : CUdeviceptr{0});
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
      return put(unsigned(known && is_sync(info)));
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
      return put(known ? info.block.id : uint64_t{0});
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
      return put(unsigned(known && info.memory == Memory::managed));
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL: {
      Context* owner = known ? context_of_owner(info.block.owner) : nullptr;
      int host_device = owner ? owner->device.ordinal() : 0;
      return put(!known ? -2 : info.device >= 0 ? info.device : host_device);
    }
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
      return put(unsigned(known && info.block.kind == MemoryKind::device));
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
      return put(known ? info.block.base : uint64_t{0});
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
      return put(known ? info.block.bytes : uint64_t{0});
    case CU_POINTER_ATTRIBUTE_MAPPED:
      return put(unsigned(known));
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES: {
      MemPool* pool = known && info.block.kind == MemoryKind::pool ? pool_of(ptr) : nullptr;
      unsigned types = pool ? unsigned(pool->props.handleTypes) : info.handle_types;
      return put(uint64_t{types});
    }
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
      return put(0u);
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
      return put(unsigned(!known || !info.readable ? CU_POINTER_ATTRIBUTE_ACCESS_FLAG_NONE
                          : info.writable          ? CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READWRITE
                                                   : CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READ));
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE: {
      bool pooled = known && info.block.kind == MemoryKind::pool;
      return put(pooled ? handle_of(pool_of(ptr)) : CUmemoryPool{nullptr});
    }
    case CU_POINTER_ATTRIBUTE_MAPPING_SIZE:
      return put(known ? info.block.bytes : uint64_t{0});
    case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR:
      return put(known ? info.block.base : uint64_t{0});
    case CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID:
      return put(known ? info.block.id : uint64_t{0});
    case CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE:
      return put(0u);
    case CU_POINTER_ATTRIBUTE_P2P_TOKENS:
      return CUDA_ERROR_NOT_SUPPORTED;
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}

}  // namespace

CUresult HostRegistry::add(Range range) {
  static std::atomic<uint64_t> next_id{uint64_t{1} << 62};  // apart from the allocators' ids
  std::unique_lock lock(mutex_);
  auto next = ranges_.lower_bound(range.base);
  bool overlap = next != ranges_.end() && next->first < range.base + range.bytes;
  if (next != ranges_.begin()) {
    const Range& before = std::prev(next)->second;
    overlap |= before.base + before.bytes > range.base;
  }
  if (overlap) return CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
  range.id = next_id++;
  ranges_.emplace(range.base, range);
  return CUDA_SUCCESS;
}

bool HostRegistry::remove(uint64_t base) {
  std::unique_lock lock(mutex_);
  return ranges_.erase(base) != 0;
}

std::optional<HostRegistry::Range> HostRegistry::find(uint64_t address) const {
  std::shared_lock lock(mutex_);
  auto next = ranges_.upper_bound(address);
  if (next == ranges_.begin()) return {};
  const Range& range = std::prev(next)->second;
  if (address - range.base >= range.bytes) return {};
  return range;
}

void forget_sync(uint64_t block_id) {
  SyncBook& book = sync_book();
  if (!book.used.load(std::memory_order_acquire)) return;
  std::lock_guard lock(book.mutex);
  book.blocks.erase(block_id);
}

HostRegistry& host_registry() {
  static auto* registry = new HostRegistry;
  return *registry;
}

/// Memory in the virtual partition: a mapping, or a block of a pool that may be exported.
static bool classify_virtual(uint64_t address, PointerInfo* info) {
  Driver& root = driver();
  if (Allocator* memory = root.virtual_space.allocator_of(address)) {
    if (!memory->find(address, &info->block) || info->block.kind == MemoryKind::idle) return false;
    MemPool* pool = pool_of(address);
    info->device = pool ? pool->device_ordinal() : -1;
    info->memory = info->device < 0 ? Memory::host : Memory::device;
    return true;
  }
  Mapping mapping;
  if (!root.virtual_space.find(address, &mapping)) return false;
  info->is_virtual = true;
  info->block = {mapping.base, mapping.bytes, mapping.id, mapping.owner, mapping.kind, 0};
  info->handle_types = mapping.handle_types;
  info->readable = mapping.access.readable != 0;
  info->writable = mapping.access.writable != 0;
  info->device = mapping.device;
  info->memory = mapping.device < 0 ? Memory::host : Memory::device;
  return true;
}

bool classify(uint64_t address, PointerInfo* info) {
  *info = PointerInfo{};
  Driver& root = driver();
  if (root.space.contains(address)) {
    uint32_t partition = root.space.partition_of(address);
    bool on_device = partition < root.devices.size();
    if (partition > root.devices.size()) return classify_virtual(address, info);
    Allocator& memory = on_device ? root.devices[partition]->memory() : *root.host;
    if (!memory.find(address, &info->block) || info->block.kind == MemoryKind::idle) return false;
    if (on_device) {
      info->device = static_cast<int>(partition);
      bool managed =
          info->block.kind == MemoryKind::managed ||
          (info->block.kind == MemoryKind::pool && (info->block.flags & pool_block_managed));
      info->memory = managed ? Memory::managed : Memory::device;
    } else {
      info->memory = Memory::host;
    }
    return true;
  }
  if (auto range = host_registry().find(address)) {
    info->memory = Memory::registered;
    info->block = {range->base,  range->bytes,     range->id,
                   range->owner, MemoryKind::host, static_cast<uint8_t>(range->flags)};
  }
  return true;
}

CUresult check_range(uint64_t address, uint64_t bytes, bool device_operand, Use use,
                     PointerInfo* info) {
  uint64_t end;
  if (!address || __builtin_add_overflow(address, bytes, &end) || !classify(address, info))
    return CUDA_ERROR_INVALID_VALUE;
  if (info->is_virtual)
    return driver().virtual_space.accessible(address, bytes, use == Use::write)
               ? CUDA_SUCCESS
               : CUDA_ERROR_INVALID_VALUE;
  if (info->memory == Memory::pageable)
    return device_operand ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
  uint64_t room = info->block.bytes - (address - info->block.base);
  if (bytes <= room) return CUDA_SUCCESS;
  // A host operand may run on into memory that was not registered: it is then plain host memory.
  if (info->memory == Memory::registered && !device_operand) {
    info->memory = Memory::pageable;
    return CUDA_SUCCESS;
  }
  return CUDA_ERROR_INVALID_VALUE;
}

CUresult cuPointerGetAttribute(void* data, CUpointer_attribute attribute, CUdeviceptr ptr) {
  if (!data) return CUDA_ERROR_INVALID_VALUE;
  Context* context;
  if (CUresult result = current(&context)) return result;
  PointerInfo info;
  if (!classify(ptr, &info) || info.memory == Memory::pageable) return CUDA_ERROR_INVALID_VALUE;
  return write_attribute(data, attribute, ptr, true, info);
}

CUresult cuPointerGetAttributes(unsigned int numAttributes, CUpointer_attribute* attributes,
                                void** data, CUdeviceptr ptr) {
  if (!numAttributes || !attributes || !data) return CUDA_ERROR_INVALID_VALUE;
  PointerInfo info;
  bool known = classify(ptr, &info) && info.memory != Memory::pageable;
  for (unsigned i = 0; i < numAttributes; ++i) {
    if (!data[i]) return CUDA_ERROR_INVALID_VALUE;
    CUresult result = write_attribute(data[i], attributes[i], ptr, known, info);
    // Device memory has no host pointer (null), plain host memory is its own: neither is an error
    // here. source: measured H200, driver 580.x.
    if (attributes[i] == CU_POINTER_ATTRIBUTE_HOST_POINTER && (!known || result)) {
      CUdeviceptr host = known ? 0 : ptr;
      std::memcpy(data[i], &host, sizeof host);
      continue;
    }
    if (result != CUDA_SUCCESS) return result;
  }
  return CUDA_SUCCESS;
}

CUresult cuPointerSetAttribute(const void* value, CUpointer_attribute attribute, CUdeviceptr ptr) {
  if (!value || attribute != CU_POINTER_ATTRIBUTE_SYNC_MEMOPS) return CUDA_ERROR_INVALID_VALUE;
  PointerInfo info;
  if (!classify(ptr, &info) || (info.memory != Memory::device && info.memory != Memory::managed))
    return CUDA_ERROR_INVALID_VALUE;
  unsigned on;
  std::memcpy(&on, value, sizeof on);
  SyncBook& book = sync_book();
  std::lock_guard lock(book.mutex);
  book.used.store(true, std::memory_order_release);
  book.blocks[info.block.id] = on != 0;
  return CUDA_SUCCESS;
}

}  // namespace limen::cpu
