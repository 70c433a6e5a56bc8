// Boxes of tensors to and from shared memory. A box is cut into rows: in tiled mode the runs along
// dimension 0, in im2col mode a pixel's channels. A row moves in chunks of 16 bytes, the unit that
// a swizzle exchanges, or at once where nothing stands in the way. Measured, not in the manual
// (docs/design/tensor_maps.md has the list): a swizzled row takes at least its span; stores fill
// up the chunk that a row of the tensor ends in; under interleave, dimension 0 counts slices and
// the last but one selects a single slice. Invariant: nothing outside the block's shared memory
// is touched there.
#include "engine/tensor_copy.h"

#include <algorithm>
#include <cstring>

namespace limen::engine {
namespace {

using kernel::BlockContext;
using kernel::Fault;
using kernel::TensorDirection;
using kernel::TensorMode;

constexpr uint32_t chunk_bytes = 16;
constexpr uint16_t out_of_bounds_nan = 0x7ff7;  // repeated, whatever the type

/// A row: `units` units along dimension 0. A unit is an element, a slice of an interleaved tensor,
/// or the 16 values that a padded type keeps together.
struct Units {
  uint32_t count = 0;
  uint32_t bytes = 0;         ///< in global memory
  uint32_t shared_bytes = 0;  ///< more where the type is padded
  uint32_t elements = 1;      ///< values of dimension 0 in a unit (counted as the map counts them)
  uint32_t step = 1;

  uint32_t row_bytes() const { return count * shared_bytes; }
  uint64_t moved_bytes() const { return uint64_t{count} * bytes; }
};

/// What a swizzle does to an address: bits from 7 on, as many as `lines` has, are added without
/// carry to those from `shift` on. Lines of 128 bytes of shared memory count, not the box's rows.
/// source: PTX ISA 9.0 #tensor-swizzling-modes
struct Exchange {
  uint32_t lines = 0, shift = 0;
};
Exchange exchange_of(TensorSwizzle swizzle) {
  switch (swizzle) {
    case TensorSwizzle::span32:
      return {1, 4};
    case TensorSwizzle::span64:
      return {3, 4};
    case TensorSwizzle::span128:
      return {7, 4};
    case TensorSwizzle::span128_atom32:
    case TensorSwizzle::span128_atom32_flip8:
      return {3, 5};
    case TensorSwizzle::span128_atom64:
      return {1, 6};
    default:
      return {};
  }
}

class TensorCopy {
 public:
  TensorCopy(const BlockContext& block, const TensorCall& call, const TensorMap& map)
      : block_(block), call_(call), map_(map), exchange_(exchange_of(map.swizzle)) {}

  TensorResult run() {
    if (const char* what = prepare()) return failed(what);
    if (TensorResult bad = place_shared(); bad.what) return bad;
    switch (call_.op.mode) {
      case TensorMode::gather4:
        run_gather();
        break;
      case TensorMode::tile:
        run_tile();
        break;
      default:
        run_im2col();
    }
    TensorResult result;
    result.bytes = rows_ * units_.moved_bytes();
    return result;
  }

 private:
  using Place = int64_t[tensor_most_rank];

  static TensorResult failed(const char* what, Fault kind = Fault::illegal_instruction,
                             uint64_t address = 0) {
    return {0, what, kind, address};
  }

  bool loads() const { return call_.op.direction == TensorDirection::load; }
  bool interleaved() const { return map_.interleave != TensorInterleave::none; }

  const char* prepare();
  const char* check_mode() const;
  const char* check_type() const;
  const char* check_coordinates() const;
  TensorResult place_shared();
  void run_tile();
  void run_gather();
  void run_im2col();
  void row(uint64_t index, const Place& at);
  void move_whole(uint8_t* global, uint64_t offset);
  void move_chunks(int64_t first, uint64_t offset, uint64_t base, bool inside);
  void move_padded(int64_t first, uint64_t offset, uint64_t base, bool inside);
  void fill(uint8_t* to, size_t bytes) const;
  void convert(uint8_t* values, uint32_t bytes) const;
  uint8_t* chunk_at(uint64_t offset) const {
    const uint64_t at = begin_ + offset;
    return block_.shared + (at ^ (at >> 7 & exchange_.lines) << exchange_.shift);
  }
  bool flips(uint64_t offset) const {
    return map_.swizzle == TensorSwizzle::span128_atom32_flip8 && ((begin_ + offset) >> 7 & 1) != 0;
  }

