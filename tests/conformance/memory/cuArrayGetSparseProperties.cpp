#include "conformance/memory/array_case.h"
#include "conformance/places.h"
#include "conformance/sparse.h"

namespace limen::conform {

CONFORM(cuArrayGetSparseProperties, of_a_plain_array) {
  CUDA_ARRAY_SPARSE_PROPERTIES properties{};
  expect_code("not sparse", cuArrayGetSparseProperties(&properties, plain_array()),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no result", cuArrayGetSparseProperties(nullptr, plain_array()),
              CUDA_ERROR_INVALID_VALUE);
}

// source: the standard sparse block shapes of Vulkan 1.3; to be measured on an H200.
CONFORM(cuArrayGetSparseProperties, tiles_are_64_KiB) {
  auto tile = [](CUarray_format format, unsigned channels, size_t depth, unsigned flags) {
    CUDA_ARRAY_SPARSE_PROPERTIES p{};
    CUarray array = sparse_array(512, 512, depth, flags, format, channels);
    REQUIRE(cuArrayGetSparseProperties(&p, array));
    REQUIRE(cuArrayDestroy(array));
    return listed(
        std::vector<unsigned>{p.tileExtent.width, p.tileExtent.height, p.tileExtent.depth});
  };
  const unsigned layers = CUDA_ARRAY3D_LAYERED;
  expect("a byte", tile(CU_AD_FORMAT_UNSIGNED_INT8, 1, 0, 0), "256 256 1");
  expect("two bytes", tile(CU_AD_FORMAT_HALF, 1, 0, 0), "256 128 1");
  expect("four bytes", tile(CU_AD_FORMAT_UNSIGNED_INT8, 4, 0, 0), "128 128 1");
  expect("eight bytes", tile(CU_AD_FORMAT_HALF, 4, 0, 0), "128 64 1");
  expect("sixteen bytes", tile(CU_AD_FORMAT_FLOAT, 4, 0, 0), "64 64 1");
  expect("layers", tile(CU_AD_FORMAT_FLOAT, 4, 3, layers), "64 64 1");
  expect("3D, a byte", tile(CU_AD_FORMAT_UNSIGNED_INT8, 1, 64, 0), "64 32 32");
  expect("3D, four bytes", tile(CU_AD_FORMAT_FLOAT, 1, 64, 0), "32 32 16");
  expect("3D, sixteen bytes", tile(CU_AD_FORMAT_FLOAT, 4, 64, 0), "16 16 16");
}

CONFORM(cuArrayGetSparseProperties, what_is_smaller_than_a_tile_is_a_tail) {
  CUDA_ARRAY_SPARSE_PROPERTIES p{};
  auto tail = [&](size_t width, size_t height, size_t depth, unsigned flags) {
    REQUIRE(cuArrayGetSparseProperties(&p, sparse_array(width, height, depth, flags)));
    return listed(std::vector<uint64_t>{p.miptailFirstLevel, p.miptailSize, p.flags});
  };
  const unsigned layers = CUDA_ARRAY3D_LAYERED;
  expect("16 x 16", tail(16, 16, 0, 0), "0 65536 1");
  expect("64 x 512", tail(64, 512, 0, 0), "0 131072 1");
  expect("64 x 512, three layers", tail(64, 512, 3, layers), "0 393216 1");
  expect("64 x 512 x 3", tail(64, 512, 3, 0), "0 524288 1");
  expect("300 x 256 x 3", tail(300, 256, 3, 0), "0 1245184 1");
  expect("128 x 128", tail(128, 128, 0, 0), "0 0 0");
  expect("300 x 256, three layers", tail(300, 256, 3, layers), "0 0 0");
}

CONFORM(cuArrayGetSparseProperties, of_what_is_not_sparse) {
  CUDA_ARRAY_SPARSE_PROPERTIES p{};
  CUmipmappedArray levels = mipmapped(512, 512, 0, 2, CUDA_ARRAY3D_SPARSE);
  expect_code("a level of a mipmapped one", cuArrayGetSparseProperties(&p, level_of(levels, 0)),
              CUDA_ERROR_INVALID_VALUE);
  CUDA_ARRAY3D_DESCRIPTOR desc{64, 64, 0, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_DEFERRED_MAPPING};
  CUarray deferred = nullptr;
  REQUIRE(cuArray3DCreate(&deferred, &desc));
  expect_code("deferred is not sparse", cuArrayGetSparseProperties(&p, deferred),
              CUDA_ERROR_INVALID_VALUE);
}

}  // namespace limen::conform
