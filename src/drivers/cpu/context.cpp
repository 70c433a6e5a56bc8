// Life and death of contexts, the per-thread stack, and the cuCtx* and cuDevicePrimaryCtx* calls.
// Invariant: a context ends only after its work, unless the process is exiting: then nothing is
// freed or waited for. Thread rule: see the header.
#include "drivers/cpu/context.h"

#include <pthread.h>

#include <algorithm>
#include <shared_mutex>

#include <fmt/format.h>

#include "base/log.h"
#include "drivers/cpu/graph/capture.h"
#include "drivers/cpu/green.h"
#include "drivers/cpu/memory/array.h"
#include "drivers/cpu/memory/pool.h"
#include "drivers/cpu/module/module.h"
#include "drivers/cpu/stream/order.h"
#include "drivers/cpu/texture/texture.h"

namespace limen::cpu {

namespace {

std::atomic<uint32_t> next_owner{1};

/// Active contexts by owner number.
struct OwnerBook {
  std::shared_mutex mutex;
  std::unordered_map<uint32_t, Context*> contexts;
};
OwnerBook& owners() {
  static auto* book = new OwnerBook;
  return *book;
}
std::atomic<uint64_t> next_stream_id{3};  // 1 and 2 name the default streams

/// One thread's contexts. Freed when the thread ends, but never at process exit.
struct ThreadState {
  struct Entry {
    Context* context = nullptr;
    GreenContext* green = nullptr;  ///< where the handle was a green context's
  };
  std::vector<Entry> stack;
  struct OwnStream {
    Context* context;
    uint32_t owner;
    StreamHandle* handle;
  };
  std::vector<OwnStream> streams;
};

/// `top` is kept apart so that finding the current context is one load.
thread_local Context* top = nullptr;
thread_local GreenContext* top_green = nullptr;
thread_local ThreadState* state = nullptr;

void end_thread(void* memory) {
  auto* ended = static_cast<ThreadState*>(memory);
  for (auto& own : ended->streams)
    if (own.context->active && own.context->owner == own.owner) retire_stream(own.handle);
  delete ended;
}

ThreadState& this_thread() {
  if (state) return *state;
  // A pthread key, not a destructor of thread_local: the main thread's would run before NVIDIA's
  // exit handler calls us again.
  static pthread_key_t key = [] {
    pthread_key_t made;
    pthread_key_create(&made, end_thread);
    return made;
  }();
  state = new ThreadState;
  pthread_setspecific(key, state);
  return *state;
}

void set_top(const ThreadState::Entry& entry) {
  top = entry.context;
  top_green = entry.green;
}

void push(const ThreadState::Entry& entry) {
  this_thread().stack.push_back(entry);
  set_top(entry);
}

ThreadState::Entry pop() {
  auto& stack = this_thread().stack;
  if (stack.empty()) return {};
  ThreadState::Entry popped = stack.back();
  stack.pop_back();
  set_top(stack.empty() ? ThreadState::Entry{} : stack.back());
  return popped;
}

CUcontext handle_of(const ThreadState::Entry& entry) {
  return entry.green ? handle_of(entry.green) : handle_of(entry.context);
}

/// What a context handle names; `destroyed` ones too, where they may become current.
CUresult read_handle(CUcontext handle, bool destroyed, ThreadState::Entry* out) {
  if (Context* context = driver().contexts.resolve(handle)) {
    *out = {context, nullptr};
    return CUDA_SUCCESS;
  }
  if (GreenContext* green = driver().greens.resolve(handle)) {
    *out = {green->primary, green};
    return CUDA_SUCCESS;
  }
  // What never was a context counts as a destroyed one: measured H200, driver 580.159.04.
  if (!destroyed || !driver().contexts.once_was(handle)) return CUDA_ERROR_CONTEXT_IS_DESTROYED;
  *out = {reinterpret_cast<Context*>(handle), nullptr};
  return CUDA_SUCCESS;
}

CUresult result_of(kernel::Fault fault) {
  switch (fault) {
    case kernel::Fault::none:
      return CUDA_SUCCESS;
    case kernel::Fault::illegal_address:
      return CUDA_ERROR_ILLEGAL_ADDRESS;
    case kernel::Fault::misaligned_address:
      return CUDA_ERROR_MISALIGNED_ADDRESS;
    case kernel::Fault::trap:
      return CUDA_ERROR_LAUNCH_FAILED;
    case kernel::Fault::assert_failed:
      return CUDA_ERROR_ASSERT;
    case kernel::Fault::stack_overflow:
    case kernel::Fault::no_multicast:
      return CUDA_ERROR_ILLEGAL_ADDRESS;
    case kernel::Fault::illegal_instruction:
      return CUDA_ERROR_ILLEGAL_INSTRUCTION;
    case kernel::Fault::invalid_pc:
      return CUDA_ERROR_INVALID_PC;
    case kernel::Fault::lanes_apart:
      return CUDA_ERROR_LAUNCH_FAILED;
    case kernel::Fault::deadlock:
      return CUDA_ERROR_LAUNCH_TIMEOUT;
    case kernel::Fault::out_of_resources:
      return CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
    case kernel::Fault::invalid_address_space:
      return CUDA_ERROR_INVALID_ADDRESS_SPACE;
  }
  return CUDA_ERROR_LAUNCH_FAILED;
}

// Least values of two limits: measured H200, driver 580.x.
constexpr size_t least_printf_bytes = 512 << 10;
constexpr size_t least_heap_bytes = 4 << 20;

constexpr unsigned known_flags = CU_CTX_FLAGS_MASK;

bool flags_are_valid(unsigned flags) {
  unsigned schedule = flags & CU_CTX_SCHED_MASK;
  return (flags & ~known_flags) == 0 &&
         (schedule == CU_CTX_SCHED_AUTO || schedule == CU_CTX_SCHED_SPIN ||
          schedule == CU_CTX_SCHED_YIELD || schedule == CU_CTX_SCHED_BLOCKING_SYNC);
}

}  // namespace

Context::Context(Device& device, bool primary) : device(device), primary(primary) {
  pool = driver().pool;
}

void Context::activate() {
  std::lock_guard lock(life);
  if (active) return;
  owner = next_owner++;
  error = 0;
  legacy = std::make_shared<Stream>(*this, Stream::Kind::legacy, 0);
  legacy_attributes = {};
  stack_bytes = 1024;
  pending_launches = 2048;
  l2_fetch_bytes = 64;
  l2_persisting_bytes = 0;
  cache_config = 0;
  shared_config = 0;
  print.reset();
  heap.reset();
  heap.bind(&device.memory(), owner);
  apply_coredump_flags(*this, flags);
  {
    std::unique_lock book(owners().mutex);
    owners().contexts.emplace(owner, this);
  }
  active = true;
}

void Context::end() {
  if (driver().context_end_hook) driver().context_end_hook(handle_of(this));
  std::lock_guard lock(life);
  if (!active) return;
  print.flush();
  if (process_is_exiting()) return;
  for (auto& stream : list_streams()) stream->wait_all(WaitPolicy::automatic);
  legacy->wait_all(WaitPolicy::automatic);
  // Completion is signalled a moment before a stream lets go of its owner.
  while (busy()) sched_yield();
  print.flush();
  active = false;
  {
    std::unique_lock book(owners().mutex);
    owners().contexts.erase(owner);
  }
  std::set<StreamHandle*> old_streams;
  std::set<EventHandle*> old_events;
  std::set<Module*> old_modules;
  {
    std::lock_guard list(mutex);
    old_streams.swap(stream_handles);
    old_events.swap(event_handles);
    old_modules.swap(modules);
    streams.clear();
    waits.clear();
    peers.clear();
  }
  for (StreamHandle* stream : old_streams) {
    leave_capture(stream);
    driver().streams.destroy(stream, true);
  }
  for (EventHandle* event : old_events) driver().events.destroy(event, true);
  for (Module* module : old_modules) destroy_module(module);
  forget_library_instances(*this);
  forget_texture_objects(owner);
  forget_arrays(owner);
  forget_pool_blocks(owner);
  for (const Mapping& mapping : driver().virtual_space.owned_by(owner))
    driver().virtual_space.displace(mapping.base, mapping.kind);
  device.memory().release_owner(owner);
  device.memory().drop_freed();
  driver().host->release_owner(owner);
}

void Context::kernel_failed(const engine::FaultInfo& fault) {
  int none = 0;
  int code = result_of(fault.kind);
  if (!error.compare_exchange_strong(none, code)) return;
  log::write(log::Level::error, fmt::format("kernel failed (error {}): {}", code, fault.message));
  dump_core_of(*this, code, fault);
}

WaitPolicy Context::wait_policy() const {
  switch (flags.load(std::memory_order_relaxed) & CU_CTX_SCHED_MASK) {
    case CU_CTX_SCHED_SPIN:
      return WaitPolicy::spin;
    case CU_CTX_SCHED_YIELD:
      return WaitPolicy::yield;
    case CU_CTX_SCHED_BLOCKING_SYNC:
      return WaitPolicy::block;
    default:
      return WaitPolicy::automatic;
  }
}

std::vector<std::shared_ptr<Stream>> Context::list_streams() {
  std::lock_guard lock(mutex);
  return streams;
}

void Context::adopt(const std::shared_ptr<Stream>& stream) {
  std::lock_guard lock(mutex);
  // Those that did their work and that nothing refers to: adopted ones have no handle to go with.
  std::erase_if(streams, [](const auto& one) { return one.use_count() == 1 && one->idle(); });
  streams.push_back(stream);
}

CUresult Context::synchronize() {
  if (busy()) {
    WaitPolicy policy = wait_policy();
    for (auto& stream : list_streams()) stream->wait_all(policy);
    legacy->wait_all(policy);
  }
  print.flush();
  trim_pools_at_sync(device);
  return sticky();
}

constinit thread_local bool HostFunctionScope::inside = false;

CUresult current(Context** context) {
  if (HostFunctionScope::entered()) return CUDA_ERROR_NOT_PERMITTED;
  Context* now = top;
  if (!now) return CUDA_ERROR_INVALID_CONTEXT;
  if (top_green && !driver().greens.resolve(top_green)) return CUDA_ERROR_CONTEXT_IS_DESTROYED;
  if (!driver().contexts.resolve(now)) return CUDA_ERROR_CONTEXT_IS_DESTROYED;
  if (!now->active.load(std::memory_order_acquire))
    return now->owner ? CUDA_ERROR_CONTEXT_IS_DESTROYED : CUDA_ERROR_INVALID_CONTEXT;
  *context = now;
  return CUDA_SUCCESS;
}

CUresult current_green(GreenContext** green) {
  *green = top_green;
  return !top_green || driver().greens.resolve(top_green) ? CUDA_SUCCESS
                                                          : CUDA_ERROR_CONTEXT_IS_DESTROYED;
}

CUresult current_usable(Context** context) {
  if (CUresult result = current(context)) return result;
  return (*context)->sticky();
}

Context* context_of_owner(uint32_t owner) {
  if (top && top->owner == owner && top->active) return top;
  std::shared_lock book(owners().mutex);
  auto found = owners().contexts.find(owner);
  return found == owners().contexts.end() ? nullptr : found->second;
}

std::vector<Context*> active_contexts() {
  std::shared_lock book(owners().mutex);
  std::vector<Context*> list;
  for (auto& [owner, context] : owners().contexts) list.push_back(context);
  return list;
}

void synchronize_all_contexts() {
  for (Context* context : active_contexts())
    if (context->active && context->busy()) context->synchronize();
}

CUresult context_of(CUcontext handle, Context** context) {
  if (!handle || HostFunctionScope::entered()) return current(context);
  ThreadState::Entry entry;
  if (CUresult result = read_handle(handle, false, &entry)) return result;
  Context* named = entry.context;
  if (!named->active) return CUDA_ERROR_CONTEXT_IS_DESTROYED;
  *context = named;
  return CUDA_SUCCESS;
}

StreamHandle* per_thread_stream(Context& context) {
  ThreadState& thread = this_thread();
  for (auto& own : thread.streams) {
    if (own.context != &context) continue;
    if (own.owner == context.owner) return own.handle;
    own.handle = make_stream(context, Stream::Kind::blocking, 0, CU_STREAM_DEFAULT);
    own.owner = context.owner;
    return own.handle;
  }
  StreamHandle* made = make_stream(context, Stream::Kind::blocking, 0, CU_STREAM_DEFAULT);
  if (made) thread.streams.push_back({&context, context.owner, made});
  return made;
}

StreamHandle* make_stream(Context& context, Stream::Kind kind, int priority, unsigned flags) {
  StreamHandle* handle = driver().streams.create();
  if (!handle) return nullptr;
  handle->stream = std::make_shared<Stream>(context, kind, priority);
  handle->context = &context;
  handle->flags = flags;
  handle->id = next_stream_id++;
  std::lock_guard lock(context.mutex);
  std::erase_if(context.waits, [](const StreamPoint& point) { return point.reached(); });
  for (const StreamPoint& point : context.waits) handle->stream->wait_for(point);
  context.streams.push_back(handle->stream);
  context.stream_handles.insert(handle);
  return handle;
}

CUcontext current_context() { return handle_of(ThreadState::Entry{top, top_green}); }

CUresult primary_context_handle(CUcontext* context, CUdevice ordinal) {
  Device* device = driver().device(ordinal);
  if (!device) return CUDA_ERROR_INVALID_DEVICE;
  if (!context) return CUDA_ERROR_INVALID_VALUE;
  *context = handle_of(device->primary());
  return CUDA_SUCCESS;
}

CUresult cuCtxCreate(CUcontext* pctx, CUctxCreateParams* params, unsigned int flags, CUdevice dev) {
  if (!pctx || !flags_are_valid(flags)) return CUDA_ERROR_INVALID_VALUE;
  Device* device = driver().device(dev);
  if (!device) return CUDA_ERROR_INVALID_DEVICE;
  // A count below 0 counts as none: measured H200, driver 580.159.04.
  if (params && params->numExecAffinityParams > 0)
    return params->execAffinityParams ? CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY
                                      : CUDA_ERROR_INVALID_VALUE;
  if (params && params->cigParams) return CUDA_ERROR_NOT_SUPPORTED;
  Context* context = driver().contexts.create(*device, false);
  if (!context) return CUDA_ERROR_OUT_OF_MEMORY;
  context->flags = flags;
  context->activate();
  push({context, nullptr});
  *pctx = handle_of(context);
  return CUDA_SUCCESS;
}

CUresult cuCtxDestroy(CUcontext ctx) {
  if (HostFunctionScope::entered()) return CUDA_ERROR_NOT_PERMITTED;
  if (!ctx) return CUDA_ERROR_INVALID_VALUE;
  Context* context = driver().contexts.resolve(ctx);
  if (!context) return CUDA_ERROR_CONTEXT_IS_DESTROYED;
  if (context->primary) return CUDA_ERROR_INVALID_CONTEXT;
  if (top == context) pop();
  if (!driver().contexts.retire(context)) return CUDA_ERROR_INVALID_CONTEXT;
  context->end();
  if (!process_is_exiting()) driver().contexts.destroy(context);
  return CUDA_SUCCESS;
}

CUresult cuCtxAttach(CUcontext* pctx, unsigned int flags) {
  Context* context;
  if (CUresult result = current(&context)) return result;
  if (!pctx || flags) return CUDA_ERROR_INVALID_VALUE;
  context->retained.fetch_add(1);
  *pctx = handle_of(context);
  return CUDA_SUCCESS;
}

CUresult cuCtxDetach(CUcontext ctx) {
  if (!ctx || ctx != current_context()) return CUDA_ERROR_INVALID_CONTEXT;
  Context* context;
  if (CUresult result = context_of(ctx, &context)) return result;
  if (context->retained.load() == 0) return cuCtxDestroy(ctx);
  context->retained.fetch_sub(1);
  return CUDA_SUCCESS;
}

// A destroyed context may become current; using it is then error 709, as on NVIDIA's driver.
CUresult cuCtxPushCurrent(CUcontext ctx) {
  if (!ctx) return CUDA_ERROR_INVALID_VALUE;
  ThreadState::Entry entry;
  if (CUresult result = read_handle(ctx, true, &entry)) return result;
  push(entry);
  return CUDA_SUCCESS;
}

CUresult cuCtxPopCurrent(CUcontext* pctx) {
  ThreadState::Entry popped = pop();
  if (!popped.context) return CUDA_ERROR_INVALID_CONTEXT;
  if (pctx) *pctx = handle_of(popped);
  return CUDA_SUCCESS;
}

CUresult cuCtxSetCurrent(CUcontext ctx) {
  if (ctx && ctx == current_context()) return CUDA_SUCCESS;
  if (!ctx) {
    pop();
    return CUDA_SUCCESS;
  }
  ThreadState::Entry entry;  // perhaps of a destroyed context, as above
  if (CUresult result = read_handle(ctx, true, &entry)) return result;
  ThreadState& thread = this_thread();
  if (thread.stack.empty())
    thread.stack.push_back(entry);
  else
    thread.stack.back() = entry;
  set_top(entry);
  return CUDA_SUCCESS;
}

CUresult cuCtxGetCurrent(CUcontext* pctx) {
  if (!pctx) return CUDA_ERROR_INVALID_VALUE;
  *pctx = current_context();
  return CUDA_SUCCESS;
}

CUresult cuCtxGetDevice(CUdevice* device, CUcontext ctx) {
  if (!device) return CUDA_ERROR_INVALID_VALUE;
  // The device of an inactive primary context is known, too: runtimes ask before they retain.
  ThreadState::Entry entry{top, top_green};
  if (ctx)
    if (CUresult result = read_handle(ctx, false, &entry)) return result;
  Context* context = entry.context;
  if (!context) return CUDA_ERROR_INVALID_CONTEXT;
  *device = context->device.ordinal();
  return CUDA_SUCCESS;
}

CUresult cuCtxGetFlags(unsigned int* flags) {
  if (!flags) return CUDA_ERROR_INVALID_VALUE;
  Context* context;
  if (CUresult result = current(&context)) return result;
  *flags = context->flags | CU_CTX_MAP_HOST;  // always on since CUDA 11, and shown
  return CUDA_SUCCESS;
}

CUresult cuCtxSetFlags(unsigned int flags) {
  Context* context;
  if (CUresult result = current(&context)) return result;
  if (!flags_are_valid(flags)) return CUDA_ERROR_INVALID_VALUE;
  context->flags = flags;
  return CUDA_SUCCESS;
}

CUresult cuCtxGetId(CUcontext ctx, unsigned long long* ctxId) {
  if (!ctxId) return CUDA_ERROR_INVALID_VALUE;
  Context* context;
  if (CUresult result = context_of(ctx, &context)) return result;
  *ctxId = context->owner;
  return CUDA_SUCCESS;
}

CUresult cuCtxGetApiVersion(CUcontext ctx, unsigned int* version) {
  Context* context;
  if (CUresult result = context_of(ctx, &context))
    return ctx ? CUDA_ERROR_INVALID_CONTEXT : result;  // of destroyed ones, too: measured H200
  if (!version) return CUDA_ERROR_INVALID_VALUE;
  *version = 3020;  // every context-creating ABI since CUDA 3.2 reports this
  return CUDA_SUCCESS;
}

CUresult cuCtxSynchronize(CUcontext ctx) {
  Context* context;
  if (CUresult result = context_of(ctx, &context)) return result;
  if (CUresult result = refuse_context_call(*context)) return result;
  GreenContext* green = ctx ? driver().greens.resolve(ctx) : top_green;
  if (!green) return context->synchronize();
  for (auto& stream : green->list_streams()) stream->wait_all(context->wait_policy());
  context->print.flush();
  trim_pools_at_sync(context->device);
  return context->sticky();
}

CUresult cuCtxGetCacheConfig(CUfunc_cache* pconfig) {
  Context* context;
  if (CUresult result = current_usable(&context)) return result;
  if (!pconfig) return CUDA_ERROR_INVALID_VALUE;
  *pconfig = static_cast<CUfunc_cache>(context->cache_config.load());
  return CUDA_SUCCESS;
}

CUresult cuCtxSetCacheConfig(CUfunc_cache config) {
  if (config < CU_FUNC_CACHE_PREFER_NONE || config > CU_FUNC_CACHE_PREFER_EQUAL)
    return CUDA_ERROR_INVALID_VALUE;
  Context* context;
  if (CUresult result = current_usable(&context)) return result;
  context->cache_config = config;
  return CUDA_SUCCESS;
}

CUresult cuCtxGetSharedMemConfig(CUsharedconfig* pConfig) {
  Context* context;
  if (CUresult result = current_usable(&context)) return result;
  if (!pConfig) return CUDA_ERROR_INVALID_VALUE;
  *pConfig = CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE;
  return CUDA_SUCCESS;
}

CUresult cuCtxSetSharedMemConfig(CUsharedconfig config) {
  if (config < CU_SHARED_MEM_CONFIG_DEFAULT_BANK_SIZE ||
      config > CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE)
    return CUDA_ERROR_INVALID_VALUE;
  Context* context;
  return current_usable(&context);
}

CUresult cuCtxGetStreamPriorityRange(int* leastPriority, int* greatestPriority) {
  Context* context;
  if (CUresult result = current_usable(&context)) return result;
  if (leastPriority) *leastPriority = least_priority;
  if (greatestPriority) *greatestPriority = greatest_priority;
  return CUDA_SUCCESS;
}

CUresult cuCtxResetPersistingL2Cache() {
  Context* context;
  return current_usable(&context);
}

CUresult cuCtxGetExecAffinity(CUexecAffinityParam* pExecAffinity, CUexecAffinityType type) {
  Context* context;
  if (CUresult result = current_usable(&context)) return result;
  if (!pExecAffinity) return CUDA_ERROR_INVALID_VALUE;
  if (type != CU_EXEC_AFFINITY_TYPE_SM_COUNT) return CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY;
  GreenContext* green;
  if (CUresult result = current_green(&green)) return result;
  pExecAffinity->type = type;
  pExecAffinity->param.smCount.val =
      green ? static_cast<unsigned>(green->set.sms.size()) : context->device.multiprocessors();
  return CUDA_SUCCESS;
}

CUresult limit_of(Context& context, CUlimit limit, size_t* value) {
  switch (limit) {
    case CU_LIMIT_STACK_SIZE:
      *value = context.stack_bytes;
      return CUDA_SUCCESS;
    case CU_LIMIT_PRINTF_FIFO_SIZE:
      *value = context.print.limit_bytes();
      return CUDA_SUCCESS;
    case CU_LIMIT_MALLOC_HEAP_SIZE:
      *value = context.heap.limit_bytes();
      return CUDA_SUCCESS;
    case CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT:
      *value = context.pending_launches;
      return CUDA_SUCCESS;
    case CU_LIMIT_MAX_L2_FETCH_GRANULARITY:
      *value = context.l2_fetch_bytes;
      return CUDA_SUCCESS;
    case CU_LIMIT_PERSISTING_L2_CACHE_SIZE:
      *value = context.l2_persisting_bytes;
      return CUDA_SUCCESS;
    case CU_LIMIT_SHMEM_SIZE:
      *value = size_t(context.device.limit(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN));
      return CUDA_SUCCESS;
    case CU_LIMIT_CIG_ENABLED:
      *value = 0;
      return CUDA_SUCCESS;
    case CU_LIMIT_CIG_SHMEM_FALLBACK_ENABLED:
    case CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH:
      return CUDA_ERROR_UNSUPPORTED_LIMIT;
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}

CUresult cuCtxGetLimit(size_t* pvalue, CUlimit limit) {
  Context* context;
  if (CUresult result = current_usable(&context)) return result;
  if (!pvalue) return CUDA_ERROR_INVALID_VALUE;
  return limit_of(*context, limit, pvalue);
}

CUresult cuCtxSetLimit(CUlimit limit, size_t value) {
  Context* context;
  if (CUresult result = current_usable(&context)) return result;
  switch (limit) {
    case CU_LIMIT_STACK_SIZE:
      if (value >= most_stack_bytes) return CUDA_ERROR_INVALID_VALUE;
      context->stack_bytes = (value + 15) / 16 * 16;
      return CUDA_SUCCESS;
    case CU_LIMIT_PRINTF_FIFO_SIZE:
      if (context->print.used()) return CUDA_ERROR_INVALID_VALUE;
      context->print.set_limit(std::max<size_t>(value, least_printf_bytes));
      return CUDA_SUCCESS;
    case CU_LIMIT_MALLOC_HEAP_SIZE:
      if (value > context->device.memory().limit_bytes()) return CUDA_ERROR_INVALID_VALUE;
      return context->heap.set_limit(std::max(value, least_heap_bytes)) ? CUDA_SUCCESS
                                                                        : CUDA_ERROR_INVALID_VALUE;
    case CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT:
      context->pending_launches = value;
      return CUDA_SUCCESS;
    case CU_LIMIT_MAX_L2_FETCH_GRANULARITY:
      if (value > 128) return CUDA_ERROR_INVALID_VALUE;
      context->l2_fetch_bytes = value;  // a hint on NVIDIA's devices; there is nothing to tune here
      return CUDA_SUCCESS;
    case CU_LIMIT_PERSISTING_L2_CACHE_SIZE:
      if (value > size_t(context->device.limit(CU_DEVICE_ATTRIBUTE_MAX_PERSISTING_L2_CACHE_SIZE)))
        return CUDA_ERROR_INVALID_VALUE;
      context->l2_persisting_bytes = value;
      return CUDA_SUCCESS;
    case CU_LIMIT_SHMEM_SIZE:
    case CU_LIMIT_CIG_ENABLED:
      return CUDA_ERROR_NOT_PERMITTED;
    case CU_LIMIT_CIG_SHMEM_FALLBACK_ENABLED:
    case CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH:
      return CUDA_ERROR_UNSUPPORTED_LIMIT;
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}

CUresult cuDevicePrimaryCtxRetain(CUcontext* pctx, CUdevice dev) {
  Device* device = driver().device(dev);
  if (!device) return CUDA_ERROR_INVALID_DEVICE;
  if (!pctx) return CUDA_ERROR_INVALID_VALUE;
  Context* context = device->primary();
  context->retained.fetch_add(1);
  context->activate();
  *pctx = handle_of(context);
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRelease(CUdevice dev) {
  if (HostFunctionScope::entered()) return CUDA_ERROR_NOT_PERMITTED;
  Device* device = driver().device(dev);
  if (!device) return CUDA_ERROR_INVALID_DEVICE;
  Context* context = device->primary();
  uint32_t count = context->retained.load();
  do {
    if (count == 0) return CUDA_ERROR_INVALID_CONTEXT;
  } while (!context->retained.compare_exchange_weak(count, count - 1));
  if (count == 1) context->end();
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxReset(CUdevice dev) {
  if (HostFunctionScope::entered()) return CUDA_ERROR_NOT_PERMITTED;
  Device* device = driver().device(dev);
  if (!device) return CUDA_ERROR_INVALID_DEVICE;
  // The retain count stays: measured H200, driver 580.x.
  if (device->primary()->active) device->primary()->end();
  device->primary()->flags = 0;
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxGetState(CUdevice dev, unsigned int* flags, int* active) {
  Device* device = driver().device(dev);
  if (!device) return CUDA_ERROR_INVALID_DEVICE;
  if (!flags || !active) return CUDA_ERROR_INVALID_VALUE;
  *flags = device->primary()->flags;
  *active = device->primary()->active ? 1 : 0;
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxSetFlags(CUdevice dev, unsigned int flags) {
  Device* device = driver().device(dev);
  if (!device) return CUDA_ERROR_INVALID_DEVICE;
  if (!flags_are_valid(flags)) return CUDA_ERROR_INVALID_VALUE;
  device->primary()->flags = flags;
  return CUDA_SUCCESS;
}

}  // namespace limen::cpu
