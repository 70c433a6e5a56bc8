// What the cases of virtual memory management share: properties, a mapped range, granularity.
// Thread rule: as conform.h.
#pragma once
#include "conformance/conform.h"
#include "conformance/free_memory.h"

namespace limen::conform {

inline CUmemAllocationProp device_properties(bool exportable = false) {
  CUmemAllocationProp prop{};
  prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  prop.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  prop.location.id = 0;
  if (exportable) prop.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  return prop;
}

inline size_t granularity() {
  CUmemAllocationProp prop = device_properties();
  size_t bytes = 0;
  REQUIRE(cuMemGetAllocationGranularity(&bytes, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
  return bytes;
}

inline CUmemGenericAllocationHandle create(size_t bytes, bool exportable = false) {
  CUmemAllocationProp prop = device_properties(exportable);
  CUmemGenericAllocationHandle handle = 0;
  REQUIRE(cuMemCreate(&handle, bytes, &prop, 0));
  return handle;
}

inline CUdeviceptr reserve(size_t bytes) {
  CUdeviceptr address = 0;
  REQUIRE(cuMemAddressReserve(&address, bytes, 0, 0, 0));
  return address;
}

inline CUmemAccessDesc access_of(CUmemAccess_flags flags, int device = 0) {
  CUmemAccessDesc desc{};
  desc.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  desc.location.id = device;
  desc.flags = flags;
  return desc;
}

inline void allow(CUdeviceptr address, size_t bytes,
                  CUmemAccess_flags flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE) {
  CUmemAccessDesc desc = access_of(flags);
  REQUIRE(cuMemSetAccess(address, bytes, &desc, 1));
}

/// A reservation with one allocation mapped, readable and writable by device 0.
struct Mapped {
  size_t bytes;
  CUdeviceptr address;
  CUmemGenericAllocationHandle handle;

  explicit Mapped(size_t granules = 1, bool exportable = false)
      : bytes(granules * granularity()),
        address(reserve(bytes)),
        handle(create(bytes, exportable)) {
    REQUIRE(cuMemMap(address, bytes, 0, handle, 0));
    allow(address, bytes);
  }
};

}  // namespace limen::conform
