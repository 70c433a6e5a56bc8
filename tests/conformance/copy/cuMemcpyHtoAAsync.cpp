#include "conformance/places.h"

namespace limen::conform {

CONFORM(cuMemcpyHtoAAsync, a_row_of_a_1d_array) {
  Texels array(CU_AD_FORMAT_UNSIGNED_INT32, 1, 6);
  array.put<uint32_t>({1, 2, 3, 4, 5, 6});
  std::vector<uint32_t> line = {11, 12, 13, 14};
  expect_code("two words", cuMemcpyHtoAAsync(array, 8, &line[1], 8, nullptr), CUDA_SUCCESS);
  REQUIRE(cuStreamSynchronize(nullptr));
  expect("array", listed(array.get<uint32_t>(6)), "1 2 12 13 5 6");
}

// The call is one for 1D arrays: of other arrays it knows the first row.
CONFORM(cuMemcpyHtoAAsync, offsets_run_on_into_the_next_row) {
  Texels array(CU_AD_FORMAT_UNSIGNED_INT32, 1, 3, 3);
  array.put<uint32_t>({1, 2, 3, 4, 5, 6, 7, 8, 9});
  std::vector<uint32_t> line = {11, 12, 13, 14, 15, 16};
  expect_code("from the first row to the last", cuMemcpyHtoAAsync(array, 8, &line[0], 20, nullptr),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("in the second row", cuMemcpyHtoAAsync(array, 12, &line[0], 4, nullptr),
              CUDA_ERROR_INVALID_VALUE);
  REQUIRE(cuStreamSynchronize(nullptr));
  expect("array", listed(array.get<uint32_t>(9)), "1 2 3 4 5 6 7 8 9");
}

CONFORM(cuMemcpyHtoAAsync, texels_of_several_bytes) {
  Texels array(CU_AD_FORMAT_UNSIGNED_INT16, 4, 2);
  array.put<uint16_t>({1, 2, 3, 4, 5, 6, 7, 8});
  std::vector<uint16_t> line = {21, 22, 23, 24};
  expect_code("one texel", cuMemcpyHtoAAsync(array, 8, line.data(), 8, nullptr), CUDA_SUCCESS);
  REQUIRE(cuStreamSynchronize(nullptr));
  expect("array", listed(array.get<uint16_t>(8)), "1 2 3 4 21 22 23 24");
}

CONFORM(cuMemcpyHtoAAsync, ranges_that_cannot_be) {
  Texels array(CU_AD_FORMAT_UNSIGNED_INT32, 1, 4);
  std::vector<uint32_t> line = {1, 2, 3, 4, 5};
  expect_code("beyond the array", cuMemcpyHtoAAsync(array, 0, line.data(), 20, nullptr),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("offset beyond the array", cuMemcpyHtoAAsync(array, 20, line.data(), 4, nullptr),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("offset within a texel", cuMemcpyHtoAAsync(array, 2, line.data(), 4, nullptr),
              CUDA_SUCCESS);
  expect_code("part of a texel", cuMemcpyHtoAAsync(array, 0, line.data(), 6, nullptr),
              CUDA_SUCCESS);
  expect_code("no memory", cuMemcpyHtoAAsync(array, 0, nullptr, 4, nullptr),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("offset and size wrap",
              cuMemcpyHtoAAsync(array, 8, line.data(), ~size_t{0} - 3, nullptr),
              CUDA_ERROR_INVALID_VALUE);
}

CONFORM(cuMemcpyHtoAAsync, arrays_that_are_none) {
  std::vector<uint32_t> line = {1, 2};
  expect_code("null", cuMemcpyHtoAAsync(nullptr, 0, line.data(), 4, nullptr),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("foreign", cuMemcpyHtoAAsync(foreign_handle<CUarray>(), 0, line.data(), 4, nullptr),
              CUDA_ERROR_INVALID_VALUE);
  CUarray gone = nullptr;
  const CUDA_ARRAY3D_DESCRIPTOR desc{4, 0, 0, CU_AD_FORMAT_UNSIGNED_INT32, 1, 0};
  REQUIRE(cuArray3DCreate(&gone, &desc));
  REQUIRE(cuArrayDestroy(gone));
  expect_code("destroyed", cuMemcpyHtoAAsync(gone, 0, line.data(), 4, nullptr),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no bytes of none", cuMemcpyHtoAAsync(nullptr, 0, nullptr, 0, nullptr), CUDA_SUCCESS);
}

CONFORM(cuMemcpyHtoAAsync, waits_for_the_stream) {
  Texels array(CU_AD_FORMAT_UNSIGNED_INT32, 1, 4);
  array.put<uint32_t>({1, 2, 3, 4});
  Pinned<uint32_t> line(1);
  line[0] = 7;
  HeldStream stream;
  expect_code("queued", cuMemcpyHtoAAsync(array, 4, line.data(), 4, stream), CUDA_SUCCESS);
  line[0] = 9;
  stream.open();
  expect("reads what is there in its turn", listed(array.get<uint32_t>(4)), "1 9 3 4");
}

CONFORM(cuMemcpyHtoAAsync, streams_that_are_none) {
  Texels array(CU_AD_FORMAT_UNSIGNED_INT32, 1, 4);
  uint32_t line[4] = {};
  expect_code("destroyed", cuMemcpyHtoAAsync(array, 0, line, 4, destroyed_stream()),
              CUDA_ERROR_INVALID_HANDLE);
  expect_code("made up", cuMemcpyHtoAAsync(array, 0, line, 4, foreign_handle<CUstream>()),
              CUDA_ERROR_INVALID_HANDLE);
}

CONFORM_WITH(cuMemcpyHtoAAsync, needs_a_context, initialised) {
  uint32_t word = 0;
  expect_code("no context", cuMemcpyHtoAAsync(foreign_handle<CUarray>(), 0, &word, 4, nullptr),
              CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM_WITH(cuMemcpyHtoAAsync, needs_cuInit, nothing) {
  uint32_t word = 0;
  expect_code("not initialised", cuMemcpyHtoAAsync(foreign_handle<CUarray>(), 0, &word, 4, nullptr),
              CUDA_ERROR_NOT_INITIALIZED);
}

CONFORM(cuMemcpyHtoAAsync, abi_of_32_bit_sizes_has_no_context) {
  auto* old = reinterpret_cast<CUresult (*)(CUarray, unsigned, const void*, unsigned, CUstream)>(
      driver_symbol("cuMemcpyHtoAAsync"));
  expect_code("old ABI", old(nullptr, 0, nullptr, 0, nullptr), CUDA_ERROR_INVALID_CONTEXT);
}

}  // namespace limen::conform
