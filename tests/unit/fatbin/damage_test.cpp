// Damaged fat binaries: with any bytes changed, parsing and decompressing end in a value or an
// error. The seed is in the message; the fuzzer (fuzz/fatbin) goes on from here.
#include <gtest/gtest.h>

#include <random>

#include "build.h"
#include "compiler/fatbin/fatbin.h"

namespace limen::fatbin {
namespace {

void use_all(const Image& image) {
  for (const Entry& entry : image.entries()) {
    auto text = image.ptx_text(entry);
    EXPECT_TRUE(text.ok() || !text.error().what.empty());
    auto payload = image.payload(entry);
    EXPECT_TRUE(!payload.ok() || payload->size() <= max_payload_bytes);
  }
  describe_architectures(image);
  auto choice = choose_ptx(image, 120);
  if (!choice.ok()) return;
  for (uint32_t index : choice->entries) ASSERT_LT(index, image.entries().size());
}

TEST(Damage, ChangedBytes) {
  std::string text = test::ptx();
  for (int i = 0; i < 20; ++i) text += "// more text, so that there is something to compress\n";
  const std::string good = test::fatbin({
      {.payload = text,
       .method = test::EntrySpec::lz4,
       .name = "a.cu",
       .options = "--compile-only"},
      {.kind = 2, .payload = test::cubin()},
      {.payload = text, .method = test::EntrySpec::zstd},
      {.payload = text},
  });
  const std::string elf = test::cubin();
  for (unsigned seed = 0; seed < 30000; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    std::string bad = seed % 8 == 0 ? elf : good;
    for (unsigned i = 0, n = 1 + random() % 6; i < n; ++i)
      bad[random() % bad.size()] = static_cast<char>(random());
    if (random() % 4 == 0) bad.resize(random() % bad.size());
    auto image = parse_memory(bad.data(), bad.size());
    if (image.ok()) use_all(*image);
    // The same bytes behind a pointer: extents are unknown then, and must still be found safely.
    auto pointed = parse_pointer(bad.c_str());
    if (pointed.ok()) use_all(*pointed);
    if (HasFatalFailure()) return;
  }
}

TEST(Damage, Noise) {
  for (unsigned seed = 0; seed < 3000; ++seed) {
    std::mt19937 random(seed);
    std::string bytes(random() % 300, '\0');
    for (char& c : bytes) c = static_cast<char>(random());
    if (bytes.size() > 16 && seed % 2) test::put<uint32_t>(bytes, 0, 0xba55ed50);
    auto image = parse_memory(bytes.data(), bytes.size());
    if (image.ok()) use_all(*image);
    std::vector<uint8_t> file(bytes.begin(), bytes.end());
    auto found = scan_elf_bytes(file);
    EXPECT_TRUE(!found.ok() || found->size() <= bytes.size());
  }
}

}  // namespace
}  // namespace limen::fatbin
