// Recognises wrapper, fat binary, PTX text and cubin, and lists their entries without touching the
// payloads (a library's fat binary may be hundreds of megabytes that are never needed).
// It does not decompress (decompress.cpp) and does not choose (choose.cpp).
// Invariant: every size read is checked against what surrounds it before it is used; additions
// cannot wrap, because each operand is first compared with what is left.
#include "compiler/fatbin/fatbin.h"

#include <elf.h>

#include <algorithm>
#include <cstring>

#include "compiler/fatbin/decompress.h"
#include "compiler/fatbin/parse.h"
#include "compiler/fatbin/ptx_head.h"

namespace limen::fatbin {
namespace {

constexpr uint64_t flag_debug = 0x2;
constexpr uint64_t flag_lz4 = 0x2000;
constexpr uint64_t flag_zstd = 0x8000;
constexpr uint64_t flag_suffix_a = 0x100000;
constexpr uint64_t flag_suffix_f = 0x200000;
constexpr uint16_t entry_version = 0x0101;
constexpr uint32_t min_entry_header = 64;
constexpr uint32_t max_entry_header = 1u << 20;  // holds only names and options
constexpr uint16_t elf_machine_cuda = 190;
constexpr uint64_t max_linked_parts = 1u << 16;  // relocatable fat binaries behind one wrapper
constexpr uint64_t unknown_extent = UINT64_MAX;

struct FatbinHeader {
  uint32_t magic;
  uint16_t version;
  uint16_t header_bytes;
  uint64_t entries_bytes;
};
static_assert(sizeof(FatbinHeader) == 16);

struct EntryHeader {
  uint16_t kind;
  uint16_t version;
  uint32_t header_bytes;
  uint64_t payload_bytes;  // padded
  uint32_t compressed_bytes;
  uint32_t options_at;
  uint16_t minor;
  uint16_t major;
  uint32_t sm;
  uint32_t name_at;
  uint32_t name_bytes;
  uint64_t flags;
  uint64_t reserved;
  uint64_t uncompressed_bytes;
};
static_assert(sizeof(EntryHeader) == min_entry_header);

struct Wrapper {
  uint32_t magic;
  uint32_t version;
  uint64_t data;
  uint64_t aux;
};
static_assert(sizeof(Wrapper) == 24);

/// Text at [at, at + bytes) of an entry's header; empty where that leaves the header, since names
/// only serve messages.
std::string header_text(const std::string& header, uint64_t at, uint64_t bytes) {
  if (at == 0 || at > header.size() || bytes > header.size() - at) return {};
  std::string text = header.substr(at, bytes);
  text.resize(std::strlen(text.c_str()));
  return text;
}

std::string options_text(const std::string& header, uint32_t block_at) {
  uint32_t block[2];
  if (block_at == 0 || block_at > header.size() || header.size() - block_at < sizeof block)
    return {};
  std::memcpy(block, header.data() + block_at, sizeof block);
  return header_text(header, block[0], block[1]);
}

Kind kind_of(uint16_t number) {
  switch (number) {
    case 1:
      return Kind::ptx;
    case 2:
      return Kind::cubin;
    case 8:
      return Kind::lto;
    default:
      return Kind::other;
  }
}

Result<void> set_sizes(Entry& entry, const EntryHeader& raw, uint64_t at) {
  bool lz4 = raw.flags & flag_lz4, zstd = raw.flags & flag_zstd;
  if (lz4 && zstd)
    return bad_image("entry at offset {} is flagged as lz4 and as zstd (flags {:#x})", at,
                     raw.flags);
  if (raw.compressed_bytes == 0 && !lz4 && !zstd) {
    entry.stored_bytes = entry.size_bytes = raw.payload_bytes;
    return {};
  }
  entry.compression = lz4 ? Compression::lz4 : zstd ? Compression::zstd : Compression::unknown;
  if (raw.compressed_bytes == 0 || raw.compressed_bytes > raw.payload_bytes)
    return bad_image("entry at offset {} has {} compressed bytes, expected 1 to its payload of {}",
                     at, raw.compressed_bytes, raw.payload_bytes);
  entry.stored_bytes = raw.compressed_bytes;
  entry.size_bytes = raw.uncompressed_bytes;
  return {};
}

bool only_padding(char c) { return c == '\0'; }

}  // namespace

Result<Image> ImageParser::parse(uint64_t base, uint64_t limit) {
  uint32_t magic = 0;
  size_t have = image_.source_->read_some(base, &magic, std::min<uint64_t>(sizeof magic, limit));
  if (have == 0) {
    if (limit == 0) return bad_image("image is empty, expected PTX text, a fat binary or a cubin");
    return bad_image("memory at {:#x} cannot be read, expected PTX text, a fat binary or a cubin",
                     base);
  }
  Result<void> done;
  if (have == 4 && magic == wrapper_magic) {
    done = parse_wrapper(base);
  } else if (have == 4 && magic == fatbin_magic) {
    image_.form_ = Form::fatbin;
    done = parse_fatbin(base, limit);
  } else if (have == 4 && magic == elf_magic) {
    image_.form_ = Form::cubin;
    done = parse_cubin(base, limit);
  } else {
    image_.form_ = Form::ptx_text;
    done = parse_text(base, limit);
  }
  if (!done) return done.take_error();
  return std::move(image_);
}

Result<void> ImageParser::parse_wrapper(uint64_t base) {
  const Source& source = *image_.source_;
  if (!source.is_process())
    return bad_image(
        "a fat binary wrapper at offset {}: its pointers mean nothing outside its process", base);
  Wrapper wrapper{};
  // Version 1 may end after `data` as far as anybody has promised; aux is read only for version 2.
  if (!source.read(base, &wrapper, 16))
    return bad_image("wrapper at {:#x} is cut off, expected 24 bytes", base);
  if (wrapper.version != 1 && wrapper.version != 2)
    return bad_image("wrapper at {:#x} has version {}, expected 1 or 2", base, wrapper.version);
  image_.form_ = wrapper.version == 1 ? Form::wrapper_v1 : Form::wrapper_v2;
  LIMEN_CHECK(parse_fatbin(wrapper.data, unknown_extent));
  if (wrapper.version == 1) return {};
  if (!source.read(base, &wrapper, sizeof wrapper))
    return bad_image("wrapper at {:#x} is cut off, expected 24 bytes", base);
  if (wrapper.aux == 0) return {};
  for (uint64_t i = 0; i < max_linked_parts; ++i) {
    uint64_t part = 0;
    if (!source.read(wrapper.aux + i * sizeof part, &part, sizeof part))
      return bad_image("list of relocatable fat binaries at {:#x} cannot be read at index {}",
                       wrapper.aux, i);
    if (part == 0) return {};
    LIMEN_CHECK(parse_fatbin(part, unknown_extent));
  }
  return bad_image("list of relocatable fat binaries at {:#x} has no end within {} pointers",
                   wrapper.aux, max_linked_parts);
}

Result<void> ImageParser::parse_fatbin(uint64_t base, uint64_t limit) {
  FatbinHeader header{};
  if (limit < sizeof header || !image_.source_->read(base, &header, sizeof header))
    return bad_image("fat binary at {:#x} is cut off, expected a header of {} bytes", base,
                     sizeof header);
  if (header.magic != fatbin_magic)
    return bad_image("no fat binary at {:#x}: magic {:#x}, expected {:#x}", base, header.magic,
                     fatbin_magic);
  if (header.version != 1)
    return bad_image("fat binary at {:#x} has version {}, expected 1", base, header.version);
  if (header.header_bytes < sizeof header)
    return bad_image("fat binary at {:#x} has a header of {} bytes, expected at least {}", base,
                     header.header_bytes, sizeof header);
  if (limit == unknown_extent) limit = UINT64_MAX - base;
  if (header.header_bytes > limit || header.entries_bytes > limit - header.header_bytes)
    return bad_image("fat binary at {:#x} states {} bytes of entries, but only {} bytes are there",
                     base, header.entries_bytes, limit);
  image_.bases_.push_back(base);
  uint64_t end = header.header_bytes + header.entries_bytes;
  for (uint64_t offset = header.header_bytes; offset < end;) {
    LIMEN_TRY(offset, parse_entry(base, offset, end));
  }
  fatbin_bytes_ = end;
  return {};
}

Result<uint64_t> ImageParser::parse_entry(uint64_t base, uint64_t offset, uint64_t end) {
  EntryHeader raw{};
  if (end - offset < sizeof raw || !image_.source_->read(base + offset, &raw, sizeof raw))
    return bad_image("entry at offset {} is cut off, expected a header of {} bytes", offset,
                     sizeof raw);
  if (raw.version != entry_version)
    return bad_image("entry at offset {} has version {:#x}, expected {:#x}", offset, raw.version,
                     entry_version);
  if (raw.header_bytes < sizeof raw || raw.header_bytes > max_entry_header ||
      raw.header_bytes > end - offset)
    return bad_image("entry at offset {} has a header of {} bytes, expected {} to {}", offset,
                     raw.header_bytes, sizeof raw,
                     std::min<uint64_t>(max_entry_header, end - offset));
  if (raw.payload_bytes > end - offset - raw.header_bytes)
    return bad_image("entry at offset {} has a payload of {} bytes, but only {} are left", offset,
                     raw.payload_bytes, end - offset - raw.header_bytes);
  Entry entry;
  entry.kind_number = raw.kind;
  entry.kind = kind_of(raw.kind);
  entry.sm = raw.sm;
  entry.suffix = raw.flags & flag_suffix_a ? 'a' : raw.flags & flag_suffix_f ? 'f' : '\0';
  if (entry.kind == Kind::ptx) {
    entry.ptx_major = raw.major;
    entry.ptx_minor = raw.minor;
  }
  entry.flags = raw.flags;
  entry.debug = raw.flags & flag_debug;
  LIMEN_CHECK(set_sizes(entry, raw, offset));
  if (raw.options_at != 0 || raw.name_at != 0) {
    std::string header(raw.header_bytes, '\0');
    if (!image_.source_->read(base + offset, header.data(), header.size()))
      return bad_image("entry at offset {} is cut off, expected a header of {} bytes", offset,
                       raw.header_bytes);
    entry.source_name = header_text(header, raw.name_at, raw.name_bytes);
    entry.options = options_text(header, raw.options_at);
    entry.relocatable = entry.options.find("--compile-only") != std::string::npos;
  }
  entry.container = static_cast<uint32_t>(image_.bases_.size() - 1);
  entry.offset = offset + raw.header_bytes;
  image_.entries_.push_back(std::move(entry));
  return offset + raw.header_bytes + raw.payload_bytes;
}

Result<void> ImageParser::parse_cubin(uint64_t base, uint64_t limit) {
  Elf64_Ehdr header{};
  if (limit < sizeof header || !image_.source_->read(base, &header, sizeof header))
    return bad_image("elf image is cut off, expected a header of {} bytes", sizeof header);
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB)
    return bad_image("elf image has class {} and byte order {}, expected 2 and 1",
                     header.e_ident[EI_CLASS], header.e_ident[EI_DATA]);
  if (header.e_machine != elf_machine_cuda)
    return bad_image("elf image is for machine {}, expected {} (CUDA)", header.e_machine,
                     elf_machine_cuda);
  // A cubin ends with its last section, or with the section or program header table.
  uint64_t end = sizeof header;
  auto reach = [&](uint64_t at, uint64_t bytes) {
    if (at > max_payload_bytes || bytes > max_payload_bytes) return false;
    end = std::max(end, at + bytes);
    return true;
  };
  bool good = reach(header.e_shoff, uint64_t{header.e_shnum} * sizeof(Elf64_Shdr)) &&
              reach(header.e_phoff, uint64_t{header.e_phnum} * header.e_phentsize);
  if (!good || (header.e_shnum != 0 && header.e_shentsize != sizeof(Elf64_Shdr)))
    return bad_image(
        "cubin has its {} section headers of {} bytes at offset {}, expected {} bytes each "
        "below offset {}",
        header.e_shnum, header.e_shentsize, header.e_shoff, sizeof(Elf64_Shdr), max_payload_bytes);
  for (uint64_t i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr section{};
    uint64_t at = header.e_shoff + i * sizeof section;
    if (at + sizeof section > limit || !image_.source_->read(base + at, &section, sizeof section))
      return bad_image("cubin is cut off at its section header {} (offset {})", i, at);
    if (section.sh_type != SHT_NOBITS && !reach(section.sh_offset, section.sh_size))
      return bad_image("cubin section {} has {} bytes at offset {}", i, section.sh_size,
                       section.sh_offset);
  }
  if (end > limit) return bad_image("cubin needs {} bytes, but only {} are there", end, limit);
  Entry entry;
  entry.kind = Kind::cubin;
  entry.kind_number = 2;
  // ABI version 8 (sm_100's toolkits on) moved the number to the second byte.
  entry.sm =
      header.e_ident[EI_ABIVERSION] >= 8 ? header.e_flags >> 8 & 0xff : header.e_flags & 0xff;
  entry.relocatable = header.e_type == ET_REL;
  entry.stored_bytes = entry.size_bytes = end;
  image_.bases_.push_back(base);
  image_.entries_.push_back(std::move(entry));
  return {};
}

