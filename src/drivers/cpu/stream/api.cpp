// The cuStream* and cuEvent* calls and host functions on streams. The machinery is in stream.cpp
// and order.cpp. Invariant: a handle is looked up before it is touched, so a stale one is code 400.
// Thread rule: any thread.
#include <cmath>

#include "abi/cpu_api.h"
#include "drivers/cpu/context.h"
#include "drivers/cpu/stream/order.h"

namespace limen::cpu {

namespace {

CUresult resolve_event(CUevent handle, EventHandle** event) {
  *event = driver().events.resolve(handle);
  if (*event) return (*event)->context->sticky();
  // A context that has failed says so before a bad handle. measured H200, driver 580.x
  Context* context;
  CUresult sticky = current(&context) == CUDA_SUCCESS ? context->sticky() : CUDA_SUCCESS;
  return sticky ? sticky : CUDA_ERROR_INVALID_HANDLE;
}

bool is_default_handle(CUstream stream) { return reinterpret_cast<uintptr_t>(stream) <= 2; }

}  // namespace

CUresult cuStreamCreate(CUstream* phStream, unsigned int flags) {
  return cuStreamCreateWithPriority(phStream, flags, 0);
}

CUresult cuStreamCreateWithPriority(CUstream* phStream, unsigned int flags, int priority) {
  if (!phStream || flags > CU_STREAM_NON_BLOCKING) return CUDA_ERROR_INVALID_VALUE;
  Context* context;
  if (CUresult result = current_usable(&context)) return result;
  // Out of range is clamped, not refused. source: CUDA Driver API 13.0, cuStreamCreateWithPriority.
  priority = std::min(std::max(priority, greatest_priority), least_priority);
  auto kind = flags & CU_STREAM_NON_BLOCKING ? Stream::Kind::non_blocking : Stream::Kind::blocking;
  StreamHandle* handle = make_stream(*context, kind, priority, flags);
  if (!handle) return CUDA_ERROR_OUT_OF_MEMORY;
  *phStream = reinterpret_cast<CUstream>(handle);
  return CUDA_SUCCESS;
}

CUresult cuStreamDestroy(CUstream hStream) {
  if (is_default_handle(hStream)) return CUDA_ERROR_INVALID_HANDLE;
  StreamHandle* handle = driver().streams.resolve(hStream);
  if (!handle) return CUDA_ERROR_INVALID_HANDLE;
  CUresult sticky = handle->context->sticky();
  retire_stream(handle);
  return sticky;
}

CUresult cuStreamSynchronize(CUstream hStream) {
  ResolvedStream on;
  if (CUresult result = resolve_stream_any(hStream, &on)) return result;
  if (!nothing_before(*on.context, *on.stream)) {
    std::shared_ptr<Stream> keep = on.stream->shared_from_this();
    // An empty operation, so that the legacy stream also waits for what its rules say.
    uint64_t seq = 0;
    if (on.stream->kind() == Stream::Kind::legacy) {
      before_work(*on.context, *on.stream);
      seq = on.stream->task([] {}, true);
      on.stream->wait(seq, on.context->wait_policy());
    } else {
      on.stream->wait_all(on.context->wait_policy());
    }
  }
  on.context->print.flush();
  return on.context->sticky();
}

CUresult cuStreamQuery(CUstream hStream) {
  ResolvedStream on;
  if (CUresult result = resolve_stream(hStream, &on)) return result;
  bool done = on.stream->kind() == Stream::Kind::legacy ? nothing_before(*on.context, *on.stream)
                                                        : on.stream->idle();
  return done ? on.context->sticky() : CUDA_ERROR_NOT_READY;
}

CUresult cuStreamWaitEvent(CUstream hStream, CUevent hEvent, unsigned int flags) {
  if (flags > CU_EVENT_WAIT_EXTERNAL) return CUDA_ERROR_INVALID_VALUE;
  ResolvedStream on;
  if (CUresult result = resolve_stream(hStream, &on)) return result;
  EventHandle* event;
  if (CUresult result = resolve_event(hEvent, &event)) return result;
  StreamPoint point = event->state->latest();
  if (point.reached()) return CUDA_SUCCESS;
  before_work(*on.context, *on.stream);
  on.stream->wait_for(std::move(point));
  return CUDA_SUCCESS;
}

CUresult cuStreamGetFlags(CUstream hStream, unsigned int* flags) {
  if (!flags) return CUDA_ERROR_INVALID_VALUE;
  ResolvedStream on;
  if (CUresult result = resolve_stream(hStream, &on)) return result;
  *flags = on.handle ? on.handle->flags : unsigned(CU_STREAM_DEFAULT);
  return CUDA_SUCCESS;
}

CUresult cuStreamGetPriority(CUstream hStream, int* priority) {
  if (!priority) return CUDA_ERROR_INVALID_VALUE;
  ResolvedStream on;
  if (CUresult result = resolve_stream(hStream, &on)) return result;
  *priority = on.stream->priority();
  return CUDA_SUCCESS;
}

CUresult cuStreamGetId(CUstream hStream, unsigned long long* streamId) {
  if (!streamId) return CUDA_ERROR_INVALID_VALUE;
  ResolvedStream on;
  if (CUresult result = resolve_stream(hStream, &on)) return result;
  // The legacy stream's id is its context's first; ids of other streams never collide with it.
  *streamId = on.handle ? on.handle->id : (uint64_t{1} << 32) + on.context->owner;
  return CUDA_SUCCESS;
}

CUresult cuStreamGetCtx(CUstream hStream, CUcontext* pCtx, CUgreenCtx* pGreenCtx) {
  if (!pCtx) return CUDA_ERROR_INVALID_VALUE;
  ResolvedStream on;
  if (CUresult result = resolve_stream(hStream, &on)) return result;
  *pCtx = handle_of(on.context);
  if (pGreenCtx) *pGreenCtx = nullptr;
  return CUDA_SUCCESS;
}

CUresult cuStreamGetGreenCtx(CUstream hStream, CUgreenCtx* phCtx) {
  if (!phCtx) return CUDA_ERROR_INVALID_VALUE;
  ResolvedStream on;
  if (CUresult result = resolve_stream(hStream, &on)) return result;
  *phCtx = nullptr;
  return CUDA_SUCCESS;
}

CUresult cuStreamGetDevice(CUstream hStream, CUdevice* device) {
  if (!device) return CUDA_ERROR_INVALID_VALUE;
  ResolvedStream on;
  if (CUresult result = resolve_stream(hStream, &on)) return result;
  *device = on.context->device.ordinal();
  return CUDA_SUCCESS;
}

CUresult cuStreamIsCapturing(CUstream hStream, CUstreamCaptureStatus* captureStatus) {
  if (!captureStatus) return CUDA_ERROR_INVALID_VALUE;
  ResolvedStream on;
  if (CUresult result = resolve_stream(hStream, &on)) return result;
  *captureStatus = CU_STREAM_CAPTURE_STATUS_NONE;  // capture cannot begin: it is not built
  return CUDA_SUCCESS;
}

CUresult cuStreamGetCaptureInfo(CUstream hStream, CUstreamCaptureStatus* captureStatus_out,
                                cuuint64_t* id_out, CUgraph* graph_out,
                                const CUgraphNode** dependencies_out,
                                const CUgraphEdgeData** edgeData_out, size_t* numDependencies_out) {
  if (!captureStatus_out) return CUDA_ERROR_INVALID_VALUE;
  ResolvedStream on;
  if (CUresult result = resolve_stream(hStream, &on)) return result;
  *captureStatus_out = CU_STREAM_CAPTURE_STATUS_NONE;
  return CUDA_SUCCESS;
}

CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode* mode) {
  if (!mode || *mode < CU_STREAM_CAPTURE_MODE_GLOBAL || *mode > CU_STREAM_CAPTURE_MODE_RELAXED)
    return CUDA_ERROR_INVALID_VALUE;
  thread_local CUstreamCaptureMode now = CU_STREAM_CAPTURE_MODE_GLOBAL;
  std::swap(now, *mode);
  return CUDA_SUCCESS;
}

