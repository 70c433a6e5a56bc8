// The legacy default stream's implicit ordering: its work waits for all blocking streams, and they
// wait for it. Non-blocking streams stand apart. source: CUDA Driver API 13.0, "Stream
// synchronization behavior". Thread rule: see the header.
#include "drivers/cpu/stream/order.h"

#include "drivers/cpu/context.h"
#include "drivers/cpu/graph/capture.h"
#include "drivers/cpu/green.h"

namespace limen::cpu {

namespace {

CUresult find_stream(CUstream handle, ResolvedStream* out) {
  auto bits = reinterpret_cast<uintptr_t>(handle);
  if (bits > 2) {
    StreamHandle* found = driver().streams.resolve(handle);
    if (!found)
      return driver().streams.went_with_owner(handle) ? CUDA_ERROR_CONTEXT_IS_DESTROYED
                                                      : CUDA_ERROR_INVALID_HANDLE;
    if (found->green && !driver().greens.resolve(found->green))
      return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    *out = {found->stream.get(), found->context, found, nullptr};
    return CUDA_SUCCESS;
  }
  Context* context;
  if (CUresult result = current(&context)) return result;
  GreenContext* green;
  if (CUresult result = current_green(&green)) return result;
  if (green) {
    // source: CUDA Driver API 13.0, cuStreamGetCtx_v2: no per-thread stream in green contexts.
    if (bits > 1) return CUDA_ERROR_INVALID_HANDLE;
    *out = {green->default_stream->stream.get(), context, green->default_stream, nullptr};
    return CUDA_SUCCESS;
  }
  if (bits <= 1) {
    *out = {context->legacy.get(), context, nullptr, nullptr};
    return CUDA_SUCCESS;
  }
  StreamHandle* own = per_thread_stream(*context);
  if (!own) return CUDA_ERROR_OUT_OF_MEMORY;
  *out = {own->stream.get(), context, own, nullptr};
  return CUDA_SUCCESS;
}

CUresult check_captures(ResolvedStream* out, UnderCapture under) {
  if (!driver().captures.load(std::memory_order_relaxed)) return CUDA_SUCCESS;
  return meet_captures(out, under);
}

}  // namespace

CUresult resolve_stream_any(CUstream handle, ResolvedStream* out, UnderCapture under) {
  if (HostFunctionScope::entered()) return CUDA_ERROR_NOT_PERMITTED;
  if (CUresult result = find_stream(handle, out)) return result;
  return check_captures(out, under);
}

CUresult resolve_stream(CUstream handle, ResolvedStream* out, UnderCapture under) {
  if (HostFunctionScope::entered()) return CUDA_ERROR_NOT_PERMITTED;
  return resolve_asked_stream(handle, out, under);
}

CUresult resolve_asked_stream(CUstream handle, ResolvedStream* out, UnderCapture under) {
  if (CUresult result = find_stream(handle, out)) return result;
  if (CUresult result = out->context->sticky()) return result;
  return check_captures(out, under);
}

void before_work(Context& context, Stream& stream) {
  if (!context.busy()) return;
  stream.wait_for_room(context.wait_policy());
  switch (stream.kind()) {
    case Stream::Kind::non_blocking:
      return;
    case Stream::Kind::blocking:
      if (!context.legacy->idle()) stream.wait_for(context.legacy->tail());
      return;
    case Stream::Kind::legacy:
      break;
  }
  for (auto& other : context.list_streams())
    if (other->kind() == Stream::Kind::blocking && !other->idle()) stream.wait_for(other->tail());
}

bool nothing_before(Context& context, Stream& stream) {
  if (!context.busy()) return true;
  if (!stream.idle()) return false;
  if (stream.kind() == Stream::Kind::non_blocking) return true;
  if (stream.kind() == Stream::Kind::blocking) return context.legacy->idle();
  for (auto& other : context.list_streams())
    if (other->kind() == Stream::Kind::blocking && !other->idle()) return false;
  return true;
}

void retire_stream(StreamHandle* handle) {
  leave_capture(handle);
  retire_own_stream(handle);
}

void retire_own_stream(StreamHandle* handle) {
  Context& context = *handle->context;
  if (!driver().streams.retire(handle)) return;
  std::shared_ptr<Stream> stream = handle->stream;
  {
    std::lock_guard lock(context.mutex);
    context.stream_handles.erase(handle);
    auto drop = [&](const std::shared_ptr<Stream>& one) {
      // Streams destroyed earlier stay listed while busy: a synchronisation must still wait for
      // them.
      return one->idle() && (one == stream || one.use_count() == 1);
    };
    std::erase_if(context.streams, drop);
  }
  driver().streams.destroy(handle);
}

}  // namespace limen::cpu
