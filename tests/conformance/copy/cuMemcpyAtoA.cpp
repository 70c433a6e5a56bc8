#include "conformance/places.h"

namespace limen::conform {

CONFORM(cuMemcpyAtoA, part_of_a_row) {
  Texels one(CU_AD_FORMAT_UNSIGNED_INT32, 1, 4), two(CU_AD_FORMAT_UNSIGNED_INT32, 1, 4);
  one.put<uint32_t>({1, 2, 3, 4});
  two.put<uint32_t>({11, 12, 13, 14});
  expect_code("two words", cuMemcpyAtoA(one, 4, two, 8, 8), CUDA_SUCCESS);
  expect("target", listed(one.get<uint32_t>(4)), "1 13 14 4");
  expect("source", listed(two.get<uint32_t>(4)), "11 12 13 14");
}

// Rows of one do not run on, whatever the other has.
CONFORM(cuMemcpyAtoA, rows_of_other_widths_and_formats) {
  Texels one(CU_AD_FORMAT_UNSIGNED_INT32, 1, 4, 2), two(CU_AD_FORMAT_UNSIGNED_INT16, 2, 3, 3);
  one.put<uint32_t>({1, 2, 3, 4, 5, 6, 7, 8});
  two.put<uint32_t>({11, 12, 13, 14, 15, 16, 17, 18, 19});
  expect_code("five words", cuMemcpyAtoA(one, 8, two, 4, 20), CUDA_ERROR_INVALID_VALUE);
  expect("target", listed(one.get<uint32_t>(8)), "1 2 3 4 5 6 7 8");
  expect_code("two words", cuMemcpyAtoA(one, 8, two, 4, 8), CUDA_SUCCESS);
  expect("two of them", listed(one.get<uint32_t>(8)), "1 2 12 13 5 6 7 8");
}

CONFORM(cuMemcpyAtoA, within_one_array) {
  Texels array(CU_AD_FORMAT_FLOAT, 1, 4);
  array.put<float>({1, 2, 3, 4});
  expect_code("first to last", cuMemcpyAtoA(array, 12, array, 0, 4), CUDA_SUCCESS);
  expect("words", listed(array.get<uint32_t>(4)), "1065353216 1073741824 1077936128 1065353216");
}

CONFORM(cuMemcpyAtoA, ranges_that_cannot_be) {
  Texels one(CU_AD_FORMAT_UNSIGNED_INT32, 1, 4), two(CU_AD_FORMAT_UNSIGNED_INT32, 1, 6);
  expect_code("beyond the target", cuMemcpyAtoA(one, 0, two, 0, 20), CUDA_ERROR_INVALID_VALUE);
  expect_code("beyond the source", cuMemcpyAtoA(two, 0, one, 0, 20), CUDA_ERROR_INVALID_VALUE);
  expect_code("target's offset", cuMemcpyAtoA(one, 16, two, 0, 4), CUDA_ERROR_INVALID_VALUE);
  expect_code("source's offset", cuMemcpyAtoA(one, 0, two, 24, 4), CUDA_ERROR_INVALID_VALUE);
  expect_code("offset that wraps", cuMemcpyAtoA(one, ~size_t{0} - 3, two, 0, 8),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no bytes", cuMemcpyAtoA(one, 0, two, 0, 0), CUDA_SUCCESS);
}

CONFORM(cuMemcpyAtoA, arrays_that_are_none) {
  Texels array(CU_AD_FORMAT_UNSIGNED_INT32, 1, 4);
  CUarray gone = nullptr;
  const CUDA_ARRAY3D_DESCRIPTOR desc{4, 0, 0, CU_AD_FORMAT_UNSIGNED_INT32, 1, 0};
  REQUIRE(cuArray3DCreate(&gone, &desc));
  REQUIRE(cuArrayDestroy(gone));
  expect_code("no target", cuMemcpyAtoA(nullptr, 0, array, 0, 4), CUDA_ERROR_INVALID_VALUE);
  expect_code("no source", cuMemcpyAtoA(array, 0, nullptr, 0, 4), CUDA_ERROR_INVALID_VALUE);
  expect_code("foreign", cuMemcpyAtoA(array, 0, foreign_handle<CUarray>(), 0, 4),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("destroyed", cuMemcpyAtoA(gone, 0, array, 0, 4), CUDA_ERROR_INVALID_VALUE);
}

CONFORM_WITH(cuMemcpyAtoA, needs_a_context, initialised) {
  auto* array = foreign_handle<CUarray>();
  expect_code("no context", cuMemcpyAtoA(array, 0, array, 0, 4), CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM_WITH(cuMemcpyAtoA, needs_cuInit, nothing) {
  auto* array = foreign_handle<CUarray>();
  expect_code("not initialised", cuMemcpyAtoA(array, 0, array, 0, 4), CUDA_ERROR_NOT_INITIALIZED);
}

CONFORM(cuMemcpyAtoA, abi_of_32_bit_sizes_has_no_context) {
  auto* old = reinterpret_cast<CUresult (*)(CUarray, unsigned, CUarray, unsigned, unsigned)>(
      driver_symbol("cuMemcpyAtoA"));
  expect_code("old ABI", old(nullptr, 0, nullptr, 0, 0), CUDA_ERROR_INVALID_CONTEXT);
}

}  // namespace limen::conform
