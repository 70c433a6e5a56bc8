#include "conformance/conform.h"

namespace limen::conform {

CONFORM(cuStreamGetAttribute, reads_what_the_stream_was_made_with) {
  CUstream stream = nullptr;
  REQUIRE(cuStreamCreateWithPriority(&stream, CU_STREAM_NON_BLOCKING, -2));
  CUstreamAttrValue value{};
  expect_code("priority", cuStreamGetAttribute(stream, CU_LAUNCH_ATTRIBUTE_PRIORITY, &value),
              CUDA_SUCCESS);
  expect("its value", value.priority, -2);
  std::memset(&value, 0xff, sizeof value);
  expect_code("window",
              cuStreamGetAttribute(stream, CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW, &value),
              CUDA_SUCCESS);
  expect("no window", value.accessPolicyWindow.num_bytes, 0u);
  value.memSyncDomain = CU_LAUNCH_MEM_SYNC_DOMAIN_REMOTE;
  expect_code("domain", cuStreamGetAttribute(stream, CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN, &value),
              CUDA_SUCCESS);
  expect("default domain", value.memSyncDomain, CU_LAUNCH_MEM_SYNC_DOMAIN_DEFAULT);
}

CONFORM(cuStreamGetAttribute, wrong_arguments) {
  CUstreamAttrValue value{};
  expect_code("no value", cuStreamGetAttribute(nullptr, CU_LAUNCH_ATTRIBUTE_PRIORITY, nullptr),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("a launch's attribute",
              cuStreamGetAttribute(nullptr, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, &value),
              CUDA_ERROR_INVALID_VALUE);
  CUstream gone = nullptr;
  REQUIRE(cuStreamCreate(&gone, CU_STREAM_NON_BLOCKING));
  REQUIRE(cuStreamDestroy(gone));
  expect_code("destroyed stream", cuStreamGetAttribute(gone, CU_LAUNCH_ATTRIBUTE_PRIORITY, &value),
              CUDA_ERROR_INVALID_HANDLE);
}

}  // namespace limen::conform
