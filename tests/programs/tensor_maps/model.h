// What a tensor instruction should move, element by element, from the manual's text: apart from
// Limen's code and slow. A case names a tensor, a box and an instruction; the model gives the bytes
// of shared memory after a load, or of global memory after a store or reduction.
#pragma once
#include <cuda.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

enum Mode { tile, im2col, gather4, im2col_w };

struct Case {
  std::string name;
  int type = CU_TENSOR_MAP_DATA_TYPE_UINT32;
  int rank = 2;
  uint64_t dims[5] = {1, 1, 1, 1, 1};
  uint64_t strides[4] = {0, 0, 0, 0};
  uint32_t box[5] = {1, 1, 1, 1, 1};
  uint32_t steps[5] = {1, 1, 1, 1, 1};
  int interleave = 0, swizzle = 0, fill = 0;
  Mode mode = tile;
  int lower[3] = {0, 0, 0}, upper[3] = {0, 0, 0};
  uint32_t channels = 0, pixels = 0;
  int at[5] = {0, 0, 0, 0, 0};
  int info[3] = {0, 0, 0};  ///< im2col offsets; im2col::w: halo, offset
  int form = 0;             ///< 0 shared::cluster, 1 shared::cta, 2 with a cache hint
  uint32_t base = 0;        ///< of the box in shared memory
};

inline int bits_of(int type) {
  static const int bits[] = {8, 16, 32, 32, 64, 64, 16, 32, 64, 16, 32, 32, 32, 4, 4, 6};
  return bits[type];
}
inline bool padded(int type) { return type >= CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN16B; }
inline uint32_t span_of(int swizzle) {
  return swizzle == 0 ? 0 : swizzle == 1 ? 32 : swizzle == 2 ? 64 : 128;
}

/// Where byte `at` of shared memory lies under a swizzle; the tables of #tensor-swizzling-modes.
inline uint32_t swizzled(int swizzle, uint32_t at) {
  const uint32_t line = at / 128, in_line = at % 128, chunk = in_line / 16;
  static const int columns32[2][8] = {{0, 1, 2, 3, 4, 5, 6, 7}, {1, 0, 3, 2, 5, 4, 7, 6}};
  uint32_t to = chunk;
  switch (swizzle) {
    case 1:
      to = columns32[line % 2][chunk];
      break;
    case 2:
      to = chunk / 4 * 4 + (chunk % 4 ^ line % 4);
      break;
    case 3:
      to = chunk ^ line % 8;
      break;
    case 4:
    case 5:
      to = (chunk / 2 ^ line % 4) * 2 + chunk % 2;
      break;
    case 6:
      to = (chunk / 4 ^ line % 2) * 4 + chunk % 4;
  }
  uint32_t byte = at % 16;
  if (swizzle == 5 && line % 2) byte ^= 8;
  return line * 128 + to * 16 + byte;
}

/// One unit of a box: where it is, or that it is nowhere.
struct Unit {
  int64_t global;  ///< byte offset; -1: out of bounds
  uint32_t shared;
};

struct Plan {
  std::vector<Unit> units;
  uint32_t unit_bytes = 0;  ///< in global memory
  uint32_t moved = 0;       ///< bytes told to an mbarrier
  uint32_t extent = 0;      ///< bytes of shared memory
};

