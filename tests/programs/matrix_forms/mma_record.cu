// Records what a device makes of every mma and wmma form, or compares two records.
//   mma_record out.bin [cases = 32] [part of a form's name]
//   mma_record --diff one.bin two.bin [words to show = 4]
// Inputs come from a fixed generator: same program, same inputs. Not a test: the H200's record is
// the golden, the same binary under Limen gives the other side.
#include "forms.h"

#include <algorithm>
#include <cstdlib>
#include <map>

static double magnitude(Rng& rng, int low, int high) {
  return (1.0 + rng.next() / 4294967296.0) * __builtin_ldexp(1, low + rng.below(high - low + 1));
}

static uint64_t special(Rng& rng, Type t) {
  const int w = bits_of(t);
  if (t == Type::e4m3) {
    const uint64_t v[] = {0x7f, 0x7e, 1, 0, 7, 8, 0x38};
    return v[rng.below(7)] | uint64_t(rng.below(2)) << 7;
  }
  const int mantissa = t == Type::f64    ? 52
                       : t == Type::f16  ? 10
                       : t == Type::bf16 ? 7
                       : t == Type::e5m2 ? 2
                                         : 23;
  const uint64_t inf = ((1ull << (w - 1)) - 1) >> mantissa << mantissa;
  const uint64_t v[] = {inf,
                        inf | 1ull << (mantissa - 1),
                        inf | 1,
                        inf - 1,
                        1,
                        0,
                        (1ull << mantissa) - 1,
                        1ull << mantissa,
                        (inf >> 1) >> mantissa << mantissa};
  return v[rng.below(9)] | uint64_t(rng.below(2)) << (w - 1);
}

// One element; `kind` is the case's theme.
static uint64_t element(Rng& rng, Type t, int kind, bool accumulator) {
  const int w = bits_of(t);
  const uint64_t mask = w == 64 ? ~0ull : (1ull << w) - 1;
  const uint64_t raw = (uint64_t(rng.next()) << 32 | rng.next()) & mask;
  if (t == Type::s32)
    return kind % 4 == 3 ? (rng.below(2) ? 0x7ffffff0u : 0x80000010u) + rng.below(32) : raw;
  if (t == Type::s8 || t == Type::u8 || t == Type::s4 || t == Type::u4 || t == Type::b1)
    return kind % 4 == 1 ? (rng.below(2) ? mask : mask >> 1) : raw;
  const int range = t == Type::f16 || t == Type::e5m2 ? 14
                    : t == Type::e4m3                 ? 6
                    : t == Type::f64                  ? 1000
                                                      : 120;
  const double sign = rng.below(2) ? -1 : 1;
  switch (kind) {
    case 0:
      return encode(t, sign * magnitude(rng, -2, 1));
    case 1:
      return encode(t, sign * magnitude(rng, -std::min(range, 8), std::min(range, 8)));
    case 2:
      return encode(
          t, sign * magnitude(rng, -range / (accumulator ? 1 : 2), range / (accumulator ? 1 : 2)));
    case 3:
      return raw;
    case 4:
      return rng.below(6) ? encode(t, sign * magnitude(rng, -2, 2)) : special(rng, t);
    case 5:  // one huge, the rest small: what is cut
      return encode(t, sign * magnitude(rng, rng.below(8) ? -6 : 5, rng.below(8) ? -3 : 6));
    case 6:  // zeros beside large and small factors
      return rng.below(2) ? uint64_t(sign < 0) << (w - 1)
                          : encode(t, sign * magnitude(rng, rng.below(2) ? range / 2 : -range / 2,
                                                       range / 2));
    default:  // subnormal and nearly so
      return rng.below(3) ? (raw & ((1ull << (t == Type::f64    ? 52
                                              : t == Type::f16  ? 10
                                              : t == Type::bf16 ? 7
                                              : t == Type::e4m3 ? 3
                                              : t == Type::e5m2 ? 2
                                                                : 23)) -
                                    1)) |
                                uint64_t(sign < 0) << (w - 1)
                          : encode(t, sign * magnitude(rng, -range, -range + 2));
  }
}

static std::vector<uint8_t> fill(Rng& rng, Type t, size_t bytes_a_case, int cases,
                                 bool accumulator) {
  std::vector<uint8_t> out(bytes_a_case * cases);
  const int w = bits_of(t);
  for (int i = 0; i < cases; ++i)
    for (size_t at = 0; at < bytes_a_case * 8; at += w) {
      const uint64_t v =
          element(rng, t, (accumulator && i >= 8 && i % 3 == 0) ? 0 : i % 8, accumulator);
      uint8_t* p = &out[i * bytes_a_case + at / 8];
      if (w >= 8)
        memcpy(p, &v, w / 8);
      else
        *p = uint8_t(*p | v << (at % 8));
    }
  return out;
}

