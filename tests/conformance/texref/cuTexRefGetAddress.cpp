#include "conformance/texref/references.h"

namespace limen::conform {

CONFORM(cuTexRefGetAddress, is_what_was_bound) {
  References references;
  Buffer memory(1024);
  Row row;
  CUdeviceptr got = 0;
  expect_code("nothing is bound", cuTexRefGetAddress(&got, references.image),
              CUDA_ERROR_INVALID_VALUE);
  REQUIRE(cuTexRefSetAddress(nullptr, references.image, memory, 64));
  expect_code("linear", cuTexRefGetAddress(&got, references.image), CUDA_SUCCESS);
  expect_true("the address", got == memory.at());
  expect_code("nowhere", cuTexRefGetAddress(nullptr, references.image), CUDA_SUCCESS);
  const CUDA_ARRAY_DESCRIPTOR desc{4, 2, CU_AD_FORMAT_FLOAT, 1};
  REQUIRE(cuTexRefSetAddress2D(references.image, &desc, memory.at(512), 32));
  expect_code("pitched", cuTexRefGetAddress(&got, references.image), CUDA_SUCCESS);
  expect_true("the other address", got == memory.at(512));
  references.bind(row);
  expect_code("an array is bound", cuTexRefGetAddress(&got, references.image),
              CUDA_ERROR_INVALID_VALUE);
}

CONFORM(cuTexRefGetAddress, references_that_are_none) {
  CUdeviceptr address = 0;
  refuse_wrong_references(
      [&](CUtexref reference) { return cuTexRefGetAddress(&address, reference); });
}

CONFORM_WITH(cuTexRefGetAddress, needs_cuInit, nothing) {
  CUdeviceptr address = 0;
  expect_code("not initialised", cuTexRefGetAddress(&address, nullptr), CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
