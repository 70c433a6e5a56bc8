// What the 2D and 3D copies share: boxes of words in every kind of memory, and the boxes that
// cannot be. `call` takes the descriptor and makes the copy of the function under test; `Copy` is
// its descriptor. Thread rule: as conform.h.
#pragma once
#include <algorithm>
#include <array>
#include <memory>

#include "conformance/places.h"

namespace limen::conform {

enum class Kind : uint8_t { plain, pinned, device, unified, array };
inline constexpr Kind all_kinds[] = {Kind::plain, Kind::pinned, Kind::device, Kind::unified,
                                     Kind::array};
inline const char* name_of(Kind kind) {
  constexpr const char* names[] = {"plain", "pinned", "device", "unified", "array"};
  return names[static_cast<unsigned>(kind)];
}

template <typename Copy>
inline constexpr bool is_deep = requires(Copy copy) {
  copy.Depth;
};

/// 8 x 4 words (x 3 slices), each `first` and its number, in memory of one kind. Linear memory has
/// rows of 12 words and slices of 5 rows.
template <typename Copy>
class Place {
 public:
  static constexpr size_t width = 8, height = 4, depth = is_deep<Copy> ? 3 : 1;

  Place(Kind kind, uint32_t first)
      : kind_(kind),
        pinned_(all_words),
        device_(all_words * 4),
        array_(CU_AD_FORMAT_UNSIGNED_INT32, 1, width, height, is_deep<Copy> ? depth : 0),
        plain_(all_words, padding) {
    std::vector<uint32_t> packed;
    for (size_t i = 0; i < width * height * depth; ++i) {
      packed.push_back(first + static_cast<uint32_t>(i));
      plain_[index(i % width, i / width % height, i / width / height)] = packed.back();
    }
    std::copy(plain_.begin(), plain_.end(), pinned_.data());
    write_list(device_, plain_);
    array_.put(packed);
  }

  void as_source(Copy& copy) {
    copy.srcMemoryType = type();
    if (kind_ == Kind::array) {
      copy.srcArray = array_;
      return;
    }
    if (kind_ == Kind::device || kind_ == Kind::unified) copy.srcDevice = device_;
    if (kind_ == Kind::plain) copy.srcHost = plain_.data();
    if (kind_ == Kind::pinned) copy.srcHost = pinned_.data();
    copy.srcPitch = row_words * 4;
    if constexpr (is_deep<Copy>) copy.srcHeight = slice_rows;
  }
  void as_target(Copy& copy) {
    copy.dstMemoryType = type();
    if (kind_ == Kind::array) {
      copy.dstArray = array_;
      return;
    }
    if (kind_ == Kind::device || kind_ == Kind::unified) copy.dstDevice = device_;
    if (kind_ == Kind::plain) copy.dstHost = plain_.data();
    if (kind_ == Kind::pinned) copy.dstHost = pinned_.data();
    copy.dstPitch = row_words * 4;
    if constexpr (is_deep<Copy>) copy.dstHeight = slice_rows;
  }

  /// The words as they are now.
  std::vector<uint32_t> words() {
    if (kind_ == Kind::array) return array_.template get<uint32_t>(width * height * depth);
    std::vector<uint32_t> all = everything(), packed;
    for (size_t z = 0; z < depth; ++z)
      for (size_t y = 0; y < height; ++y)
        for (size_t x = 0; x < width; ++x) packed.push_back(all[index(x, y, z)]);
    return packed;
  }
  /// Whether what lies between rows and slices is as it was.
  bool gaps_kept() {
    if (kind_ == Kind::array) return true;
    size_t kept = 0;
    for (uint32_t word : everything()) kept += word == padding;
    return kept == all_words - width * height * depth;
  }

