// Relocations of x86-64 objects as LLVM emits them for the small code model, with and without PIC.
// Thread-local, dynamic and copy relocations have no meaning here and are errors that name
// themselves, as are results that do not fit their field.
// Invariant: a field is written only if it lies inside its section; see object.h for the rest.
// source: System V ABI, AMD64 supplement 1.0, table 4.9.
#include <cstring>
#include <iterator>

#include "compiler/image/helpers.h"
#include "compiler/image/object.h"

namespace limen::image {
namespace {

constexpr uint32_t rel_gotpcrelx = 41,
                   rel_rex_gotpcrelx = 42;  // newer than Debian 12's oldest elf.h
constexpr std::string_view got_symbol = "_GLOBAL_OFFSET_TABLE_";

/// What a relocation computes: (symbol or its slot or the table) + addend - (nothing, place,
/// table).
enum class Base : uint8_t { symbol, slot, slot_offset, table };
enum class Minus : uint8_t { nothing, place, table };
enum class Field : uint8_t { bits64, signed32, unsigned32 };

struct Rule {
  uint32_t type;
  const char* name;
  Base base;
  Minus minus;
  Field field;
};

constexpr Rule rules[] = {
    {R_X86_64_64, "R_X86_64_64", Base::symbol, Minus::nothing, Field::bits64},
    {R_X86_64_PC32, "R_X86_64_PC32", Base::symbol, Minus::place, Field::signed32},
    {R_X86_64_GOT32, "R_X86_64_GOT32", Base::slot_offset, Minus::nothing, Field::signed32},
    {R_X86_64_PLT32, "R_X86_64_PLT32", Base::symbol, Minus::place, Field::signed32},
    {R_X86_64_GOTPCREL, "R_X86_64_GOTPCREL", Base::slot, Minus::place, Field::signed32},
    {R_X86_64_32, "R_X86_64_32", Base::symbol, Minus::nothing, Field::unsigned32},
    {R_X86_64_32S, "R_X86_64_32S", Base::symbol, Minus::nothing, Field::signed32},
    {R_X86_64_PC64, "R_X86_64_PC64", Base::symbol, Minus::place, Field::bits64},
    {R_X86_64_GOTOFF64, "R_X86_64_GOTOFF64", Base::symbol, Minus::table, Field::bits64},
    {R_X86_64_GOTPC32, "R_X86_64_GOTPC32", Base::table, Minus::place, Field::signed32},
    {R_X86_64_GOT64, "R_X86_64_GOT64", Base::slot_offset, Minus::nothing, Field::bits64},
    {R_X86_64_GOTPCREL64, "R_X86_64_GOTPCREL64", Base::slot, Minus::place, Field::bits64},
    {R_X86_64_GOTPC64, "R_X86_64_GOTPC64", Base::table, Minus::place, Field::bits64},
    {R_X86_64_PLTOFF64, "R_X86_64_PLTOFF64", Base::symbol, Minus::table, Field::bits64},
    {rel_gotpcrelx, "R_X86_64_GOTPCRELX", Base::slot, Minus::place, Field::signed32},
    {rel_rex_gotpcrelx, "R_X86_64_REX_GOTPCRELX", Base::slot, Minus::place, Field::signed32},
};

const Rule* find_rule(uint32_t type) {
  for (const Rule& rule : rules)
    if (rule.type == type) return &rule;
  return nullptr;
}

bool needs_slot(const Rule& rule) {
  return rule.base == Base::slot || rule.base == Base::slot_offset;
}

/// Calls visit(target section, relocation, rule) for each relocation of a loaded section.
template <typename Visit>
Result<void> for_each_relocation(const Object& object, Visit visit) {
  for (const Section& table : object.sections) {
    const Elf64_Shdr& h = table.header;
    if (h.sh_type != SHT_RELA && h.sh_type != SHT_REL) continue;
    if (h.sh_info >= object.sections.size())
      return object.bad("{} belongs to section {} of {}", table.name, h.sh_info,
                        object.sections.size());
    const Section& target = object.sections[h.sh_info];
    if (target.place == Place::none) continue;  // debug information and .eh_frame
    if (h.sh_type == SHT_REL || h.sh_entsize != sizeof(Elf64_Rela))
      return object.bad("{} has type {} and entries of {} bytes, expected {} and {}", table.name,
                        h.sh_type, h.sh_entsize, SHT_RELA, sizeof(Elf64_Rela));
    if (target.header.sh_type == SHT_NOBITS)
      return object.bad("{} relocates {}, which has no contents", table.name, target.name);
    for (uint64_t i = 0; i < h.sh_size / sizeof(Elf64_Rela); ++i) {
      Elf64_Rela rela;
      std::memcpy(&rela, object.file + h.sh_offset + i * sizeof rela, sizeof rela);
      uint32_t type = ELF64_R_TYPE(rela.r_info);
      if (type == R_X86_64_NONE) continue;
      const Rule* rule = find_rule(type);
      if (rule == nullptr)
        return object.bad("relocation type {} at {}+{:#x} is not supported", type, target.name,
                          rela.r_offset);
      uint64_t width = rule->field == Field::bits64 ? 8 : 4;
      if (rela.r_offset > target.header.sh_size || width > target.header.sh_size - rela.r_offset)
        return object.bad("{} at {}+{:#x} lies outside the section's {} bytes", rule->name,
                          target.name, rela.r_offset, target.header.sh_size);
      if (ELF64_R_SYM(rela.r_info) >= object.symbols.size())
        return object.bad("{} at {}+{:#x} names symbol {} of {}", rule->name, target.name,
                          rela.r_offset, ELF64_R_SYM(rela.r_info), object.symbols.size());
      LIMEN_CHECK(visit(target, rela, *rule));
    }
  }
  return {};
}

std::string symbol_name(const Object& object, uint32_t index) {
  const Symbol& symbol = object.symbols[index];
  if (!symbol.name.empty()) return std::string(symbol.name);
  if (symbol.raw.st_shndx < object.sections.size())
    return std::string(object.sections[symbol.raw.st_shndx].name);
  return fmt::format("#{}", index);
}

Result<void> write_field(Object& object, const Section& target, const Elf64_Rela& rela,
                         const Rule& rule, uint64_t value) {
  uint8_t* to = object.block.data() + target.offset + rela.r_offset;
  if (rule.field == Field::bits64) {
    std::memcpy(to, &value, sizeof value);
    return {};
  }
  bool fits =
      rule.field == Field::unsigned32
          ? value <= UINT32_MAX
          : static_cast<int64_t>(value) == static_cast<int32_t>(static_cast<uint32_t>(value));
  if (!fits) {
    Error error =
        object.bad("{} at {}+{:#x} against {}: {:#x} does not fit 32 bits", rule.name, target.name,
                   rela.r_offset, symbol_name(object, ELF64_R_SYM(rela.r_info)), value);
    error.remedy = "compile position-independent code (-fPIC)";
    return error;
  }
  uint32_t low = static_cast<uint32_t>(value);
  std::memcpy(to, &low, sizeof low);
  return {};
}

}  // namespace

Result<uint64_t> symbol_address(const Object& object, uint32_t index) {
  const Symbol& symbol = object.symbols[index];
  const Elf64_Sym& raw = symbol.raw;
  uint8_t type = ELF64_ST_TYPE(raw.st_info);
  if (index == 0) return uint64_t{0};
  if (type == STT_TLS || type == STT_GNU_IFUNC)
    return object.bad("symbol {} has type {}, which cannot be loaded", symbol.name, type);
  if (raw.st_shndx == SHN_UNDEF) {
    if (symbol.name == got_symbol) return object.address(object.got_begin);
    auto helper = object.helpers.find(symbol.name);
    if (helper != object.helpers.end()) return object.address(helper->second);
    return object.bad("external symbol {} is not one of {}", symbol_name(object, index),
                      helper_names());
  }
  if (raw.st_shndx == SHN_ABS) return uint64_t{raw.st_value};
  if (raw.st_shndx >= object.sections.size())
    return object.bad("symbol {} lies in section {:#x} of {}", symbol_name(object, index),
                      raw.st_shndx, object.sections.size());
  const Section& section = object.sections[raw.st_shndx];
  if (section.place == Place::none)
    return object.bad("symbol {} lies in section {}, which is not loaded",
                      symbol_name(object, index), section.name);
  if (raw.st_value > section.header.sh_size)
    return object.bad("symbol {} lies at {:#x} of {}, which has {} bytes",
                      symbol_name(object, index), raw.st_value, section.name,
                      section.header.sh_size);
  return object.address(section.offset + raw.st_value);
}

Result<void> scan_relocations(Object& object) {
  return for_each_relocation(
      object, [&](const Section&, const Elf64_Rela& rela, const Rule& rule) -> Result<void> {
        uint32_t index = ELF64_R_SYM(rela.r_info);
        const Symbol& symbol = object.symbols[index];
        if (index != 0 && symbol.raw.st_shndx == SHN_UNDEF && find_helper(symbol.name) != nullptr)
          object.helpers.emplace(symbol.name, 0);
        if (needs_slot(rule)) object.got.emplace(index, 0);
        return {};
      });
}

Result<void> apply_relocations(Object& object) {
  for (const auto& [symbol, offset] : object.got) {
    LIMEN_TRY(uint64_t address, symbol_address(object, symbol));
    std::memcpy(object.block.data() + offset, &address, sizeof address);
  }
  return for_each_relocation(
      object, [&](const Section& target, const Elf64_Rela& rela, const Rule& rule) -> Result<void> {
        uint32_t index = ELF64_R_SYM(rela.r_info);
        uint64_t value = object.address(object.got_begin);
        if (rule.base == Base::symbol) {
          LIMEN_TRY(value, symbol_address(object, index));
        } else if (rule.base == Base::slot) {
          value = object.address(object.got.at(index));
        } else if (rule.base == Base::slot_offset) {
          value = object.got.at(index) - object.got_begin;
        }
        value += static_cast<uint64_t>(rela.r_addend);
        if (rule.minus == Minus::place) value -= object.address(target.offset + rela.r_offset);
        if (rule.minus == Minus::table) value -= object.address(object.got_begin);
        return write_field(object, target, rela, rule, value);
      });
}

}  // namespace limen::image
