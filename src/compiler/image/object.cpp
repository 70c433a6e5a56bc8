// load_object: an ELF relocatable object of this machine becomes runnable code. Parses the tables, lays the
// sections out in one block (code | constants | data, each on its own pages), copies, relocates and
// only then makes code executable: no page is ever writable and executable at once.
// Deliberately not done: .eh_frame is not registered. No exception passes through kernels, and each
// registration slows down every exception the host program throws (libgcc keeps a locked list).
// Debuggers get the table through debug.cpp.
// Invariant: the object may be damaged (it comes from a cache file); nothing in it is used
// unchecked.
#include "compiler/image/object.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>

#include "base/machine.h"
#include "compiler/image/debug.h"
#include "compiler/image/helpers.h"
#include "compiler/image/image.h"

namespace limen::image {
namespace {

constexpr std::string_view entry_symbol = "limen_kernel";
constexpr uint64_t max_section_bytes = uint64_t{1}
                                       << 28;  // far above any kernel; bounds damaged .bss
constexpr uint64_t helper_alignment = 16;

bool is_named(std::string_view name, std::string_view base) {
  return name == base || (name.size() > base.size() && name.substr(0, base.size()) == base &&
                          name[base.size()] == '.');
}

template <typename T>
T read_at(const Object& object, uint64_t at) {
  T value;
  std::memcpy(&value, object.file + at, sizeof value);
  return value;
}

bool inside(uint64_t at, uint64_t bytes, uint64_t whole) {
  return at <= whole && bytes <= whole - at;
}

/// A NUL-terminated name in a string table section; empty where it leaves the table.
std::string_view name_at(const Object& object, const Elf64_Shdr& table, uint64_t at) {
  if (at >= table.sh_size) return {};
  const char* begin = reinterpret_cast<const char*>(object.file) + table.sh_offset + at;
  size_t most = table.sh_size - at;
  return {begin, strnlen(begin, most)};
}

Result<Elf64_Ehdr> read_header(const Object& object) {
  Elf64_Ehdr header{};
  if (object.file_bytes < sizeof header)
    return object.bad("{} bytes, expected an elf header of {}", object.file_bytes, sizeof header);
  header = read_at<Elf64_Ehdr>(object, 0);
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
      header.e_ident[EI_DATA] != ELFDATA2LSB)
    return object.bad("no 64-bit little-endian elf file");
  if (header.e_type != ET_REL || header.e_machine != elf_machine)
    return object.bad("elf type {} for machine {}, expected {} and {} (relocatable, {})",
                      header.e_type, header.e_machine, ET_REL, elf_machine, machine_name);
  if (header.e_shentsize != sizeof(Elf64_Shdr) || header.e_shnum == 0 ||
      !inside(header.e_shoff, uint64_t{header.e_shnum} * sizeof(Elf64_Shdr), object.file_bytes))
    return object.bad("{} section headers of {} bytes at {:#x} do not fit {} bytes", header.e_shnum,
                      header.e_shentsize, header.e_shoff, object.file_bytes);
  return header;
}

/// Decides a section's place by name and flags, which must agree.
Result<Place> place_of(const Object& object, const Section& section) {
  const Elf64_Shdr& h = section.header;
  if (!(h.sh_flags & SHF_ALLOC)) return Place::none;
  std::string_view n = section.name;
  if (n == ".eh_frame" || is_named(n, ".note")) return Place::none;
  Place place = Place::none;
  if (is_named(n, ".text") || is_named(n, ".ltext"))
    place = Place::code;
  else if (is_named(n, ".rodata") || is_named(n, ".lrodata") || is_named(n, ".data.rel.ro"))
    place = Place::constant;
  else if (is_named(n, ".data") || is_named(n, ".ldata") || is_named(n, ".bss") ||
           is_named(n, ".lbss"))
    place = Place::data;
  bool executable = h.sh_flags & SHF_EXECINSTR;
  bool odd = h.sh_flags & (SHF_TLS | SHF_COMPRESSED) || executable != (place == Place::code) ||
             (executable && h.sh_flags & SHF_WRITE) ||
             (h.sh_type != SHT_PROGBITS && h.sh_type != SHT_NOBITS);
  if (place == Place::none || odd)
    return object.bad("section {} of type {:#x} with flags {:#x} cannot be loaded", n, h.sh_type,
                      h.sh_flags);
  uint64_t alignment = std::max<uint64_t>(h.sh_addralign, 1);
  if ((alignment & (alignment - 1)) != 0 || alignment > page_size())
    return object.bad("section {} is aligned to {} bytes, expected a power of two up to {}", n,
                      alignment, page_size());
  if (h.sh_size > max_section_bytes)
    return object.bad("section {} has {} bytes, expected at most {}", n, h.sh_size,
                      max_section_bytes);
  return place;
}

Result<void> parse_sections(Object& object, const Elf64_Ehdr& header) {
  for (uint64_t i = 0; i < header.e_shnum; ++i) {
    Section section;
    section.header = read_at<Elf64_Shdr>(object, header.e_shoff + i * sizeof(Elf64_Shdr));
    const Elf64_Shdr& h = section.header;
    if (h.sh_type != SHT_NOBITS && h.sh_type != SHT_NULL &&
        !inside(h.sh_offset, h.sh_size, object.file_bytes))
      return object.bad("section {} has {} bytes at {:#x}, outside {} bytes", i, h.sh_size,
                        h.sh_offset, object.file_bytes);
    object.sections.push_back(section);
  }
  if (header.e_shstrndx >= object.sections.size() ||
      object.sections[header.e_shstrndx].header.sh_type != SHT_STRTAB)
    return object.bad("section {} holds no section names", header.e_shstrndx);
  const Elf64_Shdr names = object.sections[header.e_shstrndx].header;
  for (Section& section : object.sections) {
    if (section.header.sh_type == SHT_NULL) continue;
    section.name = name_at(object, names, section.header.sh_name);
    LIMEN_TRY(section.place, place_of(object, section));
  }
  return {};
}

Result<void> parse_symbols(Object& object) {
  const Section* table = nullptr;
  for (const Section& section : object.sections) {
    if (section.header.sh_type != SHT_SYMTAB) continue;
    if (table != nullptr) return object.bad("two symbol tables");
    table = &section;
  }
  if (table == nullptr) return object.bad("no symbol table");
  const Elf64_Shdr& h = table->header;
  if (h.sh_link >= object.sections.size() || h.sh_entsize != sizeof(Elf64_Sym) ||
      object.sections[h.sh_link].header.sh_type != SHT_STRTAB)
    return object.bad("symbol table with entries of {} bytes and names in section {}", h.sh_entsize,
                      h.sh_link);
  const Elf64_Shdr& names = object.sections[h.sh_link].header;
  for (uint64_t i = 0; i < h.sh_size / sizeof(Elf64_Sym); ++i) {
    Symbol symbol;
    symbol.raw = read_at<Elf64_Sym>(object, h.sh_offset + i * sizeof(Elf64_Sym));
    symbol.name = name_at(object, names, symbol.raw.st_name);
    object.symbols.push_back(symbol);
  }
  return {};
}

uint64_t aligned(uint64_t at, uint64_t alignment) {
  return alignment <= 1 ? at : (at + alignment - 1) & ~(alignment - 1);
}

/// Gives every section, helper and slot its offset in the block. Sizes are bounded by parse_object,
/// and at most 65535 sections of 2^28 bytes cannot wrap 64 bits.
void lay_out(Object& object) {
  uint64_t at = 0;
  auto put = [&](Place place) {
    for (Section& section : object.sections) {
      if (section.place != place) continue;
      at = aligned(at, section.header.sh_addralign);
      section.offset = at;
      at += section.header.sh_size;
    }
  };
  put(Place::code);
  for (auto& [name, offset] : object.helpers) {
    at = aligned(at, helper_alignment);
    offset = at;
    at += find_helper(name)->bytes;
  }
  object.code_end = at;
  object.constant_begin = at = aligned(at, page_size());
  object.got_begin = at;
  for (auto& [symbol, offset] : object.got) {
    offset = at;
    at += sizeof(uint64_t);
  }
  put(Place::constant);
  object.constant_end = at;
  object.data_begin = at = aligned(at, page_size());
  put(Place::data);
  object.block_bytes = at;
}

void copy_in(Object& object) {
  for (const Section& section : object.sections)
    if (section.place != Place::none && section.header.sh_type != SHT_NOBITS &&
        section.header.sh_size)
      std::memcpy(object.block.data() + section.offset, object.file + section.header.sh_offset,
                  section.header.sh_size);
  for (const auto& [name, offset] : object.helpers) {
    const Helper* helper = find_helper(name);
    std::memcpy(object.block.data() + offset, helper->code, helper->bytes);
  }
}

/// Index of the entry function, checked to lie in a code section.
Result<uint32_t> find_entry(const Object& object) {
  for (uint32_t i = 1; i < object.symbols.size(); ++i) {  // symbol 0 means "none"
    const Symbol& symbol = object.symbols[i];
    if (symbol.name != entry_symbol || symbol.raw.st_shndx == SHN_UNDEF) continue;
    if (symbol.raw.st_shndx >= object.sections.size() ||
        object.sections[symbol.raw.st_shndx].place != Place::code ||
        symbol.raw.st_value >= object.sections[symbol.raw.st_shndx].header.sh_size)
      return object.bad("symbol {} does not lie in code", entry_symbol);
    return i;
  }
  return object.bad("no symbol {}", entry_symbol);
}

class LoadedCode final : public Code {
 public:
  LoadedCode(Block block, size_t code_bytes, uint64_t entry, DebugRegistration debug)
      : block_(std::move(block)),
        code_bytes_(code_bytes),
        entry_(entry),
        debug_(std::move(debug)) {}
  const void* entry() const override { return reinterpret_cast<const void*>(entry_); }
  const void* begin() const override { return block_.data(); }
  const void* end() const override { return block_.data() + code_bytes_; }

