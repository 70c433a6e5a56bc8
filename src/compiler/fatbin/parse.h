// The parser behind parse_memory, parse_bytes and parse_pointer: decides what an image is and lists
// its entries. Private to this room.
#pragma once
#include <fmt/format.h>

#include "compiler/fatbin/fatbin.h"
#include "compiler/fatbin/source.h"

namespace limen::fatbin {

inline constexpr uint32_t wrapper_magic = 0x466243b1;
inline constexpr uint32_t fatbin_magic = 0xba55ed50;
inline constexpr uint32_t elf_magic = 0x464c457f;

template <typename... Args>
Error bad_image(fmt::format_string<Args...> text, Args&&... args) {
  return Error{Code::invalid_image, fmt::format(text, std::forward<Args>(args)...), {}};
}

class ImageParser {
 public:
  explicit ImageParser(std::shared_ptr<const Source> source) { image_.source_ = std::move(source); }

  /// Parses what begins at `base`; `limit` bytes are known to be there (UINT64_MAX: unknown).
  Result<Image> parse(uint64_t base, uint64_t limit);
  /// Bytes the fat binary at `base` takes with its header; it must have been parsed.
  uint64_t fatbin_bytes() const { return fatbin_bytes_; }

 private:
  Result<void> parse_wrapper(uint64_t base);
  Result<void> parse_fatbin(uint64_t base, uint64_t limit);
  Result<uint64_t> parse_entry(uint64_t base, uint64_t offset, uint64_t end);
  Result<void> parse_cubin(uint64_t base, uint64_t limit);
  Result<void> parse_text(uint64_t base, uint64_t limit);

  Image image_;
  uint64_t fatbin_bytes_ = 0;
};

}  // namespace limen::fatbin
