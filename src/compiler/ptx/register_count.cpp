// Liveness over the blocks of a body. Only registers that live across blocks stand in the tables;
// the others are seen within their block. Registers that hold a parameter, a constant or a copy of
// one cost nothing: a GPU reads those where it uses them. Thread rule: see the header.
#include "compiler/ptx/register_count.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "compiler/ptx/table.h"

namespace limen::ptx {

namespace {

/// What a kernel takes beside its variables: addresses being computed, the stack pointer.
/// Fitted to ptxas 13.0, see the design page.
constexpr uint32_t base_registers = 6;

uint32_t weight_of(const Register& reg) {
  if (reg.type == Type::pred) return 0;  // predicates have registers of their own
  const size_t bytes = size_of(reg.type) * reg.vector;
  return static_cast<uint32_t>((bytes + 3) / 4);
}

void collect(const Operand& o, std::vector<Index>& out) {
  const bool names_register =
      o.kind == Operand::Kind::reg ||
      (o.kind == Operand::Kind::address && o.symbol_kind == Operand::SymbolKind::none);
  if (names_register && o.index != no_index) out.push_back(o.index);
  for (const Operand& e : o.elems) collect(e, out);
}

bool writes_first(const Instruction& inst) {
  const auto rules = operands_of(form(inst));
  return !rules.empty() && rules[0].is(OperandRule::dest);
}

void uses_and_defs(const Instruction& inst, std::vector<Index>& uses, std::vector<Index>& defs) {
  uses.clear();
  defs.clear();
  if (inst.guard != no_index) uses.push_back(inst.guard);
  const size_t first_source = writes_first(inst) && !inst.ops.empty() ? 1 : 0;
  if (first_source) collect(inst.ops[0], defs);
  for (size_t i = first_source; i < inst.ops.size(); ++i) collect(inst.ops[i], uses);
  for (const Operand& o : inst.call_args) collect(o, uses);
  for (const Operand& o : inst.call_returns) collect(o, defs);
}

class Pressure {
 public:
  explicit Pressure(const Function& function)
      : function_(function), weight_(function.registers.size()), dense_(weight_.size(), no_index) {
    for (size_t r = 0; r < weight_.size(); ++r) weight_[r] = weight_of(function.registers[r]);
    drop_constants();
    find_crossing();
  }

  /// Tables of more bits than this are not built: such a body fills any number of registers.
  bool too_large() const {
    constexpr uint64_t most_bits = uint64_t{1} << 30;
    return uint64_t{function_.blocks.size()} * crossing_.size() > most_bits;
  }

  uint32_t most() {
    solve();
    uint32_t most = 0;
    std::vector<uint8_t> live(weight_.size(), 0);
    for (size_t b = 0; b < function_.blocks.size(); ++b) most = std::max(most, walk(b, live));
    return most;
  }

 private:
  using Bits = std::vector<uint64_t>;

  /// Weight 0 for registers with one definition that a GPU would not keep: a parameter of the
  /// kernel, an immediate, an address of a symbol, or a copy of such a register.
  void drop_constants() {
    std::vector<uint32_t> definitions(weight_.size(), 0);
    std::vector<Index> uses, defs;
    for (const Block& block : function_.blocks)
      for (const Instruction& inst : block.body) {
        uses_and_defs(inst, uses, defs);
        for (Index r : defs) ++definitions[r];
      }
    std::vector<uint8_t> constant(weight_.size(), 0);
    for (const Block& block : function_.blocks)
      for (const Instruction& inst : block.body) {
        if (inst.ops.size() < 2 || !is_constant(inst, constant)) continue;
        uses_and_defs(inst, uses, defs);
        for (Index r : defs)
          if (definitions[r] == 1) constant[r] = 1, weight_[r] = 0;
      }
  }

  bool is_constant(const Instruction& inst, const std::vector<uint8_t>& constant) const {
    const Operand& source = inst.ops[1];
    if (inst.op == Op::ld)
      return function_.is_entry && source.symbol_kind == Operand::SymbolKind::param;
    if (inst.op != Op::mov && inst.op != Op::cvta) return false;
    if (source.kind == Operand::Kind::reg) return constant[source.index] != 0;
    return source.kind == Operand::Kind::imm || source.kind == Operand::Kind::symbol;
  }

  /// Registers that are read in a block before that block writes them get a column of the tables.
  void find_crossing() {
    std::vector<size_t> written_in(weight_.size(), SIZE_MAX);
    std::vector<Index> uses, defs;
    for (size_t b = 0; b < function_.blocks.size(); ++b)
      for (const Instruction& inst : function_.blocks[b].body) {
        uses_and_defs(inst, uses, defs);
        // What a guarded write does not reach keeps its value.
        if (inst.guard != no_index) uses.insert(uses.end(), defs.begin(), defs.end());
        for (Index r : uses) {
          if (!weight_[r] || written_in[r] == b || dense_[r] != no_index) continue;
          dense_[r] = static_cast<Index>(crossing_.size());
          crossing_.push_back(r);
        }
        for (Index r : defs) written_in[r] = b;
      }
  }