CUresult cuStreamAttachMemAsync(CUstream hStream, CUdeviceptr dptr, size_t length,
                                unsigned int flags) {
  ResolvedStream on;
  if (CUresult result = resolve_stream(hStream, &on)) return result;
  if (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST && flags != CU_MEM_ATTACH_SINGLE)
    return CUDA_ERROR_INVALID_VALUE;
  Allocator* memory = driver().allocator_of(dptr);
  Allocation block;
  bool managed = memory && memory->find(dptr, &block) && block.kind == MemoryKind::managed;
  // With pageable access any host pointer may be attached.
  if (!managed && driver().space.contains(dptr)) return CUDA_ERROR_INVALID_VALUE;
  if (managed && length && length != block.bytes) return CUDA_ERROR_INVALID_VALUE;
  return CUDA_SUCCESS;
}

/// partial: caching and synchronisation hints, priority to read; other attributes are refused
CUresult cuStreamSetAttribute(CUstream hStream, CUstreamAttrID attr,
                              const CUstreamAttrValue* value) {
  ResolvedStream on;
  if (CUresult result = resolve_stream(hStream, &on)) return result;
  if (!value) return CUDA_ERROR_INVALID_VALUE;
  switch (attr) {
    case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
      if (on.handle) on.handle->window = value->accessPolicyWindow;
      return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY:
      if (value->syncPolicy < CU_SYNC_POLICY_AUTO ||
          value->syncPolicy > CU_SYNC_POLICY_BLOCKING_SYNC)
        return CUDA_ERROR_INVALID_VALUE;
      if (on.handle) on.handle->sync_policy = value->syncPolicy;
      return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
      return CUDA_SUCCESS;  // one coherent memory
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}

/// partial: caching and synchronisation hints, priority; other attributes are refused
CUresult cuStreamGetAttribute(CUstream hStream, CUstreamAttrID attr, CUstreamAttrValue* value) {
  ResolvedStream on;
  if (CUresult result = resolve_stream(hStream, &on)) return result;
  if (!value) return CUDA_ERROR_INVALID_VALUE;
  switch (attr) {
    case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
      value->accessPolicyWindow = on.handle ? on.handle->window : CUaccessPolicyWindow{};
      return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY:
      value->syncPolicy = on.handle ? on.handle->sync_policy : CU_SYNC_POLICY_AUTO;
      return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_PRIORITY:
      value->priority = on.stream->priority();
      return CUDA_SUCCESS;
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}

CUresult cuStreamCopyAttributes(CUstream dst, CUstream src) {
  ResolvedStream to, from;
  if (CUresult result = resolve_stream(dst, &to)) return result;
  if (CUresult result = resolve_stream(src, &from)) return result;
  if (to.handle && from.handle) {
    to.handle->window = from.handle->window;
    to.handle->sync_policy = from.handle->sync_policy;
  }
  return CUDA_SUCCESS;
}

CUresult cuLaunchHostFunc(CUstream hStream, CUhostFn fn, void* userData) {
  if (!fn) return CUDA_ERROR_INVALID_VALUE;
  ResolvedStream on;
  if (CUresult result = resolve_stream(hStream, &on)) return result;
  before_work(*on.context, *on.stream);
  on.stream->task([fn, userData] { fn(userData); }, false, true);
  return CUDA_SUCCESS;
}

CUresult cuStreamAddCallback(CUstream hStream, CUstreamCallback callback, void* userData,
                             unsigned int flags) {
  if (!callback || flags) return CUDA_ERROR_INVALID_VALUE;
  ResolvedStream on;
  if (CUresult result = resolve_stream(hStream, &on)) return result;
  before_work(*on.context, *on.stream);
  // Unlike a host function, a callback also runs after a failure and is told of it.
  Context* context = on.context;
  auto call = [=] {
    context->print.flush();
    callback(hStream, context->sticky(), userData);
  };
  on.stream->task(call, false, true, true);
  return CUDA_SUCCESS;
}

CUresult cuEventCreate(CUevent* phEvent, unsigned int flags) {
  Context* context;
  if (CUresult result = current_usable(&context)) return result;
  constexpr unsigned known =
      CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS;
  if (!phEvent || (flags & ~known)) return CUDA_ERROR_INVALID_VALUE;
  if ((flags & CU_EVENT_INTERPROCESS) && !(flags & CU_EVENT_DISABLE_TIMING))
    return CUDA_ERROR_INVALID_VALUE;
  if (flags & CU_EVENT_INTERPROCESS)
    return report({Code::not_supported, "events shared between processes are not built yet", ""});
  EventHandle* event = driver().events.create();
  if (!event) return CUDA_ERROR_OUT_OF_MEMORY;
  event->context = context;
  event->state->timing = !(flags & CU_EVENT_DISABLE_TIMING);
  event->state->blocking_sync = flags & CU_EVENT_BLOCKING_SYNC;
  {
    std::lock_guard lock(context->mutex);
    context->event_handles.insert(event);
  }
  *phEvent = reinterpret_cast<CUevent>(event);
  return CUDA_SUCCESS;
}

CUresult cuEventDestroy(CUevent hEvent) {
  EventHandle* event = driver().events.resolve(hEvent);
  if (!event || !driver().events.retire(event)) return CUDA_ERROR_INVALID_HANDLE;
  CUresult sticky = event->context->sticky();
  {
    std::lock_guard lock(event->context->mutex);
    event->context->event_handles.erase(event);
  }
  driver().events.destroy(event);
  return sticky;
}

CUresult cuEventRecord(CUevent hEvent, CUstream hStream) {
  return cuEventRecordWithFlags(hEvent, hStream, CU_EVENT_RECORD_DEFAULT);
}

CUresult cuEventRecordWithFlags(CUevent hEvent, CUstream hStream, unsigned int flags) {
  if (flags > CU_EVENT_RECORD_EXTERNAL) return CUDA_ERROR_INVALID_VALUE;
  ResolvedStream on;
  if (CUresult result = resolve_stream(hStream, &on)) return result;
  EventHandle* event;
  if (CUresult result = resolve_event(hEvent, &event)) return result;
  if (event->context != on.context) return CUDA_ERROR_INVALID_HANDLE;
  if (flags == CU_EVENT_RECORD_EXTERNAL) return CUDA_ERROR_INVALID_VALUE;  // but in a capture
  before_work(*on.context, *on.stream);
  on.stream->record(event->state);
  return CUDA_SUCCESS;
}

CUresult cuCtxRecordEvent(CUcontext hCtx, CUevent hEvent) {
  if (!hCtx) return CUDA_ERROR_INVALID_CONTEXT;
  Context* context;
  if (CUresult result = context_of(hCtx, &context)) return result;
  EventHandle* event;
  if (CUresult result = resolve_event(hEvent, &event)) return result;
  if (event->context != context) return CUDA_ERROR_INVALID_HANDLE;
  // The event completes with all work of the context: a stream of its own collects their ends.
  auto collector = std::make_shared<Stream>(*context, Stream::Kind::non_blocking, 0);
  for (auto& stream : context->list_streams()) collector->wait_for(stream->tail());
  collector->wait_for(context->legacy->tail());
  context->adopt(collector);
  collector->record(event->state);
  return CUDA_SUCCESS;
}

CUresult cuCtxWaitEvent(CUcontext hCtx, CUevent hEvent) {
  if (!hCtx) return CUDA_ERROR_INVALID_CONTEXT;
  Context* context;
  if (CUresult result = context_of(hCtx, &context)) return result;
  EventHandle* event;
  if (CUresult result = resolve_event(hEvent, &event)) return result;
  StreamPoint point = event->state->latest();
  if (point.reached()) return CUDA_SUCCESS;
  for (auto& stream : context->list_streams()) stream->wait_for(point);
  context->legacy->wait_for(point);
  return CUDA_SUCCESS;
}

CUresult cuEventQuery(CUevent hEvent) {
  EventHandle* event;
  if (CUresult result = resolve_event(hEvent, &event)) return result;
  return event->state->latest().reached() ? event->context->sticky() : CUDA_ERROR_NOT_READY;
}

CUresult cuEventSynchronize(CUevent hEvent) {
  EventHandle* event = driver().events.resolve(hEvent);
  if (!event) return CUDA_ERROR_INVALID_HANDLE;
  Context* context = event->context;
  StreamPoint point = event->state->latest();
  WaitPolicy policy = event->state->blocking_sync ? WaitPolicy::block : context->wait_policy();
  if (!point.reached()) point.stream->wait(point.seq, policy);
  context->print.flush();
  return context->sticky();
}

CUresult cuEventElapsedTime(float* pMilliseconds, CUevent hStart, CUevent hEnd) {
  EventHandle *start, *end;
  if (CUresult result = resolve_event(hStart, &start)) return result;
  if (CUresult result = resolve_event(hEnd, &end)) return result;
  if (!pMilliseconds) return CUDA_ERROR_INVALID_VALUE;
  if (start->context != end->context || !start->state->timing || !end->state->timing)
    return CUDA_ERROR_INVALID_HANDLE;
  StreamPoint first = start->state->latest(), last = end->state->latest();
  if (!first.stream || !last.stream) return CUDA_ERROR_INVALID_HANDLE;
  if (!first.reached() || !last.reached()) return CUDA_ERROR_NOT_READY;
  auto delta = static_cast<int64_t>(end->state->time_ns.load() - start->state->time_ns.load());
  *pMilliseconds = static_cast<float>(static_cast<double>(delta) * 1e-6);
  return CUDA_SUCCESS;
}

}  // namespace limen::cpu