 private:
  static constexpr size_t row_words = 12, slice_rows = 5,
                          all_words = row_words * slice_rows * depth;
  static constexpr uint32_t padding = 0xfeedfeed;
  static size_t index(size_t x, size_t y, size_t z) { return x + row_words * (y + slice_rows * z); }
  CUmemorytype type() const {
    switch (kind_) {
      case Kind::device:
        return CU_MEMORYTYPE_DEVICE;
      case Kind::unified:
        return CU_MEMORYTYPE_UNIFIED;
      case Kind::array:
        return CU_MEMORYTYPE_ARRAY;
      default:
        return CU_MEMORYTYPE_HOST;
    }
  }
  std::vector<uint32_t> everything() {
    if (kind_ == Kind::plain) return plain_;
    if (kind_ == Kind::pinned) return {pinned_.data(), pinned_.data() + all_words};
    return read_list<uint32_t>(device_, all_words);
  }

  Kind kind_;
  Pinned<uint32_t> pinned_;
  Buffer device_;
  Texels array_;
  std::vector<uint32_t> plain_;
};

/// A box of 5 x 2 (x 2) words from (2, 1, 1) to (3, 2, 0).
template <typename Copy>
void set_inner_box(Copy& copy) {
  copy.srcXInBytes = 8, copy.srcY = 1;
  copy.dstXInBytes = 12, copy.dstY = 2;
  copy.WidthInBytes = 20, copy.Height = 2;
  if constexpr (is_deep<Copy>) {
    copy.srcZ = 1;
    copy.Depth = 2;
  }
}

/// What that copy leaves of a target from 1000 on when the source counts from 1 on.
template <typename Copy>
std::vector<uint32_t> inner_box_result() {
  using P = Place<Copy>;
  std::vector<uint32_t> words;
  const size_t from_z = is_deep<Copy> ? 1 : 0, slices = is_deep<Copy> ? 2 : 1;
  for (size_t z = 0; z < P::depth; ++z)
    for (size_t y = 0; y < P::height; ++y)
      for (size_t x = 0; x < P::width; ++x) {
        const bool inside = x >= 3 && y >= 2 && y < 4 && z < slices;
        const size_t source = (x - 1) + P::width * ((y - 1) + P::height * (z + from_z));
        const size_t own = x + P::width * (y + P::height * z);
        words.push_back(static_cast<uint32_t>(inside ? 1 + source : 1000 + own));
      }
  return words;
}

/// Every kind of memory to every kind.
template <typename Copy, typename Call>
void copy_between_all_kinds(Call call) {
  for (Kind from : all_kinds)
    for (Kind to : all_kinds) {
      Place<Copy> source(from, 1), target(to, 1000);
      Copy copy{};
      source.as_source(copy);
      target.as_target(copy);
      set_inner_box(copy);
      const std::string label = std::string(name_of(from)) + " to " + name_of(to);
      expect_code(label, call(&copy), CUDA_SUCCESS);
      REQUIRE(cuStreamSynchronize(nullptr));
      expect_true(label + ": the box", target.words() == inner_box_result<Copy>());
      expect_true(label + ": nothing between rows", target.gaps_kept());
    }
}

/// Boxes of no texels: nothing is looked at, nothing happens.
template <typename Copy, typename Call>
void copy_empty_boxes(Call call) {
  Place<Copy> source(Kind::device, 1), target(Kind::device, 1000);
  const std::vector<uint32_t> before = target.words();
  Copy copy{};
  source.as_source(copy);
  target.as_target(copy);
  set_inner_box(copy);
  Copy empty = copy;
  empty.WidthInBytes = 0;
  expect_code("no width", call(&empty), CUDA_SUCCESS);
  empty = copy;
  empty.Height = 0;
  expect_code("no height", call(&empty), CUDA_SUCCESS);
  if constexpr (is_deep<Copy>) {
    empty = copy;
    empty.Depth = 0;
    expect_code("no depth", call(&empty), CUDA_SUCCESS);
  }
  REQUIRE(cuStreamSynchronize(nullptr));
  expect_true("nothing is copied", target.words() == before);
}

/// Linear memory that a box leaves, and pitches that do not go.
template <typename Copy, typename Call>
void copy_wrong_linear_boxes(Call call) {
  Buffer memory(2 << 20), other(2 << 20);
  Copy good{};
  good.srcMemoryType = good.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  good.srcDevice = memory, good.dstDevice = other;
  good.srcPitch = good.dstPitch = 1024;
  good.WidthInBytes = 1024, good.Height = 2048;
  if constexpr (is_deep<Copy>) {
    good.srcHeight = good.dstHeight = 1024;
    good.Height = 1024, good.Depth = 2;
  }
  expect_code("all of it", call(&good), CUDA_SUCCESS);
  auto refused = [&](const char* label, auto change) {
    Copy copy = good;
    change(copy);
    expect_code(label, call(&copy), CUDA_ERROR_INVALID_VALUE);
  };
  refused("a row beyond the source", [](Copy& c) { c.srcY = 1; });
  refused("a row beyond the target", [](Copy& c) { c.dstY = 1; });
  refused("source pitch below the width", [](Copy& c) { c.srcPitch = 1020; });
  refused("target pitch below the width", [](Copy& c) { c.dstPitch = 1020; });
  refused("source pitch below x and width", [](Copy& c) { c.srcXInBytes = 4; });
  refused("target pitch beyond the most", [](Copy& c) { c.dstPitch = size_t{1} << 31; });
  refused("no source", [](Copy& c) { c.srcDevice = 0; });
  refused("no target", [](Copy& c) { c.dstDevice = 0; });
  refused("a source that was freed", [](Copy& c) { c.srcDevice = freed_address(); });
  refused("a target that never was", [](Copy& c) { c.dstDevice = 0x123456789000; });
  refused("memory type 0", [](Copy& c) { c.srcMemoryType = CUmemorytype(0); });
  refused("memory type 5", [](Copy& c) { c.dstMemoryType = CUmemorytype(5); });
  refused("x beyond all addresses", [](Copy& c) { c.srcXInBytes = ~size_t{0} - 3; });
  refused("y beyond all addresses", [](Copy& c) { c.dstY = ~size_t{0}; });
  if constexpr (is_deep<Copy>) {
    refused("a slice beyond the source", [](Copy& c) { c.srcZ = 1; });
    refused("source height below the rows", [](Copy& c) { c.srcHeight = 1023; });
    refused("target height below y and rows", [](Copy& c) { c.dstHeight = 1023; });
  }
  // What is taken: levels that linear memory does not have, and sizes that wrap, which the H200
  // copies in part.
  auto taken = [&](const char* label, auto change) {
    Copy copy = good;
    change(copy);
    expect_code(label, call(&copy), CUDA_SUCCESS);
  };
  if constexpr (is_deep<Copy>) {
    taken("a level of the source", [](Copy& c) { c.srcLOD = 1; });
    taken("a level of the target", [](Copy& c) { c.dstLOD = 1; });
  }
  // 2^34 rows of 2^30 bytes are 2^64.
  taken("rows beyond all addresses", [](Copy& c) {
    c.srcPitch = c.dstPitch = size_t{1} << 30;
    c.Height = (size_t{1} << 34) + 1;
    if constexpr (is_deep<Copy>) c.Depth = 1, c.srcHeight = c.dstHeight = 0;
  });
  if constexpr (is_deep<Copy>)
    taken("slices beyond all addresses", [](Copy& c) {
      c.srcHeight = c.dstHeight = size_t{1} << 40;
      c.Depth = (size_t{1} << 14) + 1;
    });
}

/// `words` of an array after `copy` into it from packed words `from`, byte by byte.
template <typename Copy>
std::vector<uint32_t> after_box(std::vector<uint32_t> words, const std::vector<uint32_t>& from,
                                const Copy& copy) {
  using P = Place<Copy>;
  size_t depth = 1, from_z = 0, to_z = 0;
  if constexpr (is_deep<Copy>) depth = copy.Depth, from_z = copy.srcZ, to_z = copy.dstZ;
  auto offset = [](size_t x, size_t y, size_t z) { return x + P::width * 4 * (y + P::height * z); };
  for (size_t z = 0; z < depth; ++z)
    for (size_t y = 0; y < copy.Height; ++y)
      std::memcpy(
          reinterpret_cast<char*>(words.data()) + offset(copy.dstXInBytes, copy.dstY + y, to_z + z),
          reinterpret_cast<const char*>(from.data()) +
              offset(copy.srcXInBytes, copy.srcY + y, from_z + z),
          copy.WidthInBytes);
  return words;
}

/// Boxes that arrays do not have.
template <typename Copy, typename Call>
void copy_wrong_array_boxes(Call call) {
  Place<Copy> memory(Kind::device, 1), array(Kind::array, 1000);
  Copy good{};
  memory.as_source(good);
  array.as_target(good);
  set_inner_box(good);
  auto refused = [&](const char* label, auto change) {
    Copy copy = good;
    change(copy);
    expect_code(label, call(&copy), CUDA_ERROR_INVALID_VALUE);
  };
  refused("rows too long", [](Copy& c) { c.WidthInBytes = 24; });
  refused("rows too many", [](Copy& c) { c.Height = 3; });
  refused("x that wraps", [](Copy& c) { c.dstXInBytes = ~size_t{7}; });
  refused("y that wraps", [](Copy& c) { c.dstY = ~size_t{0}; });
  if constexpr (is_deep<Copy>) {
    refused("slices too many", [](Copy& c) { c.dstZ = 2; });
    refused("a level of the array", [](Copy& c) { c.dstLOD = 1; });
  }
  refused("no array", [](Copy& c) { c.dstArray = nullptr; });
  refused("a foreign array", [](Copy& c) { c.dstArray = foreign_handle<CUarray>(); });
  REQUIRE(cuStreamSynchronize(nullptr));
  std::vector<uint32_t> words = array.words();
  expect_true("the array is as it was",
              words.front() == 1000 && words.back() == 1000 + words.size() - 1);
  // Boxes need not end at a texel's edge.
  auto taken = [&](const std::string& label, auto change) {
    Copy copy = good;
    change(copy);
    expect_code(label, call(&copy), CUDA_SUCCESS);
    REQUIRE(cuStreamSynchronize(nullptr));
    words = after_box(words, memory.words(), copy);
    expect_true(label + ": its bytes", array.words() == words);
  };
  taken("half a texel", [](Copy& c) { c.WidthInBytes = 18; });
  taken("from half a texel", [](Copy& c) { c.dstXInBytes = 2; });
  refused("an array that was destroyed", [](Copy& c) {
    auto gone = std::make_unique<Texels>(CU_AD_FORMAT_UNSIGNED_INT32, 1, 8, 4);
    c.dstArray = *gone;
  });
}

/// A good copy between 1 KiB of null memory: for calls that must fail before they look.
template <typename Copy>
Copy small_copy() {
  Copy copy{};
  copy.srcMemoryType = copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.srcDevice = copy.dstDevice = 4096;
  copy.WidthInBytes = copy.Height = 1;
  if constexpr (is_deep<Copy>) copy.Depth = 1;
  return copy;
}

/// A pitch of zero means rows without gaps.
template <typename Copy, typename Call>
void copy_packed_rows(Call copy_now) {
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

/// Boxes beyond what is copied at once, at odd places.
template <typename Copy, typename Call>
void copy_large_odd_boxes(Call copy_now) {
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

/// Layered, cubemap, 1D and mipmapped arrays, there and back.
template <typename Copy, typename Call>
void copy_layers_and_levels(Call copy_now) {
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

}  // namespace limen::conform
