// Applies the relocations of an object, by the machine's table (relocation.h). Thread-local, dynamic
// and copy relocations have no meaning here and are errors that name themselves, as are results that
// do not fit their field.
// Invariant: a field is written only if it lies inside its section; see object.h for the rest.
#include <cstring>

#include "compiler/image/helpers.h"
#include "compiler/image/object.h"
#include "compiler/image/relocation.h"

namespace limen::image {
namespace {

constexpr std::string_view got_symbol = "_GLOBAL_OFFSET_TABLE_";

const Rule* find_rule(uint32_t type) {
  for (const Rule& rule : relocation_rules())
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
      if (type == relocation_none) continue;
      const Rule* rule = find_rule(type);
      if (rule == nullptr)
        return object.bad("relocation type {} at {}+{:#x} is not supported", type, target.name,
                          rela.r_offset);
      const uint64_t width = rule->field.bytes;
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

/// Does `value` pass through the field whole?
bool fits(const Field& field, uint64_t value) {
  const unsigned bits = field.skip + field.bits;
  if ((value & ((uint64_t{1} << field.skip) - 1)) != 0) return false;
  if (field.range == Field::Range::cut || bits >= 64) return true;
  if (field.range == Field::Range::is_unsigned) return value >> bits == 0;
  const auto above = static_cast<int64_t>(value) >> (bits - 1);
  return above == 0 || above == -1;
}

uint64_t put(const Field& field, uint64_t word, uint64_t value) {
  if (field.bits == 64) return value;
  const uint64_t bits = value >> field.skip & ((uint64_t{1} << field.bits) - 1);
  if (!field.split) {
    const uint64_t mask = ((uint64_t{1} << field.bits) - 1) << field.at;
    return (word & ~mask) | bits << field.at;
  }
  constexpr uint64_t low = 3, high = 0x7ffff;
  return (word & ~(low << 29 | high << 5)) | (bits & low) << 29 | (bits >> 2 & high) << 5;
}

Result<void> write_field(Object& object, const Section& target, const Elf64_Rela& rela,
                         const Rule& rule, uint64_t value) {
  const Field& field = rule.field;
  uint8_t* to = object.block.data() + target.offset + rela.r_offset;
  if (!fits(field, value)) {
    Error error = object.bad("{} at {}+{:#x} against {}: {:#x} does not fit {} bits", rule.name,
                             target.name, rela.r_offset,
                             symbol_name(object, ELF64_R_SYM(rela.r_info)), value,
                             field.skip + field.bits);
    error.remedy = "compile position-independent code (-fPIC)";
    return error;
  }
  uint64_t word = 0;
  std::memcpy(&word, to, field.bytes);
  word = put(field, word, value);
  std::memcpy(to, &word, field.bytes);  // both machines are little-endian
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
        const uint64_t place = object.address(target.offset + rela.r_offset);
        constexpr uint64_t page = ~uint64_t{4095};
        if (rule.minus == Minus::place) value -= place;
        if (rule.minus == Minus::place_page) value = (value & page) - (place & page);
        if (rule.minus == Minus::table) value -= object.address(object.got_begin);
        return write_field(object, target, rela, rule, value);
      });
}

}  // namespace limen::image
