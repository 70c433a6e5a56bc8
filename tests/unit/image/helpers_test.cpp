// memcpy, memmove and memset as generated code gets them: every small size, every overlap, and no
// byte outside touched.
#include <gtest/gtest.h>

#include <cstring>

#include "compile.h"
#include "compiler/image/image.h"

namespace limen::image {
namespace {

std::string jump_to(const std::string& function) {
#if defined(__x86_64__)
  return "jmp " + function + "@PLT";
#else
  return "b " + function;
#endif
}

std::shared_ptr<Code> load_jump_to(const std::string& function) {
  auto object = test::compile(
      ".text\n.globl limen_kernel\nlimen_kernel: " + jump_to(function) + "\n", "", ".s");
  auto code = load_object(object, function);
  EXPECT_TRUE(code.ok()) << code.error().what;
  return *code;
}

using Move = void* (*)(void*, const void*, size_t);
using Set = void* (*)(void*, int, size_t);

TEST(Helpers, MoveAgreesWithLibc) {
  for (const char* name : {"memcpy", "memmove"}) {
    auto code = load_jump_to(name);
    auto move = reinterpret_cast<Move>(const_cast<void*>(code->entry()));
    const int shifts[] = {0,   1,  -1,  3,  -3,  8,  -8,  15, -15, 16,  -16, 17,
                          -17, 31, -31, 32, -32, 33, -33, 64, -64, 400, -400};
    for (size_t size = 0; size <= 300; ++size)
      for (int shift : shifts) {
        std::vector<uint8_t> ours(1500), theirs;
        for (size_t i = 0; i < ours.size(); ++i) ours[i] = static_cast<uint8_t>(i * 7 + i / 256);
        theirs = ours;
        EXPECT_EQ(move(&ours[600 + shift], &ours[600], size), &ours[600 + shift]);
        std::memmove(&theirs[600 + shift], &theirs[600], size);
        ASSERT_EQ(ours, theirs) << name << " " << size << " by " << shift;
      }
  }
}

TEST(Helpers, SetAgreesWithLibc) {
  auto code = load_jump_to("memset");
  auto set = reinterpret_cast<Set>(const_cast<void*>(code->entry()));
  for (size_t size = 0; size <= 300; ++size)
    for (int value : {0, 1, 0x80, 0xff, 0x1234}) {
      std::vector<uint8_t> ours(400, 0x55), theirs(400, 0x55);
      EXPECT_EQ(set(&ours[50], value, size), &ours[50]);
      std::memset(&theirs[50], value, size);
      ASSERT_EQ(ours, theirs) << size << " " << value;
    }
}

TEST(Helpers, LieInTheObjectsOwnCode) {
  auto alone = test::compile(".text\n.globl limen_kernel\nlimen_kernel: ret\n", "", ".s");
  auto plain = load_object(alone, "plain");
  auto with = load_jump_to("memset");
  auto bytes = [](const Code& code) {
    return static_cast<const uint8_t*>(code.end()) - static_cast<const uint8_t*>(code.begin());
  };
  EXPECT_GT(bytes(*with), bytes(**plain) + 32);
}

}  // namespace
}  // namespace limen::image
