// Managed memory. Host and device share one physical memory here, so managed memory is device
// memory that the host may use as well; advice and prefetches have nothing to move, but their
// arguments are checked and remembered, because programs read them back. Thread rule: any thread;
// one short lock for the remembered advice.
#include <cstring>
#include <map>
#include <mutex>

#include "abi/cpu_api.h"
#include "drivers/cpu/context.h"
#include "drivers/cpu/graph/capture.h"
#include "drivers/cpu/memory/advice.h"
#include "drivers/cpu/memory/pointer.h"
#include "drivers/cpu/stream/order.h"

namespace limen::cpu {

namespace {

struct AdviceBook {
  std::mutex mutex;
  std::map<uint64_t, PageAdvice> by_block;  ///< allocation id; 0: plain host memory
};

AdviceBook& book() {
  static auto* made = new AdviceBook;
  return *made;
}

/// Managed range, or plain host memory (which devices may access): both take advice.
CUresult check_managed(CUdeviceptr ptr, size_t count, uint64_t* block_id) {
  PointerInfo info;
  uint64_t end;
  if (!ptr || !count || __builtin_add_overflow(ptr, count, &end) || !classify(ptr, &info))
    return CUDA_ERROR_INVALID_VALUE;
  *block_id = 0;
  if (info.memory == Memory::pageable)
    return is_mapped(ptr, count) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  if (info.memory != Memory::managed) return CUDA_ERROR_INVALID_VALUE;
  if (end > info.block.base + info.block.bytes) return CUDA_ERROR_INVALID_VALUE;
  *block_id = info.block.id;
  return CUDA_SUCCESS;
}

bool is_location_type(CUmemLocationType type) {
  return type == CU_MEM_LOCATION_TYPE_DEVICE || type == CU_MEM_LOCATION_TYPE_HOST ||
         type == CU_MEM_LOCATION_TYPE_HOST_NUMA || type == CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT;
}

CUresult check_location(const CUmemLocation& location) {
  if (!is_location_type(location.type)) return CUDA_ERROR_INVALID_VALUE;
  const bool named = location.type == CU_MEM_LOCATION_TYPE_DEVICE;
  return named && !driver().device(location.id) ? CUDA_ERROR_INVALID_DEVICE : CUDA_SUCCESS;
}

bool is_numa(const CUmemLocation& location) {
  return location.type == CU_MEM_LOCATION_TYPE_HOST_NUMA ||
         location.type == CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT;
}

/// The place of an advice. Its type counts with every advice and comes first, its number only where
/// the place matters. measured H200, driver 580.x
CUresult check_advised(CUmem_advise advice, const CUmemLocation& location) {
  const bool matters = advice == CU_MEM_ADVISE_SET_PREFERRED_LOCATION ||
                       advice == CU_MEM_ADVISE_SET_ACCESSED_BY ||
                       advice == CU_MEM_ADVISE_UNSET_ACCESSED_BY;
  if (!matters) return CUDA_SUCCESS;
  if (is_numa(location) && advice != CU_MEM_ADVISE_SET_PREFERRED_LOCATION)
    return CUDA_ERROR_INVALID_VALUE;
  return check_location(location) ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

int location_number(const CUmemLocation& location) {
  if (location.type == CU_MEM_LOCATION_TYPE_DEVICE) return location.id;
  return location.type == CU_MEM_LOCATION_TYPE_INVALID ? CU_DEVICE_INVALID : CU_DEVICE_CPU;
}

CUresult read_range_attribute(void* data, size_t bytes, CUmem_range_attribute attribute,
                              const Advice& advice) {
  if (!data) return CUDA_ERROR_INVALID_VALUE;
  auto put = [&](int value) {
    if (bytes != sizeof value) return CUDA_ERROR_INVALID_VALUE;
    std::memcpy(data, &value, sizeof value);
    return CUDA_SUCCESS;
  };
  switch (attribute) {
    case CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY:
      return put(advice.read_mostly);
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION:
      return put(location_number(advice.preferred));
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION:
      return put(location_number(advice.last_prefetch));
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE:
      return put(advice.preferred.type);
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID:
      return put(advice.preferred.id);
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE:
      return put(advice.last_prefetch.type);
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID:
      return put(advice.last_prefetch.id);
    case CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY: {
      if (bytes == 0 || bytes % sizeof(int)) return CUDA_ERROR_INVALID_VALUE;
      auto* list = static_cast<int*>(data);
      size_t room = bytes / sizeof(int), used = 0;
      // Devices first, the host last. source: cuda-python's test_cuda_mem_range_attr.
      for (int i = 0; i < 64 && used < room; ++i)
        if (advice.accessed_by >> i & 1) list[used++] = i;
      if (advice.accessed_by_host && used < room) list[used++] = CU_DEVICE_CPU;
      while (used < room) list[used++] = CU_DEVICE_INVALID;
      return CUDA_SUCCESS;
    }
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}

void apply(CUmem_advise advice, const CUmemLocation& location, Advice& now) {
  const bool on_device = location.type == CU_MEM_LOCATION_TYPE_DEVICE;
  const uint64_t bit = on_device ? uint64_t{1} << (location.id & 63) : 0;
  switch (advice) {
    case CU_MEM_ADVISE_SET_READ_MOSTLY:
      now.read_mostly = true;
      break;
    case CU_MEM_ADVISE_UNSET_READ_MOSTLY:
      now.read_mostly = false;
      break;
    case CU_MEM_ADVISE_SET_PREFERRED_LOCATION:
      // A node of the host is taken and not remembered. measured H200, driver 580.x
      now.preferred = is_numa(location) ? nowhere : location;
      break;
    case CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION:
      now.preferred = nowhere;
      break;
    case CU_MEM_ADVISE_SET_ACCESSED_BY:
      now.accessed_by |= bit;
      now.accessed_by_host |= !on_device;
      break;
    default:
      now.accessed_by &= ~bit;
      if (!on_device) now.accessed_by_host = false;
      break;
  }
}

}  // namespace

void forget_advice(uint64_t block_id) {
  std::lock_guard lock(book().mutex);
  book().by_block.erase(block_id);
}

CUresult cuMemAllocManaged(CUdeviceptr* dptr, size_t bytesize, unsigned int flags) {
  if (!dptr) return CUDA_ERROR_INVALID_VALUE;
  Context* context;
  if (CUresult result = current_usable(&context)) return result;
  if (CUresult result = refuse_unsafe_call()) return result;
  if (!bytesize || (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST))
    return CUDA_ERROR_INVALID_VALUE;
  uint64_t address = context->device.memory().allocate(bytesize, MemoryKind::managed,
                                                       context->owner, uint8_t(flags));
  if (!address) return CUDA_ERROR_OUT_OF_MEMORY;
  *dptr = address;
  return CUDA_SUCCESS;
}

CUresult cuMemAdvise(CUdeviceptr devPtr, size_t count, CUmem_advise advice,
                     CUmemLocation location) {
  if (!is_location_type(location.type)) return CUDA_ERROR_INVALID_VALUE;
  Context* context;
  if (CUresult result = current_usable(&context)) return result;
  if (advice < CU_MEM_ADVISE_SET_READ_MOSTLY || advice > CU_MEM_ADVISE_UNSET_ACCESSED_BY)
    return CUDA_ERROR_INVALID_VALUE;
  uint64_t block;
  if (CUresult result = check_managed(devPtr, count, &block)) return result;
  if (CUresult result = check_advised(advice, location)) return result;
  std::lock_guard lock(book().mutex);
  book().by_block[block].change(devPtr, count, [&](Advice& now) { apply(advice, location, now); });
  return CUDA_SUCCESS;
}

CUresult cuMemPrefetchAsync(CUdeviceptr devPtr, size_t count, CUmemLocation location,
                            unsigned int flags, CUstream hStream) {
  if (flags || !is_location_type(location.type)) return CUDA_ERROR_INVALID_VALUE;
  ResolvedStream on;
  if (CUresult result = resolve_stream(hStream, &on)) return result;
  uint64_t block;
  if (CUresult result = check_managed(devPtr, count, &block)) return result;
  if (CUresult result = check_location(location)) return result;
  std::lock_guard lock(book().mutex);
  book().by_block[block].change(devPtr, count, [&](Advice& now) { now.last_prefetch = location; });
  return CUDA_SUCCESS;
}

CUresult cuMemRangeGetAttribute(void* data, size_t dataSize, CUmem_range_attribute attribute,
                                CUdeviceptr devPtr, size_t count) {
  Context* context;
  if (CUresult result = current_usable(&context)) return result;
  uint64_t block;
  if (CUresult result = check_managed(devPtr, count, &block)) return result;
  std::lock_guard lock(book().mutex);
  return read_range_attribute(data, dataSize, attribute,
                              book().by_block[block].common(devPtr, count));
}

CUresult cuMemRangeGetAttributes(void** data, size_t* dataSizes, CUmem_range_attribute* attributes,
                                 size_t numAttributes, CUdeviceptr devPtr, size_t count) {
  Context* context;
  if (CUresult result = current_usable(&context)) return result;
  if (!data || !dataSizes || !attributes || !numAttributes) return CUDA_ERROR_INVALID_VALUE;
  for (size_t i = 0; i < numAttributes; ++i) {
    CUresult result = cuMemRangeGetAttribute(data[i], dataSizes[i], attributes[i], devPtr, count);
    if (result != CUDA_SUCCESS) return result;
  }
  return CUDA_SUCCESS;
}

}  // namespace limen::cpu
