#include "conformance/texobject/textures.h"

namespace limen::conform {

CONFORM(cuTexObjectGetTextureDesc, is_what_it_was_made_of) {
  Levels levels(8, 8, 4);
  CUDA_TEXTURE_DESC how =
      sampler(CU_TR_ADDRESS_MODE_WRAP, CU_TR_FILTER_MODE_LINEAR, CU_TRSF_NORMALIZED_COORDINATES);
  how.addressMode[1] = CU_TR_ADDRESS_MODE_MIRROR;
  how.addressMode[2] = CU_TR_ADDRESS_MODE_BORDER;
  how.maxAnisotropy = 4;
  how.mipmapFilterMode = CU_TR_FILTER_MODE_LINEAR;
  how.mipmapLevelBias = 0.5f, how.minMipmapLevelClamp = 1, how.maxMipmapLevelClamp = 2.5f;
  how.borderColor[0] = 0.25f, how.borderColor[3] = 1;
  TextureObject texture(levels.resource(), how);
  CUDA_TEXTURE_DESC got{};
  expect_code("asked", cuTexObjectGetTextureDesc(&got, texture), CUDA_SUCCESS);
  expect("modes", listed(Ints{got.addressMode[0], got.addressMode[1], got.addressMode[2]}),
         "0 2 3");
  expect("filter", got.filterMode, CU_TR_FILTER_MODE_LINEAR);
  expect("filter of levels", got.mipmapFilterMode, CU_TR_FILTER_MODE_LINEAR);
  expect("flags", got.flags, unsigned{CU_TRSF_NORMALIZED_COORDINATES});
  expect("anisotropy", got.maxAnisotropy, 4u);
  expect("levels",
         listed(Floats{got.mipmapLevelBias, got.minMipmapLevelClamp, got.maxMipmapLevelClamp}),
         listed(Floats{0.5f, 1, 2.5f}));
  expect("border", listed(Floats(got.borderColor, got.borderColor + 4)),
         listed(Floats{0, 0, 0, 0}));
}

CONFORM(cuTexObjectGetTextureDesc, a_border_that_is_read) {
  Texels row(CU_AD_FORMAT_FLOAT, 1, 4);
  CUDA_TEXTURE_DESC how = sampler(CU_TR_ADDRESS_MODE_BORDER), got{};
  how.borderColor[0] = 0.25f, how.borderColor[3] = 1;
  TextureObject texture(array_resource(row), how);
  expect_code("asked", cuTexObjectGetTextureDesc(&got, texture), CUDA_SUCCESS);
  expect("its colour", listed(Floats(got.borderColor, got.borderColor + 4)),
         listed(Floats{0, 0, 0, 0}));
}

CONFORM(cuTexObjectGetTextureDesc, arguments_that_are_none) {
  Texels row(CU_AD_FORMAT_FLOAT, 1, 4);
  TextureObject texture(array_resource(row), sampler());
  CUDA_TEXTURE_DESC got{};
  expect_code("nowhere", cuTexObjectGetTextureDesc(nullptr, texture), CUDA_ERROR_INVALID_VALUE);
  expect_code("0", cuTexObjectGetTextureDesc(&got, 0), CUDA_ERROR_INVALID_VALUE);
  expect_code("a made-up number", cuTexObjectGetTextureDesc(&got, 0x123456789abcdef),
              CUDA_ERROR_INVALID_VALUE);
}

CONFORM_WITH(cuTexObjectGetTextureDesc, needs_a_context, initialised) {
  CUDA_TEXTURE_DESC got{};
  expect_code("no context", cuTexObjectGetTextureDesc(&got, 1), CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM_WITH(cuTexObjectGetTextureDesc, needs_cuInit, nothing) {
  CUDA_TEXTURE_DESC got{};
  expect_code("not initialised", cuTexObjectGetTextureDesc(&got, 1), CUDA_ERROR_NOT_INITIALIZED);
}

}  // namespace limen::conform
