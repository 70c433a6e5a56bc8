#include "conformance/texref/references.h"

namespace limen::conform {

CONFORM(cuTexRefSetAddress2D, what_kernels_read) {
  References references;
  Buffer memory(1024);
  write_list<float>(memory, {1, 2, 3});
  write_list<float>(memory.at(64), {4, 5, 6});
  const CUDA_ARRAY_DESCRIPTOR desc{3, 2, CU_AD_FORMAT_FLOAT, 1};
  expect_code("bound", cuTexRefSetAddress2D(references.image, &desc, memory, 64), CUDA_SUCCESS);
  expect("a texel", references.at(2.5f, 1.5f), 6.0f);
  expect("clamped", references.at(9, 9), 6.0f);
  REQUIRE(cuTexRefSetFilterMode(references.image, CU_TR_FILTER_MODE_LINEAR));
  expect("between four", references.at(1, 1), 3.0f);
}

CONFORM(cuTexRefSetAddress2D, sets_the_format) {
  References references;
  Buffer memory(1024);
  write_list<uint8_t>(memory, {0, 255, 255, 0});
  const CUDA_ARRAY_DESCRIPTOR desc{2, 1, CU_AD_FORMAT_UNSIGNED_INT8, 2};
  expect_code("bound", cuTexRefSetAddress2D(references.image, &desc, memory, 32), CUDA_SUCCESS);
  expect("channels", listed(as_floats(references.fetch("plane_2d", 0.5f, 0.5f))),
         listed(Floats{0, 1, 0, 0}));
  CUarray_format format{};
  int channels = 0;
  REQUIRE(cuTexRefGetFormat(&format, &channels, references.image));
  expect("format", format, CU_AD_FORMAT_UNSIGNED_INT8);
  expect("number of channels", channels, 2);
}

CONFORM(cuTexRefSetAddress2D, arguments_that_cannot_be) {
  References references;
  Buffer memory(4 << 20);
  auto refused = [&](const char* label, CUDA_ARRAY_DESCRIPTOR desc, CUdeviceptr address,
                     size_t pitch) {
    expect_code(label, cuTexRefSetAddress2D(references.image, &desc, address, pitch),
                CUDA_ERROR_INVALID_VALUE);
  };
  constexpr auto format = CU_AD_FORMAT_FLOAT;
  expect_code("no descriptor", cuTexRefSetAddress2D(references.image, nullptr, memory, 32),
              CUDA_ERROR_INVALID_VALUE);
  refused("misaligned", {4, 2, format, 1}, memory.at(32), 32);
  refused("pitch of 48 bytes", {4, 2, format, 1}, memory, 48);
  refused("wider than textures are", {1 << 20, 1, format, 1}, memory, 4 << 20);
  CUdeviceptr address = 0;
  expect_code("what was refused is not bound", cuTexRefGetAddress(&address, references.image),
              CUDA_ERROR_INVALID_VALUE);
  auto taken = [&](const char* label, CUDA_ARRAY_DESCRIPTOR desc, CUdeviceptr at, size_t pitch) {
    expect_code(label, cuTexRefSetAddress2D(references.image, &desc, at, pitch), CUDA_SUCCESS);
  };
  taken("beyond the block", {1024, 1025, format, 1}, memory, 4096);
  taken("freed", {4, 2, format, 1}, freed_address(), 32);
  taken("three channels", {2, 2, format, 3}, memory.at(512), 32);
  taken("format 0", {2, 2, CUarray_format(0), 1}, memory.at(1024), 32);
  REQUIRE(cuTexRefGetAddress(&address, references.image));
  expect_true("the last is bound", address == memory.at(1024));
}

CONFORM(cuTexRefSetAddress2D, shapes_that_nobody_should_ask_for) {
  CUtexref reference = made_reference();
  Buffer memory(1024);
  const CUDA_ARRAY_DESCRIPTOR overlapping{16, 2, CU_AD_FORMAT_FLOAT, 1},
      empty{0, 2, CU_AD_FORMAT_FLOAT, 1};
  expect_code("pitch below the width", cuTexRefSetAddress2D(reference, &overlapping, memory, 32),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no width", cuTexRefSetAddress2D(reference, &empty, memory, 32),
              CUDA_SUCCESS);
}

CONFORM(cuTexRefSetAddress2D, references_that_are_none) {
  const CUDA_ARRAY_DESCRIPTOR desc{4, 2, CU_AD_FORMAT_FLOAT, 1};
  refuse_wrong_references(
      [&](CUtexref reference) { return cuTexRefSetAddress2D(reference, &desc, 512, 32); });
}

CONFORM_WITH(cuTexRefSetAddress2D, needs_cuInit, nothing) {
  const CUDA_ARRAY_DESCRIPTOR desc{4, 2, CU_AD_FORMAT_FLOAT, 1};
  expect_code("not initialised", cuTexRefSetAddress2D(nullptr, &desc, 512, 32),
              CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
