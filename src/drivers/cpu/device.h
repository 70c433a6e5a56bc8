// Device: one virtual CUDA device on the CPU: identity, attributes, memory, primary context.
// Does not run anything. Invariant: identity and attributes never change, because NVIDIA's runtimes
// compare them again and again. Thread rule: immutable but for the allocator (own lock).
#pragma once
#include <array>
#include <cstdint>
#include <string>

#include "abi/cuda_abi.h"
#include "base/result.h"
#include "drivers/cpu/memory/allocator.h"

namespace limen::cpu {

struct Context;
struct MemPool;
struct Settings;

class Device {
 public:
  /// `ordinal`: as the program counts; `number`: among all devices, what its identity depends on.
  Device(int ordinal, unsigned number, const Settings& settings, uint32_t workers,
         Allocator* memory);

  /// The same on every start on this machine, another on other machines.
  static CUuuid uuid_of(unsigned number);
  int ordinal() const { return ordinal_; }
  const std::string& name() const { return name_; }
  const CUuuid& uuid() const { return uuid_; }
  uint32_t capability() const { return capability_; }
  uint32_t multiprocessors() const { return static_cast<uint32_t>(attributes_[16]); }
  Allocator& memory() const { return *memory_; }
  Context* primary() const { return primary_; }
  MemPool* default_pool() const { return default_pool_; }
  /// Value of a CUdevice_attribute; false for a number that CUDA 13.0 does not define.
  bool attribute(int attribute, int* value) const;
  int limit(CUdevice_attribute attribute) const { return attributes_[attribute]; }
  std::string pci_bus_id() const;

  void set_primary(Context* context) { primary_ = context; }
  void set_default_pool(MemPool* pool) { default_pool_ = pool; }

 private:
  static constexpr int attribute_count = CU_DEVICE_ATTRIBUTE_MAX;

  int ordinal_;
  uint32_t capability_;
  std::string name_;
  CUuuid uuid_{};
  std::array<int, attribute_count> attributes_{};
  Allocator* memory_;
  Context* primary_ = nullptr;
  MemPool* default_pool_ = nullptr;
};

/// CUatomicOperationCapability bits of each operation on memory that devices and host share.
/// errors: 1 for an unknown operation.
CUresult atomic_capabilities(unsigned* capabilities, const CUatomicOperation* operations,
                             unsigned count);

}  // namespace limen::cpu
