// tensormap.replace between generated code and the engine. It goes through Runtime::tensor, which takes
// a 64-bit word: a kernel::TensorOp, or this, told apart by the first byte. A contract between rooms,
// as kernel_abi.h is, apart from it since few files need it.
#pragma once
#include <cstdint>

namespace limen::kernel {

/// What tensormap.replace replaces.
enum class TensorField : uint8_t {
  global_address,
  rank,
  box_dim,
  global_dim,
  global_stride,
  element_stride,
  elemtype,
  interleave_layout,
  swizzle_mode,
  swizzle_atomicity,
  fill_mode,
};

inline constexpr uint8_t tensor_replacement_mark = 0x80;  ///< no TensorDirection

/// The value stands in the call's first two words, the map's address in the place of the map's.
struct TensorReplacement {
  uint8_t mark = tensor_replacement_mark;
  TensorField field{};
  uint8_t dimension = 0;
  uint8_t unused = 0;
  uint32_t line = 0;  ///< of the PTX text
};
static_assert(sizeof(TensorReplacement) == 8);

}  // namespace limen::kernel
