// The cuStream* and cuEvent* calls and host functions on streams. The machinery is in stream.cpp
// and order.cpp. Invariant: a handle is looked up before it is touched, so a stale one is code 400.
// Thread rule: any thread.
#include <cmath>

#include "abi/cpu_api.h"
#include "drivers/cpu/context.h"
#include "drivers/cpu/graph/capture.h"
#include "drivers/cpu/green.h"
#include "drivers/cpu/memory/pool.h"
#include "drivers/cpu/stream/attribute.h"
#include "drivers/cpu/stream/order.h"
#include "drivers/cpu/stream/shared_event.h"

namespace limen::cpu {

namespace {

/// measured H200, driver 580.159.04: foreign memory is an event of no context.
CUresult code_of_no_event(CUevent handle) {
  const auto& events = driver().events;
  if (events.went_with_owner(handle)) return CUDA_ERROR_CONTEXT_IS_DESTROYED;
  return !handle || events.once_was(handle) ? CUDA_ERROR_INVALID_HANDLE
                                            : CUDA_ERROR_INVALID_CONTEXT;
}

/// Also for host functions: for calls that wait for nothing.
CUresult resolve_asked_event(CUevent handle, EventHandle** event) {
  *event = driver().events.resolve(handle);
  if (*event) return (*event)->context->sticky();
  // A context that has failed says so before a bad handle. measured H200, driver 580.x
  Context* context;
  CUresult sticky = current(&context) == CUDA_SUCCESS ? context->sticky() : CUDA_SUCCESS;
  return sticky ? sticky : code_of_no_event(handle);
}

CUresult resolve_event(CUevent handle, EventHandle** event) {
  if (HostFunctionScope::entered()) return CUDA_ERROR_NOT_PERMITTED;
  return resolve_asked_event(handle, event);
}

bool is_reached(const EventHandle& event) {
  if (const auto& shared = event.state->shared) return shared->reached(shared->latest());
  return event.state->latest().reached();
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
  GreenContext* green;
  if (CUresult result = current_green(&green)) return result;
  // Out of range is clamped, not refused. source: CUDA Driver API 13.0, cuStreamCreateWithPriority.
  priority = std::min(std::max(priority, greatest_priority), least_priority);
  auto kind = flags & CU_STREAM_NON_BLOCKING ? Stream::Kind::non_blocking : Stream::Kind::blocking;
  StreamHandle* handle = green ? make_green_stream(*green, kind, priority, flags)
                               : make_stream(*context, kind, priority, flags);
  if (!handle) return CUDA_ERROR_OUT_OF_MEMORY;
  *phStream = reinterpret_cast<CUstream>(handle);
  return CUDA_SUCCESS;
}

CUresult cuStreamDestroy(CUstream hStream) {
  if (is_default_handle(hStream)) return CUDA_ERROR_INVALID_HANDLE;
  StreamHandle* handle = driver().streams.resolve(hStream);
  if (!handle)
    return driver().streams.went_with_owner(hStream) ? CUDA_ERROR_CONTEXT_IS_DESTROYED
                                                     : CUDA_ERROR_INVALID_HANDLE;
  if (handle->green && !driver().greens.resolve(handle->green))
    return CUDA_ERROR_CONTEXT_IS_DESTROYED;
  CUresult sticky = handle->context->sticky();
  retire_stream(handle);
  return sticky;
}

CUresult cuStreamSynchronize(CUstream hStream) {
  ResolvedStream on;
  if (CUresult result = resolve_stream_any(hStream, &on)) return result;
  if (CUresult result = refuse_unsafe_call()) return result;
  if (!nothing_before(*on.context, *on.stream)) {
    std::shared_ptr<Stream> keep = on.stream->shared_from_this();
    // An empty operation, so that the legacy stream also waits for what its rules say.
    uint64_t seq = 0;
    if (on.stream->kind() == Stream::Kind::legacy) {
      before_work(*on.context, *on.stream);
      seq = on.stream->task([] {}, true);
      on.stream->wait(seq, wait_policy_of(on));
    } else {
      on.stream->wait_all(wait_policy_of(on));
    }
  }
  on.context->print.flush();
  trim_pools_at_sync(on.context->device);
  return on.context->sticky();
}

// Host functions may ask: measured H200, driver 580.159.04.
CUresult cuStreamQuery(CUstream hStream) {
  ResolvedStream on;
  if (CUresult result = resolve_asked_stream(hStream, &on)) return result;
  if (CUresult result = refuse_unsafe_call()) return result;
  bool done = on.stream->kind() == Stream::Kind::legacy ? nothing_before(*on.context, *on.stream)
                                                        : on.stream->idle();
  return done ? on.context->sticky() : CUDA_ERROR_NOT_READY;
}

CUresult cuStreamWaitEvent(CUstream hStream, CUevent hEvent, unsigned int flags) {
  if (flags > CU_EVENT_WAIT_EXTERNAL) return CUDA_ERROR_INVALID_VALUE;
  ResolvedStream on;
  if (CUresult result = resolve_stream(hStream, &on, UnderCapture::record)) return result;
  EventHandle* event;
  if (CUresult result = resolve_event(hEvent, &event)) return result;
  if (on.capture || flags || event->was_captured.load(std::memory_order_acquire)) {
    bool taken;
    CUresult result = capture_wait_event(on, *event, flags == CU_EVENT_WAIT_EXTERNAL, &taken);
    if (result || taken) return result;
  }
  if (event->state->shared) {
    before_work(*on.context, *on.stream);
    wait_for_shared(event->state->shared, *on.stream);
    return CUDA_SUCCESS;
  }
  StreamPoint point = event->state->latest();
  if (point.reached()) return CUDA_SUCCESS;
  before_work(*on.context, *on.stream);
  on.stream->wait_for(std::move(point));
  return CUDA_SUCCESS;
}

CUresult cuStreamGetFlags(CUstream hStream, unsigned int* flags) {
  if (!flags) return CUDA_ERROR_INVALID_VALUE;
  ResolvedStream on;
  if (CUresult result = resolve_stream(hStream, &on, UnderCapture::ignore)) return result;
  *flags = on.handle ? on.handle->flags : unsigned(CU_STREAM_DEFAULT);
  return CUDA_SUCCESS;
}

CUresult cuStreamGetPriority(CUstream hStream, int* priority) {
  if (!priority) return CUDA_ERROR_INVALID_VALUE;
  ResolvedStream on;
  if (CUresult result = resolve_stream(hStream, &on, UnderCapture::ignore)) return result;
  *priority = on.stream->priority();
  return CUDA_SUCCESS;
}

CUresult cuStreamGetId(CUstream hStream, unsigned long long* streamId) {
  if (!streamId) return CUDA_ERROR_INVALID_VALUE;
  ResolvedStream on;
  if (CUresult result = resolve_stream(hStream, &on, UnderCapture::ignore)) return result;
  // The legacy stream's id is its context's first; ids of other streams never collide with it.
  *streamId = on.handle ? on.handle->id : (uint64_t{1} << 32) + on.context->owner;
  return CUDA_SUCCESS;
}

CUresult cuStreamGetCtx(CUstream hStream, CUcontext* pCtx, CUgreenCtx* pGreenCtx) {
  if (!pCtx && !pGreenCtx) return CUDA_ERROR_INVALID_VALUE;
  ResolvedStream on;
  if (CUresult result = resolve_stream(hStream, &on, UnderCapture::ignore)) return result;
  GreenContext* green = on.handle ? on.handle->green : nullptr;
  // The first ABI has no second result and answers the green context itself.
  if (pCtx) *pCtx = green && !pGreenCtx ? handle_of(green) : handle_of(on.context);
  if (pGreenCtx) *pGreenCtx = reinterpret_cast<CUgreenCtx>(green);
  return CUDA_SUCCESS;
}

CUresult cuStreamGetDevice(CUstream hStream, CUdevice* device) {
  if (!device) return CUDA_ERROR_INVALID_VALUE;
  ResolvedStream on;
  if (CUresult result = resolve_stream(hStream, &on, UnderCapture::ignore)) return result;
  *device = on.context->device.ordinal();
  return CUDA_SUCCESS;
}

CUresult cuStreamAttachMemAsync(CUstream hStream, CUdeviceptr dptr, size_t length,
                                unsigned int flags) {
  ResolvedStream on;
  if (CUresult result = resolve_stream(hStream, &on)) return result;
  if (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST && flags != CU_MEM_ATTACH_SINGLE)
    return CUDA_ERROR_INVALID_VALUE;
  // source: CUDA Driver API 13.0, cuStreamAttachMemAsync: the null stream is no single stream.
  if (flags == CU_MEM_ATTACH_SINGLE && !on.handle) return CUDA_ERROR_INVALID_VALUE;
  Allocator* memory = driver().allocator_of(dptr);
  Allocation block;
  bool managed = memory && memory->find(dptr, &block) && block.kind == MemoryKind::managed;
  // With pageable access any host pointer may be attached.
  if (!managed && (!dptr || driver().space.contains(dptr))) return CUDA_ERROR_INVALID_VALUE;
  if (managed && length && length != block.bytes) return CUDA_ERROR_INVALID_VALUE;
  return CUDA_SUCCESS;
}

CUresult cuLaunchHostFunc(CUstream hStream, CUhostFn fn, void* userData) {
  if (!fn) return CUDA_ERROR_INVALID_VALUE;
  ResolvedStream on;
  if (CUresult result = resolve_stream(hStream, &on, UnderCapture::record)) return result;
  if (on.capture) return capture_host(on, fn, userData);
  before_work(*on.context, *on.stream);
  auto call = [fn, userData] {
    HostFunctionScope scope;
    fn(userData);
  };
  on.stream->task(call, false, true);
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
    HostFunctionScope scope;
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
  std::shared_ptr<SharedEvent> shared;
  if (flags & CU_EVENT_INTERPROCESS && !(shared = SharedEvent::create()))
    return CUDA_ERROR_OUT_OF_MEMORY;
  EventHandle* event = driver().events.create();
  if (!event) return CUDA_ERROR_OUT_OF_MEMORY;
  event->state->shared = std::move(shared);
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
  if (!event || !driver().events.retire(event)) return code_of_no_event(hEvent);
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
  if (CUresult result = resolve_stream(hStream, &on, UnderCapture::record)) return result;
  EventHandle* event;
  if (CUresult result = resolve_event(hEvent, &event)) return result;
  if (event->context != on.context) return CUDA_ERROR_INVALID_HANDLE;
  const bool external = flags == CU_EVENT_RECORD_EXTERNAL;
  if (on.capture) return capture_record(on, *event, external);
  if (external) return CUDA_ERROR_ILLEGAL_STATE;
  forget_captured_event(*event);
  before_work(*on.context, *on.stream);
  if (event->state->shared)
    record_shared(event->state->shared, *on.stream);
  else
    on.stream->record(event->state);
  return CUDA_SUCCESS;
}

CUresult cuCtxRecordEvent(CUcontext hCtx, CUevent hEvent) {
  if (!hCtx) return CUDA_ERROR_INVALID_CONTEXT;
  Context* context;
  if (CUresult result = context_of(hCtx, &context)) return result;
  if (CUresult result = refuse_context_call(*context)) return result;
  EventHandle* event;
  if (CUresult result = resolve_event(hEvent, &event)) return result;
  if (event->context != context) return CUDA_ERROR_INVALID_HANDLE;
  if (driver().greens.resolve(hCtx))
    return cuGreenCtxRecordEvent(reinterpret_cast<CUgreenCtx>(hCtx), hEvent);
  // The event completes with all work of the context: a stream of its own collects their ends.
  auto collector = std::make_shared<Stream>(*context, Stream::Kind::non_blocking, 0);
  for (auto& stream : context->list_streams()) collector->wait_for(stream->tail());
  collector->wait_for(context->legacy->tail());
  context->adopt(collector);
  if (event->state->shared)
    record_shared(event->state->shared, *collector);
  else
    collector->record(event->state);
  return CUDA_SUCCESS;
}

CUresult cuCtxWaitEvent(CUcontext hCtx, CUevent hEvent) {
  if (!hCtx) return CUDA_ERROR_INVALID_CONTEXT;
  Context* context;
  if (CUresult result = context_of(hCtx, &context)) return result;
  if (CUresult result = refuse_context_call(*context)) return result;
  EventHandle* event;
  if (CUresult result = resolve_event(hEvent, &event)) return result;
  if (driver().greens.resolve(hCtx))
    return cuGreenCtxWaitEvent(reinterpret_cast<CUgreenCtx>(hCtx), hEvent);
  if (event->state->shared) {
    for (auto& stream : context->list_streams()) wait_for_shared(event->state->shared, *stream);
    wait_for_shared(event->state->shared, *context->legacy);
    return CUDA_SUCCESS;
  }
  StreamPoint point = event->state->latest();
  if (point.reached()) return CUDA_SUCCESS;
  {
    std::lock_guard lock(context->mutex);
    std::erase_if(context->waits, [](const StreamPoint& past) { return past.reached(); });
    context->waits.push_back(point);
  }
  for (auto& stream : context->list_streams()) stream->wait_for(point);
  context->legacy->wait_for(point);
  return CUDA_SUCCESS;
}

CUresult cuEventQuery(CUevent hEvent) {
  EventHandle* event;
  if (CUresult result = resolve_asked_event(hEvent, &event)) return result;
  if (CUresult result = refuse_event_call(*event)) return result;
  return is_reached(*event) ? event->context->sticky() : CUDA_ERROR_NOT_READY;
}

CUresult cuEventSynchronize(CUevent hEvent) {
  EventHandle* event = driver().events.resolve(hEvent);
  if (!event) return code_of_no_event(hEvent);
  Context* context = event->context;
  if (CUresult result = refuse_event_call(*event)) return result;
  // Host functions may wait (measured H200, driver 580.159.04), which might never end.
  if (HostFunctionScope::entered())
    return is_reached(*event) ? context->sticky() : CUDA_ERROR_NOT_PERMITTED;
  if (std::shared_ptr<SharedEvent> shared = event->state->shared) {
    shared->wait(shared->latest());
    context->print.flush();
    trim_pools_at_sync(context->device);
    return context->sticky();
  }
  StreamPoint point = event->state->latest();
  WaitPolicy policy = event->state->blocking_sync ? WaitPolicy::block : context->wait_policy();
  if (!point.reached()) point.stream->wait(point.seq, policy);
  context->print.flush();
  trim_pools_at_sync(context->device);
  return context->sticky();
}

CUresult cuEventElapsedTime(float* pMilliseconds, CUevent hStart, CUevent hEnd) {
  EventHandle *start, *end;
  if (CUresult result = resolve_event(hStart, &start)) return result;
  if (CUresult result = resolve_event(hEnd, &end)) return result;
  if (!pMilliseconds) return CUDA_ERROR_INVALID_HANDLE;  // measured H200
  if (start->was_captured || end->was_captured) return CUDA_ERROR_CAPTURED_EVENT;
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
