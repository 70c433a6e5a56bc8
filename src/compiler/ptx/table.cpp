// Constant tables from spec/ptx and the matcher of opcode texts.
// Matching tries the forms of one op in turn; each token takes one free slot that lists it, types in
// text order, modifiers in any order (ptxas accepts any). The generator proved forms disjoint, so the
// first hit is the only one. No state; any thread.
#include "compiler/ptx/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

namespace limen::ptx {
namespace {

struct TypeInfo {
  uint8_t bytes;
  TypeKind kind;
};
struct SRegInfo {
  Type type;
  uint8_t components;
  uint16_t since;
};
struct FormRange {
  uint16_t first, count;
};

constexpr uint16_t type_bit = 0x8000;
constexpr uint16_t tok(Tok t) { return static_cast<uint16_t>(t); }
constexpr uint16_t typ(Type t) { return static_cast<uint16_t>(static_cast<uint16_t>(t) | type_bit); }

#include "ptx/tables.inc"

constexpr size_t max_tokens = 24;

template <typename Enum, size_t n>
const std::unordered_map<std::string_view, Enum>& name_map(const std::string_view (&names)[n],
                                                           size_t skip) {
  static const auto map = [&] {
    std::unordered_map<std::string_view, Enum> m;
    for (size_t i = 0; i < n; ++i) m.emplace(names[i].substr(skip), static_cast<Enum>(i));
    return m;
  }();
  return map;
}

template <typename Enum>
bool look_up(const std::unordered_map<std::string_view, Enum>& map, std::string_view name,
             Enum& out) {
  auto it = map.find(name);
  if (it == map.end()) return false;
  out = it->second;
  return true;
}

/// Assigns tokens[i..] to free slots; `filled` has a bit per slot, types fill in order.
bool assign(std::span<const SlotRule> slots, std::span<const uint16_t> tokens, uint32_t filled,
            size_t next_type) {
  if (tokens.empty()) {
    for (size_t s = 0; s < slots.size(); ++s)
      if (!slots[s].optional && !(filled >> s & 1)) return false;
    return true;
  }
  const bool is_type = tokens[0] & type_bit;
  for (size_t s = 0; s < slots.size(); ++s) {
    const SlotRule& slot = slots[s];
    if (!slot.many && (filled >> s & 1)) continue;
    if (is_type && !slot.many && s < next_type) continue;
    const uint16_t* first = slot_tokens + slot.first;
    if (std::find(first, first + slot.count, tokens[0]) == first + slot.count) continue;
    if (assign(slots, tokens.subspan(1), filled | 1u << s, is_type && !slot.many ? s : next_type))
      return true;
  }
  return false;
}

bool used_by_op(Op op, uint16_t token) {
  for (const Form& f : forms_of(op))
    for (const SlotRule& slot : slots_of(f)) {
      const uint16_t* first = slot_tokens + slot.first;
      if (std::find(first, first + slot.count, token) != first + slot.count) return true;
    }
  return false;
}

bool is_layout(std::string_view word) { return word == "row" || word == "col"; }

}  // namespace

const Form& form(uint16_t index) { return form_table[index]; }
size_t form_count() { return std::size(form_table); }

std::span<const Form> forms_of(Op op) {
  const FormRange& range = op_forms[static_cast<size_t>(op)];
  return {form_table + range.first, range.count};
}
std::span<const OperandRule> operands_of(const Form& f) {
  return {operand_rules + f.first_operand, f.operand_count};
}
std::span<const SlotRule> slots_of(const Form& f) { return {slot_rules + f.first_slot, f.slot_count}; }
bool slot_is_type(const SlotRule& slot) {
  return !slot.many && slot.count && slot_tokens[slot.first] & type_bit;
}
bool has_any(const TokSet& mods, const SlotRule& slot) {
  for (uint16_t n = 0; n < slot.count; ++n)
    if (const uint16_t t = slot_tokens[slot.first + n];
        !(t & type_bit) && mods.has(static_cast<Tok>(t)))
      return true;
  return false;
}
std::vector<Tok> tokens_of(const SlotRule& slot) {
  std::vector<Tok> out;
  for (uint16_t n = 0; n < slot.count; ++n)
    if (const uint16_t t = slot_tokens[slot.first + n]; !(t & type_bit))
      out.push_back(static_cast<Tok>(t));
  return out;
}

TypeKind kind_of(Type type) { return type_infos[static_cast<size_t>(type)].kind; }
Type sreg_type(SReg sreg) { return sreg_infos[static_cast<size_t>(sreg)].type; }
uint8_t sreg_components(SReg sreg) { return sreg_infos[static_cast<size_t>(sreg)].components; }

bool find_op(std::string_view name, Op& out) { return look_up(name_map<Op>(op_names, 0), name, out); }
bool find_tok(std::string_view name, Tok& out) {
  return look_up(name_map<Tok>(tok_names, 0), name, out);
}
bool find_type(std::string_view name, Type& out) {
  return look_up(name_map<Type>(type_names, 0), name, out);
}
bool find_sreg(std::string_view name, SReg& out) {
  return look_up(name_map<SReg>(sreg_names, 1), name, out);
}

std::string match_opcode(std::string_view text, Opcode& out) {
  const size_t root_end = std::min(text.find('.'), text.size());
  const std::string_view root = text.substr(0, root_end);
  if (!find_op(root, out.op)) return fmt::format("unknown instruction '{}'", root);
  std::array<uint16_t, max_tokens> tokens;
  size_t count = 0;
  out.type_count = 0;
  out.mods = {};
  for (size_t at = root_end; at < text.size();) {
    size_t end = std::min(text.find('.', at + 1), text.size());
    std::string_view word = text.substr(at + 1, end - at - 1);
    if (is_layout(word)) {
      // Layouts of A and B are one word, row.col or col.row: a set of modifiers has no order.
      const size_t next = std::min(text.find('.', end + 1), text.size());
      if (end < text.size() && is_layout(text.substr(end + 1, next - end - 1))) {
        end = next;
        word = text.substr(at + 1, end - at - 1);
      }
    }
    at = end;
    Type type;
    Tok t;
    uint16_t token;
    if (find_type(word, type)) {
      token = typ(type);
      if (out.type_count < out.types.size()) out.types[out.type_count] = type;
      ++out.type_count;
    } else if (find_tok(word, t)) {
      token = tok(t);
      out.mods.add(t);
    } else {
      return fmt::format("unknown modifier '.{}' of instruction '{}'", word, root);
    }
    if (!used_by_op(out.op, token))
      return fmt::format("illegal modifier '.{}' for instruction '{}'", word, root);
    if (count == max_tokens || out.type_count > out.types.size())
      return fmt::format("too many modifiers for instruction '{}'", root);
    tokens[count++] = token;
  }
  const FormRange& range = op_forms[static_cast<size_t>(out.op)];
  for (uint16_t i = 0; i < range.count; ++i) {
    const uint16_t index = static_cast<uint16_t>(range.first + i);
    if (assign(slots_of(form_table[index]), {tokens.data(), count}, 0, 0)) {
      out.form = index;
      return {};
    }
  }
  return fmt::format("no form of instruction '{}' takes the modifiers of '{}'", root, text);
}

Space space_of(const Instruction& i) {
  const TokSet& m = i.mods;
  if (m.has(Tok::global)) return Space::global;
  if (m.has(Tok::shared) || m.has(Tok::shared__cta) || m.has(Tok::shared__cluster))
    return Space::shared;
  if (m.has(Tok::local)) return Space::local;
  if (m.has(Tok::const_)) return Space::constant;
  if (m.has(Tok::param) || m.has(Tok::param__entry) || m.has(Tok::param__func)) return Space::param;
  return Space::none;
}

unsigned vector_of(const Instruction& i) {
  if (i.has(Tok::v2)) return 2;
  if (i.has(Tok::v4)) return 4;
  if (i.has(Tok::v8)) return 8;
  return 1;
}

size_t size_of(Type type) { return type_infos[static_cast<size_t>(type)].bytes; }
bool is_float(Type type) {
  return kind_of(type) == TypeKind::float_ || type == Type::bf16 || type == Type::tf32;
}
bool is_signed(Type type) { return kind_of(type) == TypeKind::signed_; }
bool is_int(Type type) {
  const TypeKind kind = kind_of(type);
  return kind == TypeKind::bits || kind == TypeKind::unsigned_ || kind == TypeKind::signed_;
}
std::string_view name(Op op) { return op_names[static_cast<size_t>(op)]; }
std::string_view name(Tok tok) { return tok_names[static_cast<size_t>(tok)]; }
std::string_view name(Type type) { return type_names[static_cast<size_t>(type)]; }
std::string_view name(SReg sreg) { return sreg_names[static_cast<size_t>(sreg)]; }

}  // namespace limen::ptx