Result<void> ImageParser::parse_text(uint64_t base, uint64_t limit) {
  // The first kilobytes decide whether this is text at all and hold .version and .target.
  constexpr size_t head_bytes = 4096, step_bytes = 65536;
  std::string text(std::min<uint64_t>(head_bytes, limit), '\0');
  text.resize(image_.source_->read_some(base, text.data(), text.size()));
  if (!looks_like_ptx(std::string_view(text).substr(0, text.find('\0')))) {
    uint32_t word = 0;
    std::memcpy(&word, text.data(), std::min(text.size(), sizeof word));
    return bad_image(
        "image begins with {:#010x}, expected PTX text, a fat binary ({:#x}) or a cubin "
        "({:#x})",
        word, fatbin_magic, elf_magic);
  }
  Entry entry;
  entry.kind = Kind::ptx;
  entry.kind_number = 1;
  read_ptx_head(text, entry);
  uint64_t length = 0;
  if (limit != unknown_extent) {
    length = limit;
  } else {
    std::string step(step_bytes, '\0');
    for (bool ended = false; !ended;) {
      size_t got = image_.source_->read_some(base + length, step.data(), step.size());
      size_t nul = std::string_view(step.data(), got).find('\0');
      ended = nul != std::string_view::npos;
      length += ended ? nul : got;
      if (length > max_payload_bytes || (!ended && got < step.size()))
        return bad_image("PTX text at {:#x} has no NUL within {} bytes", base, length);
    }
  }
  entry.stored_bytes = entry.size_bytes = length;
  image_.bases_.push_back(base);
  image_.entries_.push_back(std::move(entry));
  return {};
}

