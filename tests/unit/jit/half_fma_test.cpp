// fma of f16 and pairs of them against integers: a sum of 2^-48s is exact, and rounded once. Random
// bits, and operands chosen so that sums fall on and beside the middle between two halves, among
// the subnormals, at the largest number and where they cancel.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <bit>
#include <random>

#include "runner.h"

namespace limen::test {
namespace {

constexpr uint32_t threads = 256, blocks = 256;
constexpr uint16_t canonical_nan = 0x7fff;

struct Form {
  const char* mods;
  bool ftz = false, sat = false, relu = false;
};

bool is_nan(uint16_t h) { return (h & 0x7fff) > 0x7c00; }
bool is_infinite(uint16_t h) { return (h & 0x7fff) == 0x7c00; }
bool is_negative(uint16_t h) { return h >> 15; }

/// A finite half as a number of 2^-24s.
int64_t units(uint16_t h) {
  const int64_t exponent = h >> 10 & 31, fraction = h & 0x3ff;
  const int64_t size = exponent == 0 ? fraction : (fraction | 0x400) << (exponent - 1);
  return is_negative(h) ? -size : size;
}

uint16_t flushed(uint16_t h) { return h & 0x7c00 ? h : h & 0x8000; }

uint16_t rounded(__int128 sum, bool negative_zero, bool ftz) {
  if (sum == 0) return negative_zero ? 0x8000 : 0;
  const uint16_t sign = sum < 0 ? 0x8000 : 0;
  const auto size = static_cast<unsigned __int128>(sum < 0 ? -sum : sum);
  int length = 0;
  while (size >> length) ++length;
  if (ftz && length < 35)
    return sign;  // below 2^-14, before it is rounded (measured H200, driver 580.159.04)
  const int cut = std::max(length - 11, 24);
  auto kept = static_cast<uint32_t>(size >> cut);
  const unsigned __int128 rest = size & ((static_cast<unsigned __int128>(1) << cut) - 1);
  const unsigned __int128 half = static_cast<unsigned __int128>(1) << (cut - 1);
  if (rest > half || (rest == half && kept & 1)) ++kept;
  const uint32_t bits = cut == 24 ? kept : (static_cast<uint32_t>(cut - 23) << 10) + kept - 0x400;
  return static_cast<uint16_t>(sign | std::min<uint32_t>(bits, 0x7c00));
}

uint16_t expected(uint16_t a, uint16_t b, uint16_t c, const Form& form) {
  if (form.ftz) a = flushed(a), b = flushed(b), c = flushed(c);
  const bool negative = is_negative(a) != is_negative(b);
  const bool infinite = is_infinite(a) || is_infinite(b);
  uint16_t r;
  if (is_nan(a) || is_nan(b) || is_nan(c) || (infinite && (!(a & 0x7fff) || !(b & 0x7fff))) ||
      (infinite && is_infinite(c) && is_negative(c) != negative))
    r = canonical_nan;
  else if (infinite)
    r = negative ? 0xfc00 : 0x7c00;
  else if (is_infinite(c))
    r = c;
  else
    r = rounded(
        static_cast<__int128>(units(a)) * units(b) + (static_cast<__int128>(units(c)) << 24),
        negative && is_negative(c) && (units(a) == 0 || units(b) == 0), form.ftz);
  if (form.sat) return is_nan(r) || is_negative(r) ? 0 : std::min<uint16_t>(r, 0x3c00);
  if (form.relu && !is_nan(r) && is_negative(r)) return 0;
  return r;
}

class Operands {
 public:
  explicit Operands(uint64_t seed) : random_(seed) {}

  void next(uint16_t& a, uint16_t& b, uint16_t& c) {
    a = any(), b = any(), c = any();
    switch (below(6)) {
      case 0:
      case 1:  // beside or on half of c's last place
        c = static_cast<uint16_t>(c % 0x7c00 | (c & 0x8000));
        product(a, b, std::max(c >> 10 & 31, 1) - 26);
        break;
      case 2:  // among the subnormals
        c &= 0x87ff;
        product(a, b, -25 + static_cast<int>(below(3)));
        break;
      case 3:  // at the largest number
        c = static_cast<uint16_t>(0x7bf0 + below(16) + (c & 0x8000));
        product(a, b, 3 + static_cast<int>(below(3)));
        break;
      case 4: {  // the sum cancels, or nearly
        const uint16_t p = expected(a, b, 0x8000, {""});
        c = static_cast<uint16_t>((p ^ 0x8000) + below(3) - 1);
        break;
      }
      default:
        break;
    }
  }

