// BLAKE2b with a 128-bit result (RFC 7693). A cryptographic hash rather than a fast one: two
// kernels with one key would be a silent wrong answer, and hashing a megabyte of PTX takes about a
// millisecond. Private to this room; image.h has the public form.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace limen::image {

using Digest = std::array<uint8_t, 16>;

/// Hashes bytes that come in pieces. Thread: one at a time.
class ContentHasher {
 public:
  ContentHasher() : ContentHasher(sizeof(Digest)) {}
  void add(const void* bytes, size_t size);
  Digest finish();

 protected:
  explicit ContentHasher(size_t digest_bytes);
  void finish_to(uint8_t* out, size_t bytes);

 private:
  void compress(bool last);

  uint64_t h_[8];
  uint64_t total_[2] = {0, 0};
  uint8_t block_[128];
  size_t filled_ = 0;
};

std::string to_hex(const Digest& digest);

}  // namespace limen::image
