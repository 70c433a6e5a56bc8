// content_hash is BLAKE2b with 128 bits: the RFC's own vector for the algorithm, and values
// computed by Python's hashlib for this length.
#include <gtest/gtest.h>

#include "compiler/image/content_hash.h"
#include "compiler/image/image.h"

namespace limen::image {
namespace {

std::string hash(const std::string& text) { return content_hash(text.data(), text.size()); }

struct Wide : ContentHasher {
  Wide() : ContentHasher(64) {}
  std::string finish_hex() {
    uint8_t out[64];
    finish_to(out, sizeof out);
    std::string text;
    for (int i = 0; i < 4; ++i) {
      Digest part;
      std::copy(out + i * 16, out + i * 16 + 16, part.begin());
      text += to_hex(part);
    }
    return text;
  }
};

TEST(ContentHash, Rfc7693Vector) {
  Wide hasher;
  hasher.add("abc", 3);
  EXPECT_EQ(hasher.finish_hex(),
            "ba80a53f981c4d0d6a2797b69f12f6e94c212f14685ac4b74b12bb6fdbffa2d1"
            "7d87c5392aab792dc252d5de4533cc9518d38aa8dbf1925ab92386edd4009923");
}

TEST(ContentHash, KnownValues) {
  EXPECT_EQ(hash(""), "cae66941d9efbd404e4d88758ea67670");
  EXPECT_EQ(hash("abc"), "cf4ab791c62b8d2b2109c90275287816");
  EXPECT_EQ(hash(std::string(128, 'x')), "874acca82a22239ec64a3e70c3ae494e");
  EXPECT_EQ(hash(std::string(129, 'x')), "b9ee96f69e8210c624fee55d71d5a54f");
  std::string bytes;
  for (int i = 0; i < 1024; ++i) bytes += static_cast<char>(i);
  EXPECT_EQ(hash(bytes), "0b4661484ed1cc8e28c4a7f18e8b1019");
}

TEST(ContentHash, PiecesDoNotMatter) {
  std::string text(1000, 'a');
  for (size_t i = 0; i < text.size(); ++i) text[i] = static_cast<char>(i * 31);
  for (size_t step : {1, 7, 64, 127, 128, 129, 999}) {
    ContentHasher hasher;
    for (size_t at = 0; at < text.size(); at += step)
      hasher.add(text.data() + at, std::min(step, text.size() - at));
    EXPECT_EQ(to_hex(hasher.finish()), hash(text)) << step;
  }
}

}  // namespace
}  // namespace limen::image
