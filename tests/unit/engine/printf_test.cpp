// Device printf: against the host's snprintf over random formats, and the packing of arguments.
#include "engine/printf.h"

#include <gtest/gtest.h>

#include <cstdarg>
#include <cstring>
#include <random>

#include "support.h"

namespace limen::engine::test {
namespace {

/// Packs as nvcc does: natural alignment.
class Packer {
 public:
  template <typename T>
  Packer& add(T value) {
    offset_ = (offset_ + sizeof(T) - 1) & ~(sizeof(T) - 1);
    std::memcpy(bytes_ + offset_, &value, sizeof(T));
    offset_ += sizeof(T);
    return *this;
  }
  const uint8_t* data() const { return bytes_; }

 private:
  alignas(16) uint8_t bytes_[512] = {};
  size_t offset_ = 0;
};

std::string format(const char* text, const Packer& packer, int32_t* count = nullptr) {
  std::string out;
  const int32_t result = format_printf(out, text, packer.data());
  if (count != nullptr) *count = result;
  return out;
}

TEST(Printf, MixedArgumentsAndCount) {
  Packer packer;
  packer.add<int32_t>(-5).add<double>(2.5).add<int32_t>('x').add<int64_t>(1LL << 40);
  const char* word = "word";
  packer.add<const char*>(word).add<uint32_t>(255);
  int32_t count = 0;
  EXPECT_EQ(format("%d|%f|%c|%lld|%s|%#x|%%|", packer, &count),
            "-5|2.500000|x|1099511627776|word|0xff|%|");
  EXPECT_EQ(count, 6);
}

TEST(Printf, EdgeCases) {
  int32_t count = -7;
  EXPECT_EQ(format("plain", Packer(), &count), "plain");
  EXPECT_EQ(count, 0);
  std::string out;
  EXPECT_EQ(format_printf(out, nullptr, nullptr), -1);
  EXPECT_EQ(format("", Packer(), &count), "");
  EXPECT_EQ(format("100%", Packer(), &count), "100%");
  EXPECT_EQ(format("%y %d", Packer().add<int32_t>(3), &count), "%y 3");
  EXPECT_EQ(count, 1);
  EXPECT_EQ(format("[%s]", Packer().add<const char*>(nullptr)), "[(null)]");
  EXPECT_EQ(format("[%p]", Packer().add<uint64_t>(0x1234)), "[0x1234]");
  EXPECT_EQ(format("[%*d|%-*d|%.*f]", Packer()
                                          .add<int32_t>(5)
                                          .add<int32_t>(42)
                                          .add<int32_t>(4)
                                          .add<int32_t>(7)
                                          .add<int32_t>(2)
                                          .add<double>(1.239)),
            "[   42|7   |1.24]");
  EXPECT_EQ(format("[%*d]", Packer().add<int32_t>(-4).add<int32_t>(7)), "[7   ]");
  EXPECT_EQ(
      format("[%.3s|%6.2s|%-4s]",
             Packer().add<const char*>("abcdef").add<const char*>("xyz").add<const char*>("q")),
      "[abc|    xy|q   ]");
  EXPECT_EQ(format("%hd %hhu %hu", Packer().add<int32_t>(70000).add<int32_t>(300).add<int32_t>(-1)),
            "4464 44 65535");
  EXPECT_EQ(format("%300d", Packer().add<int32_t>(1)).size(), 300u);
  EXPECT_EQ(format("%zu %jd %lu", Packer().add<uint64_t>(~0ull).add<int64_t>(-3).add<uint64_t>(4)),
            "18446744073709551615 -3 4");
}

TEST(Printf, AgreesWithTheHostsPrintf) {
  std::mt19937_64 random(7);
  const auto pick = [&](size_t n) { return static_cast<size_t>(random() % n); };
  for (int i = 0; i < 20000; ++i) {
    std::string spec = "%";
    const char flags[] = {'-', '+', ' ', '#', '0'};
    for (char flag : flags)
      if (pick(4) == 0) spec += flag;
    if (pick(2) == 0) spec += std::to_string(1 + pick(30));
    if (pick(2) == 0) spec += "." + (pick(5) == 0 ? "" : std::to_string(pick(20)));
    char host[512];
    Packer packer;
    const uint64_t bits = random() >> pick(60);
    const size_t kind = pick(4);
    if (kind == 0) {
      spec += "diuxXo"[pick(6)];
      packer.add(static_cast<int32_t>(bits));
      std::snprintf(host, sizeof host, spec.c_str(), static_cast<int32_t>(bits));
    } else if (kind == 1) {
      spec += pick(2) != 0 ? "ll" : "l";
      spec += "diuxXo"[pick(6)];
      packer.add(static_cast<int64_t>(bits));
      std::snprintf(host, sizeof host, spec.c_str(), static_cast<int64_t>(bits));
    } else if (kind == 2) {
      spec += "eEfFgGaA"[pick(8)];
      double value = static_cast<double>(static_cast<int64_t>(random())) /
                     static_cast<double>(1 + (random() >> pick(64)));
      if (pick(20) == 0) value = value < 0 ? -HUGE_VAL : NAN;
      packer.add(value);
      std::snprintf(host, sizeof host, spec.c_str(), value);
    } else {
      spec += 'c';
      const auto value = static_cast<int32_t>(33 + pick(90));
      packer.add(value);
      std::snprintf(host, sizeof host, spec.c_str(), value);
    }
    EXPECT_EQ(format(("<" + spec + ">").c_str(), packer), "<" + std::string(host) + ">") << spec;
  }
}

TEST(Printf, TextReachesTheDriverInOrder) {
  Pool pool({.threads = 1});
  auto code = region_code([](BlockContext* context) {
    const uint32_t args[] = {context->ctaid[0]};
    const int32_t count = context->launch->runtime->vprintf(
        context, reinterpret_cast<uint64_t>("block %u\n"), reinterpret_cast<uint64_t>(args));
    if (count != 1) __builtin_trap();
  });
  std::string text;
  auto spec = make_spec(code, 10000, 32);
  spec->print = [&](const char* data, size_t bytes) { text.append(data, bytes); };
  EXPECT_EQ(run(pool, std::move(spec)).kind, Fault::none);
  std::string expected;
  for (int i = 0; i < 10000; ++i) expected += "block " + std::to_string(i) + "\n";
  EXPECT_EQ(text, expected);
}

}  // namespace
}  // namespace limen::engine::test
