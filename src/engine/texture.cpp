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
  void sample(uint32_t level, double out[4]) const;
  void filtered(const Image& image, double out[4]) const;
  void add_texel(const Image& image, const int64_t index[3], double weight, double out[4]) const;
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

/// source: CUDA C++ Programming Guide 13.0, "Cubemap Textures", table of faces.
void Fetch::face_of_cube() {
  const float x = at_[0], y = at_[1], z = at_[2];
  const float ax = std::fabs(x), ay = std::fabs(y), az = std::fabs(z);
  uint32_t face;
  float m, s, t;
  if (ax >= ay && ax >= az) {
    face = std::signbit(x) ? 1 : 0;
    m = ax, s = std::signbit(x) ? z : -z, t = -y;
  } else if (ay >= az) {
    face = std::signbit(y) ? 3 : 2;
    m = ay, s = x, t = std::signbit(y) ? -z : z;
  } else {
    face = std::signbit(z) ? 5 : 4;
    m = az, s = std::signbit(z) ? -x : x, t = -y;
  }
  layer_ += face;
  at_[0] = (s / m + 1.0f) / 2.0f;
  at_[1] = (t / m + 1.0f) / 2.0f;
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
    lod = integer_coordinates() ? static_cast<float>(static_cast<int32_t>(in_[next_]))
                                : std::bit_cast<float>(in_[next_]);
  else if (op_.lod == TextureLod::grad)
    lod = level_of_gradients();
  lod += t_.lod_bias;
  if (!(lod == lod)) lod = 0;
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
    const AddressMode how = t_.buffer ? AddressMode::border : mode(i);
    const int32_t where = resolve(index[i], size[i], how);
    if (where == outside) return nullptr;
    at[i] = static_cast<uint64_t>(where);
  }
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

void Fetch::add_texel(const Image& image, const int64_t index[3], double weight,
                      double out[4]) const {
  float value[4];
  const auto n = static_cast<int64_t>(image.width);
  const bool inside = index[0] >= 0 && index[0] < n && index[1] >= 0 && index[1] < n;
  const void* p;
  if (t_.cube && t_.seamless && !inside) {
    bool corner;
    p = across_faces(image, index, &corner);
    if (corner) {  // the mean of the three texels that meet there
      const int64_t x = index[0] < 0 ? 0 : n - 1, y = index[1] < 0 ? 0 : n - 1;
      const int64_t around[3][3] = {{x, y, 0}, {index[0], y, 0}, {x, index[1], 0}};
      for (const auto& a : around) add_texel(image, a, weight / 3, out);
      return;
    }
  } else {
    p = texel(image, index);
  }
  if (p)
    load_floats(t_, p, value);
  else
    for (int i = 0; i < 4; ++i) value[i] = t_.buffer ? 0.0f : t_.border[i];
  for (int i = 0; i < 4; ++i) out[i] += weight * double{value[i]};
}

/// The sum over 2, 4 or 8 texels. Texels of weight 0 are not touched.
void Fetch::filtered(const Image& image, double out[4]) const {
  const uint32_t size[3] = {image.width, image.height, image.depth};
  Axis axis[3];
  for (uint32_t i = 0; i < dims_; ++i) axis[i] = place(i, size[i], true);
  double sum[4] = {};
  for (uint32_t corner = 0; corner < 1u << dims_; ++corner) {
    int64_t index[3] = {}, weight = 1;
    for (uint32_t i = 0; i < dims_; ++i) {
      const bool next = corner >> i & 1;
      index[i] = axis[i].i + next;
      weight *= next ? axis[i].weight : one_weight - axis[i].weight;
    }
    if (weight != 0) add_texel(image, index, static_cast<double>(weight), sum);
  }
  const double scale = dims_ == 1 ? 0x1p-8 : dims_ == 2 ? 0x1p-16 : 0x1p-24;
  for (int i = 0; i < 4; ++i) out[i] = sum[i] * scale;
}

