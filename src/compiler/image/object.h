// The parsed form of a relocatable object that object.cpp builds and relocate.cpp works on. Private
// to this room. Invariant: every offset and size in these structures has been checked against the
// file, so what uses them need not check again.
#pragma once
#include <elf.h>
#include <fmt/format.h>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "compiler/image/slab.h"

namespace limen::image {

/// Where a section goes; each place has its own page protection.
enum class Place : uint8_t { none, code, constant, data };

struct Section {
  Elf64_Shdr header{};
  std::string_view name;
  Place place = Place::none;
  uint64_t offset = 0;  ///< in the block, when placed
};

struct Symbol {
  Elf64_Sym raw{};
  std::string_view name;
};

/// One object while it is loaded.
struct Object {
  const uint8_t* file = nullptr;
  uint64_t file_bytes = 0;
  std::string kernel;  ///< for messages
  std::vector<Section> sections;
  std::vector<Symbol> symbols;
  std::map<std::string_view, uint64_t> helpers;  ///< used external function -> offset in the block
  std::map<uint32_t, uint64_t> got;  ///< symbol index -> offset of its slot in the block
  uint64_t got_begin = 0;            ///< offset in the block
  uint64_t code_end = 0, constant_begin = 0, constant_end = 0, data_begin = 0, block_bytes = 0;
  Block block;

  uint64_t address(uint64_t offset) const {
    return reinterpret_cast<uint64_t>(block.data()) + offset;
  }

  template <typename... Args>
  Error bad(fmt::format_string<Args...> text, Args&&... args) const {
    return Error{
        limen::Code::invalid_image,
        fmt::format("object of {}: {}", kernel, fmt::format(text, std::forward<Args>(args)...)),
        {}};
  }
};

/// Reads section and symbol tables; decides each section's place.
Result<void> parse_object(Object& object);
/// Finds the external functions and address slots that the relocations need.
Result<void> scan_relocations(Object& object);
/// Applies all relocations; sections have been copied into the block.
Result<void> apply_relocations(Object& object);
/// Address of a symbol in the block. errors: invalid_image, naming an unknown external symbol.
Result<uint64_t> symbol_address(const Object& object, uint32_t index);

}  // namespace limen::image
