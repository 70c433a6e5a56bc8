#include "conformance/sparse.h"

namespace limen::conform {

CONFORM(cuMipmappedArrayGetSparseProperties, of_a_plain_array) {
  CUDA_ARRAY3D_DESCRIPTOR desc{};
  desc.Width = 16;
  desc.Height = 16;
  desc.Format = CU_AD_FORMAT_FLOAT;
  desc.NumChannels = 1;
  CUmipmappedArray mipmap = nullptr;
  REQUIRE(cuMipmappedArrayCreate(&mipmap, &desc, 3));
  CUDA_ARRAY_SPARSE_PROPERTIES properties{};
  expect_code("not sparse", cuMipmappedArrayGetSparseProperties(&properties, mipmap),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no result", cuMipmappedArrayGetSparseProperties(nullptr, mipmap),
              CUDA_ERROR_INVALID_VALUE);
}

CONFORM(cuMipmappedArrayGetSparseProperties, small_levels_are_the_mip_tail) {
  CUDA_ARRAY_SPARSE_PROPERTIES p{};
  expect_code(
      "asked",
      cuMipmappedArrayGetSparseProperties(&p, mipmapped(512, 256, 0, 10, CUDA_ARRAY3D_SPARSE)),
      CUDA_SUCCESS);
  expect("tiles are as wide", p.tileExtent.width, 128u);
  expect("as high", p.tileExtent.height, 128u);
  expect("the first level that a tile is too high for", p.miptailFirstLevel, 2u);
  expect("one tile holds the rest", p.miptailSize, 65536ull);
  REQUIRE(cuMipmappedArrayGetSparseProperties(&p, mipmapped(512, 256, 0, 2, CUDA_ARRAY3D_SPARSE)));
  expect("no tail", p.miptailSize, 0ull);
}

CONFORM(cuMipmappedArrayGetSparseProperties, no_such_array) {
  CUDA_ARRAY_SPARSE_PROPERTIES p{};
  CUmipmappedArray array = mipmapped(512, 256, 0, 10, CUDA_ARRAY3D_SPARSE);
  REQUIRE(cuMipmappedArrayDestroy(array));
  expect_code("destroyed", cuMipmappedArrayGetSparseProperties(&p, array),
              CUDA_ERROR_INVALID_HANDLE);
}

}  // namespace limen::conform
