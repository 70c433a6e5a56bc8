// Which devices a program sees, and in which order: CUDA_VISIBLE_DEVICES.
// source: CUDA C++ Programming Guide 13.0, "CUDA Environment Variables"; what the guide leaves open
// was measured on an H200, driver 580.159.04 (tests/unit/cpu/device_select_test.cpp lists it).
// CUDA_DEVICE_ORDER changes nothing: all devices are alike, so the fastest first is the order of
// their PCI ids. Thread rule: pure functions.
#pragma once
#include <string_view>
#include <vector>

#include "abi/cuda_abi.h"

namespace limen::cpu {

struct Selection {
  CUresult code = CUDA_SUCCESS;   ///< 101 where a device is named twice
  std::vector<unsigned> devices;  ///< numbers among all devices, in the program's order
};

/// Reads a value of CUDA_VISIBLE_DEVICES. The list ends at the first entry that names no device.
Selection select_devices(std::string_view value, const std::vector<CUuuid>& uuids);

}  // namespace limen::cpu
