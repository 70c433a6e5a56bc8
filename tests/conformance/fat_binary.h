// A fat binary of one PTX text, made by hand: a header, one uncompressed entry.
#pragma once
#include "conformance/conform.h"

namespace limen::conform {

/// `sm`: the architecture the entry says it is for.
inline std::vector<uint64_t> fat_binary(const char* ptx, uint32_t sm = 70) {
  const size_t text_bytes = std::strlen(ptx) + 1;
  const uint64_t payload = (text_bytes + 7) / 8 * 8;
  constexpr uint32_t entry_bytes = 64;
  std::vector<uint64_t> words(2 + entry_bytes / 8 + payload / 8);
  auto* bytes = reinterpret_cast<unsigned char*>(words.data());
  auto put = [&](size_t at, auto value) { std::memcpy(bytes + at, &value, sizeof value); };
  put(0, uint32_t{0xba55ed50});
  put(4, uint16_t{1});
  put(6, uint16_t{16});
  put(8, uint64_t{entry_bytes + payload});
  put(16, uint16_t{1});  // PTX
  put(18, uint16_t{0x0101});
  put(20, entry_bytes);
  put(24, payload);
  put(40, uint16_t{0});  // PTX ISA 7.0
  put(42, uint16_t{7});
  put(44, sm);
  put(56, uint64_t{0x11});  // 64 bits, Linux
  std::memcpy(bytes + 80, ptx, text_bytes);
  return words;
}

}  // namespace limen::conform
