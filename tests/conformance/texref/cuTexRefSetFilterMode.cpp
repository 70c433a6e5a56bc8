#include "conformance/texref/references.h"

namespace limen::conform {

CONFORM(cuTexRefSetFilterMode, points_and_between) {
  References references;
  Row row;
  references.bind(row);
  expect("at first", references.row(1.96875f), 2.0f);
  expect_code("linear", cuTexRefSetFilterMode(references.image, CU_TR_FILTER_MODE_LINEAR),
              CUDA_SUCCESS);
  expect("between", references.row({1.0f, 2.0f, 2.75f}), listed(Floats{1.5f, 3, 5}));
  expect_code("point", cuTexRefSetFilterMode(references.image, CU_TR_FILTER_MODE_POINT),
              CUDA_SUCCESS);
  expect("no more", references.row(1.96875f), 2.0f);
}

CONFORM(cuTexRefSetFilterMode, before_something_is_bound) {
  References references;
  expect_code("linear", cuTexRefSetFilterMode(references.image, CU_TR_FILTER_MODE_LINEAR),
              CUDA_SUCCESS);
  Row row;
  references.bind(row);
  expect("between", references.row(1.0f), 1.5f);
}

CONFORM(cuTexRefSetFilterMode, modes_that_are_none) {
  CUtexref reference = made_reference();
  expect_code("2", cuTexRefSetFilterMode(reference, CUfilter_mode(2)), CUDA_SUCCESS);
  expect_code("-1", cuTexRefSetFilterMode(reference, CUfilter_mode(-1)), CUDA_SUCCESS);
  CUfilter_mode mode{};
  REQUIRE(cuTexRefGetFilterMode(&mode, reference));
  expect("kept", mode, CUfilter_mode(-1));
}

CONFORM(cuTexRefSetFilterMode, references_that_are_none) {
  refuse_wrong_references([&](CUtexref reference) {
    return cuTexRefSetFilterMode(reference, CU_TR_FILTER_MODE_POINT);
  });
}

CONFORM_WITH(cuTexRefSetFilterMode, needs_cuInit, nothing) {
  expect_code("not initialised", cuTexRefSetFilterMode(nullptr, CU_TR_FILTER_MODE_POINT),
              CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
