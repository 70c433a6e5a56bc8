#include "conformance/texref/references.h"

namespace limen::conform {

CONFORM(cuTexRefGetAddressMode, is_what_was_set) {
  References references;
  CUaddress_mode mode{};
  expect_code("of a module's, at first", cuTexRefGetAddressMode(&mode, references.image, 0),
              CUDA_SUCCESS);
  expect("is clamp", mode, CU_TR_ADDRESS_MODE_CLAMP);
  CUtexref reference = made_reference();
  for (int axis = 0; axis < 3; ++axis)
    REQUIRE(cuTexRefSetAddressMode(reference, axis, CUaddress_mode(axis + 1)));
  for (int axis = 0; axis < 3; ++axis) {
    const std::string label = "axis " + std::to_string(axis);
    expect_code(label, cuTexRefGetAddressMode(&mode, reference, axis), CUDA_SUCCESS);
    expect(label + ": mode", mode, CUaddress_mode(axis + 1));
  }
}

CONFORM(cuTexRefGetAddressMode, arguments_that_cannot_be) {
  CUtexref reference = made_reference();
  CUaddress_mode mode{};
  expect_code("nowhere", cuTexRefGetAddressMode(nullptr, reference, 0), CUDA_ERROR_INVALID_VALUE);
  expect_code("axis 3", cuTexRefGetAddressMode(&mode, reference, 3), CUDA_ERROR_INVALID_VALUE);
  expect_code("axis -1", cuTexRefGetAddressMode(&mode, reference, -1), CUDA_ERROR_INVALID_VALUE);
}

CONFORM(cuTexRefGetAddressMode, references_that_are_none) {
  CUaddress_mode mode{};
  refuse_wrong_references(
      [&](CUtexref reference) { return cuTexRefGetAddressMode(&mode, reference, 0); });
}

CONFORM_WITH(cuTexRefGetAddressMode, needs_cuInit, nothing) {
  CUaddress_mode mode{};
  expect_code("not initialised", cuTexRefGetAddressMode(&mode, nullptr, 0),
              CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