void Fetch::sample(uint32_t level, double out[4]) const {
  const Image& image = t_.levels[level];
  if (t_.linear && !integer_coordinates()) return filtered(image, out);
  const uint32_t size[3] = {image.width, image.height, image.depth};
  int64_t index[3] = {};
  for (uint32_t i = 0; i < dims_; ++i) index[i] = place(i, size[i], false).i;
  std::fill(out, out + 4, 0.0);
  add_texel(image, index, 1.0, out);
}

void Fetch::nearest_bits(uint32_t level, uint32_t out[4]) const {
  const Image& image = t_.levels[level];
  const uint32_t size[3] = {image.width, image.height, image.depth};
  int64_t index[3] = {};
  for (uint32_t i = 0; i < dims_; ++i) index[i] = place(i, size[i], false).i;
  const void* p = texel(image, index);
  const bool raw = t_.integer() || t_.format == TexelFormat::f32;
  if (!p) {
    for (int i = 0; i < 4; ++i) out[i] = t_.buffer ? 0 : std::bit_cast<uint32_t>(t_.border[i]);
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
      double value[4] = {};
      add_texel(image, index, 1.0, value);
      out[static_cast<size_t>(i)] = std::bit_cast<uint32_t>(static_cast<float>(value[op_.detail]));
    }
  }
}

void Fetch::store(const uint32_t bits[4], LaneOut out) const {
  const auto result = static_cast<TextureResult>(op_.type);
  auto half = [&](size_t i) -> uint32_t {
    return t_.integer() ? bits[i] & 0xffffu : half_of(std::bit_cast<float>(bits[i]));
  };
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
  const float lod = level_of_detail();
  next_ += op_.lod == TextureLod::level  ? 1
           : op_.lod == TextureLod::grad ? size_t{2} * coordinate_count(op_.geometry)
                                         : 0;
  offsets();
  uint32_t bits[4];
  const int64_t fixed_lod = floor_of(double{lod} * one_weight + 0.5);
  const bool between = t_.mip_linear && (fixed_lod & (one_weight - 1)) != 0;
  const auto level =
      static_cast<uint32_t>(t_.mip_linear ? fixed_lod >> 8 : floor_of(double{lod} + 0.5));
  if (t_.integer() || (!between && (!t_.linear || integer_coordinates()))) {
    nearest_bits(level, bits);
  } else {
    double value[4];
    sample(level, value);
    if (between) {
      double next[4];
      sample(level + 1, next);
      const double weight = static_cast<double>(fixed_lod & (one_weight - 1)) * 0x1p-8;
      for (int i = 0; i < 4; ++i) value[i] = value[i] * (1 - weight) + next[i] * weight;
    }
    for (int i = 0; i < 4; ++i) bits[i] = filtered_bits(value[i]);
  }
  store(bits, out);
  return nullptr;
}

uint32_t answer(const Texture& t, TextureOp op, LaneIn in) {
  const uint32_t level = op.lod == TextureLod::level ? std::min(in[0], t.level_count - 1) : 0;
  const Image& image = t.levels[level];
  switch (static_cast<kernel::TextureQuery>(op.detail)) {
    case kernel::TextureQuery::width:
      return image.width;
    case kernel::TextureQuery::height:
      return image.height;
    case kernel::TextureQuery::depth:
      return t.layered ? 1 : image.depth;
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

TextureError run_texture(const TextureTable* table, const TextureCall& call) {
  TextureError error;
  if (fetch_plain(table, call)) return error;
  const bool surface = is_surface_op(call.op.kind);
  const Texture* texture = nullptr;
  uint64_t last = 0;
  for (uint32_t left = call.lanes; left != 0; left &= left - 1) {
    const auto lane = static_cast<uint32_t>(std::countr_zero(left));
    const uint64_t handle = call.handles[lane];
    if (!texture || handle != last) texture = table ? table->find(handle) : nullptr;
    last = handle;
    const LaneIn in{call.in + lane, call.width};
    const LaneOut out{call.out + lane, call.width};
    if (call.op.kind == TextureKind::is_type) {
      const bool is_surface = texture && (texture->kind == Texture::Kind::surface ||
                                          texture->kind == Texture::Kind::unbound_surface);
      out[0] = texture && (call.op.detail == 0 ? !is_surface : call.op.detail == 2 && is_surface);
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
