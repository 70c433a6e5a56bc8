// Every form of mma.sync and wmma.mma for plain targets, as PTX text made at run time: one module a
// form, so that a refused form is named and hides no other. Used by the program beside it and by
// tests/golden/matrix.
#pragma once
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

enum class Type { f16, bf16, tf32, f32, f64, s8, u8, s4, u4, b1, e4m3, e5m2, s32 };

inline const char* name(Type t) {
  const char* names[] = {"f16", "bf16", "tf32", "f32",  "f64",  "s8", "u8",
                         "s4",  "u4",   "b1",   "e4m3", "e5m2", "s32"};
  return names[int(t)];
}
inline int bits_of(Type t) {
  const int bits[] = {16, 16, 32, 32, 64, 8, 8, 4, 4, 1, 8, 8, 32};
  return bits[int(t)];
}

struct Form {
  int m, n, k;
  Type d, a, b, c;
  bool wmma = false, sparse = false, ordered = false, satfinite = false;
  const char* bit_op = "";    // "xor" or "and"
  const char* rounding = "";  // ".rz" ...
  int selector = 0;
  bool a_col = false, b_row = false;

  bool quads() const { return !wmma && m == 8 && a == Type::f16; }
  int kept() const { return sparse ? k / 2 : k; }
  int word(Type t) const { return t == Type::f64 ? 8 : 4; }
  int registers(int elements, Type t) const {
    return quads() ? elements * bits_of(t) / 32 / 8 : elements * bits_of(t) / 8 / word(t) / 32;
  }
  int ra() const { return quads() ? 2 : wmma && a == Type::f16 ? 8 : registers(m * kept(), a); }
  int rb() const { return quads() ? 2 : wmma && a == Type::f16 ? 8 : registers(n * k, b); }
  int rc() const { return quads() ? (c == Type::f16 ? 4 : 8) : registers(m * n, c); }
  int rd() const { return quads() ? (d == Type::f16 ? 4 : 8) : registers(m * n, d); }

  std::string opcode() const {
    char text[200];
    std::string layouts = std::string(a_col ? ".col" : ".row") + (b_row ? ".row" : ".col");
    std::string bit = *bit_op ? std::string(".") + bit_op + ".popc" : "";
    if (wmma && a == Type::f16)
      snprintf(text, sizeof text, "wmma.mma.sync.aligned%s.m%dn%dk%d.%s.%s", layouts.c_str(), m, n,
               k, name(d), name(c));
    else if (wmma)
      snprintf(text, sizeof text, "wmma.mma%s.sync.aligned%s.m%dn%dk%d%s.%s.%s.%s.%s%s",
               bit.c_str(), layouts.c_str(), m, n, k, rounding, name(d), name(a), name(b), name(c),
               satfinite ? ".satfinite" : "");
    else
      snprintf(text, sizeof text, "mma%s.sync.aligned.m%dn%dk%d%s%s%s.%s.%s.%s.%s%s",
               !sparse   ? ""
               : ordered ? ".sp::ordered_metadata"
                         : ".sp",
               m, n, k, layouts.c_str(), rounding, satfinite ? ".satfinite" : "", name(d), name(a),
               name(b), name(c), bit.c_str());
    return text;
  }
  std::string title() const {
    return opcode() + (sparse ? " selector " + std::to_string(selector) : "");
  }

  // wmma in memory: elements between lines, with 16 bytes of padding.
  int pad(Type t) const { return 128 / bits_of(t); }
  int lda() const { return (a_col ? m : k) + pad(a); }
  int ldb() const { return (b_row ? n : k) + pad(b); }
  int ldc(Type t) const { return n + pad(t); }
  size_t bytes_a() const {
    return wmma ? size_t(a_col ? k : m) * lda() * bits_of(a) / 8 : size_t(ra()) * 32 * word(a);
  }
  size_t bytes_b() const {
    return wmma ? size_t(b_row ? k : n) * ldb() * bits_of(b) / 8 : size_t(rb()) * 32 * word(b);
  }
  size_t bytes_c() const {
    return wmma ? size_t(m) * ldc(c) * bits_of(c) / 8 : size_t(rc()) * 32 * word(c);
  }
  size_t bytes_d() const {
    return wmma ? size_t(m) * ldc(d) * bits_of(d) / 8 : size_t(rd()) * 32 * word(d);
  }
};

