#include "conformance/conform.h"

namespace limen::conform {

CONFORM(cuMulticastUnbind, without_an_nvlink_switch) {
  int supported = 0;
  REQUIRE(cuDeviceGetAttribute(&supported, CU_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED, 0));
  expect("not supported", supported, 0);
  expect_code("refused", cuMulticastUnbind(0, 0, 0, 0), CUDA_ERROR_NOT_SUPPORTED);
}

}  // namespace limen::conform
