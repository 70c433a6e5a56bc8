// BLAKE2b, unkeyed, written from RFC 7693. Checked in tests against the RFC's own vector (which has
// 512 bits; the digest length is a parameter of the algorithm).
#include "compiler/image/content_hash.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <iterator>
#include <utility>

#include "compiler/image/image.h"

static_assert(std::endian::native == std::endian::little, "words are read as they lie in memory");

namespace limen::image {
namespace {

constexpr uint64_t iv[8] = {0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b,
                            0xa54ff53a5f1d36f1, 0x510e527fade682d1, 0x9b05688c2b3e6c1f,
                            0x1f83d9abfb41bd6b, 0x5be0cd19137e2179};

constexpr uint8_t sigma[12][16] = {
    {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
    {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
    {11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4},
    {7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
    {9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13},
    {2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
    {12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11},
    {13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
    {6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5},
    {10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0},
    {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
    {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
};

inline void mix(uint64_t& a, uint64_t& b, uint64_t& c, uint64_t& d, uint64_t x, uint64_t y) {
  a += b + x;
  d = std::rotr(d ^ a, 32);
  c += d;
  b = std::rotr(b ^ c, 24);
  a += b + y;
  d = std::rotr(d ^ a, 16);
  c += d;
  b = std::rotr(b ^ c, 63);
}

template <size_t number>
inline void round(uint64_t (&v)[16], const uint64_t (&m)[16]) {
  constexpr const auto& s = sigma[number];
  mix(v[0], v[4], v[8], v[12], m[s[0]], m[s[1]]);
  mix(v[1], v[5], v[9], v[13], m[s[2]], m[s[3]]);
  mix(v[2], v[6], v[10], v[14], m[s[4]], m[s[5]]);
  mix(v[3], v[7], v[11], v[15], m[s[6]], m[s[7]]);
  mix(v[0], v[5], v[10], v[15], m[s[8]], m[s[9]]);
  mix(v[1], v[6], v[11], v[12], m[s[10]], m[s[11]]);
  mix(v[2], v[7], v[8], v[13], m[s[12]], m[s[13]]);
  mix(v[3], v[4], v[9], v[14], m[s[14]], m[s[15]]);
}

}  // namespace

ContentHasher::ContentHasher(size_t digest_bytes) {
  std::copy(std::begin(iv), std::end(iv), h_);
  h_[0] ^= 0x01010000 ^ digest_bytes;
}

void ContentHasher::compress(bool last) {
  uint64_t m[16], v[16];
  std::memcpy(m, block_, sizeof m);
  std::copy(std::begin(h_), std::end(h_), v);
  std::copy(std::begin(iv), std::end(iv), v + 8);
  v[12] ^= total_[0];
  v[13] ^= total_[1];
  if (last) v[14] = ~v[14];
  // Unrolled, so that every message index is a constant.
  [&]<size_t... r>(std::index_sequence<r...>) {
    (round<r>(v, m), ...);
  }(std::make_index_sequence<std::size(sigma)>());
  for (int i = 0; i < 8; ++i) h_[i] ^= v[i] ^ v[i + 8];
}

void ContentHasher::add(const void* bytes, size_t size) {
  const auto* from = static_cast<const uint8_t*>(bytes);
  while (size > 0) {
    // A full block is compressed only when more follows: the last one is marked as such.
    if (filled_ == sizeof block_) {
      total_[0] += filled_;
      if (total_[0] < filled_) ++total_[1];
      compress(false);
      filled_ = 0;
    }
    size_t step = std::min(size, sizeof block_ - filled_);
    std::memcpy(block_ + filled_, from, step);
    filled_ += step;
    from += step;
    size -= step;
  }
}

void ContentHasher::finish_to(uint8_t* out, size_t bytes) {
  total_[0] += filled_;
  if (total_[0] < filled_) ++total_[1];
  std::memset(block_ + filled_, 0, sizeof block_ - filled_);
  compress(true);
  std::memcpy(out, h_, bytes);
}

Digest ContentHasher::finish() {
  Digest digest;
  finish_to(digest.data(), digest.size());
  return digest;
}

std::string to_hex(const Digest& digest) {
  constexpr char digits[] = "0123456789abcdef";
  std::string text;
  for (uint8_t byte : digest) {
    text += digits[byte >> 4];
    text += digits[byte & 15];
  }
  return text;
}

std::string content_hash(const void* bytes, size_t size) {
  ContentHasher hasher;
  hasher.add(bytes, size);
  return to_hex(hasher.finish());
}

}  // namespace limen::image