inline std::vector<Form> all_forms() {
  std::vector<Form> out;
  auto add = [&](int m, int n, int k, Type d, Type a, Type b, Type c) -> Form& {
    Form f{};
    f.m = m, f.n = n, f.k = k, f.d = d, f.a = a, f.b = b, f.c = c;
    f.rounding = f.bit_op = "";
    out.push_back(f);
    return out.back();
  };
  const Type fp8[] = {Type::e4m3, Type::e5m2}, i8[] = {Type::s8, Type::u8},
             i4[] = {Type::s4, Type::u4};
  for (int layouts = 0; layouts < 4; ++layouts)
    for (auto [d, c] :
         {std::pair{Type::f16, Type::f16}, {Type::f32, Type::f16}, {Type::f32, Type::f32}}) {
      Form& f = add(8, 8, 4, d, Type::f16, Type::f16, c);
      f.a_col = layouts & 1, f.b_row = layouts & 2;
    }
  for (int k : {8, 16}) {
    add(16, 8, k, Type::f16, Type::f16, Type::f16, Type::f16);
    add(16, 8, k, Type::f32, Type::f16, Type::f16, Type::f32);
    add(16, 8, k, Type::f32, Type::bf16, Type::bf16, Type::f32);
    add(16, 8, k / 2, Type::f32, Type::tf32, Type::tf32, Type::f32);
  }
  for (const char* rounding : {"", ".rz", ".rm", ".rp"}) {
    add(8, 8, 4, Type::f64, Type::f64, Type::f64, Type::f64).rounding = rounding;
    for (int k : {4, 8, 16})
      add(16, 8, k, Type::f64, Type::f64, Type::f64, Type::f64).rounding = rounding;
  }
  for (int k : {16, 32})
    for (Type a : fp8)
      for (Type b : fp8) {
        add(16, 8, k, Type::f32, a, b, Type::f32);
        add(16, 8, k, Type::f16, a, b, Type::f16);
      }
  for (bool sat : {false, true}) {
    for (Type a : i8)
      for (Type b : i8) {
        add(8, 8, 16, Type::s32, a, b, Type::s32).satfinite = sat;
        add(16, 8, 16, Type::s32, a, b, Type::s32).satfinite = sat;
        add(16, 8, 32, Type::s32, a, b, Type::s32).satfinite = sat;
      }
    for (Type a : i4)
      for (Type b : i4) {
        add(8, 8, 32, Type::s32, a, b, Type::s32).satfinite = sat;
        add(16, 8, 32, Type::s32, a, b, Type::s32).satfinite = sat;
        add(16, 8, 64, Type::s32, a, b, Type::s32).satfinite = sat;
      }
  }
  for (const char* op : {"xor", "and"}) {
    add(8, 8, 128, Type::s32, Type::b1, Type::b1, Type::s32).bit_op = op;
    add(16, 8, 128, Type::s32, Type::b1, Type::b1, Type::s32).bit_op = op;
    add(16, 8, 256, Type::s32, Type::b1, Type::b1, Type::s32).bit_op = op;
  }
  auto sparse = [&](int k, Type d, Type a, Type b, Type c, int selectors, bool sat = false) {
    for (bool ordered : {false, true})
      for (int s = 0; s < selectors; ++s) {
        Form& f = add(16, 8, k, d, a, b, c);
        f.sparse = true, f.ordered = ordered, f.selector = s, f.satfinite = sat;
      }
  };
  for (int k : {16, 32}) {
    sparse(k, Type::f16, Type::f16, Type::f16, Type::f16, 64 / k);
    sparse(k, Type::f32, Type::f16, Type::f16, Type::f32, 64 / k);
    sparse(k, Type::f32, Type::bf16, Type::bf16, Type::f32, 64 / k);
    sparse(k / 2, Type::f32, Type::tf32, Type::tf32, Type::f32, 64 / k);
  }
  for (Type a : fp8)
    for (Type b : fp8) sparse(64, Type::f32, a, b, Type::f32, 1);
  for (bool sat : {false, true}) {
    for (Type a : i8)
      for (Type b : i8)
        sparse(32, Type::s32, a, b, Type::s32, 2, sat),
            sparse(64, Type::s32, a, b, Type::s32, 1, sat);
    for (Type a : i4)
      for (Type b : i4)
        sparse(64, Type::s32, a, b, Type::s32, 2, sat),
            sparse(128, Type::s32, a, b, Type::s32, 1, sat);
  }
  auto wmma = [&](int m, int n, int k, Type d, Type a, Type c, bool any,
                  bool sat = false) -> Form& {
    for (int layouts = 0; layouts < (any ? 4 : 1); ++layouts) {
      Form& f = add(m, n, k, d, a, a, c);
      f.wmma = true, f.a_col = layouts & 1, f.b_row = layouts & 2, f.satfinite = sat;
    }
    return out.back();
  };
  const int shapes[3][2] = {{16, 16}, {8, 32}, {32, 8}};
  for (auto [m, n] : shapes) {
    for (Type d : {Type::f16, Type::f32})
      for (Type c : {Type::f16, Type::f32}) wmma(m, n, 16, d, Type::f16, c, true);
    wmma(m, n, 16, Type::f32, Type::bf16, Type::f32, true);
    for (bool sat : {false, true})
      for (Type a : i8) wmma(m, n, 16, Type::s32, a, Type::s32, true, sat);
  }
  wmma(16, 16, 8, Type::f32, Type::tf32, Type::f32, true);
  wmma(8, 8, 4, Type::f64, Type::f64, Type::f64, true);
  for (const char* rounding : {".rz", ".rm", ".rp"})
    wmma(8, 8, 4, Type::f64, Type::f64, Type::f64, false).rounding = rounding;
  for (bool sat : {false, true})
    for (Type a : i4) wmma(8, 8, 32, Type::s32, a, Type::s32, false, sat);
  for (const char* op : {"xor", "and"})
    wmma(8, 8, 128, Type::s32, Type::b1, Type::s32, false).bit_op = op;
  return out;
}

