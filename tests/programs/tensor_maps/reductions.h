// What a reduction leaves of one element in memory, by operation and type, for model.h: the value
// that was there and the one that comes.
#pragma once
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>

template <typename T>
static T combined(int op, T old, T value) {
  switch (op) {
    case 0:
      return (T)((uint64_t)old + (uint64_t)value);
    case 1:
      return std::min(old, value);
    case 2:
      return std::max(old, value);
    case 3:
      return old >= value ? T(0) : T(old + 1);
    case 4:
      return old == 0 || old > value ? value : T(old - 1);
    case 5:
      return old & value;
    case 6:
      return old | value;
    default:
      return old ^ value;
  }
}

template <typename T>
static std::function<void(uint8_t*, const uint8_t*)> with(int op) {
  return [op](uint8_t* to, const uint8_t* from) {
    T a, b;
    std::memcpy(&a, to, sizeof a);
    std::memcpy(&b, from, sizeof b);
    a = combined<T>(op, a, b);
    std::memcpy(to, &a, sizeof a);
  };
}

static float flushed(float x) { return std::fabs(x) < 0x1p-126f ? std::copysign(0.0f, x) : x; }

static std::function<void(uint8_t*, const uint8_t*)> add_f32(bool flush) {
  return [flush](uint8_t* to, const uint8_t* from) {
    float a, b;
    std::memcpy(&a, to, 4);
    std::memcpy(&b, from, 4);
    if (flush) a = flushed(a), b = flushed(b);
    a += b;
    if (flush) a = flushed(a);
    uint32_t bits;
    std::memcpy(&bits, &a, 4);
    if (a != a) bits = 0x7fffffff;
    std::memcpy(to, &bits, 4);
  };
}

/// A NaN stays what it is, the one that comes before the one that is there; the sum of both
/// infinities is left out by the edges.
static void add_f64(uint8_t* to, const uint8_t* from) {
  double a, b;
  std::memcpy(&a, to, 8);
  std::memcpy(&b, from, 8);
  if (b != b) a = b;
  if (a == a) a += b;
  std::memcpy(to, &a, 8);
}

/// Sums and extremes of halves by way of double, each rounded once.
template <bool bf16>
static std::function<void(uint8_t*, const uint8_t*)> halves(int op) {
  return [op](uint8_t* to, const uint8_t* from) {
    uint16_t a, b, result;
    std::memcpy(&a, to, 2);
    std::memcpy(&b, from, 2);
    auto wide = [](uint16_t h) -> double {
      if (bf16) {
        uint32_t bits = (uint32_t)h << 16;
        float f;
        std::memcpy(&f, &bits, 4);
        return f;
      }
      __half_raw raw;
      raw.x = h;
      return __half2float(__half(raw));
    };
    const double x = wide(a), y = wide(b);
    if (op == 0) {
      const float sum = (float)(x + y);  // exact, or rounded so that the next rounding is right
      if (sum != sum) {
        result = 0x7fff;
      } else if (bf16) {
        result = ((__nv_bfloat16_raw)__float2bfloat16(sum)).x;
      } else {
        result = ((__half_raw)__float2half(sum)).x;
      }
    } else if (x != x || y != y) {
      result = x != x && y != y ? 0x7fff : x != x ? b : a;
    } else if (x == y) {
      result = (op == 2) == (a >> 15 != 0) ? b : a;
    } else {
      result = (x < y) == (op == 2) ? b : a;
    }
    std::memcpy(to, &result, 2);
  };
}
