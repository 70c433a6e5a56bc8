// tex and tld4: from coordinates to texels, and their weighted sums. One lane at a time.
// source: CUDA C++ Programming Guide 13.0, "Texture Fetching": texel centres lie at half integers,
// filter weights have 8 bits of fraction; PTX ISA 9.0 #texture-instructions.
// What the guide leaves open (NaN, infinite and huge coordinates, weights of a half) follows
// tests/programs/texture_record; docs/design/textures.md.
#include <algorithm>
#include <bit>
#include <cmath>

#include "engine/texture_place.h"
#include "engine/texture_service.h"

namespace limen::engine {
namespace {

using kernel::TextureGeometry;
using kernel::TextureKind;
using kernel::TextureLod;
using kernel::TextureOp;
using kernel::TextureResult;

/// A coordinate on one axis: texel i, and the next one with weight / 256.
struct Axis {
  int64_t i = 0;
  int32_t weight = 0;
};

/// Apart, so that fetches from other arrays stay as small as they are without.
[[gnu::noinline]] const void* texel_of_tiles(const Image& image, const uint64_t at[3],
                                             uint32_t texel_bytes) {
  return image.tiles->texel(at[0] * texel_bytes, at[1], image.first_slice + at[2]);
}

class Fetch {
 public:
  Fetch(const Texture& texture, TextureOp op, LaneIn in) : t_(texture), op_(op), in_(in) {}

  const char* run(LaneOut out);

 private:
  const char* coordinates();
  void face_of_cube();
  void offsets();
  float level_of_detail() const;
  float level_of_gradients() const;
  Axis place(uint32_t axis, uint32_t size, bool between) const;
  const void* texel(const Image& image, const int64_t index[3]) const;
  const void* across_faces(const Image& image, const int64_t index[3], bool* corner) const;
  void value_of(const Image& image, const int64_t index[3], bool filter, float out[4]) const;
  void add_texel(const Image& image, const int64_t index[3], int32_t weight, double out[4],
                 bool filter = true) const;
  void add_level(uint32_t level, int32_t share, double out[4]) const;
  void add_filtered(const Image& image, int32_t share, double out[4]) const;
  void nearest_bits(uint32_t level, uint32_t out[4]) const;
  void gather(LaneOut out) const;
  void store(const uint32_t bits[4], LaneOut out) const;
  AddressMode mode(uint32_t axis) const { return effective_mode(t_, axis); }
  bool integer_coordinates() const { return op_.flags & kernel::texture_integer_coordinates; }

