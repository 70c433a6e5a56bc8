#include "conformance/texref/references.h"

namespace limen::conform {

CONFORM(cuTexRefSetMaxAnisotropy, is_read_back_and_fetches_go_on) {
  References references;
  Row row;
  references.bind(row);
  expect_code("4", cuTexRefSetMaxAnisotropy(references.image, 4), CUDA_SUCCESS);
  int most = 0;
  REQUIRE(cuTexRefGetMaxAnisotropy(&most, references.image));
  expect("read back", most, 4);
  expect("a fetch", references.row(1.5f), 2.0f);
}

CONFORM(cuTexRefSetMaxAnisotropy, references_that_are_none) {
  refuse_wrong_references(
      [&](CUtexref reference) { return cuTexRefSetMaxAnisotropy(reference, 4); });
}

CONFORM_WITH(cuTexRefSetMaxAnisotropy, needs_cuInit, nothing) {
  expect_code("not initialised", cuTexRefSetMaxAnisotropy(nullptr, 4), CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
