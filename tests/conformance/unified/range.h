// What the cases of managed memory share: a block, places, and what a range answers. Thread rule:
// as conform.h.
#pragma once
#include "conformance/places.h"

namespace limen::conform {

inline constexpr size_t page = 4096;

/// Managed memory, 16 pages of it.
class Managed {
 public:
  explicit Managed(size_t bytes = 16 * page) {
    REQUIRE(cuMemAllocManaged(&address_, bytes, CU_MEM_ATTACH_GLOBAL));
  }
  ~Managed() { cuMemFree(address_); }
  Managed(const Managed&) = delete;
  Managed& operator=(const Managed&) = delete;
  operator CUdeviceptr() const { return address_; }
  CUdeviceptr at(size_t offset) const { return address_ + offset; }
  volatile uint32_t& word(size_t i) const {
    return reinterpret_cast<volatile uint32_t*>(address_)[i];
  }

 private:
  CUdeviceptr address_ = 0;
};

inline CUmemLocation device_location(int id) { return {CU_MEM_LOCATION_TYPE_DEVICE, id}; }
inline CUmemLocation host_location() { return {CU_MEM_LOCATION_TYPE_HOST, 0}; }
/// For advice that has no place: it must be one that exists all the same.
inline CUmemLocation any_location() { return device_location(0); }
inline CUmemLocation no_location() { return {CU_MEM_LOCATION_TYPE_INVALID, 0}; }

/// One number of a range, of four bytes.
inline int range_number(CUmem_range_attribute attribute, CUdeviceptr address, size_t bytes) {
  int value = -77;
  REQUIRE(cuMemRangeGetAttribute(&value, sizeof value, attribute, address, bytes));
  return value;
}

/// Whether device 0 reaches memory that was never given to the driver.
inline bool reaches_pageable_memory() {
  int reaches = 0;
  REQUIRE(cuDeviceGetAttribute(&reaches, CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS, 0));
  return reaches != 0;
}

}  // namespace limen::conform
