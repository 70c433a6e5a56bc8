// What a machine's relocations compute and where they write it, as a table for each architecture
// (relocation_x86_64.cpp, relocation_aarch64.cpp). Private to this room; relocate.cpp applies them.
#pragma once
#include <cstdint>
#include <span>

namespace limen::image {

/// What a relocation computes: (symbol or its slot or the table) + addend - (nothing, place, table),
/// or of both sums the pages of 4096 bytes they lie in.
enum class Base : uint8_t { symbol, slot, slot_offset, table };
enum class Minus : uint8_t { nothing, place, table, place_page };

/// Where it goes.
struct Field {
  /// Values that do not fit are errors; `cut` keeps the lower bits of any.
  enum class Range : uint8_t { is_signed, is_unsigned, cut };
  uint8_t bytes;      ///< that are read and written
  uint8_t skip;       ///< lowest bits of the value that have to be 0 and are left out
  uint8_t bits;       ///< how many follow
  uint8_t at;         ///< where they begin
  Range range;
  bool split = false; ///< AArch64's adr: the lowest two bits at 29, the rest at 5
};

struct Rule {
  uint32_t type;
  const char* name;
  Base base;
  Minus minus;
  Field field;
};

/// Of the machine that Limen is built for.
std::span<const Rule> relocation_rules();
inline constexpr uint32_t relocation_none = 0;  // of both machines

}  // namespace limen::image