inline size_t bytes_of_metadata() { return 128; }

// The kernel `k(in, out)`: block i handles case i; in: a of all cases, then b, c and metadata.
inline std::string ptx_of(const Form& f, int cases) {
  std::string s =
      ".version 8.7\n.target sm_90\n.address_size 64\n"
      ".visible .entry k(.param .u64 in, .param .u64 out)\n{\n"
      ".reg .b32 %ra<16>, %rb<16>, %rc<16>, %rd<16>, %re, %t<4>;\n"
      ".reg .b64 %qa<16>, %qb<16>, %qc<16>, %qd<16>, %p<8>, %o<8>;\n.reg .f32 %fc<16>, %fd<16>;\n"
      "mov.u32 %t0, %tid.x;\nmov.u32 %t1, %ctaid.x;\n";
  size_t offset = 0;
  auto pointer = [&](const char* param, int index, size_t bytes, int lane) {
    char text[500];
    snprintf(text, sizeof text,
             "ld.param.u64 %%p%d, [%s];\ncvta.to.global.u64 %%p%d, %%p%d;\n"
             "add.u64 %%p%d, %%p%d, %zu;\nmul.wide.u32 %%o0, %%t1, %zu;\n"
             "add.u64 %%p%d, %%p%d, %%o0;\nmul.wide.u32 %%o0, %%t0, %d;\n"
             "add.u64 %%p%d, %%p%d, %%o0;\n",
             index, param, index, index, index, index, offset, bytes, index, index, lane, index,
             index);
    s += text;
    offset += bytes * size_t(cases);
  };
  auto list = [&](char which, Type t, int n) {
    std::string v = "{";
    const bool floats = t == Type::f32;
    for (int i = 0; i < n; ++i)
      v += std::string(i ? ", %" : "%") +
           (t == Type::f64 ? 'q'
            : floats       ? 'f'
                           : 'r') +
           which + std::to_string(i);
    return v + "}";
  };
  auto move = [&](bool load, char which, Type t, int n, int index) {
    for (int i = 0; i < n; ++i) {
      const bool wide = t == Type::f64;
      std::string reg = std::string("%") +
                        (wide             ? 'q'
                         : t == Type::f32 ? 'f'
                                          : 'r') +
                        which + std::to_string(i);
      std::string at =
          "[%p" + std::to_string(index) + "+" + std::to_string(i * 32 * (wide ? 8 : 4)) + "]";
      const char* type = wide ? "b64" : t == Type::f32 ? "f32" : "b32";
      s += load ? std::string("ld.global.") + type + " " + reg + ", " + at + ";\n"
                : std::string("st.global.") + type + " " + at + ", " + reg + ";\n";
    }
  };
  const int lane_a = f.wmma ? 0 : f.word(f.a), lane_b = f.wmma ? 0 : f.word(f.b);
  pointer("in", 0, f.bytes_a(), lane_a);
  pointer("in", 1, f.bytes_b(), lane_b);
  pointer("in", 2, f.bytes_c(), f.wmma ? 0 : f.word(f.c));
  pointer("in", 3, bytes_of_metadata(), 4);
  offset = 0;
  pointer("out", 4, f.bytes_d(), f.wmma ? 0 : f.word(f.d));
  const std::string a = list('a', f.a, f.ra()), b = list('b', f.b, f.rb()),
                    c = list('c', f.c, f.rc()), d = list('d', f.d, f.rd());
  if (f.wmma) {
    auto memory = [&](const char* op, bool col, Type t, const std::string& v, int index, int ld,
                      bool load) {
      char text[400];
      snprintf(text, sizeof text, "wmma.%s.sync.aligned.%s.m%dn%dk%d.global.%s ", op,
               col ? "col" : "row", f.m, f.n, f.k, name(t));
      std::string at = "[%p" + std::to_string(index) + "]";
      s += text + (load ? v + ", " + at : at + ", " + v) + ", " + std::to_string(ld) + ";\n";
    };
    memory("load.a", f.a_col, f.a, a, 0, f.lda(), true);
    memory("load.b", !f.b_row, f.b, b, 1, f.ldb(), true);
    memory("load.c", false, f.c, c, 2, f.ldc(f.c), true);
    s += f.opcode() + " " + d + ", " + a + ", " + b + ", " + c + ";\n";
    memory("store.d", false, f.d, d, 4, f.ldc(f.d), false);
  } else {
    move(true, 'a', f.a == Type::f64 ? f.a : Type::s32, f.ra(), 0);
    move(true, 'b', f.b == Type::f64 ? f.b : Type::s32, f.rb(), 1);
    move(true, 'c', f.c, f.rc(), 2);
    if (f.sparse) s += "ld.global.b32 %re, [%p3];\n";
    s += f.opcode() + " " + d + ", " + a + ", " + b + ", " + c +
         (f.sparse ? ", %re, " + std::to_string(f.selector) : "") + ";\n";
    move(false, 'd', f.d, f.rd(), 4);
  }
  return s + "ret;\n}\n";
}

