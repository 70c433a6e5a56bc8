// What is known of a register over the lanes of a warp: scalar base + compile-time lane offsets, or
// varying. Uniform is the case of zero offsets. A shape holds for the lanes that are active where
// the register is read. See docs/design/simt.md, "Shapes".
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/ptx/ir.h"
#include "compiler/simt/graph.h"

namespace limen::simt {

using Offsets = std::vector<int64_t>;  ///< one per lane; empty means all zero

/// Do lanes `first` to `first + count` (0: all) step by `stride`?
bool progression(const Offsets& o, int64_t stride, size_t first = 0, size_t count = 0);

struct Shape {
  enum class Kind : uint8_t { undef, shaped, varying };
  Kind kind = Kind::undef;
  bool guarded = false;  ///< a widening that may wrap lies behind it: carries a correction vector
  Offsets offsets;
  uint8_t base_zeros = 0;  ///< known trailing zero bits of the base (64: the base is 0)
  int64_t low = INT64_MIN, high = INT64_MAX;  ///< of every lane's value, read as signed
  bool base_known = false;
  int64_t base = 0;  ///< where known, read as signed

  bool uniform() const { return kind == Kind::shaped && offsets.empty(); }
  bool shaped() const { return kind == Kind::shaped; }
  bool varying() const { return kind == Kind::varying; }
  bool operator==(const Shape&) const = default;
  /// The base, where every lane's value is known when the kernel is compiled.
  std::optional<int64_t> known_base() const {
    if (kind != Kind::shaped || guarded) return std::nullopt;
    if (base_known) return base;
    return uniform() && low == high ? std::optional(low) : std::nullopt;
  }

  static Shape make(Kind kind) {
    Shape s;
    s.kind = kind;
    return s;
  }
  static Shape make_varying() { return make(Kind::varying); }
  static Shape make_uniform() { return make(Kind::shaped); }
  static Shape make_constant(int64_t value);
};

/// The least shape that covers both.
Shape join(const Shape& a, const Shape& b);

/// What the launch fixes: block dimensions, vector width, where index ranges are bounded.
struct LaunchShape {
  uint32_t width = 32;
  uint32_t block[3] = {0, 0, 0};  ///< 0: unknown
  bool small_grid = false;
  bool cluster = false;  ///< launched in clusters: .shared addresses are the window's
  bool scalar = false;   ///< width 1: everything is uniform
  const std::vector<ptx::Variable>* variables = nullptr;  ///< the module's
  uint32_t frame_bytes = 0;  ///< .local frame of the function, per lane
  bool block_known() const { return block[0] != 0; }
  uint32_t threads() const { return block[0] * block[1] * block[2]; }
};

/// Shape of a special register.
Shape shape_of_sreg(ptx::SReg sreg, uint8_t component, const LaunchShape& launch);

/// Looks an operand up; registers through `regs`.
Shape shape_of_operand(const ptx::Operand& operand, const std::vector<Shape>& regs,
                       const LaunchShape& launch, const ptx::Function& function, uint32_t bits);

/// Shape of what `inst` writes (every destination alike), from its operands' shapes. The code
/// generator calls the same function, so what it computes is what the analysis promised.
Shape transfer(const ptx::Instruction& inst, const std::vector<Shape>& regs,
               const LaunchShape& launch, const ptx::Function& function);

/// Does the analysis know the value, one for all lanes?
bool is_constant(const Shape& shape);

/// The operand (1 or 2) that min or max of integers gives in every lane, whatever its value: their
/// ranges do not overlap. 0: nothing is known.
size_t settled_operand(const ptx::Instruction& inst, const std::vector<Shape>& regs,
                       const LaunchShape& launch, const ptx::Function& function);

/// The answer of setp in every lane, where the operands' ranges settle it: 0 or 1, else -1.
int settled_comparison(const ptx::Instruction& inst, const std::vector<Shape>& regs,
                       const LaunchShape& launch, const ptx::Function& function);

/// Width of a type in bits; predicates have 1.
int bits_of(ptx::Type type);

}  // namespace limen::simt
