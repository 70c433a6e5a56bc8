// The cuMemcpy* and cuMemset* calls, on linear memory and CUDA arrays: checks, ordering, host
// synchronisation. What a call waits for follows NVIDIA's table "API synchronization
// behavior" (CUDA Driver API 13.0). Thread rule: any thread.
#include <algorithm>
#include <cstring>
#include <vector>

#include "abi/cpu_api.h"
#include "drivers/cpu/context.h"
#include "drivers/cpu/graph/capture.h"
#include "drivers/cpu/memory/array.h"
#include "drivers/cpu/memory/copy.h"
#include "drivers/cpu/memory/pointer.h"
#include "drivers/cpu/memory/pool.h"
#include "drivers/cpu/memory/transfer.h"
#include "drivers/cpu/stream/order.h"

namespace limen::cpu {

namespace {

enum class Wait : uint8_t { host_async, host_sync };

/// The stream of a copy or fill. Only those that the host does not wait for can be captured.
CUresult resolve_for(Wait wait, CUstream stream, ResolvedStream* on) {
  if (wait == Wait::host_async) return resolve_stream(stream, on, UnderCapture::record);
  if (CUresult result = resolve_stream(stream, on)) return result;
  return refuse_unsafe_call();
}

/// How an operand may be used after the call has returned.
struct Operands {
  PointerInfo dst, src;
  bool pageable() const { return dst.memory == Memory::pageable || src.memory == Memory::pageable; }
  bool touches_host() const { return dst.memory != Memory::device || src.memory != Memory::device; }
};

/// Waits until the stream has done everything that precedes a new operation.
void drain(const ResolvedStream& on) {
  if (nothing_before(*on.context, *on.stream)) return;
  std::shared_ptr<Stream> keep = on.stream->shared_from_this();
  before_work(*on.context, *on.stream);
  uint64_t seq = on.stream->task([] {}, true);
  on.stream->wait(seq, on.context->wait_policy());
}

template <typename Job>
CUresult run_now(const ResolvedStream& on, const Job& job) {
  drain(on);
  if (CUresult result = on.context->sticky()) return result;
  job.run(driver().pool);
  on.context->print.flush();
  return CUDA_SUCCESS;
}

template <typename Job>
CUresult run_in_order(const ResolvedStream& on, const Job& job) {
  bool quick = job.bytes() <= quick_transfer_bytes;
  if (quick && nothing_before(*on.context, *on.stream)) {
    job.run(nullptr);
    return CUDA_SUCCESS;
  }
  before_work(*on.context, *on.stream);
  engine::Pool* helpers = driver().pool;
  on.stream->task([job, helpers] { job.run(helpers); }, quick);
  return CUDA_SUCCESS;
}

CUresult run_copy(const ResolvedStream& on, Transfer job, const Operands& with, Wait wait) {
  if (wait == Wait::host_sync && with.touches_host()) return run_now(on, job);
  if (!with.pageable()) return run_in_order(on, job);
  // From pageable memory the source may be reused once the call returns: small copies are staged,
  // the rest is done before returning. To pageable memory the call returns when the data is there.
  bool to_host = with.dst.memory == Memory::pageable;
  if (to_host || job.height * job.depth != 1 || job.bytes() > quick_transfer_bytes ||
      nothing_before(*on.context, *on.stream))
    return run_now(on, job);
  const auto* source = reinterpret_cast<const uint8_t*>(job.src);
  auto staged = std::make_shared<std::vector<uint8_t>>(source, source + job.width);
  before_work(*on.context, *on.stream);
  on.stream->task(
      [job, staged]() mutable {
        job.src = reinterpret_cast<uint64_t>(staged->data());
        job.run(nullptr);
      },
      true);
  return CUDA_SUCCESS;
}

enum class Side : uint8_t { any, device };  ///< any: also plain host memory

/// One operand of a 2D or 3D copy.
struct Pitched {
  uint64_t base = 0;
  Side side = Side::any;
  Use use = Use::read;
  uint64_t x = 0, y = 0, z = 0, pitch = 0, height = 0;
  const Array* array = nullptr;
};

/// One side of a copy, as the node of a capture says it.
template <typename Type, typename Host, typename Device, typename ArrayHandle>
void describe_side(const Pitched& side, const PointerInfo& info, Type* type, Host* host,
                   Device* device, ArrayHandle* array) {
  if (side.array) {
    *type = CU_MEMORYTYPE_ARRAY;
    *array = reinterpret_cast<CUarray>(const_cast<Array*>(side.array));
  } else if (info.memory == Memory::device || info.memory == Memory::managed) {
    *type = CU_MEMORYTYPE_DEVICE;
    *device = side.base;
  } else {
    *type = CU_MEMORYTYPE_HOST;
    *host = reinterpret_cast<void*>(side.base);
  }
}

CUDA_MEMCPY3D describe(const Pitched& dst, const PointerInfo& dst_info, const Pitched& src,
                       const PointerInfo& src_info, uint64_t width, uint64_t height,
                       uint64_t depth) {
  CUDA_MEMCPY3D copy{};
  describe_side(dst, dst_info, &copy.dstMemoryType, &copy.dstHost, &copy.dstDevice, &copy.dstArray);
  describe_side(src, src_info, &copy.srcMemoryType, &copy.srcHost, &copy.srcDevice, &copy.srcArray);
  copy.dstXInBytes = dst.x, copy.dstY = dst.y, copy.dstZ = dst.z;
  copy.dstPitch = dst.pitch, copy.dstHeight = dst.height;
  copy.srcXInBytes = src.x, copy.srcY = src.y, copy.srcZ = src.z;
  copy.srcPitch = src.pitch, copy.srcHeight = src.height;
  copy.WidthInBytes = width, copy.Height = height, copy.Depth = depth;
  return copy;
}

/// Not asked by peer copies, which name both devices.
enum class Reach { by_pools, anywhere };

CUresult copy_linear(uint64_t dst, Side dst_side, uint64_t src, Side src_side, uint64_t bytes,
                     CUstream stream, Wait wait, Reach reach = Reach::anywhere) {
  ResolvedStream on;
  if (CUresult result = resolve_for(wait, stream, &on)) return result;
  if (bytes == 0) return CUDA_SUCCESS;
  Operands with;
  if (CUresult result = check_range(dst, bytes, dst_side == Side::device, Use::write, &with.dst))
    return result;
  if (CUresult result = check_range(src, bytes, src_side == Side::device, Use::read, &with.src))
    return result;
  // source: cuda.core 0.5.1, test_memory_peer_access, which expects 1 of NVIDIA's driver.
  if (reach == Reach::by_pools && driver().devices.size() > 1) {
    const int device = on.context->device.ordinal();
    if (!pool_allows(dst, device, true) || !pool_allows(src, device, false))
      return CUDA_ERROR_INVALID_VALUE;
  }
  // A host argument may be device memory: unified addressing (measured H200, driver 580.x).
  Transfer job;
  job.dst = dst;
  job.src = src;
  job.width = bytes;
  if (on.capture) {
    Pitched to, from;
    to.base = dst, from.base = src;
    return capture_copy(on, describe(to, with.dst, from, with.src, bytes, 1, 1));
  }
  return run_copy(on, job, with, wait);
}

uint64_t address_of(const void* pointer) { return reinterpret_cast<uint64_t>(pointer); }

CUresult pitched_operand(CUmemorytype type, const void* host, CUdeviceptr device, CUarray array,
                         Pitched* out) {
  switch (type) {
    case CU_MEMORYTYPE_HOST:
      out->base = address_of(host);
      out->side = Side::any;
      break;
    case CU_MEMORYTYPE_DEVICE:
      out->base = device;
      out->side = Side::device;
      break;
    case CU_MEMORYTYPE_UNIFIED:
      out->base = device;
      out->side = Side::any;
      break;
    case CU_MEMORYTYPE_ARRAY:
      out->array = texels_of(array);
      if (!out->array) return CUDA_ERROR_INVALID_VALUE;  // measured H200, driver 580.x
      break;
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
  return CUDA_SUCCESS;
}

/// The same for an array, whose own pitches count. Bytes need not be whole texels. measured H200,
/// driver 580.x
CUresult place_in_array(Pitched& side, uint64_t width, uint64_t height, uint64_t depth,
                        uint64_t* first, PointerInfo* info) {
  const engine::Image& image = side.array->image;
  auto inside = [](uint64_t at, uint64_t count, uint64_t size) {
    return at <= size && count <= size - at;
  };
  if (!inside(side.x, width, side.array->row_bytes()) || !inside(side.y, height, image.height) ||
      !inside(side.z, depth, image.depth))
    return CUDA_ERROR_INVALID_VALUE;
  side.pitch = image.pitch;
  side.height = image.height;
  if (image.tiles) {
    *info = {};
    info->memory = Memory::device;
    return CUDA_SUCCESS;  // see take_tiles
  }
  *first = image.base + side.z * image.slice + side.y * image.pitch + side.x;
  *info = {};
  info->memory = Memory::device;
  return CUDA_SUCCESS;
}

/// Bytes from the first to the last of a box, whose sides the caller made up. False: more than
/// addresses can say.
bool extent_of(uint64_t width, uint64_t height, uint64_t pitch, uint64_t depth, uint64_t slice,
               uint64_t* bytes) {
  uint64_t rows = 0, slices = 0;
  return !__builtin_mul_overflow(height - 1, pitch, &rows) &&
         !__builtin_mul_overflow(depth - 1, slice, &slices) &&
         !__builtin_add_overflow(rows, slices, bytes) &&
         !__builtin_add_overflow(*bytes, width, bytes);
}

/// Fills in pitches, checks the whole box against its allocation and returns its first address.
CUresult place_box(Pitched& side, uint64_t width, uint64_t height, uint64_t depth, uint64_t* first,
                   PointerInfo* info) {
  if (side.array) return place_in_array(side, width, height, depth, first, info);
  uint64_t row, rows, slice, offset, bytes;
  if (__builtin_add_overflow(width, side.x, &row) || __builtin_add_overflow(height, side.y, &rows))
    return CUDA_ERROR_INVALID_VALUE;
  if (side.pitch == 0) side.pitch = row;
  if (side.height == 0) side.height = rows;
  if (height > 1 && side.pitch < row) return CUDA_ERROR_INVALID_VALUE;
  if (depth > 1 && side.height < rows) return CUDA_ERROR_INVALID_VALUE;
  const bool one_slice = depth == 1 && side.z == 0;
  if (__builtin_mul_overflow(side.pitch, side.height, &slice) && !one_slice)
    return CUDA_ERROR_INVALID_VALUE;
  if (!extent_of(side.x, side.y + 1, side.pitch, side.z + 1, slice, &offset) ||
      !extent_of(width, height, side.pitch, depth, slice, &bytes) ||
      __builtin_add_overflow(side.base, offset, first))
    return CUDA_ERROR_INVALID_VALUE;
  return check_range(*first, bytes, side.side == Side::device, side.use, info);
}

/// Tells a job that its side is a sparse array's.
void take_tiles(const Pitched& side, const engine::TileMap** tiles, uint64_t* x, uint64_t* y,
                uint64_t* z) {
  if (!side.array || !side.array->image.tiles) return;
  *tiles = side.array->image.tiles;
  *x = side.x, *y = side.y, *z = side.array->image.first_slice + side.z;
}

/// The job of a copy between two boxes.
CUresult plan_box(Pitched dst, Pitched src, uint64_t width, uint64_t height, uint64_t depth,
                  CopyPlan* out) {
  Transfer& job = out->job;
  job.width = width;
  job.height = height;
  job.depth = depth;
  dst.use = Use::write;
  if (CUresult result = place_box(dst, width, height, depth, &job.dst, &out->dst)) return result;
  if (CUresult result = place_box(src, width, height, depth, &job.src, &out->src)) return result;
  job.dst_pitch = dst.pitch;
  job.src_pitch = src.pitch;
  job.dst_slice = dst.pitch * dst.height;
  job.src_slice = src.pitch * src.height;
  take_tiles(dst, &job.dst_tiles, &job.dst, &job.dst_pitch, &job.dst_slice);
  take_tiles(src, &job.src_tiles, &job.src, &job.src_pitch, &job.src_slice);
  return CUDA_SUCCESS;
}

CUresult copy_box(const Pitched& dst, const Pitched& src, uint64_t width, uint64_t height,
                  uint64_t depth, const ResolvedStream& on, Wait wait) {
  if (!width || !height || !depth) return CUDA_SUCCESS;
  CopyPlan plan;
  if (CUresult result = plan_box(dst, src, width, height, depth, &plan)) return result;
  if (on.capture)
    return capture_copy(on, describe(dst, plan.dst, src, plan.src, width, height, depth));
  return run_copy(on, plan.job, {plan.dst, plan.src}, wait);
}

CUresult copy_2d(const CUDA_MEMCPY2D* copy, CUstream stream, Wait wait) {
  ResolvedStream on;
  if (CUresult result = resolve_for(wait, stream, &on)) return result;
  if (!copy) return CUDA_ERROR_INVALID_VALUE;
  constexpr uint64_t most_pitch = 0x7fffffff;
  Pitched dst, src;
  if (CUresult result = pitched_operand(copy->dstMemoryType, copy->dstHost, copy->dstDevice,
                                        copy->dstArray, &dst))
    return result;
  if (CUresult result = pitched_operand(copy->srcMemoryType, copy->srcHost, copy->srcDevice,
                                        copy->srcArray, &src))
    return result;
  if (copy->dstPitch > most_pitch || copy->srcPitch > most_pitch) return CUDA_ERROR_INVALID_VALUE;
  dst.x = copy->dstXInBytes, dst.y = copy->dstY, dst.pitch = copy->dstPitch;
  src.x = copy->srcXInBytes, src.y = copy->srcY, src.pitch = copy->srcPitch;
  return copy_box(dst, src, copy->WidthInBytes, copy->Height, 1, on, wait);
}

template <typename Copy>
CUresult read_3d(const Copy& copy, Pitched* dst, Pitched* src) {
  if (CUresult result =
          pitched_operand(copy.dstMemoryType, copy.dstHost, copy.dstDevice, copy.dstArray, dst))
    return result;
  if (CUresult result =
          pitched_operand(copy.srcMemoryType, copy.srcHost, copy.srcDevice, copy.srcArray, src))
    return result;
  // Linear memory has no levels, and nobody looks. measured H200, driver 580.x
  if ((dst->array && copy.dstLOD) || (src->array && copy.srcLOD)) return CUDA_ERROR_INVALID_VALUE;
  dst->x = copy.dstXInBytes, dst->y = copy.dstY, dst->z = copy.dstZ;
  dst->pitch = copy.dstPitch, dst->height = copy.dstHeight;
  src->x = copy.srcXInBytes, src->y = copy.srcY, src->z = copy.srcZ;
  src->pitch = copy.srcPitch, src->height = copy.srcHeight;
  return CUDA_SUCCESS;
}

template <typename Copy>
CUresult copy_3d(const Copy* copy, CUstream stream, Wait wait) {
  ResolvedStream on;
  if (CUresult result = resolve_for(wait, stream, &on)) return result;
  if (!copy) return CUDA_ERROR_INVALID_VALUE;
  Pitched dst, src;
  if (CUresult result = read_3d(*copy, &dst, &src)) return result;
  return copy_box(dst, src, copy->WidthInBytes, copy->Height, copy->Depth, on, wait);
}

/// A peer copy names the contexts of its linear sides; null means the current one.
/// source: CUDA Driver API 13.0, CUDA_MEMCPY3D_PEER.
CUresult copy_3d_peer(const CUDA_MEMCPY3D_PEER* copy, CUstream stream, Wait wait) {
  if (copy) {
    Context* context;
    if (copy->dstMemoryType != CU_MEMORYTYPE_ARRAY)
      if (CUresult result = context_of(copy->dstContext, &context)) return result;
    if (copy->srcMemoryType != CU_MEMORYTYPE_ARRAY)
      if (CUresult result = context_of(copy->srcContext, &context)) return result;
  }
  return copy_3d(copy, stream, wait);
}

/// Whether each copy of a batch has attributes that are some: entries in rising order from 0 on.
bool covers_batch(const CUmemcpyAttributes* attrs, const size_t* first, size_t entries,
                  size_t copies) {
  for (size_t i = 0; i < entries; ++i) {
    const bool rises = i == 0 ? first[0] == 0 : first[i] > first[i - 1];
    if (!rises || first[i] >= copies ||
        attrs[i].srcAccessOrder < CU_MEMCPY_SRC_ACCESS_ORDER_STREAM ||
        attrs[i].srcAccessOrder > CU_MEMCPY_SRC_ACCESS_ORDER_ANY)
      return false;
  }
  return true;
}

/// Linear memory as an operand of a copy in a row.
Pitched linear_operand(uint64_t address, Side side) {
  Pitched out;
  out.base = address;
  out.side = side;
  return out;
}

/// Bytes of an array's first row: the calls without a box are those of 1D arrays. measured H200,
/// driver 580.x: bytes that run on into the next row are refused
CUresult copy_array_linear(CUarray handle, uint64_t offset, uint64_t address, Side side,
                           bool to_array, uint64_t bytes, CUstream stream, Wait wait) {
  ResolvedStream on;
  if (CUresult result = resolve_for(wait, stream, &on)) return result;
  if (bytes == 0) return CUDA_SUCCESS;  // before the handle. measured H200, driver 580.x
  Pitched at, linear = linear_operand(address, side);
  at.array = texels_of(handle);
  if (!at.array) return CUDA_ERROR_INVALID_VALUE;
  at.x = offset;
  return to_array ? copy_box(at, linear, bytes, 1, 1, on, wait)
                  : copy_box(linear, at, bytes, 1, 1, on, wait);
}

CUresult copy_array_to_array(CUarray dst_handle, uint64_t dst_offset, CUarray src_handle,
                             uint64_t src_offset, uint64_t bytes, CUstream stream) {
  ResolvedStream on;
  if (CUresult result = resolve_for(Wait::host_sync, stream, &on)) return result;
  if (bytes == 0) return CUDA_SUCCESS;
  Pitched dst, src;
  dst.array = texels_of(dst_handle), src.array = texels_of(src_handle);
  if (!dst.array || !src.array) return CUDA_ERROR_INVALID_VALUE;
  dst.x = dst_offset, src.x = src_offset;
  return copy_box(dst, src, bytes, 1, 1, on, Wait::host_sync);
}

CUresult fill(CUdeviceptr dst, uint64_t pitch, uint32_t value, uint32_t element_bytes,
              uint64_t width, uint64_t height, CUstream stream, Wait wait) {
  ResolvedStream on;
  if (CUresult result = resolve_for(wait, stream, &on)) return result;
  Fill job;
  PointerInfo info;
  if (CUresult result = plan_fill({dst, pitch, value, element_bytes, width, height}, &job, &info))
    return result;
  if (!job.bytes()) return CUDA_SUCCESS;
  if (on.capture) return capture_fill(on, {dst, pitch, value, element_bytes, width, height});
  // Synchronous sets of device memory return before they are done, those of pinned memory do not.
  bool on_host = info.memory == Memory::host || info.memory == Memory::registered;
  if (wait == Wait::host_sync && on_host) return run_now(on, job);
  return run_in_order(on, job);
}

}  // namespace

CUresult plan_copy(const CUDA_MEMCPY3D& copy, CopyPlan* out) {
  Pitched dst, src;
  if (CUresult result = read_3d(copy, &dst, &src)) return result;
  if (!copy.WidthInBytes || !copy.Height || !copy.Depth) return CUDA_SUCCESS;
  return plan_box(dst, src, copy.WidthInBytes, copy.Height, copy.Depth, out);
}

CUresult plan_fill(const CUDA_MEMSET_NODE_PARAMS& fill, Fill* out, PointerInfo* info) {
  const auto [dst, pitch, value, element_bytes, width, height] = fill;
  if (dst % element_bytes || (height > 1 && pitch % element_bytes)) return CUDA_ERROR_INVALID_VALUE;
  if (!width || !height) return CUDA_SUCCESS;
  uint64_t row, bytes;
  if (__builtin_mul_overflow(width, uint64_t{element_bytes}, &row) || (height > 1 && pitch < row) ||
      !extent_of(row, height, pitch, 1, 0, &bytes))
    return CUDA_ERROR_INVALID_VALUE;
  if (CUresult result = check_range(dst, bytes, true, Use::write, info)) return result;
  *out = Fill{dst, width, height, pitch, value, element_bytes};
  return CUDA_SUCCESS;
}

CUresult cuMemcpy(CUdeviceptr dst, CUdeviceptr src, size_t ByteCount, CUstream stream) {
  return copy_linear(dst, Side::any, src, Side::any, ByteCount, stream, Wait::host_sync,
                     Reach::by_pools);
}

CUresult cuMemcpyAsync(CUdeviceptr dst, CUdeviceptr src, size_t ByteCount, CUstream hStream) {
  return copy_linear(dst, Side::any, src, Side::any, ByteCount, hStream, Wait::host_async,
                     Reach::by_pools);
}

CUresult cuMemcpyHtoD(CUdeviceptr dst, const void* src, size_t ByteCount, CUstream stream) {
  return copy_linear(dst, Side::device, address_of(src), Side::any, ByteCount, stream,
                     Wait::host_sync);
}

CUresult cuMemcpyHtoDAsync(CUdeviceptr dst, const void* src, size_t ByteCount, CUstream hStream) {
  return copy_linear(dst, Side::device, address_of(src), Side::any, ByteCount, hStream,
                     Wait::host_async);
}

CUresult cuMemcpyDtoH(void* dst, CUdeviceptr src, size_t ByteCount, CUstream stream) {
  return copy_linear(address_of(dst), Side::any, src, Side::device, ByteCount, stream,
                     Wait::host_sync);
}

CUresult cuMemcpyDtoHAsync(void* dst, CUdeviceptr src, size_t ByteCount, CUstream hStream) {
  return copy_linear(address_of(dst), Side::any, src, Side::device, ByteCount, hStream,
                     Wait::host_async);
}

CUresult cuMemcpyDtoD(CUdeviceptr dst, CUdeviceptr src, size_t ByteCount, CUstream stream) {
  return copy_linear(dst, Side::device, src, Side::device, ByteCount, stream, Wait::host_sync,
                     Reach::by_pools);
}

CUresult cuMemcpyDtoDAsync(CUdeviceptr dst, CUdeviceptr src, size_t ByteCount, CUstream hStream) {
  return copy_linear(dst, Side::device, src, Side::device, ByteCount, hStream, Wait::host_async,
                     Reach::by_pools);
}

CUresult cuMemcpyPeer(CUdeviceptr dst, CUcontext dstContext, CUdeviceptr src, CUcontext srcContext,
                      size_t ByteCount, CUstream stream) {
  Context* context;
  if (CUresult result = context_of(dstContext, &context)) return result;
  if (CUresult result = context_of(srcContext, &context)) return result;
  // The source's work comes first as well: a peer copy is ordered after both contexts.
  if (context->busy()) context->synchronize();
  return copy_linear(dst, Side::device, src, Side::device, ByteCount, stream, Wait::host_async);
}

CUresult cuMemcpyPeerAsync(CUdeviceptr dst, CUcontext dstContext, CUdeviceptr src,
                           CUcontext srcContext, size_t ByteCount, CUstream hStream) {
  Context* context;
  if (CUresult result = context_of(dstContext, &context)) return result;
  if (CUresult result = context_of(srcContext, &context)) return result;
  return copy_linear(dst, Side::device, src, Side::device, ByteCount, hStream, Wait::host_async);
}

CUresult cuMemcpyBatchAsync(CUdeviceptr* dsts, CUdeviceptr* srcs, size_t* sizes, size_t count,
                            CUmemcpyAttributes* attrs, size_t* attrsIdxs, size_t numAttrs,
                            CUstream hStream) {
  // The legacy stream is refused first. measured H200, driver 580.x
  if (reinterpret_cast<uintptr_t>(hStream) <= 1) return CUDA_ERROR_INVALID_VALUE;
  if (!dsts || !srcs || !sizes || !count || !attrs || !attrsIdxs || !numAttrs || numAttrs > count)
    return CUDA_ERROR_INVALID_VALUE;
  if (!covers_batch(attrs, attrsIdxs, numAttrs, count)) return CUDA_ERROR_INVALID_VALUE;
  for (size_t i = 0; i < count; ++i)
    if (CUresult result = cuMemcpyAsync(dsts[i], srcs[i], sizes[i], hStream)) return result;
  const bool during_call = std::any_of(attrs, attrs + numAttrs, [](const auto& one) {
    return one.srcAccessOrder == CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL;
  });
  return during_call ? cuStreamSynchronize(hStream) : CUDA_SUCCESS;
}

CUresult cuMemcpyDtoA(CUarray dstArray, size_t dstOffset, CUdeviceptr srcDevice, size_t ByteCount,
                      CUstream stream) {
  return copy_array_linear(dstArray, dstOffset, srcDevice, Side::device, true, ByteCount, stream,
                           Wait::host_sync);
}

CUresult cuMemcpyAtoD(CUdeviceptr dstDevice, CUarray srcArray, size_t srcOffset, size_t ByteCount,
                      CUstream stream) {
  return copy_array_linear(srcArray, srcOffset, dstDevice, Side::device, false, ByteCount, stream,
                           Wait::host_sync);
}

CUresult cuMemcpyHtoA(CUarray dstArray, size_t dstOffset, const void* srcHost, size_t ByteCount,
                      CUstream stream) {
  return copy_array_linear(dstArray, dstOffset, address_of(srcHost), Side::any, true, ByteCount,
                           stream, Wait::host_sync);
}

CUresult cuMemcpyAtoH(void* dstHost, CUarray srcArray, size_t srcOffset, size_t ByteCount,
                      CUstream stream) {
  return copy_array_linear(srcArray, srcOffset, address_of(dstHost), Side::any, false, ByteCount,
                           stream, Wait::host_sync);
}

CUresult cuMemcpyHtoAAsync(CUarray dstArray, size_t dstOffset, const void* srcHost,
                           size_t ByteCount, CUstream hStream) {
  return copy_array_linear(dstArray, dstOffset, address_of(srcHost), Side::any, true, ByteCount,
                           hStream, Wait::host_async);
}

CUresult cuMemcpyAtoHAsync(void* dstHost, CUarray srcArray, size_t srcOffset, size_t ByteCount,
                           CUstream hStream) {
  return copy_array_linear(srcArray, srcOffset, address_of(dstHost), Side::any, false, ByteCount,
                           hStream, Wait::host_async);
}

CUresult cuMemcpyAtoA(CUarray dstArray, size_t dstOffset, CUarray srcArray, size_t srcOffset,
                      size_t ByteCount, CUstream stream) {
  return copy_array_to_array(dstArray, dstOffset, srcArray, srcOffset, ByteCount, stream);
}

CUresult cuMemcpy2D(const CUDA_MEMCPY2D* pCopy, CUstream stream) {
  return copy_2d(pCopy, stream, Wait::host_sync);
}

CUresult cuMemcpy2DUnaligned(const CUDA_MEMCPY2D* pCopy, CUstream stream) {
  return copy_2d(pCopy, stream, Wait::host_sync);
}

CUresult cuMemcpy2DAsync(const CUDA_MEMCPY2D* pCopy, CUstream hStream) {
  return copy_2d(pCopy, hStream, Wait::host_async);
}

CUresult cuMemcpy3D(const CUDA_MEMCPY3D* pCopy, CUstream stream) {
  return copy_3d(pCopy, stream, Wait::host_sync);
}

CUresult cuMemcpy3DAsync(const CUDA_MEMCPY3D* pCopy, CUstream hStream) {
  return copy_3d(pCopy, hStream, Wait::host_async);
}

CUresult cuMemcpy3DPeer(const CUDA_MEMCPY3D_PEER* pCopy, CUstream stream) {
  return copy_3d_peer(pCopy, stream, Wait::host_sync);
}

CUresult cuMemcpy3DPeerAsync(const CUDA_MEMCPY3D_PEER* pCopy, CUstream hStream) {
  return copy_3d_peer(pCopy, hStream, Wait::host_async);
}

CUresult cuMemsetD8(CUdeviceptr dst, unsigned char uc, size_t N, CUstream stream) {
  return fill(dst, 0, uc, 1, N, 1, stream, Wait::host_sync);
}

CUresult cuMemsetD16(CUdeviceptr dst, unsigned short us, size_t N, CUstream stream) {
  return fill(dst, 0, us, 2, N, 1, stream, Wait::host_sync);
}

CUresult cuMemsetD32(CUdeviceptr dst, unsigned int ui, size_t N, CUstream stream) {
  return fill(dst, 0, ui, 4, N, 1, stream, Wait::host_sync);
}

CUresult cuMemsetD8Async(CUdeviceptr dst, unsigned char uc, size_t N, CUstream hStream) {
  return fill(dst, 0, uc, 1, N, 1, hStream, Wait::host_async);
}

CUresult cuMemsetD16Async(CUdeviceptr dst, unsigned short us, size_t N, CUstream hStream) {
  return fill(dst, 0, us, 2, N, 1, hStream, Wait::host_async);
}

CUresult cuMemsetD32Async(CUdeviceptr dst, unsigned int ui, size_t N, CUstream hStream) {
  return fill(dst, 0, ui, 4, N, 1, hStream, Wait::host_async);
}

CUresult cuMemsetD2D8(CUdeviceptr dst, size_t dstPitch, unsigned char uc, size_t Width,
                      size_t Height, CUstream stream) {
  return fill(dst, dstPitch, uc, 1, Width, Height, stream, Wait::host_sync);
}

CUresult cuMemsetD2D16(CUdeviceptr dst, size_t dstPitch, unsigned short us, size_t Width,
                       size_t Height, CUstream stream) {
  return fill(dst, dstPitch, us, 2, Width, Height, stream, Wait::host_sync);
}

CUresult cuMemsetD2D32(CUdeviceptr dst, size_t dstPitch, unsigned int ui, size_t Width,
                       size_t Height, CUstream stream) {
  return fill(dst, dstPitch, ui, 4, Width, Height, stream, Wait::host_sync);
}

CUresult cuMemsetD2D8Async(CUdeviceptr dst, size_t dstPitch, unsigned char uc, size_t Width,
                           size_t Height, CUstream hStream) {
  return fill(dst, dstPitch, uc, 1, Width, Height, hStream, Wait::host_async);
}

CUresult cuMemsetD2D16Async(CUdeviceptr dst, size_t dstPitch, unsigned short us, size_t Width,
                            size_t Height, CUstream hStream) {
  return fill(dst, dstPitch, us, 2, Width, Height, hStream, Wait::host_async);
}

CUresult cuMemsetD2D32Async(CUdeviceptr dst, size_t dstPitch, unsigned int ui, size_t Width,
                            size_t Height, CUstream hStream) {
  return fill(dst, dstPitch, ui, 4, Width, Height, hStream, Wait::host_async);
}

}  // namespace limen::cpu
