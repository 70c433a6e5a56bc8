#include "conformance/places.h"

namespace limen::conform {

CONFORM(cuMemcpyHtoA, a_row_of_a_1d_array) {
  Texels array(CU_AD_FORMAT_UNSIGNED_INT32, 1, 6);
  array.put<uint32_t>({1, 2, 3, 4, 5, 6});
  std::vector<uint32_t> line = {11, 12, 13, 14};
  expect_code("two words", cuMemcpyHtoA(array, 8, &line[1], 8), CUDA_SUCCESS);
  expect("array", listed(array.get<uint32_t>(6)), "1 2 12 13 5 6");
}

// The call is one for 1D arrays: of other arrays it knows the first row.
CONFORM(cuMemcpyHtoA, offsets_run_on_into_the_next_row) {
  Texels array(CU_AD_FORMAT_UNSIGNED_INT32, 1, 3, 3);
  array.put<uint32_t>({1, 2, 3, 4, 5, 6, 7, 8, 9});
  std::vector<uint32_t> line = {11, 12, 13, 14, 15, 16};
  expect_code("from the first row to the last", cuMemcpyHtoA(array, 8, &line[0], 20),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("in the second row", cuMemcpyHtoA(array, 12, &line[0], 4), CUDA_ERROR_INVALID_VALUE);
  expect("array", listed(array.get<uint32_t>(9)), "1 2 3 4 5 6 7 8 9");
}

CONFORM(cuMemcpyHtoA, texels_of_several_bytes) {
  Texels array(CU_AD_FORMAT_UNSIGNED_INT16, 4, 2);
  array.put<uint16_t>({1, 2, 3, 4, 5, 6, 7, 8});
  std::vector<uint16_t> line = {21, 22, 23, 24};
  expect_code("one texel", cuMemcpyHtoA(array, 8, line.data(), 8), CUDA_SUCCESS);
  expect("array", listed(array.get<uint16_t>(8)), "1 2 3 4 21 22 23 24");
}

CONFORM(cuMemcpyHtoA, ranges_that_cannot_be) {
  Texels array(CU_AD_FORMAT_UNSIGNED_INT32, 1, 4);
  std::vector<uint32_t> line = {1, 2, 3, 4, 5};
  expect_code("beyond the array", cuMemcpyHtoA(array, 0, line.data(), 20),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("offset beyond the array", cuMemcpyHtoA(array, 20, line.data(), 4),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("offset within a texel", cuMemcpyHtoA(array, 2, line.data(), 4), CUDA_SUCCESS);
  expect_code("part of a texel", cuMemcpyHtoA(array, 0, line.data(), 6), CUDA_SUCCESS);
  expect_code("no memory", cuMemcpyHtoA(array, 0, nullptr, 4), CUDA_ERROR_INVALID_VALUE);
  expect_code("offset and size wrap", cuMemcpyHtoA(array, 8, line.data(), ~size_t{0} - 3),
              CUDA_ERROR_INVALID_VALUE);
}

CONFORM(cuMemcpyHtoA, arrays_that_are_none) {
  std::vector<uint32_t> line = {1, 2};
  expect_code("null", cuMemcpyHtoA(nullptr, 0, line.data(), 4), CUDA_ERROR_INVALID_VALUE);
  expect_code("foreign", cuMemcpyHtoA(foreign_handle<CUarray>(), 0, line.data(), 4),
              CUDA_ERROR_INVALID_VALUE);
  CUarray gone = nullptr;
  const CUDA_ARRAY3D_DESCRIPTOR desc{4, 0, 0, CU_AD_FORMAT_UNSIGNED_INT32, 1, 0};
  REQUIRE(cuArray3DCreate(&gone, &desc));
  REQUIRE(cuArrayDestroy(gone));
  expect_code("destroyed", cuMemcpyHtoA(gone, 0, line.data(), 4), CUDA_ERROR_INVALID_VALUE);
  expect_code("no bytes of none", cuMemcpyHtoA(nullptr, 0, nullptr, 0), CUDA_SUCCESS);
}

CONFORM_WITH(cuMemcpyHtoA, needs_a_context, initialised) {
  uint32_t word = 0;
  expect_code("no context", cuMemcpyHtoA(foreign_handle<CUarray>(), 0, &word, 4),
              CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM_WITH(cuMemcpyHtoA, needs_cuInit, nothing) {
  uint32_t word = 0;
  expect_code("not initialised", cuMemcpyHtoA(foreign_handle<CUarray>(), 0, &word, 4),
              CUDA_ERROR_NOT_INITIALIZED);
}

CONFORM(cuMemcpyHtoA, abi_of_32_bit_sizes_has_no_context) {
  auto* old = reinterpret_cast<CUresult (*)(CUarray, unsigned, const void*, unsigned)>(
      driver_symbol("cuMemcpyHtoA"));
  expect_code("old ABI", old(nullptr, 0, nullptr, 0), CUDA_ERROR_INVALID_CONTEXT);
}

}  // namespace limen::conform
