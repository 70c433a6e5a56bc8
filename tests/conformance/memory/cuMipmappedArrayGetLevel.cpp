#include "conformance/arrays.h"
#include "conformance/conform.h"

namespace limen::conform {

CONFORM(cuMipmappedArrayGetLevel, levels_are_arrays_of_their_own) {
  CUDA_ARRAY3D_DESCRIPTOR desc{32, 0, 0, CU_AD_FORMAT_UNSIGNED_INT32, 1, 0};
  CUmipmappedArray mipmapped = nullptr;
  CUarray zero = nullptr, one = nullptr, again = nullptr;
  REQUIRE(cuMipmappedArrayCreate(&mipmapped, &desc, 2));
  expect_code("zero", cuMipmappedArrayGetLevel(&zero, mipmapped, 0), CUDA_SUCCESS);
  expect_code("one", cuMipmappedArrayGetLevel(&one, mipmapped, 1), CUDA_SUCCESS);
  expect_code("one again", cuMipmappedArrayGetLevel(&again, mipmapped, 1), CUDA_SUCCESS);
  expect_true("the same handle", one == again && one != zero);
  uint32_t in[32], out[16] = {};
  for (uint32_t i = 0; i < 32; ++i) in[i] = i + 1;
  REQUIRE(cuMemcpyHtoA(one, 0, in + 16, 64));
  REQUIRE(cuMemcpyHtoA(zero, 0, in, 128));
  REQUIRE(cuMemcpyAtoH(out, one, 0, 64));
  expect_true("they do not overlap", std::memcmp(out, in + 16, 64) == 0);
  expect_code("no result", cuMipmappedArrayGetLevel(nullptr, mipmapped, 0),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no array", cuMipmappedArrayGetLevel(&zero, nullptr, 0), CUDA_ERROR_INVALID_HANDLE);
  expect_code("no such level", cuMipmappedArrayGetLevel(&zero, mipmapped, 2),
              CUDA_ERROR_INVALID_VALUE);
  REQUIRE(cuMipmappedArrayDestroy(mipmapped));
  expect_code("destroyed", cuMipmappedArrayGetLevel(&zero, mipmapped, 0),
              CUDA_ERROR_INVALID_HANDLE);
}

CONFORM_WITH(cuMipmappedArrayGetLevel, needs_a_context, initialised) {
  CUarray level;
  expect_code("no context", cuMipmappedArrayGetLevel(&level, nullptr, 0),
              CUDA_ERROR_INVALID_HANDLE);
}

CONFORM_WITH(cuMipmappedArrayGetLevel, needs_cuInit, nothing) {
  CUarray level;
  expect_code("not initialised", cuMipmappedArrayGetLevel(&level, nullptr, 0),
              CUDA_ERROR_INVALID_HANDLE);
}

}  // namespace limen::conform
