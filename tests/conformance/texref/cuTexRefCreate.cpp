#include "conformance/texref/references.h"

namespace limen::conform {

CONFORM(cuTexRefCreate, a_reference_to_set_and_ask) {
  CUtexref one = nullptr, two = nullptr;
  expect_code("one", cuTexRefCreate(&one), CUDA_SUCCESS);
  expect_code("another", cuTexRefCreate(&two), CUDA_SUCCESS);
  expect_true("apart", one != two);
  REQUIRE(cuTexRefSetFilterMode(one, CU_TR_FILTER_MODE_LINEAR));
  CUfilter_mode mode{};
  REQUIRE(cuTexRefGetFilterMode(&mode, one));
  expect("set", mode, CU_TR_FILTER_MODE_LINEAR);
  REQUIRE(cuTexRefGetFilterMode(&mode, two));
  expect("the other is not", mode, CU_TR_FILTER_MODE_POINT);
  expect_code("one goes", cuTexRefDestroy(one), CUDA_SUCCESS);
  expect_code("the other stays", cuTexRefGetFilterMode(&mode, two), CUDA_SUCCESS);
}

CONFORM(cuTexRefCreate, nowhere) {
  expect_code("null", cuTexRefCreate(nullptr), CUDA_ERROR_INVALID_VALUE);
}

CONFORM_WITH(cuTexRefCreate, needs_a_context, initialised) {
  CUtexref reference = nullptr;
  expect_code("no context", cuTexRefCreate(&reference), CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM_WITH(cuTexRefCreate, needs_cuInit, nothing) {
  CUtexref reference = nullptr;
  expect_code("not initialised", cuTexRefCreate(&reference), CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
