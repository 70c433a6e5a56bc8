#include "conformance/places.h"

namespace limen::conform {

CONFORM(cuMemcpyAtoD, a_row_of_a_1d_array) {
  Texels array(CU_AD_FORMAT_UNSIGNED_INT32, 1, 6);
  array.put<uint32_t>({1, 2, 3, 4, 5, 6});
  Buffer line(16);
  write_list<uint32_t>(line, {11, 12, 13, 14});
  expect_code("two words", cuMemcpyAtoD(line.at(4), array, 8, 8), CUDA_SUCCESS);
  expect("line", listed(read_list<uint32_t>(line, 4)), "11 3 4 14");
}

// The call is one for 1D arrays: of other arrays it knows the first row.
CONFORM(cuMemcpyAtoD, offsets_run_on_into_the_next_row) {
  Texels array(CU_AD_FORMAT_UNSIGNED_INT32, 1, 3, 3);
  array.put<uint32_t>({1, 2, 3, 4, 5, 6, 7, 8, 9});
  Buffer line(24);
  write_list<uint32_t>(line, {11, 12, 13, 14, 15, 16});
  expect_code("from the first row to the last", cuMemcpyAtoD(line.at(0), array, 8, 20),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("in the second row", cuMemcpyAtoD(line.at(0), array, 12, 4),
              CUDA_ERROR_INVALID_VALUE);
  expect("line", listed(read_list<uint32_t>(line, 6)), "11 12 13 14 15 16");
}

CONFORM(cuMemcpyAtoD, texels_of_several_bytes) {
  Texels array(CU_AD_FORMAT_UNSIGNED_INT16, 4, 2);
  array.put<uint16_t>({1, 2, 3, 4, 5, 6, 7, 8});
  Buffer line(8);
  write_list<uint16_t>(line, {21, 22, 23, 24});
  expect_code("one texel", cuMemcpyAtoD(line, array, 8, 8), CUDA_SUCCESS);
  expect("line", listed(read_list<uint16_t>(line, 4)), "5 6 7 8");
}

CONFORM(cuMemcpyAtoD, ranges_that_cannot_be) {
  Texels array(CU_AD_FORMAT_UNSIGNED_INT32, 1, 4);
  Buffer line(20);
  write_list<uint32_t>(line, {1, 2, 3, 4, 5});
  expect_code("beyond the array", cuMemcpyAtoD(line, array, 0, 20), CUDA_ERROR_INVALID_VALUE);
  expect_code("offset beyond the array", cuMemcpyAtoD(line, array, 20, 4),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("offset and size wrap", cuMemcpyAtoD(line, array, 8, ~size_t{0} - 3),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("offset within a texel", cuMemcpyAtoD(line, array, 2, 4), CUDA_SUCCESS);
  expect_code("part of a texel", cuMemcpyAtoD(line, array, 0, 6), CUDA_SUCCESS);
  expect_code("no memory", cuMemcpyAtoD(0, array, 0, 4), CUDA_ERROR_INVALID_VALUE);
  expect_code("memory that was freed", cuMemcpyAtoD(freed_address(), array, 0, 4),
              CUDA_ERROR_INVALID_VALUE);
}

CONFORM(cuMemcpyAtoD, arrays_that_are_none) {
  Buffer line(8);
  write_list<uint32_t>(line, {1, 2});
  expect_code("null", cuMemcpyAtoD(line, nullptr, 0, 4), CUDA_ERROR_INVALID_VALUE);
  expect_code("foreign", cuMemcpyAtoD(line, foreign_handle<CUarray>(), 0, 4),
              CUDA_ERROR_INVALID_VALUE);
  CUarray gone = nullptr;
  const CUDA_ARRAY3D_DESCRIPTOR desc{4, 0, 0, CU_AD_FORMAT_UNSIGNED_INT32, 1, 0};
  REQUIRE(cuArray3DCreate(&gone, &desc));
  REQUIRE(cuArrayDestroy(gone));
  expect_code("destroyed", cuMemcpyAtoD(line, gone, 0, 4), CUDA_ERROR_INVALID_VALUE);
  expect_code("no bytes of none", cuMemcpyAtoD(0, nullptr, 0, 0), CUDA_SUCCESS);
}

CONFORM_WITH(cuMemcpyAtoD, needs_a_context, initialised) {
  expect_code("no context", cuMemcpyAtoD(4096, foreign_handle<CUarray>(), 0, 4),
              CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM_WITH(cuMemcpyAtoD, needs_cuInit, nothing) {
  expect_code("not initialised", cuMemcpyAtoD(4096, foreign_handle<CUarray>(), 0, 4),
              CUDA_ERROR_NOT_INITIALIZED);
}

CONFORM(cuMemcpyAtoD, abi_of_32_bit_sizes_has_no_context) {
  auto* old = reinterpret_cast<CUresult (*)(CUdeviceptr_v1, CUarray, unsigned, unsigned)>(
      driver_symbol("cuMemcpyAtoD"));
  expect_code("old ABI", old(0, nullptr, 0, 0), CUDA_ERROR_INVALID_CONTEXT);
}

}  // namespace limen::conform
