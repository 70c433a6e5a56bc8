#include "conformance/places.h"

namespace limen::conform {

CONFORM(cuMemcpyDtoA, a_row_of_a_1d_array) {
  Texels array(CU_AD_FORMAT_UNSIGNED_INT32, 1, 6);
  array.put<uint32_t>({1, 2, 3, 4, 5, 6});
  Buffer line(16);
  write_list<uint32_t>(line, {11, 12, 13, 14});
  expect_code("two words", cuMemcpyDtoA(array, 8, line.at(4), 8), CUDA_SUCCESS);
  expect("array", listed(array.get<uint32_t>(6)), "1 2 12 13 5 6");
}

// The call is one for 1D arrays: of other arrays it knows the first row.
CONFORM(cuMemcpyDtoA, offsets_run_on_into_the_next_row) {
  Texels array(CU_AD_FORMAT_UNSIGNED_INT32, 1, 3, 3);
  array.put<uint32_t>({1, 2, 3, 4, 5, 6, 7, 8, 9});
  Buffer line(24);
  write_list<uint32_t>(line, {11, 12, 13, 14, 15, 16});
  expect_code("from the first row to the last", cuMemcpyDtoA(array, 8, line.at(0), 20),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("in the second row", cuMemcpyDtoA(array, 12, line.at(0), 4),
              CUDA_ERROR_INVALID_VALUE);
  expect("array", listed(array.get<uint32_t>(9)), "1 2 3 4 5 6 7 8 9");
}

CONFORM(cuMemcpyDtoA, texels_of_several_bytes) {
  Texels array(CU_AD_FORMAT_UNSIGNED_INT16, 4, 2);
  array.put<uint16_t>({1, 2, 3, 4, 5, 6, 7, 8});
  Buffer line(8);
  write_list<uint16_t>(line, {21, 22, 23, 24});
  expect_code("one texel", cuMemcpyDtoA(array, 8, line, 8), CUDA_SUCCESS);
  expect("array", listed(array.get<uint16_t>(8)), "1 2 3 4 21 22 23 24");
}

CONFORM(cuMemcpyDtoA, ranges_that_cannot_be) {
  Texels array(CU_AD_FORMAT_UNSIGNED_INT32, 1, 4);
  Buffer line(20);
  write_list<uint32_t>(line, {1, 2, 3, 4, 5});
  expect_code("beyond the array", cuMemcpyDtoA(array, 0, line, 20), CUDA_ERROR_INVALID_VALUE);
  expect_code("offset beyond the array", cuMemcpyDtoA(array, 20, line, 4),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("offset and size wrap", cuMemcpyDtoA(array, 8, line, ~size_t{0} - 3),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("offset within a texel", cuMemcpyDtoA(array, 2, line, 4), CUDA_SUCCESS);
  expect_code("part of a texel", cuMemcpyDtoA(array, 0, line, 6), CUDA_SUCCESS);
  expect_code("no memory", cuMemcpyDtoA(array, 0, 0, 4), CUDA_ERROR_INVALID_VALUE);
  expect_code("memory that was freed", cuMemcpyDtoA(array, 0, freed_address(), 4),
              CUDA_ERROR_INVALID_VALUE);
}

CONFORM(cuMemcpyDtoA, arrays_that_are_none) {
  Buffer line(8);
  write_list<uint32_t>(line, {1, 2});
  expect_code("null", cuMemcpyDtoA(nullptr, 0, line, 4), CUDA_ERROR_INVALID_VALUE);
  expect_code("foreign", cuMemcpyDtoA(foreign_handle<CUarray>(), 0, line, 4),
              CUDA_ERROR_INVALID_VALUE);
  CUarray gone = nullptr;
  const CUDA_ARRAY3D_DESCRIPTOR desc{4, 0, 0, CU_AD_FORMAT_UNSIGNED_INT32, 1, 0};
  REQUIRE(cuArray3DCreate(&gone, &desc));
  REQUIRE(cuArrayDestroy(gone));
  expect_code("destroyed", cuMemcpyDtoA(gone, 0, line, 4), CUDA_ERROR_INVALID_VALUE);
  expect_code("no bytes of none", cuMemcpyDtoA(nullptr, 0, 0, 0), CUDA_SUCCESS);
}

CONFORM_WITH(cuMemcpyDtoA, needs_a_context, initialised) {
  expect_code("no context", cuMemcpyDtoA(foreign_handle<CUarray>(), 0, 4096, 4),
              CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM_WITH(cuMemcpyDtoA, needs_cuInit, nothing) {
  expect_code("not initialised", cuMemcpyDtoA(foreign_handle<CUarray>(), 0, 4096, 4),
              CUDA_ERROR_NOT_INITIALIZED);
}

CONFORM(cuMemcpyDtoA, abi_of_32_bit_sizes_has_no_context) {
  auto* old = reinterpret_cast<CUresult (*)(CUarray, unsigned, CUdeviceptr_v1, unsigned)>(
      driver_symbol("cuMemcpyDtoA"));
  expect_code("old ABI", old(nullptr, 0, 0, 0), CUDA_ERROR_INVALID_CONTEXT);
}

}  // namespace limen::conform