  const Texture& t_;
  const TextureOp op_;
  const LaneIn in_;
  uint32_t dims_ = 1;  ///< filtered axes: a cube has 2
  size_t next_ = 0;    ///< the operand word after the coordinates
  float at_[3] = {};   ///< float coordinates
  int32_t at_integer_[3] = {};
  int32_t offset_[3] = {};
  uint32_t layer_ = 0;
  bool missing_ = false;  ///< nothing is there to fetch: zeros
};

/// Finds the layer and the coordinates; cubes become a face and two coordinates.
const char* Fetch::coordinates() {
  const TextureGeometry g = op_.geometry;
  const bool cube = g == TextureGeometry::cube || g == TextureGeometry::acube;
  if (cube != t_.cube && (cube || t_.levels[0].depth != 0))
    if (cube) return "a cubemap fetch from what is no cubemap";
  uint32_t layer = 0;
  if (has_layer(g)) layer = in_[next_++];
  dims_ = coordinate_count(g);
  for (uint32_t i = 0; i < dims_; ++i, ++next_) {
    at_[i] = std::bit_cast<float>(in_[next_]);
    at_integer_[i] = static_cast<int32_t>(in_[next_]);
  }
  // tex.1d by integers is a fetch from a buffer, any other one is not.
  if (g == TextureGeometry::d1) missing_ = integer_coordinates() != t_.buffer;
  const uint32_t layers = t_.layered ? t_.levels[0].depth : 1;
  if (cube) {
    layer_ = std::min(layer, std::max(layers / 6, 1u) - 1) * 6;
    face_of_cube();
    dims_ = 2;
  } else {
    layer_ = std::min(layer, std::max(layers, 1u) - 1);
  }
  return nullptr;
}

/// source: CUDA C++ Programming Guide 13.0, "Cubemap Textures", table of faces. Ties go to z, then
/// y: H200.
void Fetch::face_of_cube() {
  // Measured on an H200: NaN counts as 0, and a direction of length 0 or infinity is none.
  for (float& c : at_)
    if (c != c) c = 0;
  const float longest = std::max({std::fabs(at_[0]), std::fabs(at_[1]), std::fabs(at_[2])});
  if (longest == 0 || std::isinf(longest)) {
    layer_ += 4;
    at_[0] = at_[1] = 0.5f;
    return;
  }
  const float x = at_[0], y = at_[1], z = at_[2];
  const float ax = std::fabs(x), ay = std::fabs(y), az = std::fabs(z);
  uint32_t face;
  float m, s, t;
  if (az >= ax && az >= ay) {
    face = std::signbit(z) ? 5 : 4;
    m = az, s = std::signbit(z) ? -x : x, t = -y;
  } else if (ay >= ax) {
    face = std::signbit(y) ? 3 : 2;
    m = ay, s = x, t = std::signbit(y) ? -z : z;
  } else {
    face = std::signbit(x) ? 1 : 0;
    m = ax, s = std::signbit(x) ? z : -z, t = -y;
  }
  layer_ += face;
  // Rounded down: the least step below the middle is below it.
  auto onto = [&](float c) {
    double part = double{c} / double{m};
    if (c < 0) part = part > -0x1p-126 ? 0 : std::min(part, -0x1p-40);
    return static_cast<float>(static_cast<double>(floor_of((part + 1) * 0x1p20)) * 0x1p-21);
  };
  at_[0] = onto(s);
  at_[1] = onto(t);
}

void Fetch::offsets() {
  if (!(op_.flags & kernel::texture_offsets)) return;
  for (uint32_t i = 0; i < dims_; ++i) offset_[i] = static_cast<int32_t>(in_[next_++]);
}

float Fetch::level_of_gradients() const {
  const uint32_t count = coordinate_count(op_.geometry);
  const Image& top = t_.levels[0];
  const float size[3] = {static_cast<float>(top.width), static_cast<float>(top.height),
                         static_cast<float>(t_.layered ? 1 : top.depth)};
  double longest = 0;
  for (uint32_t g = 0; g < 2; ++g) {
    double square = 0;
    for (uint32_t i = 0; i < count; ++i) {
      const double scale = t_.normalized ? size[i] : 1.0;
      const double d = double{std::bit_cast<float>(in_[next_ + g * count + i])} * scale;
      square += d * d;
    }
    longest = std::max(longest, square);
  }
  return static_cast<float>(0.5 * std::log2(longest));
}

float Fetch::level_of_detail() const {
  if (t_.level_count <= 1) return 0;
  float lod = 0;
  if (op_.lod == TextureLod::level)
    lod = std::bit_cast<float>(in_[next_]);
  else if (op_.lod == TextureLod::grad)
    lod = level_of_gradients();
  if (!(lod == lod)) lod = 0;
  if (op_.lod != TextureLod::base) lod += t_.lod_bias;
  lod = std::min(std::max(lod, t_.lod_min), t_.lod_max);
  return std::clamp(lod, 0.0f, static_cast<float>(t_.level_count - 1));
}

/// `between`: for linear filtering, else the texel that holds the coordinate.
Axis Fetch::place(uint32_t axis, uint32_t size, bool between) const {
  if (integer_coordinates()) return {int64_t{at_integer_[axis]} + offset_[axis], 0};
  const double x = position(double{at_[axis]}, t_.normalized, mode(axis), size);
  if (!between) return {floor_of(x) + offset_[axis], 0};
  const int64_t fixed = floor_of(x * one_weight + 0.5) - one_weight / 2;
  return {(fixed >> 8) + offset_[axis], static_cast<int32_t>(fixed & (one_weight - 1))};
}

/// Address of a texel, or nullptr for the border colour.
const void* Fetch::texel(const Image& image, const int64_t index[3]) const {
  const uint32_t size[3] = {image.width, image.height, t_.layered ? 1 : image.depth};
  uint64_t at[3] = {0, 0, t_.layered ? layer_ : 0};
  for (uint32_t i = 0; i < dims_; ++i) {
    // Integer coordinates end at the edge, those with a level at the address mode (H200).
    const bool ends = integer_coordinates() && op_.lod != TextureLod::level;
    const AddressMode how = t_.buffer || ends ? AddressMode::border : mode(i);
    const int32_t where = resolve(index[i], size[i], how);
    if (where == outside) return nullptr;
    at[i] = static_cast<uint64_t>(where);
  }
  if (image.tiles) [[unlikely]]
    return texel_of_tiles(image, at, t_.texel_bytes());
  return reinterpret_cast<const void*>(image.base + at[2] * image.slice + at[1] * image.pitch +
                                       at[0] * t_.texel_bytes());
}

/// A texel beside a face: the one that its centre's direction hits on the neighbour. Beyond a
/// corner there is none.
const void* Fetch::across_faces(const Image& image, const int64_t index[3], bool* corner) const {
  const auto n = static_cast<int64_t>(image.width);
  const bool off_x = index[0] < 0 || index[0] >= n, off_y = index[1] < 0 || index[1] >= n;
  *corner = off_x && off_y;
  if (*corner) return nullptr;
  const double s = 2.0 * (static_cast<double>(index[0]) + 0.5) / static_cast<double>(n) - 1;
  const double t = 2.0 * (static_cast<double>(index[1]) + 0.5) / static_cast<double>(n) - 1;
  const double direction[6][3] = {{1, -t, -s}, {-1, -t, s}, {s, 1, t},
                                  {s, -1, -t}, {s, -t, 1},  {-s, -t, -1}};
  const double* d = direction[layer_ % 6];
  Fetch other(t_, op_, in_);
  for (int i = 0; i < 3; ++i) other.at_[i] = static_cast<float>(d[i]);
  other.layer_ = layer_ - layer_ % 6;
  other.face_of_cube();
  other.dims_ = 2;
  const int64_t inside[3] = {floor_of(double{other.at_[0]} * static_cast<double>(n)),
                             floor_of(double{other.at_[1]} * static_cast<double>(n)), 0};
  return other.texel(image, inside);
}

/// One texel's channels; `filter`: in the units that filters add up.
void Fetch::value_of(const Image& image, const int64_t index[3], bool filter, float out[4]) const {
  const auto n = static_cast<int64_t>(image.width);
  const bool inside = index[0] >= 0 && index[0] < n && index[1] >= 0 && index[1] < n;
  const void* p;
  if (t_.cube && t_.seamless && !inside) {
    bool corner;
    p = across_faces(image, index, &corner);
    if (corner) {
      double sum[4] = {};
      add_texel(image, index, static_cast<int32_t>(one_weight), sum, filter);
      for (int c = 0; c < 4; ++c) out[c] = static_cast<float>(sum[c] / one_weight);
      return;
    }
  } else {
    p = texel(image, index);
  }
  if (p)
    filter ? load_units(t_, p, out) : load_floats(t_, p, out);
  else if (t_.buffer || integer_coordinates())
    std::fill(out, out + 4, 0.0f);
  else if (filter)
    border_units(t_, out);
  else
    std::copy(t_.border, t_.border + 4, out);
}

/// Adds `weight` times a texel. Beyond the corner of a face the weight is shared by the three
/// texels that meet there.
void Fetch::add_texel(const Image& image, const int64_t index[3], int32_t weight, double out[4],
                      bool filter) const {
  const auto n = static_cast<int64_t>(image.width);
  const bool off_x = index[0] < 0 || index[0] >= n, off_y = index[1] < 0 || index[1] >= n;
  if (t_.cube && t_.seamless && off_x && off_y) {
    const int64_t x = index[0] < 0 ? 0 : n - 1, y = index[1] < 0 ? 0 : n - 1;
    const int64_t around[3][3] = {{x, y, 0}, {index[0], y, 0}, {x, index[1], 0}};
    const int32_t other = part(weight, 85);
    const int32_t share[3] = {weight - 2 * other, other, other};
    for (int i = 0; i < 3; ++i) add_texel(image, around[i], share[i], out, filter);
    return;
  }
  float value[4];
  value_of(image, index, filter, value);
  for (int i = 0; i < 4; ++i) out[i] += double{value[i]} * weight;
}

/// Adds `share` / 256 of the sum over 2, 4 or 8 texels. Texels of weight 0 are not touched.
void Fetch::add_filtered(const Image& image, int32_t share, double out[4]) const {
  const uint32_t size[3] = {image.width, image.height, image.depth};
  Axis axis[3];
  for (uint32_t i = 0; i < dims_; ++i) axis[i] = place(i, size[i], true);
  // A line lies in a plane of one row and is read at its upper edge: half of it is border.
  const bool edge = dims_ == 1 && !t_.layered && mode(1) == AddressMode::border;
  if (edge) axis[1] = {-1, static_cast<int32_t>(one_weight / 2)};
  const uint32_t axes = edge ? 2 : dims_;
  for (uint32_t z = 0; z < (axes > 2 ? 2u : 1u); ++z) {
    const int32_t third = z ? axis[2].weight : static_cast<int32_t>(one_weight) - axis[2].weight;
    int32_t weights[4];
    weigh(axis[0].weight, axes > 1 ? axis[1].weight : 0, axes > 2 ? part(third, share) : share,
          weights);
    for (uint32_t corner = 0; corner < 4; ++corner) {
      if (weights[corner] == 0) continue;
      const int64_t index[3] = {axis[0].i + (corner & 1), axis[1].i + (corner >> 1), axis[2].i + z};
      if (edge && index[1] < 0) {
        float value[4];
        border_units(t_, value);
        for (int i = 0; i < 4; ++i) out[i] += double{value[i]} * weights[corner];
      } else {
        add_texel(image, index, weights[corner], out);
      }
    }
  }
}

/// Adds `share` / 256 of what one level gives.
void Fetch::add_level(uint32_t level, int32_t share, double out[4]) const {
  const Image& image = t_.levels[level];
  if (t_.linear && !integer_coordinates()) return add_filtered(image, share, out);
  const uint32_t size[3] = {image.width, image.height, image.depth};
  int64_t index[3] = {};
  for (uint32_t i = 0; i < dims_; ++i) index[i] = place(i, size[i], false).i;
  add_texel(image, index, share, out);
}

void Fetch::nearest_bits(uint32_t level, uint32_t out[4]) const {
  const Image& image = t_.levels[level];
  const uint32_t size[3] = {image.width, image.height, image.depth};
  int64_t index[3] = {};
  for (uint32_t i = 0; i < dims_; ++i) index[i] = place(i, size[i], false).i;
  const void* p = texel(image, index);
  const bool raw = t_.integer() || t_.format == TexelFormat::f32;
  if (!p) {
    const bool zero = t_.buffer || integer_coordinates();
    for (int i = 0; i < 4; ++i) out[i] = zero ? 0 : std::bit_cast<uint32_t>(t_.border[i]);
  } else if (raw) {
    // Also f32: a point fetch keeps every bit.
    load_bits(t_, p, out);
  } else {
    float value[4];
    load_floats(t_, p, value);
    for (int i = 0; i < 4; ++i) out[i] = std::bit_cast<uint32_t>(value[i]);
  }
}

/// One component of the four texels that a linear filter would use.
void Fetch::gather(LaneOut out) const {
  const Image& image = t_.levels[0];
  const Axis x = place(0, image.width, true), y = place(1, image.height, true);
  const int64_t order[4][2] = {{x.i, y.i + 1}, {x.i + 1, y.i + 1}, {x.i + 1, y.i}, {x.i, y.i}};
  for (int i = 0; i < 4; ++i) {
    const int64_t index[3] = {order[i][0], order[i][1], 0};
    if (t_.integer()) {
      uint32_t bits[4];
      const void* p = texel(image, index);
      if (p)
        load_bits(t_, p, bits);
      else
        for (int c = 0; c < 4; ++c) bits[c] = std::bit_cast<uint32_t>(t_.border[c]);
      out[static_cast<size_t>(i)] = bits[op_.detail];
    } else {
      float value[4];
      value_of(image, index, false, value);
      out[static_cast<size_t>(i)] = std::bit_cast<uint32_t>(value[op_.detail]);
    }
  }
}

void Fetch::store(const uint32_t bits[4], LaneOut out) const {
  const auto result = static_cast<TextureResult>(op_.type);
  auto half = [&](size_t i) -> uint32_t { return half_of(std::bit_cast<float>(bits[i])); };
  for (size_t i = 0; i < op_.count; ++i)
    out[i] = result == TextureResult::words  ? bits[i]
             : result == TextureResult::half ? half(i)
                                             : half(2 * i) | half(2 * i + 1) << 16;
}

const char* Fetch::run(LaneOut out) {
  if (const char* error = coordinates()) return error;
  if (op_.kind == TextureKind::gather) {
    offsets();
    gather(out);
    return nullptr;
  }
  if (op_.lod == TextureLod::grad && t_.anisotropic)
    return "anisotropic filtering of a fetch with gradients is not built";
  float lod = level_of_detail();
  if (integer_coordinates()) {
    const int32_t whole = op_.lod == TextureLod::level ? static_cast<int32_t>(in_[next_]) : 0;
    missing_ |= static_cast<uint32_t>(whole) >= t_.level_count;
    lod = missing_ ? 0 : static_cast<float>(whole);
  }
  next_ += op_.lod == TextureLod::level  ? 1
           : op_.lod == TextureLod::grad ? size_t{2} * coordinate_count(op_.geometry)
                                         : 0;
  offsets();
  uint32_t bits[4] = {};
  if (missing_) {
    store(bits, out);
    return nullptr;
  }
  const int64_t fixed_lod = floor_of(double{lod} * one_weight);
  const bool between = t_.mip_linear && (fixed_lod & (one_weight - 1)) != 0;
  const auto level =
      static_cast<uint32_t>(t_.mip_linear ? fixed_lod >> 8 : floor_of(double{lod} + 0.5));
  if (t_.integer() || (!between && (!t_.linear || integer_coordinates()))) {
    nearest_bits(level, bits);
  } else {
    const auto one = static_cast<int32_t>(one_weight);
    const int32_t share = between ? static_cast<int32_t>(fixed_lod & (one_weight - 1)) : 0;
    double sum[4] = {};
    add_level(level, one - share, sum);
    if (share) add_level(level + 1, share, sum);
    for (uint32_t i = 0; i < 4; ++i) bits[i] = filtered_bits(sum[i] * 0x1p-8, filter_units(t_, i));
  }
  store(bits, out);
  return nullptr;
}

uint32_t answer(const Texture& t, TextureOp op, LaneIn in) {
  const uint32_t level = op.lod == TextureLod::level ? in[0] : 0;
  if (level >= t.level_count) return 0;
  const Image& image = t.levels[level];
  switch (static_cast<kernel::TextureQuery>(op.detail)) {
    case kernel::TextureQuery::width:
      return image.width;
    case kernel::TextureQuery::height:
      return t.buffer ? 0 : t.dims == 1 && t.layered ? image.depth : image.height;
    case kernel::TextureQuery::depth:
      if (t.dims == 3) return image.depth;
      return !t.layered || t.dims == 1 ? 0
             : t.cube                  ? (image.depth > 6 ? image.depth / 6 : 0)
                                       : image.depth;
    case kernel::TextureQuery::array_size:
      return t.layered ? t.levels[0].depth / (t.cube ? 6 : 1) : 1;
    case kernel::TextureQuery::num_mipmap_levels:
      return t.level_count;
    case kernel::TextureQuery::num_samples:
      return 1;
    case kernel::TextureQuery::normalized_coords:
      return t.normalized;
  }
  return 0;
}

bool is_surface_op(TextureKind kind) {
  return kind >= TextureKind::load && kind <= TextureKind::reduce_formatted;
}

}  // namespace

const char* fetch_texture(const Texture& texture, TextureOp op, LaneIn in, LaneOut out) {
  return Fetch(texture, op, in).run(out);
}

TextureError run_texture(const TextureView& view, const TextureCall& call) {
  TextureError error;
  const uint32_t done = fetch_plain(view, call);
  const bool surface = is_surface_op(call.op.kind);
  const Texture* texture = nullptr;
  uint64_t last = 0;
  for (uint32_t left = call.lanes & ~done; left != 0; left &= left - 1) {
    const auto lane = static_cast<uint32_t>(std::countr_zero(left));
    const uint64_t handle = call.handles[lane];
    if (!texture || handle != last) texture = view.find(handle);
    last = handle;
    const LaneIn in{call.in + lane, call.width};
    const LaneOut out{call.out + lane, call.width};
    if (call.op.kind == TextureKind::is_type) {
      const bool is_surface = texture && (texture->kind == Texture::Kind::surface ||
                                          texture->kind == Texture::Kind::unbound_surface);
      // An object's handle is none of these on an H200.
      out[0] = texture && texture->reference &&
               (call.op.detail == 0 ? !is_surface : call.op.detail == 2 && is_surface);
      continue;
    }
    if (!texture)
      error.what = "the handle is no live texture or surface";
    else if (texture->kind == Texture::Kind::unbound_texture ||
             texture->kind == Texture::Kind::unbound_surface)
      error.what = "nothing is bound to the texture or surface reference";
    else if (call.op.kind == TextureKind::query)
      out[0] = answer(*texture, call.op, in);
    else if ((texture->kind == Texture::Kind::surface) != surface)
      error.what = surface ? "the handle is a texture, not a surface"
                           : "the handle is a surface, not a texture";
    else if (surface)
      error = access_surface(*texture, call.op, in, out);
    else
      error.what = fetch_texture(*texture, call.op, in, out);
    error.lane = lane;
    if (error.what) return error;
  }
  error.what = nullptr;
  return error;
}

}  // namespace limen::engine
