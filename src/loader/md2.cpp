// MD2 written from RFC 1319, HMAC from RFC 2104; see md2.h.
#include "loader/md2.h"

#include <algorithm>

namespace limen::loader {
namespace {

constexpr size_t block_size = 16;

// The permutation of RFC 1319, section 3.2, made there from the digits of pi.
constexpr uint8_t pi_table[256] = {
    41,  46,  67,  201, 162, 216, 124, 1,   61,  54,  84,  161, 236, 240, 6,   19,  98,  167, 5,
    243, 192, 199, 115, 140, 152, 147, 43,  217, 188, 76,  130, 202, 30,  155, 87,  60,  253, 212,
    224, 22,  103, 66,  111, 24,  138, 23,  229, 18,  190, 78,  196, 214, 218, 158, 222, 73,  160,
    251, 245, 142, 187, 47,  238, 122, 169, 104, 121, 145, 21,  178, 7,   63,  148, 194, 16,  137,
    11,  34,  95,  33,  128, 127, 93,  154, 90,  144, 50,  39,  53,  62,  204, 231, 191, 247, 151,
    3,   255, 25,  48,  179, 72,  165, 181, 209, 215, 94,  146, 42,  172, 86,  170, 198, 79,  184,
    56,  210, 150, 164, 125, 182, 118, 252, 107, 226, 156, 116, 4,   241, 69,  157, 112, 89,  100,
    113, 135, 32,  134, 91,  207, 101, 230, 45,  168, 2,   27,  96,  37,  173, 174, 176, 185, 246,
    28,  70,  97,  105, 52,  64,  126, 15,  85,  71,  163, 35,  221, 81,  175, 58,  195, 92,  249,
    206, 186, 197, 234, 38,  44,  83,  13,  110, 133, 40,  132, 9,   211, 223, 205, 244, 65,  129,
    77,  82,  106, 220, 55,  200, 108, 193, 171, 250, 36,  225, 123, 8,   12,  189, 177, 74,  120,
    136, 149, 139, 227, 99,  232, 109, 233, 203, 213, 254, 59,  0,   29,  57,  242, 239, 183, 14,
    102, 88,  208, 228, 166, 119, 114, 248, 235, 117, 75,  10,  49,  68,  80,  180, 143, 237, 31,
    26,  219, 153, 141, 51,  159, 17,  131, 20,
};

class Md2 {
 public:
  void update(std::span<const uint8_t> bytes) {
    for (uint8_t byte : bytes) {
      block_[filled_++] = byte;
      if (filled_ == block_size) {
        add_to_checksum();
        compress();
        filled_ = 0;
      }
    }
  }

  Md2Digest finish() {
    auto padding = static_cast<uint8_t>(block_size - filled_);
    std::array<uint8_t, block_size> tail;
    tail.fill(padding);
    update({tail.data(), padding});
    block_ = checksum_;
    compress();
    Md2Digest digest;
    std::copy_n(state_.begin(), block_size, digest.begin());
    return digest;
  }

 private:
  void add_to_checksum() {
    for (size_t i = 0; i < block_size; ++i) {
      checksum_[i] ^= pi_table[block_[i] ^ last_];
      last_ = checksum_[i];
    }
  }

  void compress() {
    for (size_t i = 0; i < block_size; ++i) {
      state_[block_size + i] = block_[i];
      state_[2 * block_size + i] = state_[i] ^ block_[i];
    }
    uint8_t t = 0;
    for (unsigned round = 0; round < 18; ++round) {
      for (uint8_t& byte : state_) t = byte ^= pi_table[t];
      t = static_cast<uint8_t>(t + round);
    }
  }

  std::array<uint8_t, 3 * block_size> state_{};
  std::array<uint8_t, block_size> block_{};
  std::array<uint8_t, block_size> checksum_{};
  uint8_t last_ = 0;
  size_t filled_ = 0;
};

}  // namespace

Md2Digest md2(std::span<const uint8_t> first, std::span<const uint8_t> second) {
  Md2 hash;
  hash.update(first);
  hash.update(second);
  return hash.finish();
}

Md2Digest hmac_md2(std::span<const uint8_t> key, std::span<const uint8_t> message) {
  std::array<uint8_t, block_size> inner;
  std::array<uint8_t, block_size> outer;
  for (size_t i = 0; i < block_size; ++i) {
    uint8_t byte = i < key.size() ? key[i] : 0;
    inner[i] = byte ^ 0x36;
    outer[i] = byte ^ 0x5c;
  }
  return md2(outer, md2(inner, message));
}

}  // namespace limen::loader
