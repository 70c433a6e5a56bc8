// Every form of mma.sync and wmma.mma against sums computed on the host, with values whose sums are
// exact in the accumulator: what lane holds what, by the layouts of the PTX manual, signs, packing,
// sparsity and its selectors, saturation, strides and both orders in memory.
#include <cuda.h>
#include <cuda_runtime.h>

#include <map>

#include "check.h"
#include "forms.h"

using Matrix = std::vector<double>;

static bool is_integer(Type t) {
  return t == Type::s8 || t == Type::u8 || t == Type::s4 || t == Type::u4 || t == Type::b1;
}

static uint64_t to_bits(Type t, double v) {
  if (is_integer(t) || t == Type::s32)
    return uint64_t(int64_t(v)) & (t == Type::s32 ? 0xffffffffull : (1ull << bits_of(t)) - 1);
  return encode(t, v);
}

static double from_bits(Type t, uint64_t u) {
  double d;
  if (t == Type::f64) return memcpy(&d, &u, 8), d;
  if (t == Type::s32) return double(int32_t(u));
  if (t == Type::f32) {
    float f;
    uint32_t w = uint32_t(u);
    return memcpy(&f, &w, 4), f;
  }
  const int e = int(u >> 10 & 31);
  d = e ? __builtin_ldexp(double((u & 1023) | 1024), e - 25)
        : __builtin_ldexp(double(u & 1023), -24);
  return u >> 15 ? -d : d;
}

static void put(uint8_t* p, size_t bit, Type t, uint64_t v) {
  if (bits_of(t) >= 8)
    memcpy(p + bit / 8, &v, bits_of(t) / 8);
  else
    p[bit / 8] = uint8_t(p[bit / 8] | v << (bit % 8));
}

static uint64_t get(const uint8_t* p, size_t bit, Type t) {
  uint64_t v = 0;
  memcpy(&v, p + bit / 8, bits_of(t) / 8);
  return v;
}

// Bit of the element in the words [register][lane].
static size_t place(const Form& f, Type t, int lane, int element) {
  const int word = f.word(t) * 8, each = word / bits_of(t);
  return size_t((element / each) * 32 + lane) * word + size_t(element % each) * bits_of(t);
}

static size_t place_a(const Form& f, int q, int row, int k) {
  if (f.quads()) {
    const int lane = (f.a_col ? k : row % 4) + 4 * q + 16 * (row / 4);
    return place(f, f.a, lane, f.a_col ? row % 4 : k);
  }
  const int each = f.word(f.a) * 8 / bits_of(f.a), t = k / each % 4;
  const int reg = f.m == 8 ? k / (4 * each) : 2 * (k / (4 * each)) + row / 8;
  return place(f, f.a, row % 8 * 4 + t, reg * each + k % each);
}

static size_t place_b(const Form& f, int q, int k, int column) {
  if (f.quads()) {
    const int lane = (f.b_row ? k : column % 4) + 4 * q + 16 * (column / 4);
    return place(f, f.b, lane, f.b_row ? column % 4 : k);
  }
  const int each = f.word(f.b) * 8 / bits_of(f.b);
  return place(f, f.b, column * 4 + k / each % 4, k / (4 * each) * each + k % each);
}

static size_t place_c(const Form& f, Type t, int q, int row, int column) {
  if (f.quads()) {
    const int base = 4 * q + 16 * (row / 4);
    if (t == Type::f16) return place(f, t, base + row % 4, column);
    return place(f, t, base + (row & 1) + (column & 2), (column & 4) + (row & 2) + (column & 1));
  }
  return place(f, t, row % 8 * 4 + column / 2, row / 8 * 2 + column % 2);
}

