// LZ4 blocks and zstd frames, each with the size the fat binary states. The stated size is checked
// against what the method can reach at all before any memory is taken, so that 100 damaged bytes
// cannot ask for a gigabyte.
#include "compiler/fatbin/decompress.h"

#include <fmt/format.h>
#include <lz4.h>
#include <zstd.h>

#include "compiler/fatbin/fatbin.h"

namespace limen::fatbin {
namespace {

// One LZ4 length byte stands for at most 255 bytes of output.
constexpr uint64_t lz4_ratio = 255;
// A zstd block gives at most 128 KiB and takes at least 4 bytes (RFC 8878 section 3.1.1.2).
constexpr uint64_t zstd_ratio = 32768;

Result<void> check_sizes(const char* method, std::string_view stored, uint64_t size,
                         uint64_t ratio) {
  if (size == 0 || size > max_payload_bytes)
    return Error{Code::invalid_image,
                 fmt::format("{} entry states {} bytes after decompression, expected 1 to {}",
                             method, size, max_payload_bytes),
                 {}};
  if (stored.size() > max_payload_bytes || size > (stored.size() + 1) * ratio)
    return Error{Code::invalid_image,
                 fmt::format("{} entry of {} bytes cannot hold the {} bytes it states", method,
                             stored.size(), size),
                 {}};
  return {};
}

}  // namespace

Result<std::string> decompress_lz4(std::string_view stored, uint64_t size) {
  LIMEN_CHECK(check_sizes("lz4", stored, size, lz4_ratio));
  std::string text(size, '\0');
  int got = LZ4_decompress_safe(stored.data(), text.data(), static_cast<int>(stored.size()),
                                static_cast<int>(size));
  if (got < 0)
    return Error{Code::invalid_image,
                 fmt::format("lz4 block of {} bytes is damaged near byte {}", stored.size(), -got),
                 {}};
  if (static_cast<uint64_t>(got) != size)
    return Error{
        Code::invalid_image, fmt::format("lz4 block gives {} bytes, expected {}", got, size), {}};
  return text;
}

Result<std::string> decompress_zstd(std::string_view stored, uint64_t size) {
  LIMEN_CHECK(check_sizes("zstd", stored, size, zstd_ratio));
  unsigned long long stated = ZSTD_getFrameContentSize(stored.data(), stored.size());
  if (stated == ZSTD_CONTENTSIZE_ERROR)
    return Error{Code::invalid_image,
                 fmt::format("no zstd frame begins in the {} bytes flagged as zstd", stored.size()),
                 {}};
  if (stated != ZSTD_CONTENTSIZE_UNKNOWN && stated != size)
    return Error{Code::invalid_image,
                 fmt::format("zstd frame states {} bytes, the entry {}", stated, size),
                 {}};
  std::string text(size, '\0');
  size_t got = ZSTD_decompress(text.data(), text.size(), stored.data(), stored.size());
  if (ZSTD_isError(got))
    return Error{
        Code::invalid_image,
        fmt::format("zstd frame of {} bytes is damaged: {}", stored.size(), ZSTD_getErrorName(got)),
        {}};
  if (got != size)
    return Error{
        Code::invalid_image, fmt::format("zstd frame gives {} bytes, expected {}", got, size), {}};
  return text;
}

}  // namespace limen::fatbin
