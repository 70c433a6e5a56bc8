#include "conformance/texref/references.h"

namespace limen::conform {

CONFORM(cuTexRefGetFormat, is_what_was_set) {
  CUtexref reference = made_reference();
  REQUIRE(cuTexRefSetFormat(reference, CU_AD_FORMAT_SIGNED_INT16, 2));
  CUarray_format format{};
  int channels = 0;
  expect_code("asked", cuTexRefGetFormat(&format, &channels, reference), CUDA_SUCCESS);
  expect("format", format, CU_AD_FORMAT_SIGNED_INT16);
  expect("channels", channels, 2);
}

CONFORM(cuTexRefGetFormat, is_that_of_the_array) {
  References references;
  CUarray_format format{};
  int channels = 0;
  Texels row(CU_AD_FORMAT_UNSIGNED_INT8, 4, 2);
  references.bind(row);
  expect_code("of an array", cuTexRefGetFormat(&format, &channels, references.image), CUDA_SUCCESS);
  expect("format", format, CU_AD_FORMAT_UNSIGNED_INT8);
  expect("channels", channels, 4);
  Levels levels(4, 4, 2);
  REQUIRE(cuTexRefSetMipmappedArray(references.image, levels, CU_TRSA_OVERRIDE_FORMAT));
  expect_code("of levels", cuTexRefGetFormat(&format, &channels, references.image), CUDA_SUCCESS);
  expect("format of levels", format, CU_AD_FORMAT_FLOAT);
  expect("channels of levels", channels, 1);
}

CONFORM(cuTexRefGetFormat, either_place_may_be_missing) {
  CUtexref reference = made_reference();
  REQUIRE(cuTexRefSetFormat(reference, CU_AD_FORMAT_HALF, 4));
  CUarray_format format{};
  int channels = 0;
  expect_code("no place for the format", cuTexRefGetFormat(nullptr, &channels, reference),
              CUDA_SUCCESS);
  expect("channels", channels, 4);
  expect_code("no place for the channels", cuTexRefGetFormat(&format, nullptr, reference),
              CUDA_SUCCESS);
  expect("format", format, CU_AD_FORMAT_HALF);
}

CONFORM(cuTexRefGetFormat, references_that_are_none) {
  CUarray_format format{};
  int channels = 0;
  refuse_wrong_references(
      [&](CUtexref reference) { return cuTexRefGetFormat(&format, &channels, reference); });
}

CONFORM_WITH(cuTexRefGetFormat, needs_cuInit, nothing) {
  CUarray_format format{};
  int channels = 0;
  expect_code("not initialised", cuTexRefGetFormat(&format, &channels, nullptr),
              CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
