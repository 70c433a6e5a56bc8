#include "conformance/texref/references.h"

namespace limen::conform {

CONFORM(cuTexRefSetFormat, of_linear_memory) {
  References references;
  Buffer memory(64);
  write_list<float>(memory, {1, 2, 3, 4, 5, 6, 7, 8});
  expect_code("pairs", cuTexRefSetFormat(references.image, CU_AD_FORMAT_FLOAT, 2), CUDA_SUCCESS);
  REQUIRE(cuTexRefSetAddress(nullptr, references.image, memory, 32));
  expect("the second pair", listed(as_floats(references.fetch("buffer", 1))),
         listed(Floats{3, 4, 0, 0}));
  expect("there are four", references.buffer(4), 0.0f);
}

CONFORM(cuTexRefSetFormat, bytes_as_fractions) {
  References references;
  Buffer memory(64);
  write_list<uint8_t>(memory, {0, 255, 51});
  expect_code("bytes", cuTexRefSetFormat(references.image, CU_AD_FORMAT_UNSIGNED_INT8, 1),
              CUDA_SUCCESS);
  REQUIRE(cuTexRefSetAddress(nullptr, references.image, memory, 3));
  expect("white", references.buffer(1), 1.0f);
  expect("a fifth", references.buffer(2), 51 / 255.0f);
}

CONFORM(cuTexRefSetFormat, formats_that_are_none) {
  CUtexref reference = made_reference();
  expect_code("format 0", cuTexRefSetFormat(reference, CUarray_format(0), 1), CUDA_SUCCESS);
  expect_code("no channels", cuTexRefSetFormat(reference, CU_AD_FORMAT_FLOAT, 0), CUDA_SUCCESS);
  expect_code("three channels", cuTexRefSetFormat(reference, CU_AD_FORMAT_FLOAT, 3),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("-1 channels", cuTexRefSetFormat(reference, CU_AD_FORMAT_FLOAT, -1), CUDA_SUCCESS);
  Buffer memory(64);
  expect_code("memory is bound in any", cuTexRefSetAddress(nullptr, reference, memory, 64),
              CUDA_SUCCESS);
  CUdeviceptr address = 0;
  REQUIRE(cuTexRefGetAddress(&address, reference));
  expect_true("its address", address == memory.at());
}

CONFORM(cuTexRefSetFormat, references_that_are_none) {
  refuse_wrong_references(
      [&](CUtexref reference) { return cuTexRefSetFormat(reference, CU_AD_FORMAT_FLOAT, 1); });
}

CONFORM_WITH(cuTexRefSetFormat, needs_cuInit, nothing) {
  expect_code("not initialised", cuTexRefSetFormat(nullptr, CU_AD_FORMAT_FLOAT, 1),
              CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
