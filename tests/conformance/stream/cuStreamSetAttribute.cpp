#include "conformance/conform.h"

namespace limen::conform {
namespace {

CUstream new_stream() {
  CUstream stream = nullptr;
  REQUIRE(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  return stream;
}

CUstreamAttrValue get(CUstream stream, CUstreamAttrID attribute) {
  CUstreamAttrValue value{};
  REQUIRE(cuStreamGetAttribute(stream, attribute, &value));
  return value;
}

}  // namespace

CONFORM(cuStreamSetAttribute, priority) {
  CUstream stream = new_stream();
  CUstreamAttrValue value{};
  value.priority = -3;
  expect_code("set", cuStreamSetAttribute(stream, CU_LAUNCH_ATTRIBUTE_PRIORITY, &value),
              CUDA_SUCCESS);
  int priority = 0;
  REQUIRE(cuStreamGetPriority(stream, &priority));
  expect("stream's priority", priority, -3);
  value.priority = -1000;
  expect_code("out of range", cuStreamSetAttribute(stream, CU_LAUNCH_ATTRIBUTE_PRIORITY, &value),
              CUDA_SUCCESS);
  REQUIRE(cuStreamGetPriority(stream, &priority));
  expect("clamped", priority, -5);
}

CONFORM(cuStreamSetAttribute, synchronisation_policy) {
  CUstream stream = new_stream();
  // None: the context's counts.
  expect("default", get(stream, CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY).syncPolicy,
         static_cast<CUsynchronizationPolicy>(-1));
  for (CUsynchronizationPolicy policy :
       {CU_SYNC_POLICY_SPIN, CU_SYNC_POLICY_YIELD, CU_SYNC_POLICY_BLOCKING_SYNC}) {
    CUstreamAttrValue value{};
    value.syncPolicy = policy;
    std::string label = "policy " + std::to_string(policy);
    expect_code(label,
                cuStreamSetAttribute(stream, CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, &value),
                CUDA_SUCCESS);
    expect(label + " kept", get(stream, CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY).syncPolicy,
           policy);
    Buffer word(4);
    REQUIRE(launch(common_kernel("store"), 1, 1, stream, word.at(), 5u));
    REQUIRE(cuStreamSynchronize(stream));
    expect(label + " waits", read<uint32_t>(word), 5u);
  }
  CUstreamAttrValue value{};
  value.syncPolicy = static_cast<CUsynchronizationPolicy>(9);
  expect_code("unknown policy",
              cuStreamSetAttribute(stream, CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, &value),
              CUDA_ERROR_INVALID_VALUE);
}

CONFORM(cuStreamSetAttribute, access_policy_window) {
  CUstream stream = new_stream();
  Buffer memory(4096);
  CUstreamAttrValue value{};
  value.accessPolicyWindow = {reinterpret_cast<void*>(memory.at()), 4096, 0.5f,
                              CU_ACCESS_PROPERTY_PERSISTING, CU_ACCESS_PROPERTY_STREAMING};
  expect_code("set", cuStreamSetAttribute(stream, CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW, &value),
              CUDA_SUCCESS);
  CUaccessPolicyWindow kept =
      get(stream, CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW).accessPolicyWindow;
  expect_true("same place", kept.base_ptr == reinterpret_cast<void*>(memory.at()));
  expect("bytes", kept.num_bytes, 4096u);
  expect("ratio", kept.hitRatio, 0.5f);
  expect("hit", kept.hitProp, CU_ACCESS_PROPERTY_PERSISTING);
  expect("miss", kept.missProp, CU_ACCESS_PROPERTY_STREAMING);
  value.accessPolicyWindow.hitRatio = 1.5f;
  expect_code("ratio above 1",
              cuStreamSetAttribute(stream, CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW, &value),
              CUDA_ERROR_INVALID_VALUE);
  value.accessPolicyWindow.hitRatio = 0.5f;
  value.accessPolicyWindow.missProp = CU_ACCESS_PROPERTY_PERSISTING;
  expect_code("persisting miss",
              cuStreamSetAttribute(stream, CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW, &value),
              CUDA_ERROR_INVALID_VALUE);
  value.accessPolicyWindow.missProp = CU_ACCESS_PROPERTY_NORMAL;
  value.accessPolicyWindow.num_bytes = size_t{1} << 40;
  expect_code("larger than any window",
              cuStreamSetAttribute(stream, CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW, &value),
              CUDA_ERROR_INVALID_VALUE);
  expect("kept what was valid",
         get(stream, CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW).accessPolicyWindow.num_bytes, 4096u);
}

CONFORM(cuStreamSetAttribute, memory_domains) {
  CUstream stream = new_stream();
  CUlaunchMemSyncDomainMap map =
      get(stream, CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP).memSyncDomainMap;
  expect("default map, default", int{map.default_}, 0);
  expect("default map, remote", int{map.remote}, 1);
  CUstreamAttrValue value{};
  value.memSyncDomain = CU_LAUNCH_MEM_SYNC_DOMAIN_REMOTE;
  expect_code("domain", cuStreamSetAttribute(stream, CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN, &value),
              CUDA_SUCCESS);
  expect("kept", get(stream, CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN).memSyncDomain,
         CU_LAUNCH_MEM_SYNC_DOMAIN_REMOTE);
  value = {};
  value.memSyncDomainMap = {2, 3};
  expect_code("map", cuStreamSetAttribute(stream, CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP, &value),
              CUDA_SUCCESS);
  map = get(stream, CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP).memSyncDomainMap;
  expect("map kept, default", int{map.default_}, 2);
  expect("map kept, remote", int{map.remote}, 3);
  value.memSyncDomainMap = {200, 3};
  expect_code("no such domain",
              cuStreamSetAttribute(stream, CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP, &value),
              CUDA_ERROR_INVALID_VALUE);
}

CONFORM(cuStreamSetAttribute, default_stream_keeps_them) {
  CUstreamAttrValue value{};
  value.syncPolicy = CU_SYNC_POLICY_YIELD;
  expect_code("set",
              cuStreamSetAttribute(nullptr, CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, &value),
              CUDA_SUCCESS);
  expect("kept", get(nullptr, CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY).syncPolicy,
         CU_SYNC_POLICY_YIELD);
}

CONFORM(cuStreamSetAttribute, wrong_arguments) {
  CUstream stream = new_stream();
  CUstreamAttrValue value{};
  expect_code("no value", cuStreamSetAttribute(stream, CU_LAUNCH_ATTRIBUTE_PRIORITY, nullptr),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("a launch's attribute",
              cuStreamSetAttribute(stream, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &value),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("unknown attribute",
              cuStreamSetAttribute(stream, static_cast<CUstreamAttrID>(99), &value),
              CUDA_ERROR_INVALID_VALUE);
  REQUIRE(cuStreamDestroy(stream));
  expect_code("destroyed stream",
              cuStreamSetAttribute(stream, CU_LAUNCH_ATTRIBUTE_PRIORITY, &value),
              CUDA_ERROR_INVALID_HANDLE);
}

CONFORM_WITH(cuStreamSetAttribute, needs_a_context, initialised) {
  CUstreamAttrValue value{};
  expect_code("no context", cuStreamSetAttribute(nullptr, CU_LAUNCH_ATTRIBUTE_PRIORITY, &value),
              CUDA_ERROR_INVALID_CONTEXT);
}

}  // namespace limen::conform