Result<std::string> Image::payload(const Entry& entry) const {
  if (entry.container >= bases_.size())
    return bad_image("entry of container {}, but the image has {}", entry.container, bases_.size());
  if (entry.compression == Compression::unknown)
    return Error{Code::not_supported,
                 fmt::format("entry for sm_{} is compressed by an unknown method (flags {:#x})",
                             entry.sm, entry.flags),
                 "build the program with --compress-mode=default or --no-compress"};
  if (entry.stored_bytes > max_payload_bytes)
    return bad_image("entry for sm_{} has {} bytes, expected at most {}", entry.sm,
                     entry.stored_bytes, max_payload_bytes);
  // Read in steps: an entry of pointers' memory may state more than is really mapped.
  constexpr uint64_t step_bytes = uint64_t{16} << 20;
  std::string stored;
  uint64_t from = bases_[entry.container] + entry.offset;
  while (stored.size() < entry.stored_bytes) {
    size_t had = stored.size(), step = std::min<uint64_t>(step_bytes, entry.stored_bytes - had);
    stored.resize(had + step);
    if (!source_->read(from + had, stored.data() + had, step))
      return bad_image("payload at offset {} is cut off, expected {} bytes", entry.offset,
                       entry.stored_bytes);
  }
  switch (entry.compression) {
    case Compression::lz4:
      return decompress_lz4(stored, entry.size_bytes);
    case Compression::zstd:
      return decompress_zstd(stored, entry.size_bytes);
    default:
      return stored;
  }
}

