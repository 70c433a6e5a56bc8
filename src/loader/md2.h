// MD2 (RFC 1319) and HMAC with it (RFC 2104). Used by private_tables.cpp only; MD2 is broken as a
// hash and must serve nothing else. No state, no allocation; any thread.
#pragma once
#include <array>
#include <cstdint>
#include <span>

namespace limen::loader {

using Md2Digest = std::array<uint8_t, 16>;

/// The digest of the concatenation of `first` and `second`.
Md2Digest md2(std::span<const uint8_t> first, std::span<const uint8_t> second = {});

/// HMAC-MD2 with the block size 16; `key` has at most 16 bytes.
Md2Digest hmac_md2(std::span<const uint8_t> key, std::span<const uint8_t> message);

}  // namespace limen::loader