 private:
  uint32_t below(uint32_t n) { return static_cast<uint32_t>(random_() % n); }
  uint16_t any() { return static_cast<uint16_t>(random_()); }

  /// a * b of about 2^exponent.
  void product(uint16_t& a, uint16_t& b, int exponent) {
    const int low = std::max(-14, exponent - 15), high = std::min(15, exponent + 14);
    const int first = low + static_cast<int>(below(static_cast<uint32_t>(high - low + 1)));
    auto half = [&](int e) {
      constexpr uint32_t beside[] = {0, 0, 1, 2, 1023, 512};
      const uint32_t fraction = below(3) ? beside[below(6)] : below(1024);
      return static_cast<uint16_t>(below(2) << 15 | static_cast<uint32_t>(e + 15) << 10 | fraction);
    };
    a = half(first);
    b = half(exponent - first);
  }

  std::mt19937_64 random_;
};

Job job_for(const std::string& instruction) {
  Job job;
  job.grid[0] = blocks;
  job.block[0] = threads;
  job.out_words = size_t{threads} * blocks;
  job.ptx = fmt::format(
      ".version 8.0\n.target sm_80\n.address_size 64\n"
      ".visible .entry k(.param .u64 in, .param .u64 out, .param .u32 n)\n{{\n"
      ".reg .u64 %from, %to;\n.reg .u32 %me, %b, %t;\n.reg .b32 %x, %y, %z, %r;\n"
      ".reg .b16 %h<8>;\n"
      "ld.param.u64 %from, [in];\nld.param.u64 %to, [out];\nmov.u32 %b, %ctaid.x;\n"
      "mov.u32 %t, %tid.x;\nmad.lo.u32 %me, %b, {}, %t;\nmad.wide.u32 %from, %me, 12, %from;\n"
      "mad.wide.u32 %to, %me, 4, %to;\nld.global.b32 %x, [%from];\nld.global.b32 %y, [%from+4];\n"
      "ld.global.b32 %z, [%from+8];\n{}\nst.global.b32 [%to], %r;\nret;\n}}\n",
      threads, instruction);
  return job;
}

std::string pair(const Form& f) { return fmt::format("fma.rn{}.f16x2 %r, %x, %y, %z;", f.mods); }

std::string single(const Form& f) {
  return fmt::format(
      "mov.b32 {{%h0, %h1}}, %x;\nmov.b32 {{%h2, %h3}}, %y;\nmov.b32 {{%h4, %h5}}, %z;\n"
      "fma.rn{0}.f16 %h6, %h0, %h2, %h4;\nfma.rn{0}.f16 %h7, %h1, %h3, %h5;\n"
      "mov.b32 %r, {{%h6, %h7}};",
      f.mods);
}

constexpr Form forms[] = {{""},
                          {".ftz", true},
                          {".sat", false, true},
                          {".ftz.sat", true, true},
                          {".relu", false, false, true},
                          {".ftz.relu", true, false, true}};

TEST(HalfFma, EverySumIsRoundedOnce) {
  uint64_t seed = 0;
  for (const Form& form : forms)
    for (bool packed : {true, false}) {
      Job job = job_for(packed ? pair(form) : single(form));
      Operands operands(++seed);
      std::vector<uint16_t> halves(size_t{6} * threads * blocks);
      for (size_t t = 0; t < job.out_words; ++t)
        for (size_t i = 0; i < 2; ++i) {
          uint16_t* h = &halves[6 * t + i];
          operands.next(h[0], h[2], h[4]);
        }
      job.in.resize(halves.size() / 2);
      std::memcpy(job.in.data(), halves.data(), 2 * halves.size());
      const Outcome got = run(job);
      ASSERT_TRUE(got.ran) << got.error;
      for (size_t t = 0; t < job.out_words; ++t)
        for (size_t i = 0; i < 2; ++i) {
          const uint16_t* h = &halves[6 * t + i];
          const auto is = static_cast<uint16_t>(got.out[t] >> (16 * i));
          ASSERT_EQ(is, expected(h[0], h[2], h[4], form)) << fmt::format(
              "fma.rn{} {:04x} {:04x} {:04x}, seed {}", form.mods, h[0], h[2], h[4], seed);
        }
    }
}

TEST(HalfFma, NothingIsWidenedToDouble) {
  Job job = job_for(pair({""}));
  job.in.resize(size_t{3} * threads * blocks);
  const std::string code = code_of(job);
  EXPECT_EQ(code.find("double"), std::string::npos) << code;
  EXPECT_NE(code.find("x half>"), std::string::npos) << code;
}

}  // namespace
}  // namespace limen::test
