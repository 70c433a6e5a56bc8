// Damaged objects: whatever bytes are flipped or cut off, load_object gives code or an error and
// never crashes (run under ASan too). Nothing that was damaged is executed. The seed is in the
// message.
#include <gtest/gtest.h>

#include <random>

#include "compile.h"
#include "compiler/image/image.h"
#include "compiler/image/slab.h"

namespace limen::image {
namespace {

const char* const source = R"(
extern "C" void* memcpy(void*, const void*, unsigned long);
int counter = 1; int zeroed[10];
extern const int* const pointers[2] = {&counter, zeroed};
extern "C" int limen_kernel(char* a, char* b) { memcpy(a, b, 1000); return counter++ + *pointers[1]; }
)";

TEST(Damage, FlippedBytesNeverCrash) {
  std::vector<uint8_t> object = test::compile(source, "-O1 -g -fPIC");
  ASSERT_FALSE(object.empty());
  const size_t before = slab_bytes_in_use();
  int loaded = 0, refused = 0;
  for (unsigned seed = 0; seed < 20000; ++seed) {
    std::mt19937 random(seed);
    std::vector<uint8_t> bad = object;
    unsigned flips = 1 + random() % 8;
    for (unsigned i = 0; i < flips; ++i) {
      // Half of the flips go where they matter most: the elf header and the section headers.
      size_t at = random() % bad.size();
      if (random() % 2)
        at = random() % 2 ? random() % 64 : bad.size() - 1 - random() % (bad.size() / 8);
      bad[at] = static_cast<uint8_t>(random() % 4 ? random() : bad[at] ^ 1u << random() % 8);
    }
    auto code = load_object(bad, "damaged");
    ++(code.ok() ? loaded : refused);
    if (!code.ok()) {
      ASSERT_FALSE(code.error().what.empty()) << "seed " << seed;
    }
  }
  EXPECT_GT(refused, 1000);
  EXPECT_EQ(slab_bytes_in_use(), before);
}

TEST(Damage, EveryTruncationIsRefused) {
  std::vector<uint8_t> object = test::compile(source, "-O1 -fPIC");
  for (size_t size = 0; size < object.size(); ++size) {
    std::vector<uint8_t> cut(object.begin(), object.begin() + static_cast<ptrdiff_t>(size));
    EXPECT_FALSE(load_object(cut, "cut").ok()) << size;
  }
}

TEST(Damage, RandomBytesAfterAGoodHeader) {
  std::vector<uint8_t> object = test::compile(source, "-O1 -fPIC");
  for (unsigned seed = 0; seed < 2000; ++seed) {
    std::mt19937 random(seed);
    std::vector<uint8_t> bad = object;
    for (size_t i = 64; i < bad.size(); ++i) bad[i] = static_cast<uint8_t>(random());
    EXPECT_FALSE(load_object(bad, "noise").ok()) << "seed " << seed;
  }
}

}  // namespace
}  // namespace limen::image