// k of each kept element, from the metadata words of the lanes that the selector names.
static int kept_place(const Form& f, const uint32_t* words, int row, int kept) {
  const int w = bits_of(f.a), g = row % 8, upper = row / 8;
  const int bit = w == 32 ? kept * 4 : w == 4 ? kept / 2 * 2 : kept * 2;
  int lane, shift;
  if (w >= 16) {
    const bool one_lane = f.k * w == 256;
    lane = g * 4 + (one_lane ? f.selector : 2 * f.selector + bit / 16);
    shift = bit % 16 + 16 * upper;
  } else {
    const bool two_lanes = f.k * w == 256;
    lane = g * 4 + (two_lanes ? 2 * f.selector : bit / 32 * 2) + upper;
    shift = bit % 32;
  }
  const uint32_t v = words[lane] >> shift;
  if (w == 32) return kept * 2 + ((v & 15) == 14);
  if (w == 4) return kept / 4 * 8 + int(v & 3) * 2 + kept % 2;
  return kept / 2 * 4 + int(v & 3);
}

struct Case {
  Matrix a, b, c, want;
};

static double value(Rng& rng, Type t) {
  switch (t) {
    case Type::b1:
      return rng.below(2);
    case Type::u4:
      return rng.below(16);
    case Type::s4:
      return rng.below(16) - 8;
    case Type::u8:
      return rng.below(256);
    case Type::s8:
      return rng.below(256) - 128;
    default:
      return rng.below(9) - 4;
  }
}

static Case make_case(const Form& f, Rng& rng, const uint32_t* words, int number) {
  Case x{Matrix(f.m * f.kept()), Matrix(f.k * f.n), Matrix(f.m * f.n), Matrix(f.m * f.n)};
  for (double& v : x.a) v = value(rng, f.a);
  for (double& v : x.b) v = value(rng, f.b);
  for (double& v : x.c)
    v = f.c != Type::s32 ? rng.below(401) - 200
        : number == 0
            ? rng.below(2001) - 1000
            : (rng.below(2) ? 2147483647.0 - rng.below(3000) : -2147483648.0 + rng.below(3000));
  for (int i = 0; i < f.m; ++i)
    for (int j = 0; j < f.n; ++j) {
      double sum = 0;
      for (int kk = 0; kk < f.kept(); ++kk) {
        const int k = f.sparse ? kept_place(f, words, i, kk) : kk;
        const double a = x.a[i * f.kept() + kk], b = x.b[k * f.n + j];
        sum += !strcmp(f.bit_op, "xor") ? a != b : a * b;
      }
      double d = x.c[i * f.n + j] + sum;
      if (f.d == Type::s32) {
        if (f.satfinite) d = std::fmin(2147483647.0, std::fmax(-2147483648.0, d));
        d = double(int32_t(uint32_t(int64_t(d))));
      }
      x.want[i * f.n + j] = d;
    }
  return x;
}

// Runs the form over `cases` cases. Gives "" or what went wrong. The driver is used through the
// runtime's entry points, so that nothing but cudart is linked.
class Runner {
 public:
  Runner() {
    cudaFree(nullptr);
    get(load_, "cuModuleLoadDataEx");
    get(function_, "cuModuleGetFunction");
    get(launch_, "cuLaunchKernel");
    get(unload_, "cuModuleUnload");
  }
  std::string run(const Form& f, int cases, const std::vector<uint8_t>& a,
                  const std::vector<uint8_t>& b, const std::vector<uint8_t>& c,
                  const std::vector<uint8_t>& e, std::vector<uint8_t>& d) {
    CUmodule module;
    CUfunction function;
    const std::string ptx = ptx_of(f, cases);
    char log[2000] = "";
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void* values[] = {log, reinterpret_cast<void*>(sizeof log)};
    if (CUresult r = load_(&module, ptx.c_str(), 2, options, values))
      return "load " + std::to_string(r) + " " + log;
    if (CUresult r = function_(&function, module, "k")) return "function " + std::to_string(r);
    std::vector<uint8_t> in;
    for (const auto* part : {&a, &b, &c, &e}) in.insert(in.end(), part->begin(), part->end());
    uint8_t *p, *q;
    d.assign(f.bytes_d() * cases, 0xee);
    cudaMalloc(&p, in.size());
    cudaMalloc(&q, d.size());
    cudaMemcpy(p, in.data(), in.size(), cudaMemcpyHostToDevice);
    cudaMemcpy(q, d.data(), d.size(), cudaMemcpyHostToDevice);
    void* arguments[] = {&p, &q};
    CUresult r = launch_(function, unsigned(cases), 1, 1, 32, 1, 1, 0, nullptr, arguments, nullptr);
    if (r) return "launch " + std::to_string(r);
    if (cudaError_t x = cudaDeviceSynchronize()) return cudaGetErrorString(x);
    cudaMemcpy(d.data(), q, d.size(), cudaMemcpyDeviceToHost);
    cudaFree(p);
    cudaFree(q);
    unload_(module);
    return "";
  }