inline Plan plan(const Case& c, bool stores = false) {
  Plan p;
  const bool slices = c.interleave != 0;
  const uint32_t slice = c.interleave == 1 ? 16 : 32;
  const int per_unit = slices ? 1 : padded(c.type) ? 16 : bits_of(c.type) == 4 ? 2 : 1;
  p.unit_bytes = slices ? slice : bits_of(c.type) * per_unit / 8;
  const uint32_t in_shared = !slices && padded(c.type) ? 16 : p.unit_bytes;
  uint32_t row_units = c.mode == im2col || c.mode == im2col_w ? c.channels : c.box[0];
  if (slices) {
    row_units = c.mode == im2col ? 1 : (row_units + c.steps[0] - 1) / c.steps[0];
  } else {
    row_units /= per_unit;
  }
  const uint32_t pitch = std::max(row_units * in_shared, slices ? 0 : span_of(c.swizzle));
  // Stores keep to dimension 0 by chunks of 16 bytes only.
  int64_t width = int64_t(c.dims[0]);
  if (stores && !slices && !padded(c.type)) {
    const int64_t chunk = 128 / bits_of(c.type);
    width = (width + chunk - 1) / chunk * chunk;
  }
  uint32_t rows = 0;
  auto add_row = [&](const int64_t* at) {
    for (uint32_t i = 0; i < row_units; ++i) {
      int64_t x = at[0] + int64_t(i) * per_unit * (slices ? c.steps[0] : 1);
      bool inside = x >= 0 && x < width;
      int64_t where = (slices ? x * slice : x * bits_of(c.type) / 8);
      for (int d = 1; d < c.rank; ++d) {
        inside = inside && at[d] >= 0 && at[d] < int64_t(c.dims[d]);
        where += at[d] * int64_t(c.strides[d - 1]);
      }
      p.units.push_back({inside ? where : -1, rows * pitch + i * in_shared});
    }
    ++rows;
  };
  int64_t at[5];
  for (int d = 0; d < 5; ++d) at[d] = c.at[d];
  if (c.mode == tile) {
    uint32_t counts[5] = {1, 1, 1, 1, 1};
    for (int d = 1; d < c.rank; ++d)
      counts[d] = slices && d == c.rank - 2 ? 1 : (c.box[d] + c.steps[d] - 1) / c.steps[d];
    for (uint32_t l = 0; l < counts[4]; ++l)
      for (uint32_t k = 0; k < counts[3]; ++k)
        for (uint32_t j = 0; j < counts[2]; ++j)
          for (uint32_t i = 0; i < counts[1]; ++i) {
            const uint32_t n[5] = {0, i, j, k, l};
            int64_t here[5];
            for (int d = 0; d < 5; ++d) here[d] = at[d] + int64_t(n[d]) * c.steps[d];
            add_row(here);
          }
  } else if (c.mode == gather4) {
    for (int i = 0; i < 4; ++i) {
      int64_t here[5] = {c.at[0], c.at[1 + i], 0, 0, 0};
      add_row(here);
    }
  } else {
    const bool wide = c.mode == im2col_w;
    const int first = slices ? 0 : 1, spatial = wide ? 1 : c.rank - 2;
    const uint32_t pixels = c.pixels + (wide ? c.info[0] : 0);
    for (uint32_t n = 0; n < pixels; ++n) {
      int64_t here[5];
      for (int d = 0; d < 5; ++d) here[d] = at[d];
      for (int i = 0; i < spatial; ++i) here[first + i] += wide ? c.info[1] : c.info[i];
      add_row(here);
      bool carry = true;
      for (int i = 0; i < spatial && carry; ++i) {
        at[first + i] += c.steps[first + i];
        carry = at[first + i] > int64_t(c.dims[first + i]) - 1 + c.upper[i];
        if (carry) at[first + i] = c.lower[i];
      }
      if (carry) at[c.rank - 1] += c.steps[c.rank - 1];
    }
  }
  p.moved = rows * row_units * p.unit_bytes;
  p.extent = rows * pitch;
  p.extent = (p.extent + 127) / 128 * 128;
  return p;
}

/// Bytes of the tensor in memory, from its address on.
inline uint64_t tensor_bytes(const Case& c) {
  uint64_t inner = c.interleave ? c.dims[0] * (c.interleave == 1 ? 16 : 32)
                                : (c.dims[0] * bits_of(c.type) + 7) / 8;
  for (int d = 1; d < c.rank; ++d) inner += (c.dims[d] - 1) * c.strides[d - 1];
  return inner;
}

inline uint32_t rounded_tf32(uint32_t bits) {
  if ((bits & 0x7fffffff) > 0x7f800000) return 0x7fffe000;
  const uint32_t rest = bits & 0x1fff, kept = bits & ~0x1fffu;
  return rest > 0x1000 || (rest == 0x1000 && (kept & 0x2000)) ? kept + 0x2000 : kept;
}

/// Shared memory (all of it, as it was before) after a load.
inline void after_load(const Case& c, const std::vector<uint8_t>& global,
                       std::vector<uint8_t>& shared) {
  const Plan p = plan(c);
  const bool tf32 =
      c.type == CU_TENSOR_MAP_DATA_TYPE_TFLOAT32 || c.type == CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ;
  for (const Unit& u : p.units)
    for (uint32_t b = 0; b < p.unit_bytes; ++b) {
      uint8_t value = c.fill ? (b % 2 ? 0x7f : 0xf7) : 0;
      if (u.global >= 0) {
        value = global[u.global + b];
        if (tf32) {
          uint32_t word;
          std::memcpy(&word, &global[u.global + b / 4 * 4], 4);
          value = uint8_t(rounded_tf32(word) >> b % 4 * 8);
        }
      }
      shared[swizzled(c.swizzle, c.base + u.shared + b)] = value;
    }
}

/// Global memory after a store, or with `combine` (to, from; an element) a reduction.
inline void after_store(const Case& c, const std::vector<uint8_t>& shared,
                        std::vector<uint8_t>& global,
                        const std::function<void(uint8_t*, const uint8_t*)>& combine = {}) {
  const Plan p = plan(c, true);
  const uint32_t element = std::max(1, bits_of(c.type) / 8);
  for (const Unit& u : p.units) {
    if (u.global < 0) continue;
    std::vector<uint8_t> unit(16 + p.unit_bytes);
    const uint32_t bytes = c.type == CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B ? 16 : p.unit_bytes;
    for (uint32_t b = 0; b < bytes; ++b)
      unit[b] = shared[swizzled(c.swizzle, c.base + u.shared + b)];
    if (c.type == CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B) {
      for (int bit = 0; bit < 96; ++bit) {
        const int one = unit[bit / 6] >> bit % 6 & 1;
        uint8_t& to = global[u.global + bit / 8];
        to = uint8_t((to & ~(1 << bit % 8)) | one << bit % 8);
      }
      continue;
    }
    if (!combine) {
      std::memcpy(&global[u.global], unit.data(), p.unit_bytes);
      continue;
    }
    for (uint32_t b = 0; b < p.unit_bytes; b += element) combine(&global[u.global + b], &unit[b]);
  }
}
