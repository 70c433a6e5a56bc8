// Managed memory for the cases of batches. Thread rule: as conform.h.
#pragma once
#include "conformance/conform.h"

namespace limen::conform {

struct Managed {
  static constexpr size_t bytes = size_t{4} << 20;
  CUdeviceptr address = 0;
  Managed() { REQUIRE(cuMemAllocManaged(&address, bytes, CU_MEM_ATTACH_GLOBAL)); }
  volatile uint32_t& word(size_t index) const {
    return reinterpret_cast<volatile uint32_t*>(address)[index];
  }
  int last_prefetch() const {
    int where = -9;
    REQUIRE(cuMemRangeGetAttribute(&where, sizeof where,
                                   CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, address, bytes));
    return where;
  }
};

inline CUstream own_stream() {
  CUstream stream = nullptr;
  REQUIRE(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  return stream;
}

constexpr CUmemLocation device_place{CU_MEM_LOCATION_TYPE_DEVICE, 0};
constexpr CUmemLocation host_place{CU_MEM_LOCATION_TYPE_HOST, 0};

}  // namespace limen::conform
