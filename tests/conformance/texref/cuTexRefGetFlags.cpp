#include "conformance/texref/references.h"

namespace limen::conform {

CONFORM(cuTexRefGetFlags, is_what_was_set) {
  CUtexref reference = made_reference();
  unsigned value{};
  expect_code("at first", cuTexRefGetFlags(&value, reference), CUDA_SUCCESS);
  expect("first value", value, 0u);
  REQUIRE(cuTexRefSetFlags(reference, unsigned{CU_TRSF_READ_AS_INTEGER}));
  expect_code("unsigned{CU_TRSF_READ_AS_INTEGER}", cuTexRefGetFlags(&value, reference),
              CUDA_SUCCESS);
  expect("value unsigned{CU_TRSF_READ_AS_INTEGER}", value, unsigned{CU_TRSF_READ_AS_INTEGER});
  REQUIRE(cuTexRefSetFlags(reference,
                           unsigned{CU_TRSF_NORMALIZED_COORDINATES | CU_TRSF_READ_AS_INTEGER}));
  expect_code("unsigned{CU_TRSF_NORMALIZED_COORDINATES | CU_TRSF_READ_AS_INTEGER}",
              cuTexRefGetFlags(&value, reference), CUDA_SUCCESS);
  expect("value unsigned{CU_TRSF_NORMALIZED_COORDINATES | CU_TRSF_READ_AS_INTEGER}", value,
         unsigned{CU_TRSF_NORMALIZED_COORDINATES | CU_TRSF_READ_AS_INTEGER});
}

CONFORM(cuTexRefGetFlags, of_a_module) {
  References references;
  unsigned value{};
  REQUIRE(cuTexRefSetFlags(references.image, unsigned{CU_TRSF_READ_AS_INTEGER}));
  expect_code("asked", cuTexRefGetFlags(&value, references.image), CUDA_SUCCESS);
  expect("value", value, unsigned{CU_TRSF_READ_AS_INTEGER});
  expect_code("nowhere", cuTexRefGetFlags(nullptr, references.image), CUDA_ERROR_INVALID_VALUE);
}

CONFORM(cuTexRefGetFlags, references_that_are_none) {
  unsigned value{};
  refuse_wrong_references([&](CUtexref reference) { return cuTexRefGetFlags(&value, reference); });
}

CONFORM_WITH(cuTexRefGetFlags, needs_cuInit, nothing) {
  unsigned value{};
  expect_code("not initialised", cuTexRefGetFlags(&value, nullptr), CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
