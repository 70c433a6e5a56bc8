#include "conformance/unified/range.h"

namespace limen::conform {

namespace {

struct Question {
  int mostly = -77, preferred = -77;
  std::vector<int> accessed = std::vector<int>(2, -77);
  std::vector<void*> data{&mostly, &preferred, accessed.data()};
  std::vector<size_t> sizes{4, 4, 8};
  std::vector<CUmem_range_attribute> attributes{CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY,
                                                CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION,
                                                CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY};

  CUresult ask(CUdeviceptr address, size_t bytes) {
    return cuMemRangeGetAttributes(data.data(), sizes.data(), attributes.data(), data.size(),
                                   address, bytes);
  }
};

}  // namespace

CONFORM(cuMemRangeGetAttributes, answers_every_one) {
  Managed memory;
  REQUIRE(cuMemAdvise(memory, 16 * page, CU_MEM_ADVISE_SET_READ_MOSTLY, any_location()));
  REQUIRE(cuMemAdvise(memory, 16 * page, CU_MEM_ADVISE_SET_ACCESSED_BY, device_location(0)));
  Question question;
  expect_code("three", question.ask(memory, 16 * page), CUDA_SUCCESS);
  expect("read mostly", question.mostly, 1);
  expect("preferred", question.preferred, CU_DEVICE_INVALID);
  expect("accessed by", listed(question.accessed), "0 -2");
}

CONFORM(cuMemRangeGetAttributes, arguments_that_cannot_be) {
  Managed memory;
  auto refused = [&](const char* label, auto change) {
    Question question;
    change(question);
    expect_code(label, question.ask(memory, page), CUDA_ERROR_INVALID_VALUE);
  };
  refused("no place for one", [](Question& q) { q.data[1] = nullptr; });
  refused("a wrong size", [](Question& q) { q.sizes[1] = 8; });
  refused("attribute 0", [](Question& q) { q.attributes[2] = CUmem_range_attribute(0); });
  refused("none", [](Question& q) { q.data.clear(); });
  Question q;
  void** data = q.data.data();
  size_t* sizes = q.sizes.data();
  CUmem_range_attribute* attributes = q.attributes.data();
  expect_code("no places", cuMemRangeGetAttributes(nullptr, sizes, attributes, 3, memory, page),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no sizes", cuMemRangeGetAttributes(data, nullptr, attributes, 3, memory, page),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no attributes", cuMemRangeGetAttributes(data, sizes, nullptr, 3, memory, page),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no bytes", q.ask(memory, 0), CUDA_ERROR_INVALID_VALUE);
  expect_code("no memory", q.ask(0, page), CUDA_ERROR_INVALID_VALUE);
  Buffer device(page);
  expect_code("device memory", q.ask(device, page), CUDA_ERROR_INVALID_VALUE);
}

CONFORM_WITH(cuMemRangeGetAttributes, needs_a_context, initialised) {
  Question question;
  expect_code("no context", question.ask(page, page), CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM_WITH(cuMemRangeGetAttributes, needs_cuInit, nothing) {
  Question question;
  expect_code("not initialised", question.ask(page, page), CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