 private:
  Block block_;
  size_t code_bytes_;
  uint64_t entry_;
  DebugRegistration debug_;  // declared last: leaves the debugger's list before the pages go
};

}  // namespace

Result<void> parse_object(Object& object) {
  LIMEN_TRY(Elf64_Ehdr header, read_header(object));
  LIMEN_CHECK(parse_sections(object, header));
  return parse_symbols(object);
}

Result<std::shared_ptr<Code>> load_object(const std::vector<uint8_t>& bytes,
                                          const std::string& name) {
  Object object;
  object.file = bytes.data();
  object.file_bytes = bytes.size();
  object.kernel = name;
  LIMEN_CHECK(parse_object(object));
  LIMEN_TRY(uint32_t entry, find_entry(object));
  LIMEN_CHECK(scan_relocations(object));
  lay_out(object);
  LIMEN_TRY(object.block, take_block(object.block_bytes));
  copy_in(object);
  LIMEN_CHECK(apply_relocations(object));
  // Where instructions have a cache of their own, what was just written is not in it.
  auto* code = reinterpret_cast<char*>(object.block.data());
  __builtin___clear_cache(code, code + object.code_end);
  LIMEN_TRY(uint64_t entry_address, symbol_address(object, entry));
  LIMEN_CHECK(object.block.protect(0, object.constant_begin, PROT_READ | PROT_EXEC));
  LIMEN_CHECK(object.block.protect(object.constant_begin, object.data_begin - object.constant_begin,
                                   PROT_READ));
  DebugRegistration debug = register_debug(object);
  return std::shared_ptr<Code>(std::make_shared<LoadedCode>(
      std::move(object.block), object.code_end, entry_address, std::move(debug)));
}

}  // namespace limen::image
