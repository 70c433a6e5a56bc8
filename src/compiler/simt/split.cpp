// See split.h. The defining instruction is made twice, once for each register: it is pure, and the
// optimiser removes what nobody reads. Reaching definitions by register over the PTX blocks.
#include "compiler/simt/split.h"

#include <algorithm>

#include "compiler/simt/plan.h"

namespace limen::simt {

using ptx::Block;
using ptx::Function;
using ptx::Instruction;
using ptx::Op;
using ptx::Operand;
using ptx::Type;

namespace {

/// Blocks times registers looked at; functions beyond are left as they are.
constexpr uint64_t most_work = 4'000'000;

bool is_pure(const Instruction& inst) {
  switch (inst.op) {
    case Op::add:
    case Op::sub:
    case Op::mul:
    case Op::mad:
    case Op::shl:
    case Op::shr:
    case Op::and_:
    case Op::or_:
    case Op::mov:
    case Op::cvt:
      return inst.guard == ptx::no_index && !inst.has(ptx::Tok::cc);
    default:
      return false;
  }
}

bool is_index(Type t) {
  return t == Type::b32 || t == Type::u32 || t == Type::s32 || t == Type::b64 || t == Type::u64 ||
         t == Type::s64;
}

class Splitter {
 public:
  explicit Splitter(Function& function) : fn_(function) {
    carry_.registers = function.registers.size() + 1;
  }

  void run() {
    find_definitions();
    const size_t known = defs_.size();
    uint64_t candidates = 0;
    for (size_t r = 0; r < known; ++r) candidates += is_candidate(r);
    if (candidates * fn_.blocks.size() > most_work) return;
    for (size_t r = 0; r < known; ++r)
      if (is_candidate(r)) split(static_cast<Index>(r));
    insert_copies();
  }

 private:
  // What a register holds: no definition seen yet, several, or the one of that number.
  static constexpr uint32_t nothing = 0xffffffff, several = 0xfffffffe;
  struct Place {
    Index block;
    uint32_t at;
    bool operator==(const Place&) const = default;
  };

  bool is_candidate(size_t r) const {
    return defs_[r].size() > 1 && fn_.registers[r].vector == 1 && is_index(fn_.registers[r].type) &&
           std::any_of(defs_[r].begin(), defs_[r].end(),
                       [&](const Place& p) { return can_copy(p, static_cast<Index>(r)); });
  }

  Instruction& at(const Place& p) { return fn_.blocks[p.block].body[p.at]; }
  const Instruction& at(const Place& p) const { return fn_.blocks[p.block].body[p.at]; }

  bool can_copy(const Place& p, Index r) const {
    const Instruction& inst = at(p);
    return is_pure(inst) && inst.ops[0].kind == Operand::Kind::reg && inst.ops[0].index == r;
  }

  void find_definitions() {
    defs_.resize(fn_.registers.size());
    for (Index b = 0; b < fn_.blocks.size(); ++b)
      for (uint32_t i = 0; i < fn_.blocks[b].body.size(); ++i) {
        uses_and_defs(carry_, fn_.blocks[b].body[i], uses_, now_);
        for (Index d : now_)
          if (d < defs_.size() && !(defs_[d].size() && defs_[d].back() == Place{b, i}))
            defs_[d].push_back({b, i});
      }
  }

  /// What `r` holds at each block's start.
  std::vector<uint32_t> reaching(Index r) const {
    const size_t n = fn_.blocks.size();
    std::vector<uint32_t> out(n, nothing), in(n, nothing);
    std::vector<bool> writes(n, false);
    for (uint32_t d = 0; d < defs_[r].size(); ++d) {
      const Place& p = defs_[r][d];
      out[p.block] = at(p).guard == ptx::no_index ? d : several;
      writes[p.block] = true;
    }
    in[0] = several;  // undefined, or a parameter
    auto meet = [](uint32_t& a, uint32_t b) {
      const uint32_t old = a;
      if (b == nothing) return false;
      a = a == nothing || a == b ? b : several;
      return a != old;
    };
    for (bool again = true; again;) {
      again = false;
      for (size_t b = 0; b < n; ++b) {
        const uint32_t leaves = writes[b] ? out[b] : in[b];
        for (Index s : fn_.blocks[b].succ) again |= meet(in[s], leaves);
      }
    }
    return in;
  }

  static void rename(Operand& o, Index from, Index to) {
    const bool register_in_it =
        o.kind == Operand::Kind::reg ||
        (o.kind == Operand::Kind::address && o.symbol_kind == Operand::SymbolKind::none);
    if (register_in_it && o.index == from) o.index = to;
    for (Operand& e : o.elems) rename(e, from, to);
  }

  void split(Index r) {
    const std::vector<uint32_t> in = reaching(r);
    std::vector<Index> own(defs_[r].size(), ptx::no_index);
    uint32_t number = 0;  // definitions are listed in the order of this walk
    for (Index b = 0; b < fn_.blocks.size(); ++b) {
      uint32_t holds = in[b];
      for (uint32_t i = 0; i < fn_.blocks[b].body.size(); ++i) {
        Instruction& inst = fn_.blocks[b].body[i];
        uses_and_defs(carry_, inst, uses_, now_);
        const bool writes = std::find(now_.begin(), now_.end(), r) != now_.end();
        const bool reads = std::find(uses_.begin(), uses_.end(), r) != uses_.end();
        if (reads && !writes && holds < several && inst.op != Op::call &&
            can_copy(defs_[r][holds], r)) {
          if (own[holds] == ptx::no_index) own[holds] = new_register(r, defs_[r][holds]);
          for (Operand& o : inst.ops) rename_use(inst, o, r, own[holds]);
        }
        if (writes) holds = inst.guard == ptx::no_index ? number : several, ++number;
      }
    }
  }

  void rename_use(const Instruction& inst, Operand& o, Index from, Index to) {
    if (&o == inst.ops.data() && !now_.empty()) return;  // the destination
    rename(o, from, to);
  }

  Index new_register(Index like, const Place& definition) {
    const auto made = static_cast<Index>(fn_.registers.size());
    ptx::Register copy = fn_.registers[like];
    copy.name += "." + std::to_string(made);
    fn_.registers.push_back(copy);
    copies_.push_back({definition, made});
    return made;
  }

  /// From the back, so that places stay what they are.
  void insert_copies() {
    std::stable_sort(copies_.begin(), copies_.end(), [](const Copy& a, const Copy& b) {
      return a.from.block != b.from.block ? a.from.block < b.from.block : a.from.at < b.from.at;
    });
    for (size_t i = copies_.size(); i-- > 0;) {
      Instruction copy = at(copies_[i].from);
      copy.ops[0].index = copies_[i].to;
      auto& body = fn_.blocks[copies_[i].from.block].body;
      body.insert(body.begin() + copies_[i].from.at, std::move(copy));
    }
  }

  struct Copy {
    Place from;
    Index to;
  };

  Function& fn_;
  Graph carry_;  ///< only says which register is the carry flag
  std::vector<std::vector<Place>> defs_;
  std::vector<Copy> copies_;
  std::vector<Index> uses_, now_;
};

}  // namespace

void split_registers(Function& function) {
  // Once a function: only registers made here have a dot in their names.
  for (const ptx::Register& r : function.registers)
    if (r.name.find('.') != std::string::npos) return;
  // Where others may be waited for, traits.cpp has to recognise what a loop steps.
  for (const Block& block : function.blocks)
    for (const Instruction& inst : block.body)
      if (inst.op == Op::call || reads_shared_state(inst)) return;
  Splitter(function).run();
}

}  // namespace limen::simt