 private:
  template <typename F>
  void get(F& f, const char* symbol) {
    cudaDriverEntryPointQueryResult found;
    cudaGetDriverEntryPointByVersion(symbol, reinterpret_cast<void**>(&f), 12000, cudaEnableDefault,
                                     &found);
    if (found != cudaDriverEntryPointSuccess) printf("no %s\n", symbol), exit(1);
  }
  CUresult (*load_)(CUmodule*, const void*, unsigned, CUjit_option*, void**);
  CUresult (*function_)(CUfunction*, CUmodule, const char*);
  CUresult (*launch_)(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                      unsigned, CUstream, void**, void**);
  CUresult (*unload_)(CUmodule);
};

static void check(Verdict& verdict, Runner& runner, const Form& f) {
  const int cases = 2, products = f.quads() ? 4 : 1;
  Rng rng{uint64_t(f.m * 7919 + f.n * 104729 + f.k * 31 + int(f.a) * 17 + f.selector + 1)};
  std::vector<uint8_t> a(f.bytes_a() * cases), b(f.bytes_b() * cases), c(f.bytes_c() * cases), d;
  std::vector<uint8_t> e(size_t(cases) * 128);
  std::vector<Case> all;
  for (int i = 0; i < cases; ++i) {
    uint32_t words[32];
    for (uint32_t& w : words) w = metadata(rng, f.a);
    memcpy(&e[size_t(i) * 128], words, 128);
    uint8_t *pa = &a[f.bytes_a() * i], *pb = &b[f.bytes_b() * i], *pc = &c[f.bytes_c() * i];
    for (int q = 0; q < products; ++q) {
      all.push_back(make_case(f, rng, words, i));
      const Case& x = all.back();
      for (int r = 0; r < f.m; ++r)
        for (int k = 0; k < f.kept(); ++k)
          put(pa,
              f.wmma ? size_t(f.a_col ? k * f.lda() + r : r * f.lda() + k) * bits_of(f.a)
                     : place_a(f, q, r, k),
              f.a, to_bits(f.a, x.a[r * f.kept() + k]));
      for (int k = 0; k < f.k; ++k)
        for (int n = 0; n < f.n; ++n)
          put(pb,
              f.wmma ? size_t(f.b_row ? k * f.ldb() + n : n * f.ldb() + k) * bits_of(f.b)
                     : place_b(f, q, k, n),
              f.b, to_bits(f.b, x.b[k * f.n + n]));
      for (int r = 0; r < f.m; ++r)
        for (int n = 0; n < f.n; ++n)
          put(pc, f.wmma ? size_t(r * f.ldc(f.c) + n) * bits_of(f.c) : place_c(f, f.c, q, r, n),
              f.c, to_bits(f.c, x.c[r * f.n + n]));
    }
  }
  const std::string title = f.title(), why = runner.run(f, cases, a, b, c, e, d);
  if (!why.empty()) printf("%s: %s\n", title.c_str(), why.c_str());
  if (!verdict.expect(why.empty(), title.c_str())) return;
  int wrong = 0;
  for (size_t x = 0; x < all.size(); ++x)
    for (int r = 0; r < f.m; ++r)
      for (int n = 0; n < f.n; ++n) {
        const uint8_t* p = &d[f.bytes_d() * (x / products)];
        const size_t bit = f.wmma ? size_t(r * f.ldc(f.d) + n) * bits_of(f.d)
                                  : place_c(f, f.d, int(x % products), r, n);
        wrong += from_bits(f.d, get(p, bit, f.d)) != all[x].want[r * f.n + n];
      }
  verdict.equal(wrong, 0, title.c_str());
}

int main() {
  Verdict verdict;
  Runner runner;
  for (const Form& f : all_forms()) check(verdict, runner, f);
  return verdict.finish();
}
