// Memory and events between processes: cuIpc*. Memory that is exported moves into a shared file
// (Allocator::share); importers map it in the virtual partition. Thread rule: any thread; one lock
// for what is open.
#include <algorithm>
#include <cstring>
#include <mutex>
#include <vector>

#include "abi/cpu_api.h"
#include "drivers/cpu/context.h"
#include "drivers/cpu/memory/pointer.h"
#include "drivers/cpu/memory/process_handle.h"
#include "drivers/cpu/memory/virtual_space.h"
#include "drivers/cpu/stream/shared_event.h"

namespace limen::cpu {

namespace {

/// Memory of other processes that is open here.
struct Opened {
  ProcessHandle handle;
  uint32_t owner;  ///< context id
  uint64_t base;
  unsigned count;
};
struct Book {
  std::mutex mutex;
  std::vector<Opened> opened;
};
Book& book() {
  static auto* made = new Book;
  return *made;
}

template <typename Handle>
ProcessHandle read_handle(const Handle& handle) {
  static_assert(sizeof(Handle) == sizeof(ProcessHandle));
  ProcessHandle read;
  std::memcpy(static_cast<void*>(&read), &handle, sizeof read);
  return read;
}

bool same(const ProcessHandle& a, const ProcessHandle& b) {
  return std::memcmp(&a, &b, sizeof a) == 0;
}

/// Drops what went with its context. Under the lock.
void forget_closed() {
  std::erase_if(book().opened, [](const Opened& one) {
    Mapping mapping;
    return !driver().virtual_space.find(one.base, &mapping) || mapping.kind != MemoryKind::ipc ||
           mapping.owner != one.owner;
  });
}

CUresult map_block(const ProcessHandle& handle, std::shared_ptr<SharedFile> file, Context& context,
                   CUdeviceptr* address) {
  Mapping mapping;
  mapping.bytes = handle.bytes;
  mapping.lead = handle.lead;
  mapping.id = next_block_id();
  mapping.kind = MemoryKind::ipc;
  mapping.device = context.device.ordinal();
  mapping.owner = context.owner;
  mapping.access.readable = mapping.access.writable = ~uint64_t{0};
  mapping.file = std::move(file);
  mapping.offset = handle.offset;
  *address = driver().virtual_space.place(std::move(mapping));
  return *address ? CUDA_SUCCESS : CUDA_ERROR_MAP_FAILED;
}

}  // namespace

CUresult cuIpcGetMemHandle(CUipcMemHandle* pHandle, CUdeviceptr dptr) {
  if (!pHandle || !dptr) return CUDA_ERROR_INVALID_VALUE;
  Context* context;
  if (CUresult result = current_usable(&context)) return result;
  PointerInfo info;
  if (!classify(dptr, &info) || info.block.kind != MemoryKind::device)
    return CUDA_ERROR_INVALID_VALUE;
  SharedBlock where;
  if (!driver().allocator_of(dptr)->share(info.block.base, &where)) return CUDA_ERROR_OUT_OF_MEMORY;
  ProcessHandle handle = ProcessHandle::make(ProcessHandle::Kind::memory, *where.file);
  handle.offset = where.offset;
  handle.lead = static_cast<uint32_t>(where.lead);
  handle.bytes = info.block.bytes;
  handle.block_id = info.block.id;
  handle.seal();
  std::memcpy(pHandle, &handle, sizeof handle);
  return CUDA_SUCCESS;
}

CUresult cuIpcOpenMemHandle(CUdeviceptr* pdptr, CUipcMemHandle handle, unsigned int Flags) {
  if (!pdptr || Flags != CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS) return CUDA_ERROR_INVALID_VALUE;
  Context* context;
  if (CUresult result = current_usable(&context)) return result;
  const ProcessHandle named = read_handle(handle);
  std::lock_guard lock(book().mutex);
  forget_closed();
  for (Opened& one : book().opened) {
    if (one.owner != context->owner || !same(one.handle, named)) continue;
    ++one.count;
    *pdptr = one.base;
    return CUDA_SUCCESS;
  }
  std::shared_ptr<SharedFile> file;
  if (CUresult result = named.open(ProcessHandle::Kind::memory, &file)) return result;
  CUdeviceptr address;
  if (CUresult result = map_block(named, std::move(file), *context, &address)) return result;
  book().opened.push_back({named, context->owner, address, 1});
  *pdptr = address;
  return CUDA_SUCCESS;
}

CUresult cuIpcCloseMemHandle(CUdeviceptr dptr) {
  Context* context;
  if (CUresult result = current_usable(&context)) return result;
  std::unique_lock lock(book().mutex);
  forget_closed();
  auto found = std::find_if(book().opened.begin(), book().opened.end(),
                            [&](const Opened& one) { return one.base == dptr; });
  if (found == book().opened.end()) return CUDA_ERROR_INVALID_VALUE;
  if (--found->count) return CUDA_SUCCESS;
  book().opened.erase(found);
  lock.unlock();
  synchronize_all_contexts();  // as cuMemFree: work may still use it
  driver().virtual_space.displace(dptr, MemoryKind::ipc);
  return context->sticky();
}

CUresult cuIpcGetEventHandle(CUipcEventHandle* pHandle, CUevent event) {
  if (!pHandle || !event) return CUDA_ERROR_INVALID_VALUE;
  EventHandle* found = driver().events.resolve(event);
  if (!found) return CUDA_ERROR_INVALID_HANDLE;
  Context* context;
  if (CUresult result = current_usable(&context)) return result;
  if (!found->state->shared) return CUDA_ERROR_INVALID_HANDLE;
  ProcessHandle handle =
      ProcessHandle::make(ProcessHandle::Kind::event, found->state->shared->file());
  handle.seal();
  std::memcpy(pHandle, &handle, sizeof handle);
  return CUDA_SUCCESS;
}

CUresult cuIpcOpenEventHandle(CUevent* phEvent, CUipcEventHandle handle) {
  if (!phEvent) return CUDA_ERROR_INVALID_VALUE;
  const ProcessHandle named = read_handle(handle);
  Context* context;
  CUresult no_context = current_usable(&context);
  std::shared_ptr<SharedFile> file;
  CUresult opened = named.open(ProcessHandle::Kind::event, &file);
  // The bytes come before the context; what was never a handle cannot be mapped. measured H200,
  // driver 580.x
  if (opened == CUDA_ERROR_INVALID_VALUE) return CUDA_ERROR_MAP_FAILED;
  if (no_context) return no_context;
  if (opened) return opened;
  auto shared = SharedEvent::open(std::move(file));
  if (!shared) return CUDA_ERROR_INVALID_HANDLE;
  EventHandle* event = driver().events.create();
  if (!event) return CUDA_ERROR_OUT_OF_MEMORY;
  event->context = context;
  event->state->timing = false;
  event->state->shared = std::move(shared);
  {
    std::lock_guard lock(context->mutex);
    context->event_handles.insert(event);
  }
  *phEvent = reinterpret_cast<CUevent>(event);
  return CUDA_SUCCESS;
}

}  // namespace limen::cpu
