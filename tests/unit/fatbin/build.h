// Builds fat binaries by hand, field by field, from driver-independent knowledge of the format, so
// that tests need no compiler and can set each field wrong.
#pragma once
#include <lz4.h>
#include <zstd.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace limen::test {

struct EntrySpec {
  uint16_t kind = 1;
  uint16_t version = 0x0101;
  uint32_t sm = 80;
  uint64_t flags = 0x11;
  std::string payload = {};
  enum Method { raw, lz4, zstd } method = raw;
  std::string name = {}, options = {};
  int64_t uncompressed_bytes = -1;  ///< -1: the true size
  int64_t payload_bytes = -1;
};

inline std::string ptx(const std::string& version = "8.0", const std::string& target = "sm_80") {
  return "\n\n.version " + version + "\n.target " + target +
         "\n.address_size 64\n.visible .entry k() { ret; }\n";
}

template <typename T>
void put(std::string& to, size_t at, T value) {
  std::memcpy(to.data() + at, &value, sizeof value);
}

inline std::string compress(const EntrySpec& spec) {
  std::string out;
  if (spec.method == EntrySpec::lz4) {
    out.resize(static_cast<size_t>(LZ4_compressBound(static_cast<int>(spec.payload.size()))));
    out.resize(static_cast<size_t>(LZ4_compress_default(spec.payload.data(), out.data(),
                                                        static_cast<int>(spec.payload.size()),
                                                        static_cast<int>(out.size()))));
  } else if (spec.method == EntrySpec::zstd) {
    out.resize(ZSTD_compressBound(spec.payload.size()));
    out.resize(ZSTD_compress(out.data(), out.size(), spec.payload.data(), spec.payload.size(), 3));
  } else {
    out = spec.payload;
  }
  return out;
}

inline std::string entry(const EntrySpec& spec) {
  std::string stored = compress(spec), header(64, '\0');
  size_t padded = (stored.size() + 7) / 8 * 8;
  put<uint16_t>(header, 0, spec.kind);
  put<uint16_t>(header, 2, spec.version);
  put<uint64_t>(header, 8,
                spec.payload_bytes < 0 ? padded : static_cast<uint64_t>(spec.payload_bytes));
  put<uint16_t>(header, 24, 0);
  put<uint16_t>(header, 26, 8);
  put<uint32_t>(header, 28, spec.sm);
  uint64_t flags = spec.flags;
  if (spec.method != EntrySpec::raw) {
    put<uint32_t>(header, 16, static_cast<uint32_t>(stored.size()));
    put<uint64_t>(header, 56,
                  spec.uncompressed_bytes < 0 ? spec.payload.size()
                                              : static_cast<uint64_t>(spec.uncompressed_bytes));
    flags |= spec.method == EntrySpec::lz4 ? 0x2000 : 0x8000;
  }
  put<uint64_t>(header, 40, flags);
  if (!spec.name.empty()) {
    put<uint32_t>(header, 32, static_cast<uint32_t>(header.size()));
    put<uint32_t>(header, 36, static_cast<uint32_t>(spec.name.size()));
    header += spec.name;
    header.resize((header.size() + 7) / 8 * 8);
  }
  if (!spec.options.empty()) {
    size_t block = header.size();
    put<uint32_t>(header, 20, static_cast<uint32_t>(block));
    header.resize(block + 8);
    put<uint32_t>(header, block, static_cast<uint32_t>(block + 8));
    put<uint32_t>(header, block + 4, static_cast<uint32_t>(spec.options.size()));
    header += spec.options;
    header.resize((header.size() + 7) / 8 * 8);
  }
  put<uint32_t>(header, 4, static_cast<uint32_t>(header.size()));
  stored.resize(padded);
  return header + stored;
}

inline std::string fatbin(const std::vector<EntrySpec>& entries) {
  std::string body;
  for (const EntrySpec& spec : entries) body += entry(spec);
  std::string header(16, '\0');
  put<uint32_t>(header, 0, 0xba55ed50);
  put<uint16_t>(header, 4, 1);
  put<uint16_t>(header, 6, 16);
  put<uint64_t>(header, 8, body.size());
  return header + body;
}

/// The smallest file that passes for a cubin: an ELF header without sections.
inline std::string cubin(uint32_t flags = 0x6005004, uint8_t abi_version = 8,
                         uint16_t machine = 190) {
  std::string elf(64, '\0');
  std::memcpy(elf.data(), "\177ELF\2\1\1\x41", 8);
  put<uint8_t>(elf, 8, abi_version);
  put<uint16_t>(elf, 16, 2);
  put<uint16_t>(elf, 18, machine);
  put<uint32_t>(elf, 48, flags);
  put<uint16_t>(elf, 52, 64);
  return elf;
}

}  // namespace limen::test
