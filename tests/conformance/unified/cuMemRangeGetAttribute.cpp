#include "conformance/unified/range.h"

namespace limen::conform {

CONFORM(cuMemRangeGetAttribute, a_new_block) {
  Managed memory;
  auto asked = [&](const char* label, CUmem_range_attribute attribute, int expected) {
    int value = -77;
    expect_code(label, cuMemRangeGetAttribute(&value, 4, attribute, memory, 16 * page),
                CUDA_SUCCESS);
    expect(std::string(label) + ": value", value, expected);
  };
  asked("read mostly", CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, 0);
  asked("preferred", CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, CU_DEVICE_INVALID);
  asked("accessed by", CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY, CU_DEVICE_INVALID);
  asked("prefetched", CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, CU_DEVICE_INVALID);
  asked("preferred type", CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE,
        CU_MEM_LOCATION_TYPE_INVALID);
  asked("prefetched type", CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE,
        CU_MEM_LOCATION_TYPE_INVALID);
  asked("preferred id", CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID, CU_DEVICE_INVALID);
  asked("prefetched id", CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID, CU_DEVICE_INVALID);
}

CONFORM(cuMemRangeGetAttribute, lists_as_long_as_their_place) {
  Managed memory;
  REQUIRE(cuMemAdvise(memory, 16 * page, CU_MEM_ADVISE_SET_ACCESSED_BY, device_location(0)));
  std::vector<int> list = {5, 5, 5, 5, 5};
  expect_code("four",
              cuMemRangeGetAttribute(list.data(), 16, CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY, memory,
                                     16 * page),
              CUDA_SUCCESS);
  expect("list", listed(list), "0 -2 -2 -2 5");
  expect_code(
      "no place for any",
      cuMemRangeGetAttribute(list.data(), 0, CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY, memory, 16 * page),
      CUDA_ERROR_INVALID_VALUE);
  expect_code(
      "a place for half",
      cuMemRangeGetAttribute(list.data(), 6, CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY, memory, 16 * page),
      CUDA_ERROR_INVALID_VALUE);
}

CONFORM(cuMemRangeGetAttribute, arguments_that_cannot_be) {
  Managed memory;
  Buffer device(page);
  int value = 5;
  long long wide = 5;
  const auto mostly = CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY;
  auto refused = [&](const char* label, CUresult code) {
    expect_code(label, code, CUDA_ERROR_INVALID_VALUE);
  };
  refused("nowhere", cuMemRangeGetAttribute(nullptr, 4, mostly, memory, page));
  refused("8 bytes", cuMemRangeGetAttribute(&wide, 8, mostly, memory, page));
  refused("2 bytes", cuMemRangeGetAttribute(&value, 2, mostly, memory, page));
  refused("attribute 0", cuMemRangeGetAttribute(&value, 4, CUmem_range_attribute(0), memory, page));
  refused("attribute 9", cuMemRangeGetAttribute(&value, 4, CUmem_range_attribute(9), memory, page));
  refused("no bytes", cuMemRangeGetAttribute(&value, 4, mostly, memory, 0));
  refused("no memory", cuMemRangeGetAttribute(&value, 4, mostly, 0, page));
  refused("beyond the block", cuMemRangeGetAttribute(&value, 4, mostly, memory, 3 << 20));
  refused("device memory", cuMemRangeGetAttribute(&value, 4, mostly, device, page));
  expect("the place is as it was", value, 5);
  // On the H200 that is a range of no bytes, of which all holds.
  expect_code("end that wraps", cuMemRangeGetAttribute(&value, 4, mostly, memory, ~size_t{0} - 8),
              CUDA_SUCCESS);
}

CONFORM_WITH(cuMemRangeGetAttribute, needs_a_context, initialised) {
  int value = 0;
  expect_code("no context",
              cuMemRangeGetAttribute(&value, 4, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, page, page),
              CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM_WITH(cuMemRangeGetAttribute, needs_cuInit, nothing) {
  int value = 0;
  expect_code("not initialised",
              cuMemRangeGetAttribute(&value, 4, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, page, page),
              CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
