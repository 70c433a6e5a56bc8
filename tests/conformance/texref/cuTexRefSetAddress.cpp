#include "conformance/texref/references.h"

namespace limen::conform {

CONFORM(cuTexRefSetAddress, what_kernels_read) {
  References references;
  Buffer memory(64);
  write_list<float>(memory, {1, 2, 3, 4, 5});
  size_t offset = 77;
  expect_code("bound", cuTexRefSetAddress(&offset, references.image, memory, 16), CUDA_SUCCESS);
  expect("offset", offset, 0u);
  expect("first", references.buffer(0), 1.0f);
  expect("last", references.buffer(3), 4.0f);
  expect("0 beyond", references.buffer(4), 0.0f);
  expect_code("without an offset", cuTexRefSetAddress(nullptr, references.image, memory, 20),
              CUDA_SUCCESS);
  expect("one more", references.buffer(4), 5.0f);
}

// The texture begins at the alignment below; kernels add the offset.
CONFORM(cuTexRefSetAddress, memory_that_is_not_aligned) {
  References references;
  Buffer memory(1024);
  std::vector<float> values(256);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  write_list(memory, values);
  size_t offset = 77;
  expect_code("with an offset", cuTexRefSetAddress(&offset, references.image, memory.at(528), 16),
              CUDA_SUCCESS);
  expect("offset", offset, 16u);
  expect("index 0", references.buffer(0), 128.0f);
  expect("index of the offset", references.buffer(4), 132.0f);
  expect("the last", references.buffer(7), 135.0f);
  expect("0 beyond", references.buffer(8), 0.0f);
  expect_code("without", cuTexRefSetAddress(nullptr, references.image, memory.at(528), 16),
              CUDA_ERROR_INVALID_VALUE);
}

CONFORM(cuTexRefSetAddress, arguments_that_cannot_be) {
  References references;
  Buffer memory(4 << 20), good(64);
  write<float>(good, 5);
  write<float>(memory, 0);
  REQUIRE(cuTexRefSetAddress(nullptr, references.image, good, 64));
  auto bound = [&](const char* label, CUdeviceptr address, size_t bytes, CUresult code) {
    expect_code(label, cuTexRefSetAddress(nullptr, references.image, address, bytes), code);
  };
  bound("freed", freed_address(), 64, CUDA_SUCCESS);
  bound("beyond the block", memory, (4 << 20) + 4, CUDA_SUCCESS);
  bound("more texels than textures have", memory, ((size_t{1} << 28) + 1) * 4, CUDA_SUCCESS);
  bound("an end that wraps", memory, ~size_t{0}, CUDA_ERROR_INVALID_VALUE);
  expect("what was bound still is", references.buffer(0), 0.0f);
  bound("null", 0, 64, CUDA_SUCCESS);
}

CONFORM(cuTexRefSetAddress, wrong_memory_of_a_reference_without_a_module) {
  CUtexref reference = made_reference();
  expect_code("freed", cuTexRefSetAddress(nullptr, reference, freed_address(), 64), CUDA_SUCCESS);
  CUdeviceptr address = 0;
  expect_code("nothing is bound", cuTexRefGetAddress(&address, reference), CUDA_SUCCESS);
}

CONFORM(cuTexRefSetAddress, references_that_are_none) {
  refuse_wrong_references(
      [&](CUtexref reference) { return cuTexRefSetAddress(nullptr, reference, 512, 64); });
}

CONFORM_WITH(cuTexRefSetAddress, needs_cuInit, nothing) {
  expect_code("not initialised", cuTexRefSetAddress(nullptr, nullptr, 512, 64),
              CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
