// Finds the fat binaries inside an executable, shared or relocatable file, for tools. Section
// .nv_fatbin holds what the program registers, __nv_relfatbin the relocatable parts of -rdc builds.
// A file whose section table was stripped is searched for the header's magic instead.
// Invariant: all offsets of the (untrusted) file are checked before use. Threads: no state.
#include <elf.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "compiler/fatbin/fatbin.h"
#include "compiler/fatbin/parse.h"

namespace limen::fatbin {
namespace {

using Bytes = std::vector<uint8_t>;
constexpr size_t fatbin_alignment = 8;

template <typename T>
bool read_at(const Bytes& bytes, uint64_t at, T& value) {
  if (at > bytes.size() || sizeof value > bytes.size() - at) return false;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return true;
}

Result<Elf64_Ehdr> read_header(const Bytes& file) {
  Elf64_Ehdr header{};
  if (!read_at(file, 0, header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
    return bad_image("file of {} bytes is no elf file", file.size());
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB)
    return bad_image("elf file has class {} and byte order {}, expected 2 and 1",
                     header.e_ident[EI_CLASS], header.e_ident[EI_DATA]);
  return header;
}

/// Parses the fat binary at `at` of `bytes` and appends it; gives the offset behind it.
Result<uint64_t> add_fatbin(const std::shared_ptr<const Bytes>& bytes, uint64_t at,
                            uint64_t file_offset, const std::string& section,
                            std::vector<Found>& found) {
  ImageParser parser(owned_memory(bytes));
  auto image = parser.parse(at, bytes->size() - at);
  if (!image) {
    Error error = image.error();
    error.what =
        fmt::format("section {} at file offset {:#x}: {}", section, file_offset, error.what);
    return error;
  }
  found.push_back({section, file_offset, std::move(*image)});
  return at + parser.fatbin_bytes();
}

Result<void> scan_section(const std::shared_ptr<const Bytes>& section, uint64_t file_offset,
                          const std::string& name, std::vector<Found>& found) {
  for (uint64_t at = 0; at < section->size();) {
    uint32_t magic = 0;
    if (!read_at(*section, at, magic) || magic == 0) {
      at += fatbin_alignment;  // the linker's padding between objects
      continue;
    }
    if (magic != fatbin_magic)
      return bad_image("section {} holds {:#x} at file offset {:#x}, expected a fat binary ({:#x})",
                       name, magic, file_offset + at, fatbin_magic);
    LIMEN_TRY(uint64_t next, add_fatbin(section, at, file_offset + at, name, found));
    at = (next + fatbin_alignment - 1) & ~uint64_t{fatbin_alignment - 1};
  }
  return {};
}

/// For files without section headers: every aligned place that parses as a fat binary.
void search_magic(const std::shared_ptr<const Bytes>& file, std::vector<Found>& found) {
  for (uint64_t at = 0; at + 16 <= file->size();) {
    uint32_t magic = 0;
    read_at(*file, at, magic);
    if (magic == fatbin_magic) {
      if (auto next = add_fatbin(file, at, at, "(no section)", found); next.ok()) {
        at = (*next + fatbin_alignment - 1) & ~uint64_t{fatbin_alignment - 1};
        continue;
      }
    }
    at += fatbin_alignment;
  }
}

}  // namespace

Result<std::vector<Found>> scan_elf_bytes(const Bytes& file) {
  LIMEN_TRY(Elf64_Ehdr header, read_header(file));
  std::vector<Found> found;
  if (header.e_shoff == 0 || header.e_shnum == 0) {
    search_magic(std::make_shared<const Bytes>(file), found);
    return found;
  }
  if (header.e_shentsize != sizeof(Elf64_Shdr))
    return bad_image("elf section headers have {} bytes, expected {}", header.e_shentsize,
                     sizeof(Elf64_Shdr));
  Elf64_Shdr names{};
  if (header.e_shoff > file.size() ||
      !read_at(file, header.e_shoff + uint64_t{header.e_shstrndx} * sizeof names, names))
    return bad_image("elf section header {} (names) lies outside the file of {} bytes",
                     header.e_shstrndx, file.size());
  for (uint64_t i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr section{};
    if (!read_at(file, header.e_shoff + i * sizeof section, section))
      return bad_image("elf section header {} lies outside the file of {} bytes", i, file.size());
    if (section.sh_type == SHT_NOBITS || names.sh_offset > file.size()) continue;
    uint64_t at = names.sh_offset + section.sh_name;
    std::string name;
    for (; at < file.size() && file[at] && name.size() < 64; ++at)
      name += static_cast<char>(file[at]);
    if (name != ".nv_fatbin" && name != "__nv_relfatbin") continue;
    if (section.sh_offset > file.size() || section.sh_size > file.size() - section.sh_offset)
      return bad_image("section {} has {} bytes at {:#x}, outside the file of {} bytes", name,
                       section.sh_size, section.sh_offset, file.size());
    auto begin = file.begin() + static_cast<ptrdiff_t>(section.sh_offset);
    auto bytes =
        std::make_shared<const Bytes>(begin, begin + static_cast<ptrdiff_t>(section.sh_size));
    LIMEN_CHECK(scan_section(bytes, section.sh_offset, name, found));
  }
  return found;
}

Result<std::vector<Found>> scan_elf_file(const std::string& path) {
  std::error_code failed;
  if (std::filesystem::exists(path, failed) && !std::filesystem::is_regular_file(path, failed))
    return bad_image("{} is no regular file", path);
  std::ifstream in(path, std::ios::binary | std::ios::ate);
  if (!in) return Error{Code::file_not_found, fmt::format("file {} cannot be opened", path), {}};
  std::streamoff size = in.tellg();
  if (size < 0) return bad_image("the size of {} cannot be read", path);
  Bytes file(static_cast<size_t>(size));
  in.seekg(0);
  if (!in.read(reinterpret_cast<char*>(file.data()), size))
    return bad_image("{} gives {} of its {} bytes", path, in.gcount(), size);
  return scan_elf_bytes(file);
}

}  // namespace limen::fatbin
