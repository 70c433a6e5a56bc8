// tensormap.replace: one field of a tiled tensor map, written by a kernel. NVIDIA's maps are bytes
// without a check, so a kernel may begin with 128 zeros and set field after field, in any order; what
// it made is looked at when it is used, by the encoder's rules. Dimensions, boxes and strides are
// given as the encoder takes them, the rank less one. source: PTX ISA 9.0
// #data-movement-and-conversion-instructions-tensormap-replace
#include <algorithm>
#include <cstring>
#include <iterator>

#include "engine/tensor_copy.h"

namespace limen::engine {
namespace {

using kernel::Fault;
using kernel::TensorField;

/// By the codes of `.elemtype`, which are not CUtensorMapDataType's.
constexpr TensorType types[] = {
    TensorType::u8,   TensorType::u16,      TensorType::u32,       TensorType::s32,
    TensorType::u64,  TensorType::s64,      TensorType::f16,       TensorType::f32,
    TensorType::f32_ftz, TensorType::f64,   TensorType::bf16,      TensorType::tf32,
    TensorType::tf32_ftz, TensorType::u4_packed, TensorType::u4_padded, TensorType::u6_padded};

/// By the codes of `.swizzle_atomicity`: 16 bytes, 32, 32 with flips of 8, 64.
constexpr TensorSwizzle wide_swizzles[] = {
    TensorSwizzle::span128, TensorSwizzle::span128_atom32, TensorSwizzle::span128_atom32_flip8,
    TensorSwizzle::span128_atom64};

uint8_t atomicity_of(TensorSwizzle swizzle) {
  const auto* found = std::find(std::begin(wide_swizzles), std::end(wide_swizzles), swizzle);
  return found == std::end(wide_swizzles) ? 0 : static_cast<uint8_t>(found - wide_swizzles);
}

/// `.swizzle_mode` counts as TensorSwizzle does, without its atoms.
void set_swizzle(TensorMap& map, uint64_t mode, uint64_t atomicity) {
  map.atomicity = static_cast<uint8_t>(atomicity);
  map.swizzle = static_cast<TensorSwizzle>(mode);
  if (map.swizzle == TensorSwizzle::span128) map.swizzle = wide_swizzles[atomicity];
}

uint64_t mode_of(const TensorMap& map) {
  return static_cast<uint64_t>(std::min(map.swizzle, TensorSwizzle::span128));
}

/// The verifier has seen to the codes that are constants; false: no such value.
bool set_field(TensorMap& map, TensorField field, uint32_t dimension, uint64_t value) {
  switch (field) {
    case TensorField::global_address:
      map.address = value;
      return true;
    case TensorField::rank:
      map.rank = static_cast<uint8_t>(value + 1);
      return value < tensor_most_rank;
    case TensorField::box_dim:
      map.box[dimension] = static_cast<uint16_t>(value);
      return value <= UINT16_MAX;
    case TensorField::global_dim:
      map.last[dimension] = static_cast<uint32_t>(value - 1);
      return value != 0;
    case TensorField::global_stride:
      if (dimension < std::size(map.stride)) map.stride[dimension] = value;
      return dimension < std::size(map.stride);
    case TensorField::element_stride:
      map.step[dimension] = static_cast<uint8_t>(value);
      return value >= 1 && value <= 8;
    case TensorField::elemtype:
      map.type = types[value];
      return true;
    case TensorField::interleave_layout:
      map.interleave = static_cast<TensorInterleave>(value);
      return true;
    case TensorField::swizzle_mode:
      set_swizzle(map, value, map.atomicity);
      return true;
    case TensorField::swizzle_atomicity:
      set_swizzle(map, mode_of(map), value);
      return true;
    case TensorField::fill_mode:
      map.nan_fill = static_cast<uint8_t>(value);
      return true;
  }
  return false;
}

}  // namespace

TensorResult replace_field(kernel::TensorReplacement op, uint64_t at, uint64_t value) {
  if (at % 16 != 0)
    return {0, "the address of a tensor map is not aligned", Fault::misaligned_address, at};
  TensorMap map;
  std::memcpy(&map, reinterpret_cast<const void*>(at), sizeof map);
  constexpr uint8_t zeros[sizeof map] = {};
  const bool is_new = std::memcmp(&map, zeros, sizeof map) == 0;
  if (!is_new && !is_tensor_map(map))
    return {0, "tensormap.replace found neither a tensor map nor 128 zeros",
            Fault::illegal_instruction, at};
  if (map.kind != TensorKind::tiled)
    return {0, "tensormap.replace.tile in an im2col tensor map", Fault::illegal_instruction, at};
  if (is_new) map.rank = 1;  // the code that stands for it is zero
  if (!map.replaced) map.atomicity = atomicity_of(map.swizzle);
  map.replaced = 1;
  if (!set_field(map, op.field, op.dimension, value))
    return {0, "tensormap.replace of a value that no tensor map can have",
            Fault::illegal_instruction, at};
  seal(&map);
  std::memcpy(reinterpret_cast<void*>(at), &map, sizeof map);
  return {};
}

const char* check_replaced(const TensorMap& map) {
  constexpr uint32_t most_box = 256;
  constexpr uint64_t stride_end = uint64_t{1} << 40;
  const bool interleaved = map.interleave != TensorInterleave::none;
  if (interleaved && map.rank < 3) return "a replaced tensor map: interleave needs three dimensions";
  if (map.atomicity != atomicity_of(map.swizzle))
    return "a replaced tensor map: its atomicity is for swizzles of 128 bytes";
  if (map.nan_fill && !is_real(map.type))
    return "a replaced tensor map: only real numbers can be filled with NaNs";
  if (map.address % alignment_of(map) != 0)
    return "a replaced tensor map: the tensor's address is not aligned";
  for (uint32_t d = 0; d < map.rank; ++d) {
    if (map.box[d] == 0 || map.box[d] > most_box)
      return "a replaced tensor map: a box has 1 to 256 elements along each dimension";
    if (map.step[d] == 0 && (d != 0 || interleaved))
      return "a replaced tensor map: a traversal stride was not set";
    if (d != 0 && (map.stride[d - 1] % alignment_of(map) != 0 || map.stride[d - 1] >= stride_end))
      return "a replaced tensor map: a stride is not aligned, or not below 2^40";
  }
  if (!fits_row(map, map.box[0]))
    return "a replaced tensor map: a row of the box is no multiple of 16 bytes, or wider than the "
           "swizzle";
  if (is_padded(map.type) && map.size(0) % 128 != 0)
    return "a replaced tensor map: padded rows are multiples of 128 elements";
  return nullptr;
}

}  // namespace limen::engine
