#include "conformance/conform.h"

#include <cstdio>

namespace limen::conform {

CONFORM_WITH(cuDeviceGetByPCIBusId, every_form_of_the_name, initialised) {
  int domain = 0, bus = 0, slot = 0;
  REQUIRE(cuDeviceGetAttribute(&domain, CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID, 0));
  REQUIRE(cuDeviceGetAttribute(&bus, CU_DEVICE_ATTRIBUTE_PCI_BUS_ID, 0));
  REQUIRE(cuDeviceGetAttribute(&slot, CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID, 0));
  char text[64];
  CUdevice device = -1;
  std::snprintf(text, sizeof text, "%04x:%02x:%02x.0", domain, bus, slot);
  expect_code("domain, bus, device, function", cuDeviceGetByPCIBusId(&device, text), CUDA_SUCCESS);
  expect("the first device", device, 0);
  device = -1;
  std::snprintf(text, sizeof text, "%x:%02x:%02x", domain, bus, slot);
  expect_code("domain, bus, device", cuDeviceGetByPCIBusId(&device, text), CUDA_SUCCESS);
  expect("the first device again", device, 0);
  if (domain == 0) {
    std::snprintf(text, sizeof text, "%02x:%02x.0", bus, slot);
    expect_code("bus, device, function", cuDeviceGetByPCIBusId(&device, text), CUDA_SUCCESS);
  }
}

CONFORM_WITH(cuDeviceGetByPCIBusId, wrong_arguments, initialised) {
  CUdevice device = -1;
  expect_code("no result", cuDeviceGetByPCIBusId(nullptr, "0000:00:00.0"),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no name", cuDeviceGetByPCIBusId(&device, nullptr), CUDA_ERROR_INVALID_VALUE);
  expect_code("no such device", cuDeviceGetByPCIBusId(&device, "fffe:ff:1f.0"),
              CUDA_ERROR_INVALID_DEVICE);
  expect_code("no name of a device", cuDeviceGetByPCIBusId(&device, "hello"),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("the empty name", cuDeviceGetByPCIBusId(&device, ""), CUDA_ERROR_INVALID_VALUE);
  expect("left alone", device, -1);
}

CONFORM_WITH(cuDeviceGetByPCIBusId, needs_cuInit, nothing) {
  CUdevice device;
  expect_code("not initialised", cuDeviceGetByPCIBusId(&device, "0000:00:00.0"),
              CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
