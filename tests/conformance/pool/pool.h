// What the cases of memory pools share. Thread rule: as conform.h.
#pragma once
#include "conformance/conform.h"

namespace limen::conform {

inline CUmemPoolProps pool_properties(bool exportable = false) {
  CUmemPoolProps props{};
  props.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  props.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  props.location.id = 0;
  if (exportable) props.handleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  return props;
}

inline CUmemoryPool make_pool(bool exportable = false, size_t most_bytes = 0) {
  CUmemPoolProps props = pool_properties(exportable);
  props.maxSize = most_bytes;
  CUmemoryPool pool = nullptr;
  REQUIRE(cuMemPoolCreate(&pool, &props));
  return pool;
}

inline CUdeviceptr take(CUmemoryPool pool, size_t bytes, CUstream stream = nullptr) {
  CUdeviceptr address = 0;
  REQUIRE(cuMemAllocFromPoolAsync(&address, bytes, pool, stream));
  return address;
}

inline uint64_t attribute(CUmemoryPool pool, CUmemPool_attribute which) {
  uint64_t value = ~uint64_t{0};
  REQUIRE(cuMemPoolGetAttribute(pool, which, &value));
  return value;
}

inline int reuse_policy(CUmemoryPool pool, CUmemPool_attribute which) {
  int value = -1;
  REQUIRE(cuMemPoolGetAttribute(pool, which, &value));
  return value;
}

inline void set(CUmemoryPool pool, CUmemPool_attribute which, uint64_t value) {
  REQUIRE(cuMemPoolSetAttribute(pool, which, &value));
}

inline CUstream new_stream() {
  CUstream stream = nullptr;
  REQUIRE(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  return stream;
}

/// A word of host memory that a kernel can spin on.
struct Flag {
  volatile uint32_t* word = nullptr;
  Flag() {
    void* host = nullptr;
    REQUIRE(cuMemAllocHost(&host, 4));
    word = static_cast<volatile uint32_t*>(host);
    *word = 0;
  }
  CUdeviceptr address() const { return reinterpret_cast<CUdeviceptr>(word); }
};

constexpr size_t mega = size_t{1} << 20;

}  // namespace limen::conform
