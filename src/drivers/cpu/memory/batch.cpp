// Calls that take many operations at once: 3D copies, prefetches and discards of managed memory.
// Each is its single call, in stream order; what a batch adds is its checks. Thread rule: any
// thread.
#include <sys/mman.h>
#include <unistd.h>

#include "abi/cpu_api.h"
#include "drivers/cpu/context.h"
#include "drivers/cpu/memory/array.h"
#include "drivers/cpu/memory/pointer.h"
#include "drivers/cpu/stream/order.h"

namespace limen::cpu {

namespace {

/// The legacy stream is refused first. measured H200, driver 580.x, for cuMemcpyBatchAsync
bool is_legacy(CUstream stream) { return reinterpret_cast<uintptr_t>(stream) <= 1; }

/// Bytes of the elements that extents, offsets and lengths of an operation count in; 0: they
/// differ.
uint64_t element_bytes(const CUDA_MEMCPY3D_BATCH_OP& op) {
  uint64_t bytes = 0;
  for (const CUmemcpy3DOperand* side : {&op.src, &op.dst}) {
    if (side->type != CU_MEMCPY_OPERAND_TYPE_ARRAY) continue;
    const Array* array = texels_of(side->op.array.array);
    if (!array) continue;
    if (bytes && bytes != array->texels.bytes()) return 0;
    bytes = array->texels.bytes();
  }
  return bytes ? bytes : 1;
}

/// One side of a 3D copy as cuMemcpy3D has it.
struct Side {
  CUmemorytype type = CU_MEMORYTYPE_UNIFIED;
  CUdeviceptr address = 0;
  CUarray array = nullptr;
  size_t x = 0, y = 0, z = 0, pitch = 0, height = 0;
};

CUresult read_side(const CUmemcpy3DOperand& from, const CUextent3D& extent, uint64_t element,
                   Side* out) {
  if (from.type == CU_MEMCPY_OPERAND_TYPE_ARRAY) {
    if (!texels_of(from.op.array.array)) return CUDA_ERROR_INVALID_VALUE;
    out->type = CU_MEMORYTYPE_ARRAY;
    out->array = from.op.array.array;
    out->x = from.op.array.offset.x * element;
    out->y = from.op.array.offset.y;
    out->z = from.op.array.offset.z;
    return CUDA_SUCCESS;
  }
  const auto& at = from.op.ptr;
  if (from.type != CU_MEMCPY_OPERAND_TYPE_POINTER || !at.ptr ||
      (at.rowLength && at.rowLength < extent.width) ||
      (at.layerHeight && at.layerHeight < extent.height))
    return CUDA_ERROR_INVALID_VALUE;
  out->address = at.ptr;
  out->pitch = (at.rowLength ? at.rowLength : extent.width) * element;
  out->height = at.layerHeight ? at.layerHeight : extent.height;
  return CUDA_SUCCESS;
}

CUresult read_operation(const CUDA_MEMCPY3D_BATCH_OP& op, CUDA_MEMCPY3D* copy) {
  const bool ordered = op.srcAccessOrder >= CU_MEMCPY_SRC_ACCESS_ORDER_STREAM &&
                       op.srcAccessOrder <= CU_MEMCPY_SRC_ACCESS_ORDER_ANY;
  if (!ordered || (op.flags & ~unsigned(CU_MEMCPY_FLAG_PREFER_OVERLAP_WITH_COMPUTE)) ||
      !op.extent.width || !op.extent.height || !op.extent.depth)
    return CUDA_ERROR_INVALID_VALUE;
  const uint64_t element = element_bytes(op);
  if (!element) return CUDA_ERROR_INVALID_VALUE;
  Side src, dst;
  if (CUresult result = read_side(op.src, op.extent, element, &src)) return result;
  if (CUresult result = read_side(op.dst, op.extent, element, &dst)) return result;
  *copy = {};
  copy->srcMemoryType = src.type, copy->dstMemoryType = dst.type;
  copy->srcDevice = src.address, copy->dstDevice = dst.address;
  copy->srcArray = src.array, copy->dstArray = dst.array;
  copy->srcXInBytes = src.x, copy->srcY = src.y, copy->srcZ = src.z;
  copy->dstXInBytes = dst.x, copy->dstY = dst.y, copy->dstZ = dst.z;
  copy->srcPitch = src.pitch, copy->srcHeight = src.height;
  copy->dstPitch = dst.pitch, copy->dstHeight = dst.height;
  copy->WidthInBytes = op.extent.width * element;
  copy->Height = op.extent.height;
  copy->Depth = op.extent.depth;
  return CUDA_SUCCESS;
}

CUresult check_managed_range(CUdeviceptr address, size_t bytes) {
  PointerInfo info;
  if (!address || !bytes || !classify(address, &info)) return CUDA_ERROR_INVALID_VALUE;
  if (info.memory == Memory::pageable) return CUDA_SUCCESS;  // devices reach it, too
  const bool inside = bytes <= info.block.bytes - (address - info.block.base);
  return info.memory == Memory::managed && inside ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/// Which location belongs to each range. errors: CUDA_ERROR_INVALID_VALUE.
CUresult spread(const CUmemLocation* locations, const size_t* indices, size_t location_count,
                size_t count, std::vector<CUmemLocation>* out) {
  if (!locations || !indices || !location_count || location_count > count || indices[0] != 0)
    return CUDA_ERROR_INVALID_VALUE;
  for (size_t i = 1; i < location_count; ++i)
    if (indices[i] <= indices[i - 1] || indices[i] >= count) return CUDA_ERROR_INVALID_VALUE;
  for (size_t i = 0, at = 0; i < count; ++i) {
    if (at + 1 < location_count && indices[at + 1] == i) ++at;
    out->push_back(locations[at]);
  }
  return CUDA_SUCCESS;
}

CUresult check_ranges(const CUdeviceptr* dptrs, const size_t* sizes, size_t count,
                      unsigned long long flags, CUstream stream, ResolvedStream* on) {
  // The stream comes before the arguments, the legacy one before all. measured H200, driver 580.x
  if (is_legacy(stream)) return CUDA_ERROR_INVALID_VALUE;
  if (CUresult result = resolve_stream(stream, on)) return result;
  if (!dptrs || !sizes || !count || flags) return CUDA_ERROR_INVALID_VALUE;
  for (size_t i = 0; i < count; ++i)
    if (CUresult result = check_managed_range(dptrs[i], sizes[i])) return result;
  return CUDA_SUCCESS;
}

/// Gives the whole pages of a driver's managed range back; they read as zeros until written.
void discard(const ResolvedStream& on, CUdeviceptr address, size_t bytes) {
  if (!driver().space.contains(address)) return;  // host memory stays the host's
  const auto page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  const uint64_t first = (address + page - 1) / page * page, end = (address + bytes) / page * page;
  if (end <= first) return;
  before_work(*on.context, *on.stream);
  on.stream->task(
      [first, end] { madvise(reinterpret_cast<void*>(first), end - first, MADV_DONTNEED); }, true);
}

}  // namespace

CUresult cuMemcpy3DBatchAsync(size_t numOps, CUDA_MEMCPY3D_BATCH_OP* opList,
                              unsigned long long flags, CUstream hStream) {
  if (is_legacy(hStream) || !numOps || !opList || flags) return CUDA_ERROR_INVALID_VALUE;
  ResolvedStream on;
  if (CUresult result = resolve_stream(hStream, &on, UnderCapture::record)) return result;
  std::vector<CUDA_MEMCPY3D> copies(numOps);
  bool during_call = false;
  for (size_t i = 0; i < numOps; ++i) {
    if (CUresult result = read_operation(opList[i], &copies[i])) return result;
    during_call |= opList[i].srcAccessOrder == CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL;
  }
  for (const CUDA_MEMCPY3D& copy : copies)
    if (CUresult result = cuMemcpy3DAsync(&copy, hStream)) return result;
  return during_call ? cuStreamSynchronize(hStream) : CUDA_SUCCESS;
}

CUresult cuMemPrefetchBatchAsync(CUdeviceptr* dptrs, size_t* sizes, size_t count,
                                 CUmemLocation* prefetchLocs, size_t* prefetchLocIdxs,
                                 size_t numPrefetchLocs, unsigned long long flags,
                                 CUstream hStream) {
  ResolvedStream on;
  if (CUresult result = check_ranges(dptrs, sizes, count, flags, hStream, &on)) return result;
  std::vector<CUmemLocation> places;
  if (CUresult result = spread(prefetchLocs, prefetchLocIdxs, numPrefetchLocs, count, &places))
    return result;
  for (size_t i = 0; i < count; ++i)
    if (CUresult result = cuMemPrefetchAsync(dptrs[i], sizes[i], places[i], 0, hStream))
      return result;
  return CUDA_SUCCESS;
}

CUresult cuMemDiscardBatchAsync(CUdeviceptr* dptrs, size_t* sizes, size_t count,
                                unsigned long long flags, CUstream hStream) {
  ResolvedStream on;
  if (CUresult result = check_ranges(dptrs, sizes, count, flags, hStream, &on)) return result;
  for (size_t i = 0; i < count; ++i) discard(on, dptrs[i], sizes[i]);
  return CUDA_SUCCESS;
}

CUresult cuMemDiscardAndPrefetchBatchAsync(CUdeviceptr* dptrs, size_t* sizes, size_t count,
                                           CUmemLocation* prefetchLocs, size_t* prefetchLocIdxs,
                                           size_t numPrefetchLocs, unsigned long long flags,
                                           CUstream hStream) {
  ResolvedStream on;
  if (CUresult result = check_ranges(dptrs, sizes, count, flags, hStream, &on)) return result;
  std::vector<CUmemLocation> places;
  if (CUresult result = spread(prefetchLocs, prefetchLocIdxs, numPrefetchLocs, count, &places))
    return result;
  for (size_t i = 0; i < count; ++i) {
    discard(on, dptrs[i], sizes[i]);
    if (CUresult result = cuMemPrefetchAsync(dptrs[i], sizes[i], places[i], 0, hStream))
      return result;
  }
  return CUDA_SUCCESS;
}

}  // namespace limen::cpu
