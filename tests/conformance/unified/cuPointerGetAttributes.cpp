#include "conformance/unified/range.h"

namespace limen::conform {

namespace {

struct Question {
  unsigned type = 77, managed = 77;
  int ordinal = 77;
  void* host = foreign_memory();
  std::vector<void*> data{&type, &managed, &ordinal, &host};
  std::vector<CUpointer_attribute> attributes{
      CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_IS_MANAGED,
      CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, CU_POINTER_ATTRIBUTE_HOST_POINTER};

  CUresult ask(CUdeviceptr pointer) {
    return cuPointerGetAttributes(static_cast<unsigned>(data.size()), attributes.data(),
                                  data.data(), pointer);
  }
};

}  // namespace

CONFORM(cuPointerGetAttributes, device_memory) {
  Buffer memory(16);
  Question question;
  expect_code("four", question.ask(memory), CUDA_SUCCESS);
  expect("type", question.type, unsigned{CU_MEMORYTYPE_DEVICE});
  expect("managed", question.managed, 0u);
  expect("ordinal", question.ordinal, 0);
  expect("host pointer", question.host, nullptr);
}

CONFORM(cuPointerGetAttributes, managed_and_pinned_memory) {
  Managed managed;
  Question question;
  expect_code("managed", question.ask(managed.at(8)), CUDA_SUCCESS);
  expect("type", question.type, unsigned{CU_MEMORYTYPE_DEVICE});
  expect("is managed", question.managed, 1u);
  expect_true("host pointer", reinterpret_cast<CUdeviceptr>(question.host) == managed.at(8));
  Pinned<int> pinned(4);
  expect_code("pinned", question.ask(pinned.address()), CUDA_SUCCESS);
  expect("pinned type", question.type, unsigned{CU_MEMORYTYPE_HOST});
  expect("pinned is managed", question.managed, 0u);
  expect_true("pinned host pointer", question.host == pinned.data());
}

// Not an error here: nothing is known of such pointers.
CONFORM(cuPointerGetAttributes, pointers_that_CUDA_did_not_make) {
  int plain = 0;
  Question question;
  expect_code("plain host memory", question.ask(reinterpret_cast<CUdeviceptr>(&plain)),
              CUDA_SUCCESS);
  expect("type", question.type, 0u);
  expect("managed", question.managed, 0u);
  expect("ordinal", question.ordinal, -2);
  expect_true("host pointer", question.host == &plain);
  expect_code("null", question.ask(0), CUDA_SUCCESS);
  expect("type of null", question.type, 0u);
  expect_code("freed", question.ask(freed_address()), CUDA_SUCCESS);
  expect("type of freed", question.type, 0u);
}

CONFORM(cuPointerGetAttributes, arguments_that_cannot_be) {
  Buffer memory(16);
  Question q;
  expect_code("none", cuPointerGetAttributes(0, q.attributes.data(), q.data.data(), memory),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no attributes", cuPointerGetAttributes(4, nullptr, q.data.data(), memory),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no places", cuPointerGetAttributes(4, q.attributes.data(), nullptr, memory),
              CUDA_ERROR_INVALID_VALUE);
  q.attributes[3] = CUpointer_attribute(99);
  expect_code("attribute 99", q.ask(memory), CUDA_ERROR_INVALID_VALUE);
  Question no_place;
  no_place.data[1] = nullptr;
  expect_code("no place for one", no_place.ask(memory), CUDA_ERROR_INVALID_VALUE);
}

CONFORM_WITH(cuPointerGetAttributes, needs_cuInit, nothing) {
  Question question;
  expect_code("not initialised", question.ask(page), CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
