#include "conformance/conform.h"

namespace limen::conform {

CONFORM(cuStreamCopyAttributes, copies_all) {
  CUstream from = nullptr, to = nullptr;
  REQUIRE(cuStreamCreateWithPriority(&from, CU_STREAM_NON_BLOCKING, -4));
  REQUIRE(cuStreamCreate(&to, CU_STREAM_NON_BLOCKING));
  CUstreamAttrValue value{};
  value.syncPolicy = CU_SYNC_POLICY_BLOCKING_SYNC;
  REQUIRE(cuStreamSetAttribute(from, CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, &value));
  value = {};
  value.memSyncDomain = CU_LAUNCH_MEM_SYNC_DOMAIN_REMOTE;
  REQUIRE(cuStreamSetAttribute(from, CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN, &value));
  expect_code("copy", cuStreamCopyAttributes(to, from), CUDA_SUCCESS);
  REQUIRE(cuStreamGetAttribute(to, CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, &value));
  expect("policy", value.syncPolicy, CU_SYNC_POLICY_BLOCKING_SYNC);
  REQUIRE(cuStreamGetAttribute(to, CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN, &value));
  expect("domain", value.memSyncDomain, CU_LAUNCH_MEM_SYNC_DOMAIN_REMOTE);
  REQUIRE(cuStreamGetAttribute(to, CU_LAUNCH_ATTRIBUTE_PRIORITY, &value));
  expect("priority", value.priority, -4);
}

CONFORM(cuStreamCopyAttributes, wrong_streams) {
  CUstream gone = nullptr, here = nullptr;
  REQUIRE(cuStreamCreate(&here, CU_STREAM_NON_BLOCKING));
  REQUIRE(cuStreamCreate(&gone, CU_STREAM_NON_BLOCKING));
  REQUIRE(cuStreamDestroy(gone));
  expect_code("from a destroyed one", cuStreamCopyAttributes(here, gone),
              CUDA_ERROR_INVALID_HANDLE);
  expect_code("to a destroyed one", cuStreamCopyAttributes(gone, here), CUDA_ERROR_INVALID_HANDLE);
  expect_code("default streams", cuStreamCopyAttributes(nullptr, nullptr), CUDA_SUCCESS);
}

}  // namespace limen::conform