struct Rng {
  uint64_t state;
  uint32_t next() {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return uint32_t(state * 0x9E3779B97F4A7C15ull >> 32);
  }
  int below(int n) { return int(next() % uint32_t(n)); }
};

// The value in the type's format, cut where it does not fit; subnormals included.
inline uint64_t encode(Type t, double v) {
  uint64_t u;
  memcpy(&u, &v, 8);
  if (t == Type::f64) return u;
  const int mantissa = t == Type::f16    ? 10
                       : t == Type::bf16 ? 7
                       : t == Type::e4m3 ? 3
                       : t == Type::e5m2 ? 2
                                         : 23;
  const int exponent = t == Type::f16 || t == Type::e5m2 ? 5 : t == Type::e4m3 ? 4 : 8;
  const int bias = (1 << (exponent - 1)) - 1;
  const int e = int(u >> 52 & 2047) - 1023 + bias, top = (1 << exponent) - 1 - (t != Type::e4m3);
  const uint64_t sign = u >> 63 << (mantissa + exponent);
  if (e > top)
    return sign | uint64_t(top) << mantissa | ((1ull << mantissa) - 1 - (t == Type::e4m3));
  const uint64_t m = (u >> (52 - mantissa) & ((1ull << mantissa) - 1)) | (1ull << mantissa);
  if (e <= 0) return sign | (e < -mantissa ? 0 : m >> (1 - e));
  return sign | uint64_t(e) << mantissa | (m & ((1ull << mantissa) - 1));
}

// A valid metadata word: in each chunk two different places, in order.
inline uint32_t metadata(Rng& rng, Type a) {
  const uint32_t two[] = {0x4, 0x8, 0xc, 0x9, 0xd, 0xe}, one[] = {0x4, 0xe};
  uint32_t v = 0;
  for (int i = 0; i < 8; ++i)
    v |= (a == Type::tf32 ? one[rng.below(2)] : two[rng.below(6)]) << (4 * i);
  return v;
}
