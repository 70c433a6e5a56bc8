// External memory for the cases: a memfd stands for another library's export. NVIDIA's driver
// imports only what a graphics driver of its own has exported: such cases are skipped there.
// Thread rule: as conform.h.
#pragma once
#include <sys/mman.h>
#include <unistd.h>

#include "conformance/conform.h"

namespace limen::conform {

constexpr size_t external_bytes = size_t{1} << 20;

inline CUDA_EXTERNAL_MEMORY_HANDLE_DESC describe(int descriptor, size_t bytes = external_bytes) {
  CUDA_EXTERNAL_MEMORY_HANDLE_DESC desc{};
  desc.type = CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD;
  desc.handle.fd = descriptor;
  desc.size = bytes;
  return desc;
}

inline int make_file(size_t bytes = external_bytes) {
  const int descriptor = memfd_create("external", 0);
  if (descriptor < 0 || ftruncate(descriptor, static_cast<off_t>(bytes))) skip("no memfd");
  return descriptor;
}

/// The same pages, seen by their owner.
inline volatile uint32_t* owners_view(int descriptor) {
  void* memory = mmap(nullptr, external_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  return static_cast<volatile uint32_t*>(memory);
}

inline CUexternalMemory import(int descriptor) {
  CUexternalMemory memory = nullptr;
  const auto desc = describe(descriptor);
  if (cuImportExternalMemory(&memory, &desc) != CUDA_SUCCESS)
    skip("this driver imports the memory of graphics drivers only");
  return memory;
}

}  // namespace limen::conform
