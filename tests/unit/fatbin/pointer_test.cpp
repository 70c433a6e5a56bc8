// Pointers as a program passes them: wrappers of both versions, text and cubins of unknown extent,
// and memory that is not there. Nothing may crash.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <memory>

#include "build.h"
#include "compiler/fatbin/fatbin.h"
#include "compiler/fatbin/source.h"

namespace limen::fatbin {
namespace {

using test::fatbin;
using test::ptx;

struct Wrapper {
  uint32_t magic = 0x466243b1;
  uint32_t version = 1;
  const void* data = nullptr;
  const void* aux = nullptr;
};

/// Pages whose last byte is followed by memory that cannot be read.
class AtEnd {
 public:
  explicit AtEnd(const std::string& bytes) : bytes_((bytes.size() + 4095) / 4096 * 4096 + 4096) {
    base_ = static_cast<char*>(
        mmap(nullptr, bytes_ + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    mprotect(base_ + bytes_, 4096, PROT_NONE);
    at_ = base_ + bytes_ - bytes.size();
    std::memcpy(at_, bytes.data(), bytes.size());
  }
  ~AtEnd() { munmap(base_, bytes_ + 4096); }
  const char* get() const { return at_; }

 private:
  size_t bytes_;
  char *base_, *at_;
};

TEST(Pointer, WrapperVersion1) {
  std::string bytes = fatbin({{.payload = ptx()}});
  Wrapper wrapper{.data = bytes.data(), .aux = reinterpret_cast<void*>(8)};
  auto image = parse_pointer(&wrapper);
  ASSERT_TRUE(image.ok()) << image.error().what;
  EXPECT_EQ(image->form(), Form::wrapper_v1);
  EXPECT_EQ(image->ptx_text(image->entries()[0]).value(), ptx());
}

TEST(Pointer, WrapperVersion2) {
  std::string linked = fatbin({{.kind = 2, .sm = 75, .payload = test::cubin()}});
  std::string a = fatbin(
      {{.kind = 2, .payload = test::cubin()}, {.payload = ptx(), .options = "--compile-only"}});
  std::string b = fatbin({{.payload = ptx("7.0", "sm_70"), .method = test::EntrySpec::zstd}});
  const void* parts[] = {a.data(), b.data(), nullptr};
  Wrapper wrapper{.version = 2, .data = linked.data(), .aux = parts};
  auto image = parse_pointer(&wrapper);
  ASSERT_TRUE(image.ok()) << image.error().what;
  EXPECT_EQ(image->form(), Form::wrapper_v2);
  EXPECT_EQ(image->containers(), 3u);
  ASSERT_EQ(image->entries().size(), 4u);
  EXPECT_EQ(image->entries()[2].container, 1u);
  EXPECT_EQ(image->ptx_text(image->entries()[3]).value(), ptx("7.0", "sm_70"));
  auto choice = choose_ptx(*image, 120);
  ASSERT_TRUE(choice.ok());
  EXPECT_EQ(choice->entries, (std::vector<uint32_t>{2, 3}));
  wrapper.aux = nullptr;
  EXPECT_EQ(parse_pointer(&wrapper)->containers(), 1u);
}

TEST(Pointer, BadWrappers) {
  std::string bytes = fatbin({{.payload = ptx()}});
  auto refused = [](const Wrapper& wrapper, const std::string& words) {
    auto image = parse_pointer(&wrapper);
    ASSERT_FALSE(image.ok());
    EXPECT_EQ(image.code(), Code::invalid_image);
    EXPECT_NE(image.error().what.find(words), std::string::npos) << image.error().what;
  };
  refused({.version = 3, .data = bytes.data()}, "version 3, expected 1 or 2");
  refused({.data = nullptr}, "fat binary at 0x0 is cut off");
  refused({.data = bytes.data() + 8}, "no fat binary at");
  refused({.version = 2, .data = bytes.data(), .aux = reinterpret_cast<void*>(0x10)},
          "list of relocatable fat binaries at 0x10 cannot be read at index 0");
  const void* parts[] = {bytes.data(), reinterpret_cast<void*>(0xdead000), nullptr};
  refused({.version = 2, .data = bytes.data(), .aux = parts}, "fat binary at 0xdead000 is cut off");
}

TEST(Pointer, EverythingMayEndAtUnreadableMemory) {
  for (const std::string& bytes :
       {fatbin({{.payload = ptx()}}), fatbin({{.payload = ptx(), .method = test::EntrySpec::lz4}}),
        fatbin({}), test::cubin(), ptx() + '\0', ptx() + std::string(70000, '/') + '\0'}) {
    AtEnd memory(bytes);
    auto image = parse_pointer(memory.get());
    ASSERT_TRUE(image.ok()) << image.error().what;
    for (const Entry& entry : image->entries()) EXPECT_TRUE(image->payload(entry).ok());
  }
  Wrapper wrapper;
  std::string bytes = fatbin({});
  wrapper.data = bytes.data();
  AtEnd short_wrapper(std::string(reinterpret_cast<const char*>(&wrapper), 16));
  EXPECT_TRUE(parse_pointer(short_wrapper.get()).ok());  // aux is not part of version 1
}

TEST(Pointer, CutOffMemoryIsAnError) {
  for (const std::string& bytes : {fatbin({{.payload = ptx(), .name = "name.cu"}}), test::cubin(),
                                   ptx() + '\0', std::string(".")})
    for (size_t size = 1; size < bytes.size(); ++size) {
      AtEnd memory(bytes.substr(0, size));
      auto image = parse_pointer(memory.get());
      if (!image.ok()) {
        EXPECT_EQ(image.code(), Code::invalid_image);
        continue;
      }
      // The headers were whole: then it is the payload that ends early.
      for (const Entry& entry : image->entries())
        EXPECT_EQ(image->payload(entry).code(), Code::invalid_image) << size;
    }
}

TEST(Pointer, WildPointers) {
  EXPECT_EQ(parse_pointer(nullptr).code(), Code::invalid_value);
  for (uint64_t address :
       {uint64_t{1}, uint64_t{8}, uint64_t{0xdeadbeef}, uint64_t{0x7fffffffffff},
        uint64_t{0x800000000000}, uint64_t{0xffff800000000000}, UINT64_MAX - 3, UINT64_MAX}) {
    auto image = parse_pointer(reinterpret_cast<const void*>(address));
    ASSERT_FALSE(image.ok()) << address;
    EXPECT_EQ(image.code(), Code::invalid_image);
  }
  void* hidden = mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  EXPECT_EQ(parse_pointer(hidden).code(), Code::invalid_image);
  munmap(hidden, 4096);
  EXPECT_EQ(parse_pointer(hidden).code(), Code::invalid_image);
  int zero = 0;
  EXPECT_EQ(parse_pointer(&zero).code(), Code::invalid_image);
}

TEST(Pointer, StatedSizeFarBeyondMemory) {
  std::string bytes = fatbin({{.payload = ptx()}});
  test::put<uint64_t>(bytes, 8, uint64_t{1} << 50);
  test::put<uint64_t>(bytes, 24, (uint64_t{1} << 50) - 64);
  AtEnd memory(bytes);
  auto image = parse_pointer(memory.get());
  ASSERT_TRUE(image.ok()) << image.error().what;
  EXPECT_EQ(image->ptx_text(image->entries()[0]).code(), Code::invalid_image);
}

TEST(Pointer, PipesReadWhatTheSystemCallReads) {
  auto direct = process_memory(), piped = process_memory_through_pipe();
  AtEnd memory(std::string(10000, 'x'));
  for (auto* reader : {&direct, &piped}) {
    std::string got(10000, '\0');
    EXPECT_TRUE((*reader)->read(reinterpret_cast<uint64_t>(memory.get()), got.data(), got.size()));
    EXPECT_EQ(got, std::string(10000, 'x'));
    got.resize(20000);
    EXPECT_FALSE((*reader)->read(reinterpret_cast<uint64_t>(memory.get()), got.data(), 10001));
    EXPECT_EQ((*reader)->read_some(reinterpret_cast<uint64_t>(memory.get()), got.data(), 20000),
              10000u);
    EXPECT_EQ((*reader)->read_some(UINT64_MAX - 2, got.data(), 20000), 0u);
  }
}

}  // namespace
}  // namespace limen::fatbin
