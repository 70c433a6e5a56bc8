#include "conformance/conform.h"

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

}  // namespace limen::conform
