// Virtual memory management: cuMemAddressReserve to cuMemRetainAllocationHandle. An allocation is a
// part of one shared file until it is exported; then it moves into a file of its own, so that
// frameworks with thousands of allocations do not run out of descriptors, and no process sees what
// it was not handed. Tile pools of sparse arrays are allocations like others; what maps them is in
// sparse.cpp. Thread rule: any thread; book().mutex is taken
// before the virtual space's lock.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <mutex>
#include <utility>

#include <fmt/format.h>

#include "abi/cpu_api.h"
#include "drivers/cpu/context.h"
#include "drivers/cpu/memory/physical.h"
#include "drivers/cpu/memory/sparse.h"
#include "drivers/cpu/memory/virtual_space.h"
#include "engine/fault.h"

namespace limen::cpu {

namespace {

struct Book {
  std::mutex mutex;
  FileParts parts;
};
Book& book() {
  static auto* made = new Book;
  return *made;
}

constexpr uint64_t host_page_bytes = 4096;

bool is_multiple(uint64_t value, uint64_t step) { return value % step == 0; }

bool is_range(CUdeviceptr ptr, size_t size) {
  return ptr && size && ptr + size > ptr && is_multiple(ptr, allocation_granularity_bytes) &&
         is_multiple(size, allocation_granularity_bytes);
}

/// The allocation of a live handle, or nullptr. Under the book's lock.
PhysicalMemory* live(CUmemGenericAllocationHandle handle) {
  PhysicalMemory* found = driver().allocations.resolve(reinterpret_cast<const void*>(handle));
  return found && found->handles ? found : nullptr;
}

CUmemGenericAllocationHandle handle_of(PhysicalMemory* memory) {
  return reinterpret_cast<CUmemGenericAllocationHandle>(memory);
}

CUresult check_properties(const CUmemAllocationProp& prop) {
  if (prop.type != CU_MEM_ALLOCATION_TYPE_PINNED || prop.win32HandleMetaData)
    return CUDA_ERROR_INVALID_VALUE;
  return check_location_of_memory(prop.location, prop.requestedHandleTypes);
}

/// What only hardware has: asked for, it is refused rather than left out.
CUresult check_flags(const CUmemAllocationProp& prop) {
  if (prop.allocFlags.gpuDirectRDMACapable)
    return report({Code::not_supported, "memory for GPUDirect RDMA needs a GPU", ""});
  if (prop.allocFlags.usage & ~unsigned(CU_MEM_CREATE_USAGE_TILE_POOL))
    return report({Code::not_supported,
                   fmt::format("memory for usage {:#x} (hardware decompression) needs a GPU",
                               static_cast<unsigned>(prop.allocFlags.usage)),
                   ""});
  // measured H200, driver 580.159.04: nor are tile pools compressed.
  const bool pool = prop.allocFlags.usage & CU_MEM_CREATE_USAGE_TILE_POOL;
  const unsigned most = pool ? CU_MEM_ALLOCATION_COMP_NONE : CU_MEM_ALLOCATION_COMP_GENERIC;
  return prop.allocFlags.compressionType > most ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

/// Frees what neither handle nor mapping holds. Under the book's lock.
void drop_unused(PhysicalMemory* memory) {
  if (memory->handles || memory->mappings) return;
  if (memory->view) driver().virtual_space.displace(memory->view, MemoryKind::array);
  if (memory->in_parts) book().parts.give_back(memory->offset, memory->bytes);
  if (memory->charged) memory->charged->uncharge(memory->bytes);
  driver().allocations.destroy(memory);
}

/// Where sparse arrays read and write an allocation: all of it, mapped once. Under the book's lock.
uint64_t view_of(PhysicalMemory* memory) {
  if (memory->view) return memory->view;
  Mapping mapping;
  mapping.bytes = memory->bytes;
  mapping.id = next_block_id();
  mapping.kind = MemoryKind::array;
  mapping.device = memory->prop.location.id;
  mapping.access.readable = mapping.access.writable = ~uint64_t{0};
  mapping.file = memory->file;
  mapping.offset = memory->offset;
  mapping.physical = memory;
  memory->view = driver().virtual_space.place(std::move(mapping));
  return memory->view;
}

/// Gives a piece of a store another holder, or none. Under the book's lock.
void hand_over(TileStore& store, uint64_t piece, PhysicalMemory* to) {
  PhysicalMemory*& holder = store.holders[piece];
  if (to) ++to->mappings;
  if (PhysicalMemory* before = std::exchange(holder, to)) {
    --before->mappings;
    drop_unused(before);
  }
  if (!to) store.holders.erase(piece);
}

/// Moves an allocation into a file of its own with a record at the end.
bool make_exportable(PhysicalMemory* memory) {
  if (!memory->in_parts) return true;
  if (!memory->charged->can_copy(memory->bytes)) return false;
  auto file = SharedFile::create("limen-allocation", memory->bytes + ShareRecord::page_bytes);
  if (!file) return false;
  ShareRecord record;
  record.bytes = memory->bytes;
  record.prop = memory->prop;
  if (!record.write_to(*file)) return false;
  engine::PageMove move;
  driver().virtual_space.write_protect(memory);
  std::vector<unsigned char> piece(64 << 10), zeros(64 << 10);
  for (uint64_t at = 0; at < memory->bytes; at += piece.size()) {
    const bool copied = memory->file->read(memory->offset + at, piece.data(), piece.size()) &&
                        (piece == zeros || file->write(at, piece.data(), piece.size()));
    if (copied) continue;
    driver().virtual_space.move_to(memory, memory->file, 0);  // where it was, writable again
    return false;
  }
  driver().virtual_space.move_to(memory, file, memory->offset);
  book().parts.give_back(memory->offset, memory->bytes);
  memory->file = std::move(file);
  memory->offset = 0;
  memory->in_parts = false;
  return true;
}

/// The bits of a location in Access; 0 where the location cannot have access to the memory.
CUresult access_bit(const CUmemLocation& location, bool host_memory, uint64_t* bit) {
  switch (location.type) {
    case CU_MEM_LOCATION_TYPE_DEVICE:
      if (!driver().device(location.id)) return CUDA_ERROR_INVALID_DEVICE;
      *bit = uint64_t{1} << location.id;
      return CUDA_SUCCESS;
    case CU_MEM_LOCATION_TYPE_HOST:
    case CU_MEM_LOCATION_TYPE_HOST_NUMA:
      if (!host_memory) return CUDA_ERROR_NOT_SUPPORTED;  // measured H200, driver 580.159.04
      *bit = Access::host_bit;
      return CUDA_SUCCESS;
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}

}  // namespace

CUresult hold_tile_pool(CUmemGenericAllocationHandle handle, int device, uint64_t offset,
                        TileChange* change) {
  const uint64_t bytes = change->pieces.size() * engine::TileMap::piece_bytes;
  std::lock_guard lock(book().mutex);
  PhysicalMemory* memory = live(handle);
  if (!memory || !(memory->prop.allocFlags.usage & CU_MEM_CREATE_USAGE_TILE_POOL) ||
      memory->prop.location.type != CU_MEM_LOCATION_TYPE_DEVICE ||
      memory->prop.location.id != device || !is_multiple(offset, engine::TileMap::piece_bytes) ||
      offset > memory->bytes || bytes > memory->bytes - offset)
    return CUDA_ERROR_INVALID_VALUE;
  const uint64_t view = view_of(memory);
  if (!view) return CUDA_ERROR_OUT_OF_MEMORY;
  ++memory->mappings;
  change->memory = memory;
  change->from = reinterpret_cast<uint8_t*>(view + offset);
  return CUDA_SUCCESS;
}

void let_go(const TileChange& change) {
  if (!change.memory) return;
  std::lock_guard lock(book().mutex);
  --change.memory->mappings;
  drop_unused(change.memory);
}

void apply(const TileChange& change) {
  {
    std::lock_guard lock(book().mutex);
    TileStore& store = *change.store;
    uint8_t* there = change.from;
    for (size_t i = 0; i < change.pieces.size() && !store.closed; ++i) {
      __atomic_store_n(store.table + change.pieces[i], there, __ATOMIC_RELEASE);
      hand_over(store, change.pieces[i], change.memory);
      if (there) there += engine::TileMap::piece_bytes;
    }
  }
  let_go(change);
}

void close_tiles(TileStore& store) {
  std::lock_guard lock(book().mutex);
  store.closed = true;
  while (!store.holders.empty()) hand_over(store, store.holders.begin()->first, nullptr);
}

CUresult check_location_of_memory(const CUmemLocation& location, unsigned handle_types) {
  constexpr unsigned known = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR | CU_MEM_HANDLE_TYPE_WIN32 |
                             CU_MEM_HANDLE_TYPE_WIN32_KMT | CU_MEM_HANDLE_TYPE_FABRIC;
  if (handle_types & ~known) return CUDA_ERROR_INVALID_VALUE;
  switch (location.type) {
    case CU_MEM_LOCATION_TYPE_DEVICE:
      if (!driver().device(location.id)) return CUDA_ERROR_INVALID_DEVICE;
      break;
    case CU_MEM_LOCATION_TYPE_HOST:
      if (handle_types) return CUDA_ERROR_INVALID_VALUE;
      break;
    case CU_MEM_LOCATION_TYPE_HOST_NUMA:
      // One node is shown: programs take its number from CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID.
      if (location.id != 0) return CUDA_ERROR_INVALID_VALUE;
      break;
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
  if (handle_types & ~unsigned(CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR))
    return report(
        {Code::not_supported,
         "memory can be exported by POSIX file descriptor only, not to Windows or a fabric",
         "ask for CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR"});
  return CUDA_SUCCESS;
}

std::shared_ptr<SharedFile> ShareRecord::read_from(int descriptor, Kind kind, ShareRecord* out) {
  // Sealed, or the other side could pull pages away from under our kernels.
  constexpr int least_seals = F_SEAL_SHRINK | F_SEAL_GROW;
  const int seals = fcntl(descriptor, F_GET_SEALS);
  if (seals < 0 || (seals & least_seals) != least_seals) return nullptr;
  const int own = fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
  auto file = SharedFile::adopt(own, page_bytes);
  if (!file) {
    if (own >= 0) close(own);
    return nullptr;
  }
  const ShareRecord expected;
  const bool ours = file->read(file->bytes() - page_bytes, out, sizeof *out) &&
                    std::memcmp(out->magic, expected.magic, sizeof expected.magic) == 0 &&
                    out->version == expected.version && out->kind == kind &&
                    out->bytes == file->bytes() - page_bytes;
  return ours ? file : nullptr;
}

CUresult cuMemAddressReserve(CUdeviceptr* ptr, size_t size, size_t alignment, CUdeviceptr addr,
                             unsigned long long flags) {
  if (!ptr || !size || flags || !is_multiple(size, host_page_bytes) ||
      !is_multiple(addr, host_page_bytes) || (alignment && !std::has_single_bit(alignment)))
    return CUDA_ERROR_INVALID_VALUE;
  const uint64_t base = driver().virtual_space.reserve(size, alignment, addr);
  if (!base) return CUDA_ERROR_OUT_OF_MEMORY;
  *ptr = base;
  return CUDA_SUCCESS;
}

CUresult cuMemAddressFree(CUdeviceptr ptr, size_t size) {
  if (!ptr || !size) return CUDA_ERROR_INVALID_VALUE;
  return driver().virtual_space.unreserve(ptr, size) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemCreate(CUmemGenericAllocationHandle* handle, size_t size,
                     const CUmemAllocationProp* prop, unsigned long long flags) {
  if (!handle || !prop || !size || flags) return CUDA_ERROR_INVALID_VALUE;
  if (CUresult result = check_properties(*prop)) return result;
  if (!is_multiple(size, allocation_granularity_bytes)) return CUDA_ERROR_INVALID_VALUE;
  if (CUresult result = check_flags(*prop)) return result;
  const bool on_device = prop->location.type == CU_MEM_LOCATION_TYPE_DEVICE;
  Allocator& counts = on_device ? driver().device(prop->location.id)->memory() : *driver().host;
  if (!counts.charge(size)) return CUDA_ERROR_OUT_OF_MEMORY;
  std::lock_guard lock(book().mutex);
  PhysicalMemory* made = driver().allocations.create();
  if (!made || !book().parts.take(size, &made->file, &made->offset)) {
    if (made) driver().allocations.destroy(made);
    counts.uncharge(size);
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  made->prop = *prop;
  made->prop.allocFlags.compressionType = CU_MEM_ALLOCATION_COMP_NONE;
  made->bytes = size;
  made->in_parts = true;
  made->charged = &counts;
  *handle = handle_of(made);
  return CUDA_SUCCESS;
}

CUresult cuMemRelease(CUmemGenericAllocationHandle handle) {
  std::lock_guard lock(book().mutex);
  PhysicalMemory* memory = live(handle);
  if (!memory) return CUDA_ERROR_INVALID_VALUE;
  --memory->handles;
  drop_unused(memory);
  return CUDA_SUCCESS;
}

CUresult cuMemMap(CUdeviceptr ptr, size_t size, size_t offset, CUmemGenericAllocationHandle handle,
                  unsigned long long flags) {
  if (!ptr || !size || flags) return CUDA_ERROR_INVALID_VALUE;
  std::lock_guard lock(book().mutex);
  PhysicalMemory* memory = live(handle);
  if (!memory) return CUDA_ERROR_INVALID_VALUE;
  // All of an allocation only, and that before the address counts. measured H200, driver 580.159.04
  if (offset || size != memory->bytes) return CUDA_ERROR_NOT_SUPPORTED;
  if (!is_range(ptr, size)) return CUDA_ERROR_INVALID_VALUE;
  Mapping mapping;
  mapping.base = ptr;
  mapping.bytes = size;
  mapping.id = next_block_id();
  mapping.kind = MemoryKind::mapped;
  if (memory->prop.location.type == CU_MEM_LOCATION_TYPE_DEVICE)
    mapping.device = memory->prop.location.id;
  mapping.file = memory->file;
  mapping.offset = memory->offset;
  mapping.physical = memory;
  mapping.handle_types = memory->prop.requestedHandleTypes;
  if (CUresult result = driver().virtual_space.map(std::move(mapping))) return result;
  ++memory->mappings;
  return CUDA_SUCCESS;
}

CUresult cuMemUnmap(CUdeviceptr ptr, size_t size) {
  if (!is_range(ptr, size)) return CUDA_ERROR_INVALID_VALUE;
  if (!driver().virtual_space.can_unmap(ptr, size)) return CUDA_ERROR_INVALID_VALUE;
  synchronize_all_contexts();  // copies in flight would end the process, kernels would fault
  std::lock_guard lock(book().mutex);
  std::vector<Mapping> gone;
  if (!driver().virtual_space.unmap_all(ptr, size, &gone)) return CUDA_ERROR_INVALID_VALUE;
  for (const Mapping& one : gone) {
    --one.physical->mappings;
    drop_unused(one.physical);
  }
  return CUDA_SUCCESS;
}

CUresult cuMemSetAccess(CUdeviceptr ptr, size_t size, const CUmemAccessDesc* desc, size_t count) {
  if (!ptr || !size || !desc || !count) return CUDA_ERROR_INVALID_VALUE;
  auto mapped = driver().virtual_space.mappings_of(ptr, size);
  if (mapped.empty()) return CUDA_ERROR_INVALID_VALUE;
  auto on_host = [](const Mapping& one) { return one.device < 0; };
  const bool host_memory = std::all_of(mapped.begin(), mapped.end(), on_host);
  std::vector<uint64_t> bits(count);
  for (size_t i = 0; i < count; ++i) {
    CUresult result = access_bit(desc[i].location, host_memory, &bits[i]);
    // Unlike cuMemGetAccess. measured H200, driver 580.159.04
    if (result) return result == CUDA_ERROR_INVALID_DEVICE ? CUDA_ERROR_INVALID_VALUE : result;
    if (desc[i].flags != CU_MEM_ACCESS_FLAGS_PROT_NONE &&
        desc[i].flags != CU_MEM_ACCESS_FLAGS_PROT_READ &&
        desc[i].flags != CU_MEM_ACCESS_FLAGS_PROT_READWRITE)
      return CUDA_ERROR_INVALID_VALUE;
  }
  // A fresh mapping has no users that could lose anything.
  auto in_use = [](const Mapping& one) { return one.access.readable != 0; };
  if (std::any_of(mapped.begin(), mapped.end(), in_use)) synchronize_all_contexts();
  for (size_t i = 0; i < count; ++i) {
    const bool readable = desc[i].flags & CU_MEM_ACCESS_FLAGS_PROT_READ;
    const bool writable = desc[i].flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    CUresult result = driver().virtual_space.set_access(ptr, size, bits[i], readable, writable);
    if (result != CUDA_SUCCESS) return result;
  }
  return CUDA_SUCCESS;
}

CUresult cuMemGetAccess(unsigned long long* flags, const CUmemLocation* location, CUdeviceptr ptr) {
  if (!flags || !location || !ptr) return CUDA_ERROR_INVALID_VALUE;
  Mapping mapping;
  if (!driver().virtual_space.find(ptr, &mapping) || mapping.kind != MemoryKind::mapped)
    return CUDA_ERROR_INVALID_VALUE;
  uint64_t bit;
  if (CUresult result = access_bit(*location, true, &bit)) return result;
  *flags = mapping.access.writable & bit   ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE
           : mapping.access.readable & bit ? CU_MEM_ACCESS_FLAGS_PROT_READ
                                           : CU_MEM_ACCESS_FLAGS_PROT_NONE;
  return CUDA_SUCCESS;
}

CUresult cuMemExportToShareableHandle(void* shareableHandle, CUmemGenericAllocationHandle handle,
                                      CUmemAllocationHandleType handleType,
                                      unsigned long long flags) {
  if (!shareableHandle || flags) return CUDA_ERROR_INVALID_VALUE;
  std::lock_guard lock(book().mutex);
  PhysicalMemory* memory = live(handle);
  // Only a type that the allocation was made for.
  if (!memory || handleType != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR ||
      !(memory->prop.requestedHandleTypes & handleType))
    return CUDA_ERROR_INVALID_VALUE;
  if (!make_exportable(memory)) return CUDA_ERROR_OUT_OF_MEMORY;
  const int descriptor = memory->file->duplicate();
  if (descriptor < 0) return CUDA_ERROR_OUT_OF_MEMORY;
  std::memcpy(shareableHandle, &descriptor, sizeof descriptor);
  return CUDA_SUCCESS;
}

CUresult cuMemImportFromShareableHandle(CUmemGenericAllocationHandle* handle, void* osHandle,
                                        CUmemAllocationHandleType shHandleType) {
  if (!handle) return CUDA_ERROR_INVALID_VALUE;
  if (shHandleType != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
    return shHandleType == CU_MEM_HANDLE_TYPE_FABRIC
               ? report({Code::not_supported, "fabric handles need a fabric", ""})
               : CUDA_ERROR_INVALID_VALUE;
  ShareRecord record;
  const auto descriptor = static_cast<int>(reinterpret_cast<intptr_t>(osHandle));
  auto file = ShareRecord::read_from(descriptor, ShareRecord::Kind::allocation, &record);
  if (!file) return CUDA_ERROR_UNKNOWN;  // measured H200, driver 580.159.04
  if (check_properties(record.prop) != CUDA_SUCCESS) return CUDA_ERROR_NOT_SUPPORTED;
  std::lock_guard lock(book().mutex);
  PhysicalMemory* made = driver().allocations.create();
  if (!made) return CUDA_ERROR_OUT_OF_MEMORY;
  made->prop = record.prop;
  made->bytes = record.bytes;
  made->file = std::move(file);
  *handle = handle_of(made);
  return CUDA_SUCCESS;
}

CUresult cuMemGetAllocationGranularity(size_t* granularity, const CUmemAllocationProp* prop,
                                       CUmemAllocationGranularity_flags option) {
  if (!granularity || !prop ||
      (option != CU_MEM_ALLOC_GRANULARITY_MINIMUM &&
       option != CU_MEM_ALLOC_GRANULARITY_RECOMMENDED))
    return CUDA_ERROR_INVALID_VALUE;
  // No device is looked for. measured H200, driver 580.159.04
  CUmemAllocationProp here = *prop;
  if (here.location.type == CU_MEM_LOCATION_TYPE_DEVICE) here.location.id = 0;
  if (CUresult result = check_properties(here)) return result;
  *granularity = allocation_granularity_bytes;
  return CUDA_SUCCESS;
}

CUresult cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp* prop,
                                                CUmemGenericAllocationHandle handle) {
  if (!prop) return CUDA_ERROR_INVALID_VALUE;
  std::lock_guard lock(book().mutex);
  const PhysicalMemory* memory = live(handle);
  if (!memory) return CUDA_ERROR_INVALID_VALUE;
  *prop = memory->prop;
  prop->allocFlags.usage = 0;  // measured H200, driver 580.159.04: a tile pool does not say so
  return CUDA_SUCCESS;
}

CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle* handle, void* addr) {
  if (!handle || !addr) return CUDA_ERROR_INVALID_VALUE;
  std::lock_guard lock(book().mutex);
  Mapping mapping;
  if (!driver().virtual_space.find(reinterpret_cast<uint64_t>(addr), &mapping) || !mapping.physical)
    return CUDA_ERROR_INVALID_VALUE;
  ++mapping.physical->handles;
  *handle = handle_of(mapping.physical);
  return CUDA_SUCCESS;
}

}  // namespace limen::cpu
