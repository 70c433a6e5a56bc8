#include "conformance/conform.h"

namespace limen::conform {

CONFORM(cuMulticastGetGranularity, without_an_nvlink_switch) {
  int supported = 0;
  REQUIRE(cuDeviceGetAttribute(&supported, CU_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED, 0));
  expect("not supported", supported, 0);
  expect_code("refused",
              cuMulticastGetGranularity(nullptr, nullptr, CU_MULTICAST_GRANULARITY_MINIMUM),
              CUDA_ERROR_NOT_SUPPORTED);
}

}  // namespace limen::conform
