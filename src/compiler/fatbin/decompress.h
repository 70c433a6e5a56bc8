// The two compression methods of fat binaries. Private to this room.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace limen::fatbin {

/// Decompresses one LZ4 block or zstd frame whose size after decompression is known.
/// errors: invalid_image: damaged, another size than `size`, or `size` impossible for so few bytes.
Result<std::string> decompress_lz4(std::string_view stored, uint64_t size);
Result<std::string> decompress_zstd(std::string_view stored, uint64_t size);

}  // namespace limen::fatbin
