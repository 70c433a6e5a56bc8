// cp.reduce.async.bulk.tensor's arithmetic: element by element, each atomic and relaxed. The caller
// has set the control word to round to nearest without flushing.
// source: PTX ISA 9.0 #data-movement-and-conversion-instructions-cp-reduce-async-bulk-tensor
#include <bit>
#include <cstring>
#include <type_traits>

#include "engine/tensor_copy.h"
#include "engine/texture_service.h"

namespace limen::engine {
namespace {

using kernel::TensorReduction;

constexpr uint16_t half_nan = 0x7fff;
constexpr uint32_t float_nan = 0x7fffffff;
constexpr uint64_t double_nan = 0xfff8000000000000;

template <typename T, typename Combine>
void update(uint8_t* at, const uint8_t* from, Combine combine) {
  T value;
  std::memcpy(&value, from, sizeof value);
  T* p = reinterpret_cast<T*>(at);
  T old = __atomic_load_n(p, __ATOMIC_RELAXED), next;
  do {
    next = combine(old, value);
  } while (!__atomic_compare_exchange_n(p, &old, next, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
}

template <typename T>
T whole(TensorReduction how, T old, T value) {
  using U = std::make_unsigned_t<T>;
  switch (how) {
    case TensorReduction::add:
      return static_cast<T>(static_cast<U>(old) + static_cast<U>(value));
    case TensorReduction::min:
      return old < value ? old : value;
    case TensorReduction::max:
      return old > value ? old : value;
    case TensorReduction::inc:
      return old >= value ? T{0} : static_cast<T>(old + 1);
    case TensorReduction::dec:
      return old == 0 || old > value ? value : static_cast<T>(old - 1);
    case TensorReduction::and_:
      return old & value;
    case TensorReduction::or_:
      return old | value;
    case TensorReduction::xor_:
      return old ^ value;
  }
  return old;
}

float widened(uint16_t half, bool bf16) {
  return bf16 ? std::bit_cast<float>(uint32_t{half} << 16) : float_of(half);
}

/// To nearest, ties to even; every NaN becomes the device's own.
uint16_t narrowed(float value, bool bf16) {
  if (value != value) return half_nan;
  if (!bf16) return half_of(value);
  const auto bits = std::bit_cast<uint32_t>(value);
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

/// min and max pass a NaN over, and -0 is below +0.
float extreme(float a, float b, bool largest) {
  if (a != a) return b;
  if (b != b) return a;
  if (a == b) return (std::bit_cast<uint32_t>(a) >> 31 != 0) == largest ? b : a;
  return (a < b) == largest ? b : a;
}

uint16_t half(TensorReduction how, uint16_t old, uint16_t value, bool bf16) {
  const float a = widened(old, bf16), b = widened(value, bf16);
  return narrowed(how == TensorReduction::add ? a + b : extreme(a, b, how == TensorReduction::max),
                  bf16);
}

uint32_t flushed(uint32_t bits) { return (bits & 0x7f800000) == 0 ? bits & 0x80000000 : bits; }

uint32_t sum(uint32_t old, uint32_t value, bool flush) {
  if (flush) old = flushed(old), value = flushed(value);
  const float total = std::bit_cast<float>(old) + std::bit_cast<float>(value);
  if (total != total) return float_nan;
  const auto bits = std::bit_cast<uint32_t>(total);
  return flush ? flushed(bits) : bits;
}

/// NaNs stay as they are, signalling ones too; the one that is added goes first.
uint64_t double_sum(uint64_t old, uint64_t value) {
  const auto a = std::bit_cast<double>(old), b = std::bit_cast<double>(value);
  if (b != b) return value;
  if (a != a) return old;
  const double total = a + b;
  return total != total ? double_nan : std::bit_cast<uint64_t>(total);
}

template <typename T>
void reduce_all(TensorReduction how, uint8_t* to, const uint8_t* from, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i)
    update<T>(to + i * sizeof(T), from + i * sizeof(T),
              [how](T old, T value) { return whole<T>(how, old, value); });
}

}  // namespace

/// As an H200 has it; more than the manual lists (f64, tf32) and less (s64 bitwise).
bool can_reduce(TensorType type, TensorReduction how) {
  const bool bitwise = how >= TensorReduction::and_;
  const bool turn = how == TensorReduction::inc || how == TensorReduction::dec;
  switch (type) {
    case TensorType::u32:
      return true;
    case TensorType::s32:
    case TensorType::u64:
      return !turn;
    case TensorType::s64:
      return how == TensorReduction::min || how == TensorReduction::max;
    case TensorType::f16:
    case TensorType::bf16:
      return !bitwise && !turn;
    case TensorType::f32:
    case TensorType::f32_ftz:
    case TensorType::tf32:
    case TensorType::tf32_ftz:
    case TensorType::f64:
      return how == TensorReduction::add;
    default:
      return false;
  }
}

void reduce_elements(TensorType type, TensorReduction how, uint8_t* to, const uint8_t* from,
                     uint32_t count) {
  switch (type) {
    case TensorType::u32:
      return reduce_all<uint32_t>(how, to, from, count);
    case TensorType::s32:
      return reduce_all<int32_t>(how, to, from, count);
    case TensorType::u64:
      return reduce_all<uint64_t>(how, to, from, count);
    case TensorType::s64:
      return reduce_all<int64_t>(how, to, from, count);
    case TensorType::f16:
    case TensorType::bf16: {
      const bool bf16 = type == TensorType::bf16;
      for (uint32_t i = 0; i < 2 * count; i += 2)
        update<uint16_t>(to + i, from + i, [how, bf16](uint16_t old, uint16_t value) {
          return half(how, old, value, bf16);
        });
      return;
    }
    case TensorType::f64:
      for (uint32_t i = 0; i < 8 * count; i += 8) update<uint64_t>(to + i, from + i, double_sum);
      return;
    default: {
      const bool flush = type == TensorType::f32_ftz || type == TensorType::tf32_ftz;
      for (uint32_t i = 0; i < 4 * count; i += 4)
        update<uint32_t>(to + i, from + i,
                         [flush](uint32_t old, uint32_t value) { return sum(old, value, flush); });
    }
  }
}

/// To nearest, ties to even, as an RTX 5080 does it (docs/design/tensor_maps.md).
uint32_t tf32_of(uint32_t bits) {
  constexpr uint32_t dropped = 13;
  constexpr uint32_t tf32_nan = 0x7fffe000;
  if ((bits & 0x7fffffff) > 0x7f800000) return tf32_nan;
  const uint32_t odd = bits >> dropped & 1;
  return (bits + (1u << (dropped - 1)) - 1 + odd) & ~((1u << dropped) - 1);
}

}  // namespace limen::engine
