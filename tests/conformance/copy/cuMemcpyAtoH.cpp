#include "conformance/places.h"

namespace limen::conform {

CONFORM(cuMemcpyAtoH, a_row_of_a_1d_array) {
  Texels array(CU_AD_FORMAT_UNSIGNED_INT32, 1, 6);
  array.put<uint32_t>({1, 2, 3, 4, 5, 6});
  std::vector<uint32_t> line = {11, 12, 13, 14};
  expect_code("two words", cuMemcpyAtoH(&line[1], array, 8, 8), CUDA_SUCCESS);
  expect("line", listed(line), "11 3 4 14");
}

// The call is one for 1D arrays: of other arrays it knows the first row.
CONFORM(cuMemcpyAtoH, offsets_run_on_into_the_next_row) {
  Texels array(CU_AD_FORMAT_UNSIGNED_INT32, 1, 3, 3);
  array.put<uint32_t>({1, 2, 3, 4, 5, 6, 7, 8, 9});
  std::vector<uint32_t> line = {11, 12, 13, 14, 15, 16};
  expect_code("from the first row to the last", cuMemcpyAtoH(&line[0], array, 8, 20),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("in the second row", cuMemcpyAtoH(&line[0], array, 12, 4), CUDA_ERROR_INVALID_VALUE);
  expect("line", listed(line), "11 12 13 14 15 16");
}

CONFORM(cuMemcpyAtoH, texels_of_several_bytes) {
  Texels array(CU_AD_FORMAT_UNSIGNED_INT16, 4, 2);
  array.put<uint16_t>({1, 2, 3, 4, 5, 6, 7, 8});
  std::vector<uint16_t> line = {21, 22, 23, 24};
  expect_code("one texel", cuMemcpyAtoH(line.data(), array, 8, 8), CUDA_SUCCESS);
  expect("line", listed(line), "5 6 7 8");
}

CONFORM(cuMemcpyAtoH, ranges_that_cannot_be) {
  Texels array(CU_AD_FORMAT_UNSIGNED_INT32, 1, 4);
  std::vector<uint32_t> line = {1, 2, 3, 4, 5};
  expect_code("beyond the array", cuMemcpyAtoH(line.data(), array, 0, 20),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("offset beyond the array", cuMemcpyAtoH(line.data(), array, 20, 4),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("offset within a texel", cuMemcpyAtoH(line.data(), array, 2, 4), CUDA_SUCCESS);
  expect_code("part of a texel", cuMemcpyAtoH(line.data(), array, 0, 6), CUDA_SUCCESS);
  expect_code("no memory", cuMemcpyAtoH(nullptr, array, 0, 4), CUDA_ERROR_INVALID_VALUE);
  // Comes last: it is a fault of the copy there.
  expect_code("offset and size wrap", cuMemcpyAtoH(line.data(), array, 8, ~size_t{0} - 3),
              CUDA_ERROR_LAUNCH_FAILED);
}

CONFORM(cuMemcpyAtoH, arrays_that_are_none) {
  std::vector<uint32_t> line = {1, 2};
  expect_code("null", cuMemcpyAtoH(line.data(), nullptr, 0, 4), CUDA_ERROR_INVALID_VALUE);
  expect_code("foreign", cuMemcpyAtoH(line.data(), foreign_handle<CUarray>(), 0, 4),
              CUDA_ERROR_INVALID_VALUE);
  CUarray gone = nullptr;
  const CUDA_ARRAY3D_DESCRIPTOR desc{4, 0, 0, CU_AD_FORMAT_UNSIGNED_INT32, 1, 0};
  REQUIRE(cuArray3DCreate(&gone, &desc));
  REQUIRE(cuArrayDestroy(gone));
  expect_code("destroyed", cuMemcpyAtoH(line.data(), gone, 0, 4), CUDA_ERROR_INVALID_VALUE);
  expect_code("no bytes of none", cuMemcpyAtoH(nullptr, nullptr, 0, 0), CUDA_SUCCESS);
}

CONFORM_WITH(cuMemcpyAtoH, needs_a_context, initialised) {
  uint32_t word = 0;
  expect_code("no context", cuMemcpyAtoH(&word, foreign_handle<CUarray>(), 0, 4),
              CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM_WITH(cuMemcpyAtoH, needs_cuInit, nothing) {
  uint32_t word = 0;
  expect_code("not initialised", cuMemcpyAtoH(&word, foreign_handle<CUarray>(), 0, 4),
              CUDA_ERROR_NOT_INITIALIZED);
}

CONFORM(cuMemcpyAtoH, abi_of_32_bit_sizes_has_no_context) {
  auto* old = reinterpret_cast<CUresult (*)(void*, CUarray, unsigned, unsigned)>(
      driver_symbol("cuMemcpyAtoH"));
  expect_code("old ABI", old(nullptr, nullptr, 0, 0), CUDA_ERROR_INVALID_CONTEXT);
}

}  // namespace limen::conform