  void solve() {
    const size_t words = (crossing_.size() + 63) / 64, count = function_.blocks.size();
    live_in_.assign(count, Bits(words));
    std::vector<Bits> kill(count, Bits(words));
    std::vector<Index> uses, defs;
    for (size_t b = 0; b < count; ++b)
      for (const Instruction& inst : function_.blocks[b].body) {
        uses_and_defs(inst, uses, defs);
        const bool guarded = inst.guard != no_index;
        if (guarded) uses.insert(uses.end(), defs.begin(), defs.end());
        for (Index r : uses)
          if (const Index d = dense_[r]; d != no_index && !(kill[b][d / 64] >> (d % 64) & 1))
            live_in_[b][d / 64] |= uint64_t{1} << (d % 64);
        if (guarded) continue;
        for (Index r : defs)
          if (const Index d = dense_[r]; d != no_index) kill[b][d / 64] |= uint64_t{1} << (d % 64);
      }
    for (bool changed = true; changed;) {
      changed = false;
      for (size_t b = count; b-- > 0;)
        for (Index s : function_.blocks[b].succ)
          for (size_t w = 0; w < words; ++w) {
            const uint64_t next = live_in_[b][w] | (live_in_[s][w] & ~kill[b][w]);
            changed |= next != live_in_[b][w];
            live_in_[b][w] = next;
          }
    }
  }

  /// The most that is live at once in block `b`. `live` is all zero before and after.
  uint32_t walk(size_t b, std::vector<uint8_t>& live) {
    uint32_t now = 0;
    const auto set = [&](Index r, uint8_t to) {
      if (live[r] == to) return;
      live[r] = to;
      now = to ? now + weight_[r] : now - weight_[r];
    };
    for (Index s : function_.blocks[b].succ)
      for (size_t d = 0; d < crossing_.size(); ++d)
        if (live_in_[s][d / 64] >> (d % 64) & 1) set(crossing_[d], 1);
    uint32_t most = now;
    std::vector<Index> uses, defs;
    const auto& body = function_.blocks[b].body;
    for (size_t i = body.size(); i-- > 0;) {
      uses_and_defs(body[i], uses, defs);
      for (Index r : defs) set(r, 1);
      most = std::max(most, now);
      if (body[i].guard == no_index)
        for (Index r : defs) set(r, 0);
      for (Index r : uses) set(r, 1);
      most = std::max(most, now);
    }
    for (Index r : crossing_) set(r, 0);
    // What is left was read without ever being written on the way here.
    std::fill(live.begin(), live.end(), uint8_t{0});
    return most;
  }

  const Function& function_;
  std::vector<uint32_t> weight_;  ///< registers of 32 bits, by PTX register
  std::vector<Index> dense_;      ///< column of a PTX register, or no_index
  std::vector<Index> crossing_;   ///< PTX register of a column
  std::vector<Bits> live_in_;     ///< by block
};

}  // namespace

uint32_t estimate_registers(const Function& function) {
  Pressure pressure(function);
  if (pressure.too_large()) return most_registers;
  return std::min(base_registers + pressure.most(), most_registers);
}

uint32_t limit_registers(const Function& kernel, uint32_t estimate, uint32_t available) {
  if (kernel.max_nreg) return std::min(estimate, kernel.max_nreg);
  const auto& bound = kernel.req_ntid[0] ? kernel.req_ntid : kernel.max_ntid;
  const uint64_t threads = uint64_t{bound[0]} * bound[1] * bound[2];
  if (!threads) return estimate;
  // Registers are given out to warps in units of 256: 8 a thread.
  const uint64_t in_warps = (threads + 31) / 32 * 32;
  const uint64_t most = available / (in_warps * std::max(kernel.min_ctapersm, 1u)) / 8 * 8;
  return std::min(estimate, static_cast<uint32_t>(std::clamp<uint64_t>(most, 16, most_registers)));
}

std::string with_register_limit(const Module& module, std::string text, uint32_t registers) {
  std::vector<size_t> places;
  for (const Function& f : module.functions)
    if (f.is_entry && f.has_body && !f.max_nreg && !f.max_ntid[0] && !f.req_ntid[0] &&
        !f.min_ctapersm)
      places.push_back(f.body_begin);
  std::sort(places.rbegin(), places.rend());
  // A body begins behind its brace.
  for (size_t place : places) text.insert(place - 1, fmt::format(" .maxnreg {} ", registers));
  return text;
}

}  // namespace limen::ptx
