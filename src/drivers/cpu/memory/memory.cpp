// cuMemAlloc and its kin: device, pinned and managed memory, made, freed and asked about.
// Copies are in copy.cpp. Invariant: memory is unmapped only when no work that may use it is left.
// Thread rule: any thread.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "abi/cpu_api.h"
#include "drivers/cpu/context.h"
#include "drivers/cpu/graph/capture.h"
#include "drivers/cpu/graph/graph_memory.h"
#include "drivers/cpu/memory/pointer.h"
#include "drivers/cpu/memory/pool.h"

namespace limen::cpu {

namespace {

constexpr uint64_t pitch_align_bytes = 512;

/// Bytes of the device that could be allocated now.
uint64_t free_bytes(const Device& device) {
  const Allocator& memory = device.memory();
  return memory.limit_bytes() - std::min(memory.used_bytes(), memory.limit_bytes());
}

CUresult allocate_host(void** pp, size_t bytes, unsigned flags) {
  Context* context;
  if (CUresult result = current_usable(&context)) return result;
  if (CUresult result = refuse_unsafe_call()) return result;
  if (!pp || flags > 7) return CUDA_ERROR_INVALID_VALUE;
  *pp = nullptr;
  if (bytes == 0) return CUDA_SUCCESS;  // measured H200, driver 580.x
  flags |= CU_MEMHOSTALLOC_DEVICEMAP;   // unified addressing maps every pinned block
  uint64_t address =
      driver().host->allocate(bytes, MemoryKind::host, context->owner, static_cast<uint8_t>(flags));
  if (!address) return CUDA_ERROR_OUT_OF_MEMORY;
  *pp = reinterpret_cast<void*>(address);
  return CUDA_SUCCESS;
}

/// For the calls that know their context by the address: they need no current one. measured H200,
/// driver 580.x
CUresult current_or_none(Context** context) {
  *context = nullptr;
  if (current_context())
    if (CUresult result = current_usable(context)) return result;
  return refuse_unsafe_call();
}

/// Waits for the work that may still use memory of `owner`; `current` may be null.
void wait_for_users(Context* current, uint32_t owner) {
  Context* context = context_of_owner(owner);
  if (context && context->busy()) context->synchronize();
  if (current && current != context && current->busy()) current->synchronize();
}

CUresult sticky_of(const Context* context) { return context ? context->sticky() : CUDA_SUCCESS; }

}  // namespace

bool is_mapped(uint64_t address, uint64_t bytes) {
  const uint64_t page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  uint64_t begin = address / page * page;
  uint64_t pages = (address + bytes - begin + page - 1) / page;
  unsigned char state[4096];
  for (uint64_t done = 0; done < pages; done += sizeof state) {
    uint64_t count = std::min<uint64_t>(pages - done, sizeof state);
    if (mincore(reinterpret_cast<void*>(begin + done * page), count * page, state) != 0)
      return false;
  }
  return true;
}

CUresult cuMemGetInfo(size_t* free, size_t* total) {
  Context* context;
  if (CUresult result = current_usable(&context)) return result;
  if (free) *free = free_bytes(context->device);
  if (total) *total = context->device.memory().limit_bytes();
  return CUDA_SUCCESS;
}

CUresult cuMemAlloc(CUdeviceptr* dptr, size_t bytesize) {
  Context* context;
  if (CUresult result = current_usable(&context)) return result;
  if (CUresult result = refuse_unsafe_call()) return result;
  if (!dptr) return CUDA_ERROR_INVALID_VALUE;
  if (bytesize == 0) return CUDA_ERROR_INVALID_VALUE;
  Allocator& memory = context->device.memory();
  uint64_t address = memory.allocate(bytesize, MemoryKind::device, context->owner);
  if (!address) {
    trim_pools(context->device);
    address = memory.allocate(bytesize, MemoryKind::device, context->owner);
  }
  if (!address) return CUDA_ERROR_OUT_OF_MEMORY;
  *dptr = address;
  return CUDA_SUCCESS;
}

CUresult cuMemAllocPitch(CUdeviceptr* dptr, size_t* pPitch, size_t WidthInBytes, size_t Height,
                         unsigned int ElementSizeBytes) {
  Context* context;
  if (CUresult result = current_usable(&context)) return result;
  if (CUresult result = refuse_unsafe_call()) return result;
  if (!dptr || !pPitch || !WidthInBytes || !Height) return CUDA_ERROR_INVALID_VALUE;
  if (ElementSizeBytes != 4 && ElementSizeBytes != 8 && ElementSizeBytes != 16)
    return CUDA_ERROR_INVALID_VALUE;
  uint64_t pitch = (WidthInBytes + pitch_align_bytes - 1) / pitch_align_bytes * pitch_align_bytes;
  uint64_t bytes;
  if (pitch < WidthInBytes || __builtin_mul_overflow(pitch, Height, &bytes))
    return CUDA_ERROR_INVALID_VALUE;
  if (CUresult result = cuMemAlloc(dptr, bytes)) return result;
  *pPitch = pitch;
  return CUDA_SUCCESS;
}

CUresult cuMemFree(CUdeviceptr dptr) {
  Context* context;
  if (CUresult result = current_or_none(&context)) return result;
  if (!dptr) return CUDA_SUCCESS;
  PointerInfo info;
  if (!driver().space.contains(dptr) || !classify(dptr, &info) || info.block.base != dptr)
    return CUDA_ERROR_INVALID_VALUE;
  bool ours = info.block.kind == MemoryKind::device || info.block.kind == MemoryKind::managed ||
              info.block.kind == MemoryKind::pool || info.block.kind == MemoryKind::imported ||
              info.block.kind == MemoryKind::external || info.block.kind == MemoryKind::graph;
  if (!ours) return CUDA_ERROR_INVALID_VALUE;
  // Freeing waits for the work that may still use the memory, as NVIDIA's driver does.
  wait_for_users(context, info.block.owner);
  if (!context) context = context_of_owner(info.block.owner);
  if (info.block.kind == MemoryKind::pool) return free_to_pool_now(dptr);
  if (info.block.kind == MemoryKind::graph) return free_graph_memory(dptr, nullptr);
  if (info.is_virtual)
    return driver().virtual_space.displace(dptr, info.block.kind) ? sticky_of(context)
                                                                  : CUDA_ERROR_INVALID_VALUE;
  if (info.block.kind == MemoryKind::managed) forget_advice(info.block.id);
  forget_sync(info.block.id);
  return driver().allocator_of(dptr)->release(dptr) ? sticky_of(context) : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemGetAddressRange(CUdeviceptr* pbase, size_t* psize, CUdeviceptr dptr) {
  if (!pbase && !psize) return CUDA_SUCCESS;
  Context* context;
  if (CUresult result = current_usable(&context)) return result;
  PointerInfo info;
  if (!classify(dptr, &info) || info.memory == Memory::pageable) return CUDA_ERROR_NOT_FOUND;
  if (pbase) *pbase = info.block.base;
  if (psize) *psize = info.block.bytes;
  return CUDA_SUCCESS;
}

CUresult cuMemAllocHost(void** pp, size_t bytesize) { return allocate_host(pp, bytesize, 0); }

CUresult cuMemHostAlloc(void** pp, size_t bytesize, unsigned int flags) {
  return allocate_host(pp, bytesize, flags);
}

CUresult cuMemFreeHost(void* p) {
  Context* context;
  if (CUresult result = current_or_none(&context)) return result;
  if (!p) return CUDA_SUCCESS;
  auto address = reinterpret_cast<uint64_t>(p);
  PointerInfo info;
  if (!classify(address, &info) || info.memory != Memory::host || info.block.base != address ||
      info.block.kind != MemoryKind::host)
    return CUDA_ERROR_INVALID_VALUE;
  wait_for_users(context, info.block.owner);
  return driver().host->release(address) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemHostRegister(void* p, size_t bytesize, unsigned int flags) {
  Context* context;
  if (CUresult result = current_usable(&context)) return result;
  if (CUresult result = refuse_unsafe_call()) return result;
  constexpr unsigned known = CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP |
                             CU_MEMHOSTREGISTER_IOMEMORY | CU_MEMHOSTREGISTER_READ_ONLY;
  if (!p || !bytesize || (flags & ~known)) return CUDA_ERROR_INVALID_VALUE;
  auto address = reinterpret_cast<uint64_t>(p);
  if (address + bytesize < address) return CUDA_ERROR_INVALID_VALUE;
  if (driver().space.contains(address) || !is_mapped(address, bytesize))
    return CUDA_ERROR_INVALID_VALUE;
  flags |= CU_MEMHOSTREGISTER_DEVICEMAP;
  return host_registry().add({address, bytesize, 0, flags, context->owner});
}

CUresult cuMemHostUnregister(void* p) {
  if (!p) return CUDA_ERROR_INVALID_VALUE;
  Context* context;
  if (CUresult result = current_or_none(&context)) return result;
  auto address = reinterpret_cast<uint64_t>(p);
  if (driver().space.contains(address)) return CUDA_ERROR_INVALID_VALUE;
  auto range = host_registry().find(address);
  if (!range) return CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
  if (range->base != address) return CUDA_ERROR_INVALID_VALUE;
  wait_for_users(context, range->owner);
  return host_registry().remove(address) ? CUDA_SUCCESS : CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
}

CUresult cuMemHostGetDevicePointer(CUdeviceptr* pdptr, void* p, unsigned int flags) {
  Context* context;
  if (CUresult result = current_usable(&context)) return result;
  if (!pdptr || !p || flags) return CUDA_ERROR_INVALID_VALUE;
  PointerInfo info;
  auto address = reinterpret_cast<uint64_t>(p);
  if (!classify(address, &info)) return CUDA_ERROR_INVALID_VALUE;
  if (info.memory != Memory::host && info.memory != Memory::registered)
    return CUDA_ERROR_INVALID_VALUE;
  *pdptr = address;  // one address space
  return CUDA_SUCCESS;
}

CUresult cuMemHostGetFlags(unsigned int* pFlags, void* p) {
  if (!pFlags || !p) return CUDA_ERROR_INVALID_VALUE;
  Context* context;
  if (CUresult result = current_usable(&context)) return result;
  PointerInfo info;
  if (!classify(reinterpret_cast<uint64_t>(p), &info) ||
      (info.memory != Memory::host && info.memory != Memory::registered))
    return CUDA_ERROR_INVALID_VALUE;
  *pFlags = info.block.flags;
  return CUDA_SUCCESS;
}

}  // namespace limen::cpu
