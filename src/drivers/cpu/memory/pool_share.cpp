// Pools between processes: a pool's file travels by descriptor, a block as its place in that file.
// The importer maps each block it is told of; it can allocate nothing. Thread rule: any thread.
#include <sys/stat.h>

#include <algorithm>
#include <cstring>

#include "abi/cpu_api.h"
#include "drivers/cpu/context.h"
#include "drivers/cpu/memory/physical.h"
#include "drivers/cpu/memory/pointer.h"
#include "drivers/cpu/memory/pool.h"

namespace limen::cpu {

namespace {

/// What CUmemPoolPtrExportData holds. The file's identity keeps blocks of other pools out.
struct BlockRecord {
  uint64_t magic = 0x6b6c425368726e4c;
  uint64_t inode = 0;
  uint64_t offset = 0, lead = 0, bytes = 0;
  uint64_t sum = 0;
  uint64_t unused[2] = {};

  uint64_t expected_sum() const {
    uint64_t hash = magic;
    for (uint64_t word : {inode, offset, lead, bytes}) hash = (hash ^ word) * 0x100000001b3u;
    return hash;
  }
};
static_assert(sizeof(BlockRecord) == sizeof(CUmemPoolPtrExportData));

uint64_t inode_of(const SharedFile& file) {
  struct stat status{};
  return fstat(file.descriptor(), &status) == 0 ? status.st_ino : 0;
}

}  // namespace

CUresult cuMemPoolExportToShareableHandle(void* handle_out, CUmemoryPool hPool,
                                          CUmemAllocationHandleType handleType,
                                          unsigned long long flags) {
  MemPool* pool;
  if (CUresult result = resolve_pool(hPool, &pool)) return result;
  if (!handle_out || flags || handleType != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR ||
      !(pool->props.handleTypes & handleType) || pool->imported)
    return CUDA_ERROR_INVALID_VALUE;
  const int descriptor = pool->file->duplicate();
  if (descriptor < 0) return CUDA_ERROR_OUT_OF_MEMORY;
  pool->exported.store(true, std::memory_order_relaxed);
  std::memcpy(handle_out, &descriptor, sizeof descriptor);
  return CUDA_SUCCESS;
}

CUresult cuMemPoolImportFromShareableHandle(CUmemoryPool* pool_out, void* handle,
                                            CUmemAllocationHandleType handleType,
                                            unsigned long long flags) {
  if (!pool_out || flags) return CUDA_ERROR_INVALID_VALUE;
  if (handleType != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) return CUDA_ERROR_INVALID_VALUE;
  ShareRecord record;
  const auto descriptor = static_cast<int>(reinterpret_cast<intptr_t>(handle));
  auto file = ShareRecord::read_from(descriptor, ShareRecord::Kind::pool, &record);
  if (!file) return CUDA_ERROR_UNKNOWN;  // measured H200, driver 580.159.04
  if (check_location_of_memory(record.prop.location, 0) != CUDA_SUCCESS)
    return CUDA_ERROR_INVALID_DEVICE;
  CUmemPoolProps props{};
  props.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  props.handleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  props.location = record.prop.location;
  MemPool* made = driver().pools.create(props);
  if (!made) return CUDA_ERROR_OUT_OF_MEMORY;
  made->imported = true;
  made->file = std::move(file);
  made->access[made->device_ordinal()] = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  list_pool(made);
  *pool_out = handle_of(made);
  return CUDA_SUCCESS;
}

CUresult cuMemPoolExportPointer(CUmemPoolPtrExportData* shareData_out, CUdeviceptr ptr) {
  if (!shareData_out || !ptr) return CUDA_ERROR_INVALID_VALUE;
  MemPool* pool = pool_of(ptr);
  Allocation block;
  // The pool itself comes first. measured H200, driver 580.159.04
  if (!pool || !pool->range || !pool->exported.load(std::memory_order_relaxed) ||
      !pool->memory->find(ptr, &block) || block.base != ptr)
    return CUDA_ERROR_INVALID_VALUE;
  SharedBlock where;
  if (!pool->memory->share(ptr, &where)) return CUDA_ERROR_INVALID_VALUE;
  BlockRecord record;
  record.inode = inode_of(*where.file);
  record.offset = where.offset;
  record.lead = where.lead;
  record.bytes = block.bytes;
  record.sum = record.expected_sum();
  std::memcpy(shareData_out, &record, sizeof record);
  return CUDA_SUCCESS;
}

CUresult cuMemPoolImportPointer(CUdeviceptr* ptr_out, CUmemoryPool hPool,
                                CUmemPoolPtrExportData* shareData) {
  MemPool* pool;
  if (CUresult result = resolve_pool(hPool, &pool)) return result;
  if (!ptr_out || !shareData || !pool->imported) return CUDA_ERROR_INVALID_VALUE;
  BlockRecord record;
  std::memcpy(static_cast<void*>(&record), shareData, sizeof record);
  const uint64_t room = pool->file->bytes() - ShareRecord::page_bytes;
  const bool fits = record.offset <= room && record.lead < ShareRecord::page_bytes &&
                    record.bytes <= room && record.offset + record.lead + record.bytes <= room;
  if (record.magic != BlockRecord{}.magic || record.sum != record.expected_sum() || !fits ||
      !record.bytes || record.inode != inode_of(*pool->file))
    return CUDA_ERROR_INVALID_VALUE;
  Mapping mapping;
  mapping.bytes = record.bytes;
  mapping.lead = record.lead;
  mapping.id = next_block_id();
  mapping.kind = MemoryKind::imported;
  mapping.device = pool->device_ordinal();
  mapping.access.readable = mapping.access.writable = ~uint64_t{0};
  mapping.file = pool->file;
  mapping.pool = pool;
  mapping.offset = record.offset;
  mapping.handle_types = pool->props.handleTypes;
  const uint64_t base = driver().virtual_space.place(std::move(mapping));
  if (!base) return CUDA_ERROR_OUT_OF_MEMORY;
  *ptr_out = base;
  return CUDA_SUCCESS;
}

}  // namespace limen::cpu
