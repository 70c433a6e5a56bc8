// tensormap.replace on the bytes of a map: what may be replaced, what the fields become, and what is
// told when such a map is used.
#include <gtest/gtest.h>

#include <string>

#include "engine/tensor_copy.h"

namespace limen::engine {
namespace {

using kernel::TensorField;

struct alignas(16) Bytes {
  TensorMap map;

  std::string replace(TensorField field, uint64_t value, uint8_t dimension = 0) {
    kernel::TensorReplacement op;
    op.field = field;
    op.dimension = dimension;
    const TensorResult result = replace_field(op, reinterpret_cast<uint64_t>(&map), value);
    return result.what ? result.what : "";
  }
};

/// 16 by 4 words of a tensor of 40 by 24, made from zeros.
Bytes made() {
  Bytes b{};
  EXPECT_EQ(b.replace(TensorField::elemtype, 2), "");
  EXPECT_EQ(b.replace(TensorField::global_address, 0x1000), "");
  EXPECT_EQ(b.replace(TensorField::rank, 1), "");
  for (uint8_t d = 0; d < 2; ++d) {
    EXPECT_EQ(b.replace(TensorField::box_dim, d ? 4 : 16, d), "");
    EXPECT_EQ(b.replace(TensorField::global_dim, d ? 24 : 40, d), "");
    EXPECT_EQ(b.replace(TensorField::element_stride, 1, d), "");
  }
  EXPECT_EQ(b.replace(TensorField::global_stride, 192), "");
  return b;
}

std::string told(const Bytes& b) {
  const char* what = check_replaced(b.map);
  return what ? what : "";
}

TEST(TensorReplace, ZerosBecomeAMapFieldByField) {
  const Bytes b = made();
  EXPECT_TRUE(is_tensor_map(b.map));
  EXPECT_EQ(told(b), "");
  EXPECT_EQ(b.map.type, TensorType::u32);
  EXPECT_EQ(b.map.rank, 2);
  EXPECT_EQ(b.map.size(0), 40);
  EXPECT_EQ(b.map.size(1), 24);
  EXPECT_EQ(b.map.stride[0], 192u);
  EXPECT_EQ(b.map.address, 0x1000u);
}

// Codes of PTX, which are not CUtensorMapDataType's from 8 on.
TEST(TensorReplace, ElementTypesHaveTheirOwnCodes) {
  Bytes b = made();
  const std::pair<int, TensorType> codes[] = {
      {7, TensorType::f32},   {8, TensorType::f32_ftz},    {9, TensorType::f64}, {10, TensorType::bf16},
      {11, TensorType::tf32}, {12, TensorType::tf32_ftz}, {15, TensorType::u6_padded}};
  for (const auto& [code, type] : codes) {
    EXPECT_EQ(b.replace(TensorField::elemtype, static_cast<uint64_t>(code)), "");
    EXPECT_EQ(b.map.type, type) << code;
  }
}

TEST(TensorReplace, AtomicityAndSwizzleComeInEitherOrder) {
  for (bool swizzle_first : {true, false}) {
    Bytes b = made();
    if (swizzle_first) b.replace(TensorField::swizzle_mode, 3);
    b.replace(TensorField::swizzle_atomicity, 2);
    if (!swizzle_first) b.replace(TensorField::swizzle_mode, 3);
    EXPECT_EQ(b.map.swizzle, TensorSwizzle::span128_atom32_flip8);
    EXPECT_EQ(told(b), "");
    b.replace(TensorField::swizzle_mode, 2);
    EXPECT_NE(told(b).find("atomicity"), std::string::npos);
    b.replace(TensorField::swizzle_atomicity, 0);
    EXPECT_EQ(b.map.swizzle, TensorSwizzle::span64);
    EXPECT_EQ(told(b), "");
  }
  Bytes encoded = made();
  encoded.map.replaced = 0;
  encoded.map.swizzle = TensorSwizzle::span128_atom64;
  encoded.map.atomicity = 0;  // the encoder leaves it
  seal(&encoded.map);
  EXPECT_EQ(encoded.replace(TensorField::fill_mode, 0), "");
  EXPECT_EQ(encoded.map.swizzle, TensorSwizzle::span128_atom64);
  EXPECT_EQ(told(encoded), "");
}

TEST(TensorReplace, WhatIsNoMapOrNoValueIsRefused) {
  Bytes garbage = made();
  garbage.map.box[0] ^= 1;
  EXPECT_NE(garbage.replace(TensorField::rank, 1).find("neither"), std::string::npos);
  Bytes im2col = made();
  im2col.map.kind = TensorKind::im2col;
  seal(&im2col.map);
  EXPECT_NE(im2col.replace(TensorField::rank, 1).find("im2col"), std::string::npos);
  const Bytes before = made();
  Bytes b = before;
  const auto refused = [&](TensorField field, uint64_t value, uint8_t dimension = 0) {
    EXPECT_NE(b.replace(field, value, dimension).find("no tensor map can have"), std::string::npos);
    EXPECT_EQ(std::memcmp(&b, &before, sizeof b), 0);
  };
  refused(TensorField::rank, 5);
  refused(TensorField::rank, 0xffffffff);
  refused(TensorField::element_stride, 0);
  refused(TensorField::element_stride, 9);
  refused(TensorField::global_stride, 64, 4);
  refused(TensorField::box_dim, 0x10000);
  refused(TensorField::global_dim, 0);
}

TEST(TensorReplace, UseTellsWhatTheEncoderWouldNotTake) {
  const auto after = [](TensorField field, uint64_t value, uint8_t dimension = 0) {
    Bytes b = made();
    EXPECT_EQ(b.replace(field, value, dimension), "");
    return told(b);
  };
  const auto says = [](const std::string& text, const char* part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  says(after(TensorField::box_dim, 0, 1), "1 to 256");
  says(after(TensorField::box_dim, 257, 1), "1 to 256");
  says(after(TensorField::box_dim, 3), "16 bytes");
  says(after(TensorField::global_stride, 8), "stride is not aligned");
  says(after(TensorField::global_stride, uint64_t{1} << 40), "below 2^40");
  says(after(TensorField::global_address, 8), "address is not aligned");
  says(after(TensorField::rank, 2), "1 to 256");  // nothing was set for the third dimension
  says(after(TensorField::interleave_layout, 1), "three dimensions");
  says(after(TensorField::fill_mode, 1), "NaNs");
  says(after(TensorField::swizzle_mode, 1), "swizzle");
}

}  // namespace
}  // namespace limen::engine