Result<std::string> Image::ptx_text(const Entry& entry) const {
  if (entry.kind != Kind::ptx)
    return bad_image("entry at offset {} is of kind {}, expected 1 (PTX)", entry.offset,
                     entry.kind_number);
  LIMEN_TRY(std::string text, payload(entry));
  while (!text.empty() && only_padding(text.back())) text.pop_back();
  if (size_t nul = text.find('\0'); nul != std::string::npos)
    return bad_image("PTX text for sm_{} has a NUL at byte {} of {}", entry.sm, nul, text.size());
  if (!looks_like_ptx(text))
    return Error{
        Code::invalid_ptx,
        fmt::format("entry at offset {} is marked PTX, but its text does not begin like PTX",
                    entry.offset),
        {}};  // measured H200, driver 580.159.04
  return text;
}

Result<Image> parse_memory(const void* data, size_t size_bytes) {
  return ImageParser(known_memory(data, size_bytes)).parse(0, size_bytes);
}

Result<Image> parse_bytes(std::shared_ptr<const std::vector<uint8_t>> bytes, size_t offset) {
  uint64_t size = bytes->size();
  if (offset > size)
    return bad_image("image offset {} lies behind the end of {} bytes", offset, size);
  return ImageParser(owned_memory(std::move(bytes))).parse(offset, size - offset);
}

Result<Image> parse_pointer(const void* code) {
  if (code == nullptr)
    return Error{Code::invalid_value, "image pointer is null",
                 "pass PTX text, a fat binary or a cubin"};
  return ImageParser(process_memory()).parse(reinterpret_cast<uint64_t>(code), unknown_extent);
}

}  // namespace limen::fatbin
