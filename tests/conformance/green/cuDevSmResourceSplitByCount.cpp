#include "conformance/green/partition.h"

namespace limen::conform {

CONFORM(cuDevSmResourceSplitByCount, simulates_without_result) {
  CUdevResource all = device_sms();
  unsigned groups = 0;
  expect_code("count only", cuDevSmResourceSplitByCount(nullptr, &groups, &all, nullptr, 0, 8),
              CUDA_SUCCESS);
  expect_true("no more than fit", groups > 0 && groups <= all.sm.smCount / 8);
}

CONFORM(cuDevSmResourceSplitByCount, groups_and_the_rest) {
  CUdevResource all = device_sms(), group{}, rest{};
  unsigned groups = 1;
  expect_code("one group", cuDevSmResourceSplitByCount(&group, &groups, &all, &rest, 0, 5),
              CUDA_SUCCESS);
  expect("made", groups, 1u);
  expect("rounded up to 8", group.sm.smCount, 8u);
  expect("of multiprocessors", group.type, CU_DEV_RESOURCE_TYPE_SM);
  if (all.sm.smCount > 8)
    expect_true("the rest", rest.sm.smCount == all.sm.smCount - 8);
  else
    expect_true("the rest", rest.type == CU_DEV_RESOURCE_TYPE_INVALID);
}

CONFORM(cuDevSmResourceSplitByCount, fine_groups) {
  CUdevResource all = device_sms(), groups[3]{};
  unsigned count = 3;
  expect_code("split",
              cuDevSmResourceSplitByCount(groups, &count, &all, nullptr,
                                          CU_DEV_SM_RESOURCE_SPLIT_IGNORE_SM_COSCHEDULING, 1),
              CUDA_SUCCESS);
  expect("three groups", count, 3u);
  expect("of two", groups[2].sm.smCount, 2u);
}

CONFORM(cuDevSmResourceSplitByCount, wrong_arguments) {
  CUdevResource all = device_sms(), group{};
  unsigned count = 1;
  expect_code("no count", cuDevSmResourceSplitByCount(nullptr, nullptr, &all, nullptr, 0, 8),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no input", cuDevSmResourceSplitByCount(&group, &count, nullptr, nullptr, 0, 8),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("unknown flag", cuDevSmResourceSplitByCount(&group, &count, &all, nullptr, 64, 8),
              CUDA_SUCCESS);
  expect_code("more than there are",
              cuDevSmResourceSplitByCount(&group, &count, &all, nullptr, 0, all.sm.smCount + 1),
              CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION);
  CUdevResource nothing{};
  expect_code("input without type",
              cuDevSmResourceSplitByCount(&group, &count, &nothing, nullptr, 0, 8),
              CUDA_ERROR_INVALID_RESOURCE_TYPE);
  REQUIRE(cuDevSmResourceSplitByCount(&group, &count, &all, nullptr, 0, 8));
  CUdevResource again{};
  expect_code("output of a split",
              cuDevSmResourceSplitByCount(&again, &count, &group, nullptr, 0, 8),
              CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION);
}

}  // namespace limen::conform
