#include "conformance/places.h"

namespace limen::conform {

CONFORM(cuMemcpyAtoHAsync, a_row_of_a_1d_array) {
  Texels array(CU_AD_FORMAT_UNSIGNED_INT32, 1, 6);
  array.put<uint32_t>({1, 2, 3, 4, 5, 6});
  std::vector<uint32_t> line = {11, 12, 13, 14};
  expect_code("two words", cuMemcpyAtoHAsync(&line[1], array, 8, 8, nullptr), CUDA_SUCCESS);
  REQUIRE(cuStreamSynchronize(nullptr));
  expect("line", listed(line), "11 3 4 14");
}

// The call is one for 1D arrays: of other arrays it knows the first row.
CONFORM(cuMemcpyAtoHAsync, offsets_run_on_into_the_next_row) {
  Texels array(CU_AD_FORMAT_UNSIGNED_INT32, 1, 3, 3);
  array.put<uint32_t>({1, 2, 3, 4, 5, 6, 7, 8, 9});
  std::vector<uint32_t> line = {11, 12, 13, 14, 15, 16};
  expect_code("from the first row to the last", cuMemcpyAtoHAsync(&line[0], array, 8, 20, nullptr),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("in the second row", cuMemcpyAtoHAsync(&line[0], array, 12, 4, nullptr),
              CUDA_ERROR_INVALID_VALUE);
  REQUIRE(cuStreamSynchronize(nullptr));
  expect("line", listed(line), "11 12 13 14 15 16");
}

CONFORM(cuMemcpyAtoHAsync, texels_of_several_bytes) {
  Texels array(CU_AD_FORMAT_UNSIGNED_INT16, 4, 2);
  array.put<uint16_t>({1, 2, 3, 4, 5, 6, 7, 8});
  std::vector<uint16_t> line = {21, 22, 23, 24};
  expect_code("one texel", cuMemcpyAtoHAsync(line.data(), array, 8, 8, nullptr), CUDA_SUCCESS);
  REQUIRE(cuStreamSynchronize(nullptr));
  expect("line", listed(line), "5 6 7 8");
}

CONFORM(cuMemcpyAtoHAsync, ranges_that_cannot_be) {
  Texels array(CU_AD_FORMAT_UNSIGNED_INT32, 1, 4);
  std::vector<uint32_t> line = {1, 2, 3, 4, 5};
  expect_code("beyond the array", cuMemcpyAtoHAsync(line.data(), array, 0, 20, nullptr),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("offset beyond the array", cuMemcpyAtoHAsync(line.data(), array, 20, 4, nullptr),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("offset within a texel", cuMemcpyAtoHAsync(line.data(), array, 2, 4, nullptr),
              CUDA_SUCCESS);
  expect_code("part of a texel", cuMemcpyAtoHAsync(line.data(), array, 0, 6, nullptr),
              CUDA_SUCCESS);
  expect_code("no memory", cuMemcpyAtoHAsync(nullptr, array, 0, 4, nullptr),
              CUDA_ERROR_INVALID_VALUE);
  // Comes last: it is a fault of the copy there.
  expect_code("offset and size wrap",
              cuMemcpyAtoHAsync(line.data(), array, 8, ~size_t{0} - 3, nullptr),
              CUDA_ERROR_LAUNCH_FAILED);
}

CONFORM(cuMemcpyAtoHAsync, arrays_that_are_none) {
  std::vector<uint32_t> line = {1, 2};
  expect_code("null", cuMemcpyAtoHAsync(line.data(), nullptr, 0, 4, nullptr),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("foreign", cuMemcpyAtoHAsync(line.data(), foreign_handle<CUarray>(), 0, 4, nullptr),
              CUDA_ERROR_INVALID_VALUE);
  CUarray gone = nullptr;
  const CUDA_ARRAY3D_DESCRIPTOR desc{4, 0, 0, CU_AD_FORMAT_UNSIGNED_INT32, 1, 0};
  REQUIRE(cuArray3DCreate(&gone, &desc));
  REQUIRE(cuArrayDestroy(gone));
  expect_code("destroyed", cuMemcpyAtoHAsync(line.data(), gone, 0, 4, nullptr),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no bytes of none", cuMemcpyAtoHAsync(nullptr, nullptr, 0, 0, nullptr), CUDA_SUCCESS);
}

CONFORM(cuMemcpyAtoHAsync, waits_for_the_stream) {
  Texels array(CU_AD_FORMAT_UNSIGNED_INT32, 1, 4);
  array.put<uint32_t>({1, 2, 3, 4});
  Pinned<uint32_t> line(1);
  line[0] = 7;
  HeldStream stream;
  expect_code("queued", cuMemcpyAtoHAsync(line.data(), array, 4, 4, stream), CUDA_SUCCESS);
  expect("not before its turn", uint32_t{line[0]}, 7u);
  stream.open();
  expect("in its turn", uint32_t{line[0]}, 2u);
}

CONFORM(cuMemcpyAtoHAsync, streams_that_are_none) {
  Texels array(CU_AD_FORMAT_UNSIGNED_INT32, 1, 4);
  uint32_t line[4] = {};
  expect_code("destroyed", cuMemcpyAtoHAsync(line, array, 0, 4, destroyed_stream()),
              CUDA_ERROR_INVALID_HANDLE);
  expect_code("made up", cuMemcpyAtoHAsync(line, array, 0, 4, foreign_handle<CUstream>()),
              CUDA_ERROR_INVALID_HANDLE);
}

CONFORM_WITH(cuMemcpyAtoHAsync, needs_a_context, initialised) {
  uint32_t word = 0;
  expect_code("no context", cuMemcpyAtoHAsync(&word, foreign_handle<CUarray>(), 0, 4, nullptr),
              CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM_WITH(cuMemcpyAtoHAsync, needs_cuInit, nothing) {
  uint32_t word = 0;
  expect_code("not initialised", cuMemcpyAtoHAsync(&word, foreign_handle<CUarray>(), 0, 4, nullptr),
              CUDA_ERROR_NOT_INITIALIZED);
}

CONFORM(cuMemcpyAtoHAsync, abi_of_32_bit_sizes_has_no_context) {
  auto* old = reinterpret_cast<CUresult (*)(void*, CUarray, unsigned, unsigned, CUstream)>(
      driver_symbol("cuMemcpyAtoHAsync"));
  expect_code("old ABI", old(nullptr, nullptr, 0, 0, nullptr), CUDA_ERROR_INVALID_CONTEXT);
}

}  // namespace limen::conform
