// External memory: descriptors of other drivers and libraries that can be mapped become device
// memory. A semaphore's descriptor means something to the graphics driver that made it only: each
// is one that this driver does not know, as NVIDIA's does not know another vendor's. The layouts of
// their images are not known, either. Thread rule: any thread.
#include <fcntl.h>
#include <sys/mman.h>

#include <algorithm>

#include <fmt/format.h>

#include "abi/cpu_api.h"
#include "drivers/cpu/context.h"
#include "drivers/cpu/external.h"
#include "drivers/cpu/memory/virtual_space.h"
#include "drivers/cpu/stream/order.h"

namespace limen::cpu {

namespace {

constexpr uint64_t page_bytes = 4096;

bool any_set(const unsigned* words, size_t count) {
  return std::any_of(words, words + count, [](unsigned word) { return word != 0; });
}

/// Whether kernels could read and write it.
bool can_be_mapped(const SharedFile& file) {
  void* memory =
      mmap(nullptr, page_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.descriptor(), 0);
  if (memory == MAP_FAILED) return false;
  munmap(memory, page_bytes);
  // Where the owner allows it: a file that shrinks takes pages away from under a kernel.
  fcntl(file.descriptor(), F_ADD_SEALS, F_SEAL_SHRINK);
  return true;
}

ExternalMemory* external_memory_of(CUexternalMemory handle) {
  ExternalMemory* found = driver().external_memories.resolve(handle);
  return found && context_of_owner(found->owner) ? found : nullptr;
}

}  // namespace

CUresult cuImportExternalMemory(CUexternalMemory* extMem_out,
                                const CUDA_EXTERNAL_MEMORY_HANDLE_DESC* memHandleDesc) {
  Context* context;
  if (CUresult result = current_usable(&context)) return result;
  if (!extMem_out || !memHandleDesc) return CUDA_ERROR_INVALID_VALUE;
  const auto& desc = *memHandleDesc;
  if (!desc.size || (desc.flags & ~unsigned(CUDA_EXTERNAL_MEMORY_DEDICATED)) ||
      any_set(desc.reserved, std::size(desc.reserved)))
    return CUDA_ERROR_INVALID_VALUE;
  if (desc.type < CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD ||
      desc.type > CU_EXTERNAL_MEMORY_HANDLE_TYPE_DMABUF_FD)
    return CUDA_ERROR_INVALID_VALUE;
  if (desc.type != CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD &&
      desc.type != CU_EXTERNAL_MEMORY_HANDLE_TYPE_DMABUF_FD)
    return report({Code::not_supported,
                   fmt::format("external memory of handle type {} exists on Windows and Tegra only",
                               static_cast<int>(desc.type)),
                   "import a file descriptor"});
  // Without a descriptor NVIDIA's driver knows no better, either. measured H200, driver 580.159.04
  if (fcntl(desc.handle.fd, F_GETFD) < 0)
    return report({Code::unknown, fmt::format("{} is no open descriptor", desc.handle.fd), ""});
  auto file = SharedFile::adopt(desc.handle.fd, desc.size);
  if (!file) return CUDA_ERROR_INVALID_VALUE;
  if (!can_be_mapped(*file)) {
    file->disown();  // it stays the caller's
    return report({Code::not_supported,
                   "this descriptor cannot be mapped by the CPU: memory of a GPU's driver, say",
                   ""});
  }
  ExternalMemory* made = driver().external_memories.create();
  if (!made) {
    file->disown();
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  made->file = std::move(file);
  made->bytes = desc.size;
  made->owner = context->owner;
  *extMem_out = reinterpret_cast<CUexternalMemory>(made);
  return CUDA_SUCCESS;
}

CUresult cuExternalMemoryGetMappedBuffer(CUdeviceptr* devPtr, CUexternalMemory extMem,
                                         const CUDA_EXTERNAL_MEMORY_BUFFER_DESC* bufferDesc) {
  if (!devPtr || !extMem || !bufferDesc) return CUDA_ERROR_INVALID_VALUE;
  Context* context;
  if (CUresult result = current_usable(&context)) return result;
  const ExternalMemory* memory = external_memory_of(extMem);
  if (!memory) return CUDA_ERROR_INVALID_HANDLE;
  const auto& desc = *bufferDesc;
  if (!desc.size || desc.flags || any_set(desc.reserved, std::size(desc.reserved)) ||
      desc.offset > memory->bytes || desc.size > memory->bytes - desc.offset)
    return CUDA_ERROR_INVALID_VALUE;
  Mapping mapping;
  mapping.bytes = desc.size;
  mapping.lead = desc.offset % page_bytes;
  mapping.id = next_block_id();
  mapping.kind = MemoryKind::external;
  mapping.device = context->device.ordinal();
  mapping.owner = context->owner;
  mapping.access.readable = mapping.access.writable = ~uint64_t{0};
  mapping.file = memory->file;
  mapping.offset = desc.offset - mapping.lead;
  const uint64_t base = driver().virtual_space.place(std::move(mapping));
  if (!base) return CUDA_ERROR_OUT_OF_MEMORY;
  *devPtr = base;
  return CUDA_SUCCESS;
}

/// partial: refused: how another driver lays out the texels of its images is not known
CUresult cuExternalMemoryGetMappedMipmappedArray(
    CUmipmappedArray* mipmap, CUexternalMemory extMem,
    const CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC* mipmapDesc) {
  if (!mipmap || !extMem || !mipmapDesc) return CUDA_ERROR_INVALID_VALUE;
  Context* context;
  if (CUresult result = current_usable(&context)) return result;
  if (!external_memory_of(extMem)) return CUDA_ERROR_INVALID_HANDLE;
  return report(
      {Code::not_supported, "images of other drivers have layouts that are not known", ""});
}

CUresult cuDestroyExternalMemory(CUexternalMemory extMem) {
  if (!extMem) return CUDA_ERROR_INVALID_VALUE;
  Context* context;
  if (CUresult result = current_usable(&context)) return result;
  ExternalMemory* memory = external_memory_of(extMem);
  if (!memory || !driver().external_memories.retire(memory)) return CUDA_ERROR_INVALID_HANDLE;
  driver().external_memories.destroy(memory);  // what is mapped keeps the file
  return CUDA_SUCCESS;
}

/// partial: no descriptor is one that a CPU knows: only GPU drivers make semaphores
CUresult cuImportExternalSemaphore(CUexternalSemaphore* extSem_out,
                                   const CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC* semHandleDesc) {
  Context* context;
  if (CUresult result = current_usable(&context)) return result;
  if (!extSem_out || !semHandleDesc) return CUDA_ERROR_INVALID_VALUE;
  const auto type = semHandleDesc->type;
  if (type < CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD ||
      type > CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_WIN32 || semHandleDesc->flags ||
      any_set(semHandleDesc->reserved, std::size(semHandleDesc->reserved)))
    return CUDA_ERROR_INVALID_VALUE;
  const char* instead = "use events between processes (cuIpcGetEventHandle) or cuStreamWaitValue";
  if (type != CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD &&
      type != CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_FD)
    return report({Code::not_supported,
                   fmt::format("external semaphores of handle type {} exist on Windows and Tegra "
                               "only",
                               static_cast<int>(type)),
                   instead});
  // The descriptor stays the caller's. measured H200, driver 580.159.04
  if (semHandleDesc->handle.fd < 0) return CUDA_ERROR_INVALID_VALUE;
  return report({Code::unknown,
                 fmt::format("descriptor {} is no semaphore that a CPU knows: only a GPU's driver "
                             "can make one",
                             semHandleDesc->handle.fd),
                 instead});
}

/// partial: no semaphore can be imported, so there is none to signal
CUresult cuSignalExternalSemaphoresAsync(const CUexternalSemaphore* extSemArray,
                                         const CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS* paramsArray,
                                         unsigned int numExtSems, CUstream stream) {
  ResolvedStream on;
  if (CUresult result = resolve_stream(stream, &on, UnderCapture::record)) return result;
  if (!extSemArray || !paramsArray || !numExtSems) return CUDA_ERROR_INVALID_VALUE;
  return CUDA_ERROR_INVALID_HANDLE;
}

/// partial: no semaphore can be imported, so there is none to wait for
CUresult cuWaitExternalSemaphoresAsync(const CUexternalSemaphore* extSemArray,
                                       const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS* paramsArray,
                                       unsigned int numExtSems, CUstream stream) {
  ResolvedStream on;
  if (CUresult result = resolve_stream(stream, &on, UnderCapture::record)) return result;
  if (!extSemArray || !paramsArray || !numExtSems) return CUDA_ERROR_INVALID_VALUE;
  return CUDA_ERROR_INVALID_HANDLE;
}

/// partial: no semaphore can be imported, so there is none to destroy
CUresult cuDestroyExternalSemaphore(CUexternalSemaphore extSem) {
  return extSem ? CUDA_ERROR_INVALID_HANDLE : CUDA_ERROR_INVALID_VALUE;
}

}  // namespace limen::cpu
