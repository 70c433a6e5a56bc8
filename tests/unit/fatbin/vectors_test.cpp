// Every field of the format, from fat binaries built by hand; every rule's refusal with its words.
#include <gtest/gtest.h>

#include "build.h"
#include "compiler/fatbin/fatbin.h"

namespace limen::fatbin {
namespace {

using test::EntrySpec;
using test::fatbin;
using test::ptx;

/// The image owns a copy, so that temporaries may be parsed.
Result<Image> parse(const std::string& bytes) {
  return parse_bytes(std::make_shared<const std::vector<uint8_t>>(bytes.begin(), bytes.end()));
}

void expect_refusal(const std::string& bytes, const std::string& words) {
  auto image = parse(bytes);
  ASSERT_FALSE(image.ok()) << words;
  EXPECT_EQ(image.code(), Code::invalid_image);
  EXPECT_NE(image.error().what.find(words), std::string::npos) << image.error().what;
}

TEST(Vectors, RawLz4AndZstdGiveTheSameText) {
  std::string text = ptx() + std::string(3, '\0');
  for (int i = 0; i < 500; ++i) text.insert(text.size() - 3, "// a line that repeats itself\n");
  for (auto method : {EntrySpec::raw, EntrySpec::lz4, EntrySpec::zstd}) {
    std::string bytes = fatbin({{.payload = text, .method = method}});
    auto image = parse(bytes);
    ASSERT_TRUE(image.ok()) << image.error().what;
    EXPECT_EQ(image->form(), Form::fatbin);
    ASSERT_EQ(image->entries().size(), 1u);
    const Entry& entry = image->entries()[0];
    EXPECT_EQ(entry.kind, Kind::ptx);
    EXPECT_EQ(entry.sm, 80u);
    EXPECT_EQ(entry.ptx_major, 8);
    EXPECT_EQ(entry.compression != Compression::none, method != EntrySpec::raw);
    if (method != EntrySpec::raw) {
      EXPECT_LT(entry.stored_bytes, entry.size_bytes);
    }
    auto got = image->ptx_text(entry);
    ASSERT_TRUE(got.ok()) << got.error().what;
    EXPECT_EQ(*got, text.substr(0, text.size() - 3));  // line numbers kept, NULs gone
  }
}

TEST(Vectors, EveryFieldIsRead) {
  std::string bytes = fatbin({
      {.kind = 2, .sm = 90, .flags = 0x100013, .payload = test::cubin(), .name = "dir/a.cu"},
      {.kind = 8, .sm = 75, .payload = "lto"},
      {.kind = 1,
       .sm = 120,
       .flags = 0x200011,
       .payload = ptx("9.0", "sm_120f"),
       .name = "b.cu",
       .options = "--compile-only -x"},
      {.kind = 77, .sm = 1, .payload = "?"},
  });
  auto image = parse(bytes);
  ASSERT_TRUE(image.ok()) << image.error().what;
  const auto& e = image->entries();
  ASSERT_EQ(e.size(), 4u);
  EXPECT_EQ(e[0].kind, Kind::cubin);
  EXPECT_EQ(e[0].suffix, 'a');
  EXPECT_TRUE(e[0].debug);
  EXPECT_EQ(e[0].source_name, "dir/a.cu");
  EXPECT_FALSE(e[0].relocatable);
  EXPECT_EQ(e[0].ptx_major, 0);
  EXPECT_EQ(image->payload(e[0]).value(), test::cubin());
  EXPECT_EQ(e[1].kind, Kind::lto);
  EXPECT_EQ(e[2].suffix, 'f');
  EXPECT_EQ(e[2].source_name, "b.cu");
  EXPECT_EQ(e[2].options, "--compile-only -x");
  EXPECT_TRUE(e[2].relocatable);
  EXPECT_EQ(e[3].kind, Kind::other);
  EXPECT_EQ(e[3].kind_number, 77);
  EXPECT_EQ(image->ptx_text(e[0]).code(), Code::invalid_image);
  EXPECT_EQ(
      describe_architectures(*image),
      "sm_90a machine code, lto_75 LTO-IR, an entry of unknown kind 77, PTX for compute_120f");
}

TEST(Vectors, EmptyFatbinIsAnImageWithoutCode) {
  auto image = parse(fatbin({}));
  ASSERT_TRUE(image.ok());
  EXPECT_TRUE(image->entries().empty());
  EXPECT_EQ(describe_architectures(*image), "no code at all");
  EXPECT_EQ(choose_ptx(*image, 120).code(), Code::no_binary_for_gpu);
}

TEST(Vectors, PtxText) {
  for (const std::string& text :
       {ptx(),
        std::string("// comment\n/* another\n*/ .version 7.5 .target sm_75, texmode_independent\n"),
        std::string("\r\n\t .version 9.1\n.target sm_100a\n")}) {
    for (const char* end : {"", "\n", "\n\n"}) {
      std::string padded = text + end + std::string(2, '\0');
      auto image = parse(padded);
      ASSERT_TRUE(image.ok()) << image.error().what;
      EXPECT_EQ(image->form(), Form::ptx_text);
      EXPECT_EQ(image->ptx_text(image->entries()[0]).value(), text + end);
    }
  }
  auto image = parse("//\n.version 9.1\n// x\n.target sm_100a\n");
  EXPECT_EQ(image->entries()[0].sm, 100u);
  EXPECT_EQ(image->entries()[0].suffix, 'a');
  EXPECT_EQ(image->entries()[0].ptx_major, 9);
  EXPECT_EQ(image->entries()[0].ptx_minor, 1);
  // No .version: still text, which the PTX parser refuses with a line number.
  image = parse(".entry k() {}");
  ASSERT_TRUE(image.ok());
  EXPECT_EQ(image->entries()[0].sm, 0u);
  image = parse(std::string(".version 8.0\n\0.target sm_80\n", 28));
  ASSERT_TRUE(image.ok());
  EXPECT_EQ(image->ptx_text(image->entries()[0]).code(), Code::invalid_image);
}

TEST(Vectors, Cubin) {
  struct Case {
    uint32_t flags;
    uint8_t abi;
    uint32_t sm;
  };
  for (Case c : {Case{0x6005004, 8, 80}, Case{0x6007802, 8, 120}, Case{0x00500550, 7, 80},
                 Case{0x004b054b, 7, 75}}) {
    auto image = parse(test::cubin(c.flags, c.abi));
    ASSERT_TRUE(image.ok()) << image.error().what;
    EXPECT_EQ(image->form(), Form::cubin);
    EXPECT_EQ(image->entries()[0].sm, c.sm);
  }
  auto image = parse(test::cubin());
  EXPECT_EQ(describe_architectures(*image), "sm_80 machine code, no PTX");
  auto choice = choose_ptx(*image, 120);
  ASSERT_FALSE(choice.ok());
  EXPECT_EQ(choice.code(), Code::no_binary_for_gpu);
  EXPECT_NE(choice.error().what.find("sm_80 machine code, no PTX"), std::string::npos);
  expect_refusal(test::cubin(0, 8, 62), "machine 62, expected 190");
  expect_refusal(test::cubin().substr(0, 40), "cut off");
}

TEST(Vectors, Refusals) {
  expect_refusal("", "empty");
  expect_refusal("x", "begins with 0x00000078");
  expect_refusal("hello world", "expected PTX text, a fat binary (0xba55ed50)");
  expect_refusal("   \n", "expected PTX text");
  std::string wrapper(24, '\0');
  test::put<uint32_t>(wrapper, 0, 0x466243b1);
  expect_refusal(wrapper, "pointers mean nothing");
  std::string good = fatbin({{.payload = ptx()}});
  for (size_t size = 4; size < good.size(); ++size)
    EXPECT_EQ(parse(good.substr(0, size)).code(), Code::invalid_image) << size;
  auto with = [&](size_t at, auto value) {
    std::string bad = good;
    test::put(bad, at, value);
    return bad;
  };
  expect_refusal(with(4, uint16_t{2}), "version 2, expected 1");
  expect_refusal(with(6, uint16_t{8}), "header of 8 bytes");
  expect_refusal(with(6, uint16_t{0xffff}), "only");
  expect_refusal(with(8, uint64_t{0xffffffffffffffff}), "18446744073709551615 bytes of entries");
  expect_refusal(with(8, uint64_t{17}), "entry at offset 16 is cut off");
  expect_refusal(with(18, uint16_t{0x102}), "version 0x102");
  expect_refusal(with(20, uint32_t{63}), "header of 63 bytes, expected 64");
  expect_refusal(with(20, uint32_t{0xffffffff}), "header of 4294967295 bytes");
  expect_refusal(with(24, uint64_t{0xffffffffffffff00}), "payload of 18446744073709551360 bytes");
  expect_refusal(with(56, uint64_t{0xa000}), "as lz4 and as zstd");
  expect_refusal(with(56, uint64_t{0x8000}), "0 compressed bytes");
  expect_refusal(with(32, uint32_t{100000}), "100000 compressed bytes");
}

TEST(Vectors, UnknownCompressionIsNamedWhenItsTextIsAsked) {
  std::string bytes = fatbin({{.payload = ptx()}});
  test::put<uint32_t>(bytes, 32, 10);  // compressed, but neither flag
  auto image = parse(bytes);
  ASSERT_TRUE(image.ok());
  auto text = image->ptx_text(image->entries()[0]);
  ASSERT_FALSE(text.ok());
  EXPECT_EQ(text.code(), Code::not_supported);
  EXPECT_NE(text.error().what.find("flags 0x11"), std::string::npos) << text.error().what;
}

TEST(Vectors, NamesThatLeaveTheHeaderAreDropped) {
  std::string bytes = fatbin({{.payload = ptx(), .name = "a.cu", .options = "--compile-only"}});
  for (size_t at : {16 + 20, 16 + 32, 16 + 36}) {
    std::string bad = bytes;
    test::put<uint32_t>(bad, at, 0xfffffff0);
    auto image = parse(bad);
    ASSERT_TRUE(image.ok());
    EXPECT_TRUE(image->entries()[0].source_name.empty() || image->entries()[0].options.empty());
    EXPECT_TRUE(image->ptx_text(image->entries()[0]).ok());
  }
}

void expect_damaged(const EntrySpec& spec, const std::string& words,
                    Code code = Code::invalid_image) {
  std::string bytes = fatbin({spec});
  auto image = parse(bytes);
  ASSERT_TRUE(image.ok()) << image.error().what;
  auto text = image->ptx_text(image->entries()[0]);
  ASSERT_FALSE(text.ok());
  EXPECT_EQ(text.code(), code);
  EXPECT_NE(text.error().what.find(words), std::string::npos) << text.error().what;
}

TEST(Vectors, WrongSizesAfterDecompression) {
  for (auto method : {EntrySpec::lz4, EntrySpec::zstd}) {
    for (int64_t size : {int64_t{1}, int64_t{40}, int64_t{200}, int64_t{1} << 20})
      expect_damaged({.payload = ptx(), .method = method, .uncompressed_bytes = size}, "bytes");
    expect_damaged({.payload = ptx(), .method = method, .uncompressed_bytes = 0}, "expected 1 to");
    expect_damaged({.payload = ptx(), .method = method, .uncompressed_bytes = int64_t{1} << 40},
                   "expected 1 to");
    expect_damaged({.payload = ptx(), .method = method, .uncompressed_bytes = int64_t{1} << 29},
                   "cannot hold");
  }
  expect_damaged({.payload = "\x01\x02 no text at all"}, "does not begin like PTX",
                 Code::invalid_ptx);
}

}  // namespace
}  // namespace limen::fatbin
