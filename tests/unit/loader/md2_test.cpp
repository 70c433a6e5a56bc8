// MD2 against the vectors of RFC 1319, appendix A.5; HMAC-MD2 against values computed by an
// independent implementation (Python, from the RFCs) for the inputs of RFC 2104's appendix.
#include "loader/md2.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace limen::loader {
namespace {

std::span<const uint8_t> bytes(std::string_view text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

std::string hex(const Md2Digest& digest) {
  std::string out;
  for (uint8_t byte : digest) {
    constexpr char digits[] = "0123456789abcdef";
    out += digits[byte >> 4];
    out += digits[byte & 15];
  }
  return out;
}

TEST(Md2, Rfc1319) {
  EXPECT_EQ(hex(md2(bytes(""))), "8350e5a3e24c153df2275c9f80692773");
  EXPECT_EQ(hex(md2(bytes("a"))), "32ec01ec4a6dac72c0ab96fb34c0b5d1");
  EXPECT_EQ(hex(md2(bytes("abc"))), "da853b0d3f88d99b30283a69e6ded6bb");
  EXPECT_EQ(hex(md2(bytes("message digest"))), "ab4f496bfb2a530b219ff33031fe06b0");
  EXPECT_EQ(hex(md2(bytes("abcdefghijklmnopqrstuvwxyz"))), "4e8ddff3650292ab5a4108c3aa47940b");
  EXPECT_EQ(hex(md2(bytes("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"))),
            "da33def2a42df13975352846c30338cd");
  std::string_view eighty =
      "12345678901234567890123456789012345678901234567890123456789012345678901234567890";
  EXPECT_EQ(hex(md2(bytes(eighty))), "d5976f79d83d3a0dc9806c3c66f3efd8");
  EXPECT_EQ(hex(md2(bytes(eighty.substr(0, 33)), bytes(eighty.substr(33)))),
            "d5976f79d83d3a0dc9806c3c66f3efd8");
}

TEST(Md2, Hmac) {
  std::vector<uint8_t> key(16, 0x0b);
  EXPECT_EQ(hex(hmac_md2(key, bytes("Hi There"))), "b524be0196e491ed44823746cd8923af");
  EXPECT_EQ(hex(hmac_md2(bytes("Jefe"), bytes("what do ya want for nothing?"))),
            "292f9d34f9e311846de86c495d7adfa2");
  std::vector<uint8_t> aa(16, 0xaa);
  std::vector<uint8_t> dd(50, 0xdd);
  EXPECT_EQ(hex(hmac_md2(aa, dd)), "ff09238e4bded84b5490bc42cfd5c265");
}

}  // namespace
}  // namespace limen::loader
