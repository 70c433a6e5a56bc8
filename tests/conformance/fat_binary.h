// A fat binary of one uncompressed PTX entry, as nvcc writes it: byte for byte (unit.fatbin compares),
// since NVIDIA's driver reads the list of options behind the entry's fixed header without asking
// whether there is one.
#pragma once
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>

namespace limen::conform {

/// `sm`: the architecture the entry says it is for. The entry's language is that of the text's
/// .version (7.0 where it has none).
inline std::vector<uint64_t> fat_binary(const char* ptx, uint32_t sm = 70) {
  constexpr uint32_t header_bytes = 16, entry_bytes = 80, options_at = 64, options_text_at = 72;
  const size_t text_bytes = std::strlen(ptx) + 1;
  const uint64_t payload = (text_bytes + 7) / 8 * 8;
  std::vector<uint64_t> words((header_bytes + entry_bytes + payload) / 8);
  auto* bytes = reinterpret_cast<unsigned char*>(words.data());
  auto put = [&](size_t at, auto value) { std::memcpy(bytes + at, &value, sizeof value); };
  auto put_in_entry = [&](size_t at, auto value) { put(header_bytes + at, value); };
  uint16_t major = 7, minor = 0;
  if (const char* version = std::strstr(ptx, ".version"))
    std::sscanf(version, ".version %hu.%hu", &major, &minor);
  put(0, uint32_t{0xba55ed50});
  put(4, uint16_t{1});
  put(6, uint16_t{header_bytes});
  put(8, uint64_t{entry_bytes + payload});
  put_in_entry(0, uint16_t{1});  // PTX
  put_in_entry(2, uint16_t{0x0101});
  put_in_entry(4, entry_bytes);
  put_in_entry(8, payload);
  put_in_entry(20, options_at);
  put_in_entry(24, minor);
  put_in_entry(26, major);
  put_in_entry(28, sm);
  put_in_entry(40, uint64_t{0x11});  // 64 bits, Linux
  // The options: where their text begins, and its length, 0.
  put_in_entry(options_at, options_text_at);
  std::memcpy(bytes + header_bytes + entry_bytes, ptx, text_bytes);
  return words;
}

}  // namespace limen::conform
