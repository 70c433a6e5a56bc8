#include <algorithm>

#include "conformance/copy/boxes.h"

namespace limen::conform {

using Copy = CUDA_MEMCPY3D;

static CUresult copy_now(const Copy* copy) { return cuMemcpy3D(copy); }

CONFORM(cuMemcpy3D, every_kind_of_memory_to_every_kind) { copy_between_all_kinds<Copy>(copy_now); }

CONFORM(cuMemcpy3D, empty_boxes) { copy_empty_boxes<Copy>(copy_now); }

CONFORM(cuMemcpy3D, linear_boxes_that_cannot_be) { copy_wrong_linear_boxes<Copy>(copy_now); }

CONFORM(cuMemcpy3D, array_boxes_that_cannot_be) { copy_wrong_array_boxes<Copy>(copy_now); }

CONFORM(cuMemcpy3D, no_pitch_means_packed_rows) {
  Buffer source(64), target(64);
  write_list<uint32_t>(source, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16});
  REQUIRE(cuMemsetD8(target, 0, 64));
  Copy copy{};
  copy.srcMemoryType = copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.srcDevice = source, copy.dstDevice = target;
  copy.WidthInBytes = 8, copy.Height = 2;
  copy.Depth = 2;
  copy.srcPitch = 16;
  copy.srcHeight = 2;
  expect_code("pitch of the target 0", copy_now(&copy), CUDA_SUCCESS);
  REQUIRE(cuStreamSynchronize(nullptr));
  expect("words", listed(read_list<uint32_t>(target, 9)), "1 2 5 6 9 10 13 14 0");
}

CONFORM(cuMemcpy3D, large_boxes_of_odd_sizes) {
  constexpr size_t pitch = 2055, rows = 40, slices = 3, all = pitch * rows * slices;
  std::vector<uint8_t> bytes(all), got(all);
  for (size_t i = 0; i < all; ++i) bytes[i] = static_cast<uint8_t>(i * 13 + i / 241);
  Buffer memory(all);
  REQUIRE(cuMemsetD8(memory, 0, all));
  Copy copy{};
  copy.srcMemoryType = CU_MEMORYTYPE_HOST, copy.srcHost = bytes.data();
  copy.dstMemoryType = CU_MEMORYTYPE_DEVICE, copy.dstDevice = memory;
  copy.srcPitch = copy.dstPitch = pitch;
  copy.srcXInBytes = copy.dstXInBytes = 3;
  copy.WidthInBytes = 2049, copy.Height = rows;
  copy.srcHeight = copy.dstHeight = rows, copy.Depth = slices;
  expect_code("copies", copy_now(&copy), CUDA_SUCCESS);
  REQUIRE(cuStreamSynchronize(nullptr));
  REQUIRE(cuMemcpyDtoH(got.data(), memory, all));
  size_t right = 0;
  for (size_t i = 0; i < all; ++i) {
    const bool inside = i % pitch >= 3 && i % pitch < 2052;
    right += got[i] == (inside ? bytes[i] : 0);
  }
  expect("right bytes", right, all);
}

CONFORM(cuMemcpy3D, layers_and_levels_of_arrays) {
  std::vector<uint32_t> words(8 * 4 * 3), got(8 * 4 * 3);
  for (size_t i = 0; i < words.size(); ++i) words[i] = static_cast<uint32_t>(i + 1);
  auto there_and_back = [&](const char* label, CUarray array, size_t width, size_t height,
                            size_t depth) {
    Copy copy{};
    copy.srcMemoryType = CU_MEMORYTYPE_HOST, copy.srcHost = words.data();
    copy.dstMemoryType = CU_MEMORYTYPE_ARRAY, copy.dstArray = array;
    copy.srcPitch = width * 4, copy.srcHeight = height;
    copy.WidthInBytes = width * 4, copy.Height = height, copy.Depth = depth;
    expect_code(std::string(label) + ": there", copy_now(&copy), CUDA_SUCCESS);
    Copy back{};
    back.srcMemoryType = CU_MEMORYTYPE_ARRAY, back.srcArray = array;
    back.dstMemoryType = CU_MEMORYTYPE_HOST, back.dstHost = got.data();
    back.dstPitch = width * 4, back.dstHeight = height;
    back.WidthInBytes = width * 4, back.Height = height, back.Depth = depth;
    expect_code(std::string(label) + ": back", copy_now(&back), CUDA_SUCCESS);
    REQUIRE(cuStreamSynchronize(nullptr));
    expect_true(std::string(label) + ": the words",
                std::equal(got.begin(), got.begin() + static_cast<long>(width * height * depth),
                           words.begin()));
    copy.Depth = depth + 1;
    expect_code(std::string(label) + ": a slice too many", copy_now(&copy),
                CUDA_ERROR_INVALID_VALUE);
  };
  Texels layered(CU_AD_FORMAT_UNSIGNED_INT32, 1, 8, 4, 3, CUDA_ARRAY3D_LAYERED);
  there_and_back("layers", layered, 8, 4, 3);
  Texels rows(CU_AD_FORMAT_UNSIGNED_INT32, 1, 8, 0, 3, CUDA_ARRAY3D_LAYERED);
  there_and_back("layers of 1D", rows, 8, 1, 3);
  Texels cube(CU_AD_FORMAT_UNSIGNED_INT32, 1, 4, 4, 6, CUDA_ARRAY3D_CUBEMAP);
  there_and_back("faces", cube, 4, 4, 6);
  Texels line(CU_AD_FORMAT_UNSIGNED_INT32, 4, 8);
  there_and_back("1D of four channels", line, 32, 1, 1);
  const CUDA_ARRAY3D_DESCRIPTOR desc{8, 8, 0, CU_AD_FORMAT_UNSIGNED_INT32, 1, 0};
  CUmipmappedArray levels = nullptr;
  CUarray level = nullptr;
  REQUIRE(cuMipmappedArrayCreate(&levels, &desc, 3));
  REQUIRE(cuMipmappedArrayGetLevel(&level, levels, 1));
  there_and_back("a level", level, 4, 4, 1);
}

CONFORM(cuMemcpy3D, no_descriptor) {
  expect_code("null", cuMemcpy3D(nullptr), CUDA_ERROR_INVALID_VALUE);
}

CONFORM_WITH(cuMemcpy3D, needs_a_context, initialised) {
  const Copy copy = small_copy<Copy>();
  expect_code("no context", cuMemcpy3D(&copy), CUDA_ERROR_INVALID_CONTEXT);
  expect_code("no context, no descriptor", cuMemcpy3D(nullptr), CUDA_ERROR_INVALID_CONTEXT);
}

CONFORM_WITH(cuMemcpy3D, needs_cuInit, nothing) {
  const Copy copy = small_copy<Copy>();
  expect_code("not initialised", cuMemcpy3D(&copy), CUDA_ERROR_NOT_INITIALIZED);
}

CONFORM(cuMemcpy3D, abi_of_32_bit_addresses_has_no_context) {
  auto* old = reinterpret_cast<CUresult (*)(const void*)>(driver_symbol("cuMemcpy3D"));
  expect_code("old ABI", old(nullptr), CUDA_ERROR_INVALID_CONTEXT);
}

}  // namespace limen::conform