  const BlockContext& block_;
  const TensorCall& call_;
  const TensorMap& map_;
  const Exchange exchange_;
  Units units_;
  uint32_t counts_[tensor_most_rank] = {};  ///< tiled: rows of each dimension but the first
  uint64_t rows_ = 0;
  int64_t row_units_ = 0;  ///< of the tensor that may be touched
  uint64_t pitch_ = 0;     ///< bytes from row to row in shared memory
  uint64_t begin_ = 0;     ///< of the box in the shared window
};

const char* TensorCopy::check_mode() const {
  const bool im2col = call_.op.mode == TensorMode::im2col;
  const bool wide = call_.op.mode == TensorMode::im2col_w;
  if (map_.rank != call_.op.rank) return "the tensor map's rank is not the instruction's";
  if (!im2col && !wide && map_.kind != TensorKind::tiled)
    return "a tiled tensor instruction with an im2col tensor map";
  if (im2col && map_.kind != TensorKind::im2col)
    return "an im2col tensor instruction with another kind of tensor map";
  if (wide && map_.kind != TensorKind::wide)
    return "an im2col::w tensor instruction with another kind of tensor map";
  if (call_.op.mode == TensorMode::gather4 && (map_.box[1] != 1 || interleaved()))
    return "tile::gather4 needs a box of one row and no interleave";
  return nullptr;
}

/// What the map's type and swizzle allow in this direction.
/// source: PTX ISA 9.0 #data-movement-and-conversion-instructions-tensor-copy-restrictions
const char* TensorCopy::check_type() const {
  const int64_t first = call_.words[0];
  if (!loads() && map_.swizzle == TensorSwizzle::span128_atom32_flip8)
    return "a swizzle with 8-byte flip in a tensor store";
  if (call_.op.direction == TensorDirection::store && map_.type == TensorType::u4_padded)
    return "a tensor of 16U4_ALIGN16B cannot be stored to";
  if (is_padded(map_.type) && interleaved()) return "a padded type with interleave";
  if (is_padded(map_.type) && first % 128 != 0)
    return "the first coordinate of a padded type must be a multiple of 128";
  if (map_.type == TensorType::u4_packed && first % 2 != 0)
    return "the first coordinate of 16U4_ALIGN8B must be even";
  if (call_.op.direction == TensorDirection::reduce && !can_reduce(map_.type, call_.op.reduction))
    return "the tensor map's type has no such reduction";
  return nullptr;
}

/// Where a box may begin. None of it is in the manual; an H200 ends with an illegal instruction.
const char* TensorCopy::check_coordinates() const {
  const int32_t* at = call_.words;
  if (!interleaved() && int64_t{at[0]} * bits_of(map_.type) % (chunk_bytes * 8) != 0)
    return "a tensor's box does not begin at a multiple of 16 bytes along dimension 0";
  if (!loads())
    for (uint32_t d = 0; d < map_.rank; ++d)
      if (at[d] < 0) return "a tensor store begins at a negative coordinate";
  if (call_.op.mode != TensorMode::im2col) return nullptr;
  const uint32_t first = interleaved() ? 0 : 1;
  for (uint32_t i = 0; i < map_.rank - 2u; ++i) {
    if (at[first + i] < map_.lower[i] || at[first + i] >= map_.size(first + i) + map_.upper[i])
      return "an im2col instruction begins outside the bounding box";
    if (!loads() && (map_.lower[i] < 0 || map_.upper[i] > 0))
      return "an im2col store with a bounding box that leaves the tensor";
  }
  return nullptr;
}

const char* TensorCopy::prepare() {
  if (const char* what = check_mode()) return what;
  if (const char* what = check_type()) return what;
  if (const char* what = check_coordinates()) return what;
  const bool tiled = map_.kind == TensorKind::tiled;
  uint32_t count = tiled ? map_.box[0] : map_.channels;
  if (interleaved()) {
    units_.bytes = units_.shared_bytes = bytes_of(map_.interleave);
    if (tiled) units_.step = map_.step[0];
    // An im2col pixel is one slice, whatever channels the map names.
    count = tiled ? (count + units_.step - 1) / units_.step : 1;
  } else {
    const uint32_t bits = bits_of(map_.type);
    units_.elements = is_padded(map_.type) ? 16 : bits < 8 ? 8 / bits : 1;
    units_.bytes = bits * units_.elements / 8;
    units_.shared_bytes = is_padded(map_.type) ? chunk_bytes : units_.bytes;
    count /= units_.elements;
  }
  units_.count = count;
  row_units_ = map_.size(0) / units_.elements;
  if (!loads() && !interleaved() && !is_padded(map_.type)) {
    const int64_t per_chunk = chunk_bytes / units_.bytes;
    row_units_ = (row_units_ + per_chunk - 1) / per_chunk * per_chunk;
  }
  pitch_ = interleaved() ? units_.row_bytes() : std::max(units_.row_bytes(), span_of(map_.swizzle));
  rows_ = 1;
  if (call_.op.mode == TensorMode::gather4) {
    rows_ = 4;
  } else if (!tiled) {
    rows_ = map_.pixels;
    if (call_.op.mode == TensorMode::im2col_w)
      rows_ += static_cast<uint16_t>(call_.words[kernel::tensor_coordinate_words]);
  } else {
    for (uint32_t d = 1; d < map_.rank; ++d) {
      const bool slice = interleaved() && d == map_.rank - 2u;
      counts_[d] = slice ? 1 : (map_.box[d] + map_.step[d] - 1u) / map_.step[d];
      rows_ *= counts_[d];
    }
  }
  return nullptr;
}

/// Finds the box in the shared window, and sees that it lies in a block's memory.
TensorResult TensorCopy::place_shared() {
  // source: CUDA C++ Programming Guide 13.0, "Alignment requirements for multi-dimensional bulk
  // tensor asynchronous copy operations".
  constexpr uint64_t alignment = 128;
  begin_ = call_.shared - reinterpret_cast<uint64_t>(block_.shared);
  if (begin_ % alignment != 0)
    return failed("the shared address of a tensor instruction is not aligned to 128 bytes",
                  Fault::misaligned_address, call_.shared);
  const auto round_up = [](uint64_t n) { return (n + alignment - 1) & ~(alignment - 1); };
  const uint64_t part = begin_ >> kernel::cluster_window_shift;
  const uint64_t inside = begin_ & ((uint64_t{1} << kernel::cluster_window_shift) - 1);
  const uint32_t* cluster = block_.launch->cluster;
  const uint64_t parts = std::max<uint64_t>(1, uint64_t{cluster[0]} * cluster[1] * cluster[2]);
  // A swizzle moves chunks within their line of 128 bytes, of which the last may be begun only.
  const uint64_t end = round_up(inside + (rows_ - 1) * pitch_ + units_.row_bytes());
  if (part >= parts || end > round_up(block_.launch->shared_bytes))
    return failed("a tensor's box leaves the block's shared memory", Fault::illegal_address,
                  call_.shared);
  return {};
}

void TensorCopy::run_tile() {
  Place at;
  uint32_t done[tensor_most_rank] = {};
  for (uint32_t d = 0; d < map_.rank; ++d) at[d] = call_.words[d];
  for (uint64_t index = 0;; ++index) {
    row(index, at);
    uint32_t d = 1;
    for (; d < map_.rank; ++d) {
      at[d] += map_.step[d];
      if (++done[d] < counts_[d]) break;
      done[d] = 0;
      at[d] = call_.words[d];
    }
    if (d >= map_.rank) return;
  }
}

void TensorCopy::run_gather() {
  for (uint32_t i = 0; i < 4; ++i) {
    const Place at = {call_.words[0], call_.words[1 + i], 0, 0, 0};
    row(i, at);
  }
}

/// The pixels from the filter's base on: along W, then H and D, then from image to image, each
/// within the bounding box. `wide` walks along W alone.
void TensorCopy::run_im2col() {
  const bool wide = call_.op.mode == TensorMode::im2col_w;
  const uint32_t first = interleaved() ? 0 : 1, spatial = wide ? 1 : map_.rank - 2u;
  const int32_t* info = call_.words + kernel::tensor_coordinate_words;
  int64_t lower[3] = {}, end[3] = {}, offset[3] = {};
  Place at = {};
  for (uint32_t d = 0; d < map_.rank; ++d) at[d] = call_.words[d];
  for (uint32_t i = 0; i < spatial; ++i) {
    const auto given = static_cast<uint16_t>(info[i]);
    offset[i] = wide ? static_cast<uint16_t>(info[1]) : loads() ? given : 0;
    lower[i] = map_.lower[i];
    end[i] = map_.size(first + i) + map_.upper[i];
  }
  for (uint64_t pixel = 0; pixel < rows_; ++pixel) {
    Place moved;
    std::copy(at, at + tensor_most_rank, moved);
    for (uint32_t i = 0; i < spatial; ++i) moved[first + i] += offset[i];
    row(pixel, moved);
    uint32_t i = 0;
    for (; i < spatial; ++i) {
      at[first + i] += map_.step[first + i];
      if (at[first + i] < end[i]) break;
      at[first + i] = lower[i];
    }
    if (i == spatial) at[map_.rank - 1] += map_.step[map_.rank - 1];
  }
}

void TensorCopy::row(uint64_t index, const Place& at) {
  bool inside = true;
  uint64_t base = map_.address;
  for (uint32_t d = 1; d < map_.rank; ++d) {
    inside &= at[d] >= 0 && at[d] < map_.size(d);
    base += static_cast<uint64_t>(at[d]) * map_.stride[d - 1];
  }
  if (!inside && !loads()) return;
  const uint64_t offset = index * pitch_;
  const int64_t first = at[0] / int64_t{units_.elements};
  if (is_padded(map_.type) && !interleaved()) return move_padded(first, offset, base, inside);
  if (units_.step == 1 && inside && first >= 0 && first + units_.count <= row_units_ &&
      call_.op.direction != TensorDirection::reduce &&
      map_.swizzle != TensorSwizzle::span128_atom32_flip8)
    return move_whole(
        reinterpret_cast<uint8_t*>(base + static_cast<uint64_t>(first) * units_.bytes), offset);
  move_chunks(first, offset, base, inside);
}

/// A row within bounds, as it is but for the swizzle and tf32.
void TensorCopy::move_whole(uint8_t* global, uint64_t offset) {
  const bool exchanges = exchange_.lines != 0;
  const uint32_t row_bytes = units_.row_bytes(), piece = exchanges ? chunk_bytes : row_bytes;
  for (uint32_t at = 0; at < row_bytes; at += piece) {
    uint8_t* shared = chunk_at(offset + at);
    if (!loads()) {
      exchanges ? std::memcpy(global + at, shared, chunk_bytes)
                : std::memcpy(global, shared, row_bytes);
      continue;
    }
    exchanges ? std::memcpy(shared, global + at, chunk_bytes)
              : std::memcpy(shared, global, row_bytes);
    convert(shared, piece);
  }
}

void TensorCopy::move_chunks(int64_t first, uint64_t offset, uint64_t base, bool inside) {
  const uint32_t each = units_.bytes, row_bytes = units_.row_bytes();
  for (uint32_t at = 0; at < row_bytes; at += chunk_bytes) {
    // Which bytes of the chunk are the tensor's, and where.
    uint32_t from = 0, to = chunk_bytes;
    int64_t unit = first + int64_t{at / each} * units_.step;
    uint64_t global = base + static_cast<uint64_t>(unit) * each + at % each;
    if (each >= chunk_bytes) {
      if (unit < 0 || unit >= row_units_) from = to;
    } else {
      const int64_t per_chunk = chunk_bytes / each;
      const int64_t low = std::clamp<int64_t>(-unit, 0, per_chunk);
      const int64_t high = std::clamp<int64_t>(row_units_ - unit, low, per_chunk);
      from = static_cast<uint32_t>(low) * each;
      to = static_cast<uint32_t>(high) * each;
    }
    if (!inside) from = to = chunk_bytes;
    uint8_t* shared = chunk_at(offset + at);
    uint8_t chunk[chunk_bytes];
    if (loads()) {
      if (to - from != chunk_bytes) fill(chunk, chunk_bytes);
      if (to != from) {
        std::memcpy(chunk + from, reinterpret_cast<const uint8_t*>(global) + from, to - from);
        convert(chunk + from, to - from);
      }
      if (flips(offset + at)) std::swap_ranges(chunk, chunk + 8, chunk + 8);
      std::memcpy(shared, chunk, chunk_bytes);
    } else if (from != to) {
      auto* target = reinterpret_cast<uint8_t*>(global) + from;
      if (call_.op.direction == TensorDirection::store) {
        std::memcpy(target, shared + from, to - from);
        continue;
      }
      const uint32_t bytes = bits_of(map_.type) / 8;
      reduce_elements(map_.type, call_.op.reduction, target, shared + from, (to - from) / bytes);
    }
  }
}

/// 16 values of 4 or 6 bits in a chunk. Gaps keep what they had. A load of 6-bit values leaves them
/// packed; a store takes the low 6 bits of 16 bytes.
void TensorCopy::move_padded(int64_t first, uint64_t offset, uint64_t base, bool inside) {
  for (uint32_t i = 0; i < units_.count; ++i) {
    const int64_t unit = first + i;
    const bool here = inside && unit >= 0 && unit < row_units_;
    uint8_t* shared = chunk_at(offset + uint64_t{i} * chunk_bytes);
    auto* global = reinterpret_cast<uint8_t*>(base + static_cast<uint64_t>(unit) * units_.bytes);
    if (loads()) {
      if (here)
        std::memcpy(shared, global, units_.bytes);
      else
        std::memset(shared, 0, units_.bytes);
    } else if (here) {
      uint8_t packed[12] = {};
      for (uint32_t n = 0; n < 16; ++n) {
        const uint32_t bit = n * 6, value = (shared[n] & 63u) << bit % 8;
        packed[bit / 8] |= static_cast<uint8_t>(value);
        if (bit % 8 > 2) packed[bit / 8 + 1] |= static_cast<uint8_t>(value >> 8);
      }
      std::memcpy(global, packed, sizeof packed);
    }
  }
}

void TensorCopy::fill(uint8_t* to, size_t bytes) const {
  if (!map_.nan_fill) {
    std::memset(to, 0, bytes);
    return;
  }
  for (size_t i = 0; i < bytes; i += 2) std::memcpy(to + i, &out_of_bounds_nan, 2);
}

/// What a load does to numbers on their way: tf32 is rounded, everything else kept.
void TensorCopy::convert(uint8_t* values, uint32_t bytes) const {
  if (map_.type != TensorType::tf32 && map_.type != TensorType::tf32_ftz) return;
  for (uint32_t i = 0; i < bytes; i += 4) {
    uint32_t bits;
    std::memcpy(&bits, values + i, 4);
    bits = tf32_of(bits);
    std::memcpy(values + i, &bits, 4);
  }
}

}  // namespace

TensorResult run_tensor(const BlockContext& block, const TensorCall& call) {
  if (call.map % 16 != 0)
    return {0, "the address of a tensor map is not aligned", Fault::misaligned_address, call.map};
  TensorMap map;
  std::memcpy(&map, reinterpret_cast<const void*>(call.map), sizeof map);
  if (!is_tensor_map(map))
    return {0, "what a tensor instruction was handed is no tensor map (cuTensorMapEncode*)",
            Fault::illegal_instruction, call.map};
  if (map.replaced)
    if (const char* what = check_replaced(map))
      return {0, what, Fault::illegal_instruction, call.map};
  return TensorCopy(block, call, map).run();
}

}  // namespace limen::engine