static std::map<std::string, std::vector<uint8_t>> read_record(const char* path) {
  std::map<std::string, std::vector<uint8_t>> out;
  FILE* f = fopen(path, "rb");
  if (!f) printf("cannot read %s\n", path), exit(1);
  uint32_t sizes[2];
  while (fread(sizes, 4, 2, f) == 2) {
    std::string title(sizes[0], ' ');
    std::vector<uint8_t> data(sizes[1]);
    if (fread(title.data(), 1, sizes[0], f) != sizes[0] ||
        fread(data.data(), 1, sizes[1], f) != sizes[1])
      break;
    out[title] = data;
  }
  fclose(f);
  return out;
}

static int diff(const char* one, const char* two, int show) {
  auto x = read_record(one), y = read_record(two);
  int bad = 0;
  for (const Form& f : all_forms()) {
    const std::string title = f.title();
    if (!x.count(title) || !y.count(title)) {
      if (x.count(title) || y.count(title)) printf("only in one: %s\n", title.c_str()), ++bad;
      continue;
    }
    const auto &p = x[title], &q = y[title];
    const size_t w = f.d == Type::f64 ? 8 : f.d == Type::f16 ? 2 : 4;
    size_t wrong = 0;
    std::map<size_t, size_t> by_theme;
    std::string first;
    for (size_t at = 0; at + w <= std::min(p.size(), q.size()); at += w) {
      if (!memcmp(&p[at], &q[at], w)) continue;
      const size_t which = at / f.bytes_d();
      ++by_theme[which % 8];
      if (int(wrong++) < show) {
        uint64_t u = 0, v = 0;
        memcpy(&u, &p[at], w), memcpy(&v, &q[at], w);
        char text[120];
        snprintf(text, sizeof text, "    case %zu byte %zu: %llx %llx\n", which, at % f.bytes_d(),
                 (unsigned long long)u, (unsigned long long)v);
        first += text;
      }
    }
    if (!wrong) continue;
    ++bad;
    printf("%s: %zu of %zu differ; by theme", title.c_str(), wrong, p.size() / w);
    for (auto [theme, count] : by_theme) printf(" %zu:%zu", theme, count);
    printf("\n%s", first.c_str());
  }
  printf("%d forms differ\n", bad);
  return bad != 0;
}

int main(int argc, char** argv) {
  if (argc > 3 && !strcmp(argv[1], "--diff"))
    return diff(argv[2], argv[3], argc > 4 ? atoi(argv[4]) : 4);
  if (argc < 2)
    return printf("usage: %s out.bin [cases] [filter] | --diff one two [show]\n", argv[0]), 2;
  const int cases = argc > 2 ? atoi(argv[2]) : 32;
  FILE* out = fopen(argv[1], "wb");
  if (!out) return printf("cannot write %s\n", argv[1]), 1;
  Runner runner;
  int done = 0, refused = 0;
  for (const Form& f : all_forms()) {
    const std::string title = f.title();
    uint64_t seed = 1469598103934665603ull;
    for (char ch : title) seed = (seed ^ uint8_t(ch)) * 1099511628211ull;
    if (argc > 3 && title.find(argv[3]) == std::string::npos) continue;
    Rng rng{seed | 1};
    auto a = fill(rng, f.a, f.bytes_a(), cases, false),
         b = fill(rng, f.b, f.bytes_b(), cases, false),
         c = fill(rng, f.c, f.bytes_c(), cases, true);
    std::vector<uint8_t> e(size_t(cases) * 128), d;
    for (size_t i = 0; i < e.size(); i += 4) {
      const uint32_t v = metadata(rng, f.a);
      memcpy(&e[i], &v, 4);
    }
    std::string why = runner.run(f, cases, a, b, c, e, d);
    if (!why.empty()) {
      printf("%s: %s\n", title.c_str(), why.c_str());
      ++refused;
      if (cudaGetLastError() != cudaSuccess && cudaDeviceSynchronize() != cudaSuccess) return 1;
      continue;
    }
    const uint32_t sizes[] = {uint32_t(title.size()), uint32_t(d.size())};
    fwrite(sizes, 4, 2, out), fwrite(title.data(), 1, title.size(), out),
        fwrite(d.data(), 1, d.size(), out);
    ++done;
  }
  fclose(out);
  printf("%d forms recorded, %d refused\n", done, refused);
  return refused != 0;
}
