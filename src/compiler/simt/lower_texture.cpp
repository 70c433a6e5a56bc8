// tex, tld4, txq, suq, istypep, suld, sust, sured: operands are laid out by word and lane, and one
// call to Runtime::texture does the instruction for all active lanes (devlib/kernel_abi.h says
// how). What is not built is refused by name and line: residency predicates, depth comparison,
// separate samplers. Forms without an implementation are `later` in spec/ptx/texture.toml.
#include <llvm/IR/IntrinsicInst.h>

#include "compiler/simt/lower.h"

namespace limen::simt {

using namespace llvm;
using kernel::SurfaceClamp;
using kernel::SurfaceReduction;
using kernel::TextureGeometry;
using kernel::TextureKind;
using kernel::TextureLod;
using kernel::TextureOp;
using kernel::TextureQuery;
using kernel::TextureResult;
using ptx::Op;
using ptx::Operand;
using ptx::Tok;
using PType = ptx::Type;

namespace {

// The longest instructions: tex.grad.acube with its layer, 3 coordinates and 6 gradients, then 2
// offsets; suld.v4.b32 and suld.v2.b64.
constexpr size_t most_in = 16, most_out = 8;

TextureGeometry geometry_of(const ptx::Instruction& inst) {
  static constexpr std::pair<Tok, TextureGeometry> all[] = {
      {Tok::_1d, TextureGeometry::d1},     {Tok::_2d, TextureGeometry::d2},
      {Tok::_3d, TextureGeometry::d3},     {Tok::a1d, TextureGeometry::a1d},
      {Tok::a2d, TextureGeometry::a2d},    {Tok::cube, TextureGeometry::cube},
      {Tok::acube, TextureGeometry::acube}};
  for (const auto& [tok, geometry] : all)
    if (inst.has(tok)) return geometry;
  return TextureGeometry::d1;
}

struct Coordinates {
  bool layer;      ///< the first element is a layer
  uint32_t count;  ///< coordinates proper
  size_t written;  ///< elements of the vector in PTX: 3 are padded to 4
};

Coordinates coordinates_of(TextureGeometry geometry) {
  switch (geometry) {
    case TextureGeometry::d1:
      return {false, 1, 1};
    case TextureGeometry::d2:
      return {false, 2, 2};
    case TextureGeometry::a1d:
      return {true, 1, 2};
    case TextureGeometry::a2d:
      return {true, 2, 4};
    case TextureGeometry::acube:
      return {true, 3, 4};
    default:
      return {false, 3, 4};
  }
}

const std::vector<Operand>& parts_of(const Operand& o, std::vector<Operand>& single) {
  if (o.kind == Operand::Kind::vector) return o.elems;
  single.assign(1, o);
  return single;
}

}  // namespace

/// Runs the instruction on the active lanes; gives `results` words, vectors or scalars of i32.
std::vector<Value*> Lowering::call_texture(const Inst& inst, TextureOp op, const Val& handle,
                                           const std::vector<Val>& words, size_t results) {
  const uint64_t lanes = scalar_mode() ? 1 : width();
  if (words.size() > most_in || results > most_out) {
    fail(inst, "internal: too many words of a texture instruction");
    return std::vector<Value*>(
        results, UndefValue::get(scalar_mode() ? static_cast<llvm::Type*>(b_.getInt32Ty())
                                               : vec_type(b_.getInt32Ty())));
  }
  llvm::Type *i32 = b_.getInt32Ty(), *i64 = b_.getInt64Ty();
  if (!texture_words_) {
    // One buffer a function: texture instructions do not overlap.
    auto* t = ArrayType::get(i32, (most_in + most_out + 2) * lanes);
    texture_words_ = entry_alloca(t, "texture", false);
    texture_words_->setAlignment(Align(64));
  }
  auto at = [&](uint64_t word) {
    return b_.CreateConstInBoundsGEP1_64(i32, texture_words_, word * lanes);
  };
  auto spread = [&](const Val& v) { return scalar_mode() ? v.base : vec(v); };
  Value* handles = at(most_in + most_out);
  b_.CreateAlignedStore(spread(fit(handle, i64)), handles, Align(4));
  for (size_t i = 0; i < words.size(); ++i)
    b_.CreateAlignedStore(spread(fit(words[i], i32)), at(i), Align(4));
  uint64_t packed;
  static_assert(sizeof packed == sizeof op);
  std::memcpy(&packed, &op, sizeof packed);
  auto* ft = FunctionType::get(
      b_.getVoidTy(),
      {b_.getPtrTy(), i64, i32, i32, i32, i32, b_.getPtrTy(), b_.getPtrTy(), b_.getPtrTy()}, false);
  b_.CreateCall(ft, runtime(offsetof(kernel::Runtime, texture)),
                {ctx_, b_.getInt64(packed), b_.getInt32(static_cast<uint32_t>(lanes)),
                 scalar_mode() ? b_.getInt32(1) : bits(active()), thread_linear_base(),
                 b_.getInt32(inst.line), handles, at(0), at(most_in)});
  std::vector<Value*> out;
  llvm::Type* t = scalar_mode() ? i32 : vec_type(i32);
  for (size_t i = 0; i < results; ++i)
    out.push_back(b_.CreateAlignedLoad(t, at(most_in + i), Align(4)));
  return out;
}

/// The texture or surface of `[handle, {coordinates}]`, and the words of its coordinates.
bool Lowering::coordinate_words(const Inst& inst, const Operand& at, TextureGeometry geometry,
                                PType type, std::vector<Val>& words) {
  if (at.kind != Operand::Kind::address || at.elems.empty()) {
    fail(inst, "a texture instruction needs [handle, coordinates]");
    return false;
  }
  if (at.elems.size() > 1) {
    fail(inst, "a texture with a sampler of its own (.texmode_independent) is not supported");
    return false;
  }
  std::vector<Operand> single;
  const std::vector<Operand>& parts = parts_of(at.elems[0], single);
  const Coordinates want = coordinates_of(geometry);
  if (parts.size() != want.written) {
    fail(inst, "the instruction takes " + std::to_string(want.written) + " coordinates, found " +
                   std::to_string(parts.size()));
    return false;
  }
  for (size_t i = 0; i < want.count + want.layer; ++i)
    words.push_back(
        cast(read(parts[i], want.layer && i == 0 ? PType::u32 : type), b_.getInt32Ty()));
  return true;
}

void Lowering::lower_tex(const Inst& inst) {
  const bool gather = inst.op == Op::tld4;
  const PType result = inst.type(0), coordinate = inst.type(1);
  TextureOp op{};
  op.kind = gather ? TextureKind::gather : TextureKind::fetch;
  op.geometry = geometry_of(inst);
  op.lod = inst.has(Tok::level)  ? TextureLod::level
           : inst.has(Tok::grad) ? TextureLod::grad
                                 : TextureLod::base;
  op.detail = inst.has(Tok::g) ? 1 : inst.has(Tok::b) ? 2 : inst.has(Tok::a) ? 3 : 0;
  op.type = static_cast<uint8_t>(result == PType::f16     ? TextureResult::half
                                 : result == PType::f16x2 ? TextureResult::half_pair
                                                          : TextureResult::words);
  op.count = result == PType::f16x2 ? 2 : 4;
  op.flags = coordinate == PType::s32 ? kernel::texture_integer_coordinates : 0;
  if (inst.ops.size() < 2) return fail(inst, "a texture instruction needs [handle, coordinates]");
  if (inst.ops[0].kind == Operand::Kind::pair)
    return fail(inst, "the residency predicate of a texture instruction is not supported");
  if (inst.ops[0].kind != Operand::Kind::vector || inst.ops[0].elems.size() != op.count)
    return fail(inst, "the destination must be a vector of " + std::to_string(op.count));
  std::vector<Val> words;
  if (!coordinate_words(inst, inst.ops[1], op.geometry, coordinate, words)) return;
  const Coordinates place = coordinates_of(op.geometry);
  size_t next = 2;
  std::vector<Operand> single;
  auto take = [&](uint32_t count, PType type, const char* what) {
    if (next >= inst.ops.size()) return fail(inst, std::string("the ") + what + " is missing");
    const std::vector<Operand>& parts = parts_of(inst.ops[next++], single);
    if (parts.size() < count) return fail(inst, std::string("the ") + what + " is too short");
    for (uint32_t i = 0; i < count; ++i)
      words.push_back(cast(read(parts[i], type), b_.getInt32Ty()));
  };
  if (op.lod == TextureLod::level) take(1, coordinate, "level");
  if (op.lod == TextureLod::grad) {
    take(place.count, PType::f32, "first gradient");
    take(place.count, PType::f32, "second gradient");
  }
  const bool cube = op.geometry == TextureGeometry::cube || op.geometry == TextureGeometry::acube;
  if (next < inst.ops.size()) {
    const Operand& o = inst.ops[next];
    // A lone register of integer type is the offset of a 1d fetch; else it is a depth to compare.
    const bool lone = o.kind == Operand::Kind::reg && place.count == 1 &&
                      ptx::is_int(fn_.registers[o.index].type) &&
                      fn_.registers[o.index].type != PType::b32;
    if (cube || (o.kind != Operand::Kind::vector && !lone))
      return fail(inst, "depth comparison of a texture instruction is not supported");
    op.flags |= kernel::texture_offsets;
    take(place.count, PType::s32, "offset");
  }
  if (next < inst.ops.size())
    return fail(inst, "depth comparison of a texture instruction is not supported");
  const Val handle = address(inst, inst.ops[1]).at;
  const std::vector<Value*> out = call_texture(inst, op, handle, words, op.count);
  for (size_t i = 0; i < out.size(); ++i)
    write(inst.ops[0].elems[i], scalar_mode() ? Val::scalar(out[i]) : Val::vector(out[i]), result);
}

void Lowering::lower_texture_query(const Inst& inst) {
  static constexpr std::pair<Tok, TextureQuery> all[] = {
      {Tok::width, TextureQuery::width},
      {Tok::height, TextureQuery::height},
      {Tok::depth, TextureQuery::depth},
      {Tok::array_size, TextureQuery::array_size},
      {Tok::num_mipmap_levels, TextureQuery::num_mipmap_levels},
      {Tok::num_samples, TextureQuery::num_samples},
      {Tok::normalized_coords, TextureQuery::normalized_coords}};
  TextureOp op{};
  op.kind = TextureKind::query;
  bool known = false;
  for (const auto& [tok, query] : all)
    if (inst.has(tok)) op.detail = static_cast<uint8_t>(query), known = true;
  if (!known) return fail(inst, "this texture query is not supported");
  std::vector<Val> words;
  if (inst.has(Tok::level)) {
    op.lod = TextureLod::level;
    words.push_back(read(inst.ops[2], PType::u32));
  }
  const std::vector<Value*> out = call_texture(inst, op, address(inst, inst.ops[1]).at, words, 1);
  write(inst.ops[0], scalar_mode() ? Val::scalar(out[0]) : Val::vector(out[0]), PType::b32);
}

void Lowering::lower_istypep(const Inst& inst) {
  TextureOp op{};
  op.kind = TextureKind::is_type;
  op.detail = inst.type() == PType::samplerref ? 1 : inst.type() == PType::surfref ? 2 : 0;
  const std::vector<Value*> out = call_texture(inst, op, read(inst.ops[1], PType::b64), {}, 1);
  Value* yes = b_.CreateICmpNE(out[0], Constant::getNullValue(out[0]->getType()));
  write(inst.ops[0], scalar_mode() ? Val::scalar(yes) : Val::vector(yes), PType::pred);
}

void Lowering::lower_surface(const Inst& inst) {
  const PType t = inst.type();
  const bool load = inst.op == Op::suld, formatted = inst.has(Tok::p);
  TextureOp op{};
  op.kind = load                  ? TextureKind::load
            : inst.op == Op::sust ? formatted ? TextureKind::store_formatted : TextureKind::store
            : formatted           ? TextureKind::reduce_formatted
                                  : TextureKind::reduce;
  op.geometry = geometry_of(inst);
  op.detail = static_cast<uint8_t>(inst.has(Tok::clamp)  ? SurfaceClamp::clamp
                                   : inst.has(Tok::zero) ? SurfaceClamp::zero
                                                         : SurfaceClamp::trap);
  op.type = static_cast<uint8_t>(ptx::size_of(t));
  op.count = inst.has(Tok::v4) ? 4 : inst.has(Tok::v2) ? 2 : 1;
  if (op.type * op.count > 16) return fail(inst, "a surface vector has at most 128 bits");
  const SurfaceReduction how = inst.has(Tok::min)    ? SurfaceReduction::min
                               : inst.has(Tok::max)  ? SurfaceReduction::max
                               : inst.has(Tok::and_) ? SurfaceReduction::and_
                               : inst.has(Tok::or_)  ? SurfaceReduction::or_
                                                     : SurfaceReduction::add;
  op.reduction = static_cast<uint8_t>(static_cast<uint8_t>(how) | (ptx::is_signed(t) ? 0x80 : 0));
  if (inst.ops.size() != 2) return fail(inst, "a surface instruction takes two operands");
  const Operand& place = inst.ops[load ? 1 : 0];
  std::vector<Operand> single;
  const std::vector<Operand>& values = parts_of(inst.ops[load ? 0 : 1], single);
  if (values.size() != op.count)
    return fail(inst, "a vector of " + std::to_string(op.count) + " is expected");
  std::vector<Val> words, high;
  if (!coordinate_words(inst, place, op.geometry, PType::s32, words)) return;
  const bool wide = op.type == 8;
  llvm::Type *i32 = b_.getInt32Ty(), *i64 = b_.getInt64Ty();
  if (!load) {
    for (const Operand& o : values) {
      const Val v = read_int(o, op.type * 8u);
      words.push_back(fit(v, i32));
      if (!wide) continue;
      high.push_back(scalar_mode()
                         ? Val::scalar(b_.CreateTrunc(b_.CreateLShr(v.base, 32), i32))
                         : Val::vector(b_.CreateTrunc(b_.CreateLShr(vec(v), 32), vec_type(i32))));
    }
    words.insert(words.end(), high.begin(), high.end());
  }
  const std::vector<Value*> out = call_texture(inst, op, address(inst, place).at, words,
                                               load ? size_t{op.count} * (wide ? 2 : 1) : 0);
  for (size_t i = 0; load && i < op.count; ++i) {
    Value* v = out[i];
    if (wide) {
      llvm::Type* to = scalar_mode() ? i64 : vec_type(i64);
      v = b_.CreateOr(b_.CreateZExt(v, to), b_.CreateShl(b_.CreateZExt(out[op.count + i], to), 32));
    }
    write(values[i], scalar_mode() ? Val::scalar(v) : Val::vector(v), t);
  }
}

bool Lowering::lower_texture(const Inst& inst) {
  switch (inst.op) {
    case Op::tex:
    case Op::tld4:
      lower_tex(inst);
      return true;
    case Op::txq:
    case Op::suq:
      lower_texture_query(inst);
      return true;
    case Op::istypep:
      lower_istypep(inst);
      return true;
    case Op::suld:
    case Op::sust:
    case Op::sured:
      lower_surface(inst);
      return true;
    default:
      return false;
  }
}

}  // namespace limen::simt
