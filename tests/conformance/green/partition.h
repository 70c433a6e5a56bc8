// What the cases of green contexts share: resources of device 0 split in two, contexts made of
// them.
#pragma once
#include "conformance/conform.h"

namespace limen::conform {

inline CUdevResource device_sms() {
  CUdevResource all{};
  REQUIRE(cuDeviceGetDevResource(0, &all, CU_DEV_RESOURCE_TYPE_SM));
  return all;
}

/// Two small groups of multiprocessors.
struct Halves {
  Halves() {
    CUdevResource all = device_sms();
    unsigned count = 2;
    REQUIRE(cuDevSmResourceSplitByCount(groups, &count, &all, nullptr,
                                        CU_DEV_SM_RESOURCE_SPLIT_IGNORE_SM_COSCHEDULING, 2));
    if (count != 2) skip("the device has too few multiprocessors for two groups");
  }
  CUdevResource groups[2];
};

inline CUdevResourceDesc describe(CUdevResource resource) {
  CUdevResourceDesc description = nullptr;
  REQUIRE(cuDevResourceGenerateDesc(&description, &resource, 1));
  return description;
}

inline CUgreenCtx make_green(const CUdevResource& resource) {
  CUgreenCtx green = nullptr;
  REQUIRE(cuGreenCtxCreate(&green, describe(resource), 0, CU_GREEN_CTX_DEFAULT_STREAM));
  return green;
}

/// Writes to out[smid] for every block: which multiprocessors a launch used.
inline CUfunction smid_kernel() {
  return load_kernel(R"(
.version 7.0
.target sm_70
.address_size 64
.visible .entry where(.param .u64 out) {
  .reg .b64 %a, %o; .reg .b32 %s, %one;
  ld.param.u64 %a, [out];
  mov.u32 %s, %smid;
  mul.wide.u32 %o, %s, 4;
  add.u64 %a, %a, %o;
  mov.u32 %one, 1;
  st.global.u32 [%a], %one;
  ret;
}
)",
                     "where");
}

}  // namespace limen::conform
