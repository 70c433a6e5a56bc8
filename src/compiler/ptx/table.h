// The PTX table at run time: what spec/ptx says, as constant arrays, with the questions that the
// parser, the verifier and the code generator ask of it. Opcode texts are matched here.
// It does not read operands. All data is constant; every function may be called from any thread.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>

#include "compiler/ptx/ir.h"

namespace limen::ptx {

/// What an instruction does to the warp; fixes the skeleton of its lowering.
enum class Class : uint8_t { lane, memory, atomic, warp, barrier, branch, texture, matrix };
enum class State : uint8_t { full, later };
enum class TypeKind : uint8_t { pred, bits, unsigned_, signed_, float_, packed, opaque };

/// One modifier position of a form: the words that may stand there.
struct SlotRule {
  uint16_t first;  ///< into the token pool
  uint16_t count;
  bool optional;
  bool many;  ///< any number of the words
  std::string_view name;
};

struct OperandRule {
  enum class Kind : uint8_t {
    value,          ///< register or immediate of the type
    address,        ///< [..]
    label,
    imm,
    pack,           ///< register or {a, b}: mov's packing
    move,           ///< register, vector, immediate, special register, symbol
    address_value,  ///< register, or symbol of which the address is taken
    pointer,        ///< 32 or 64 bit register
    callee,
    targets,        ///< name of a .branchtargets list
    any,            ///< not checked
  };
  enum Flag : uint16_t {
    dest = 1, optional = 2, negatable = 4, may_pair = 8, must_pair = 16,
    wide = 32,     ///< the register may be wider than the type
    twice = 64,    ///< twice the width of the type (mul.wide)
    vector = 128,  ///< .v2 .v4 .v8 make it a vector
    sink = 256,    ///< may be _
    minus = 512,   ///< may be -register
    part = 1024,   ///< video selector .b0 to .b3, .h0, .h1
    halves = 2048, ///< .h and two of 0 to 3; on a destination the mask of the halves written
    bytes = 4096,  ///< .b and four of 0 to 7; on a destination the mask of the bytes written
    only_register = 8192,
  };
  Kind kind;
  uint16_t flags;
  int8_t type_slot;     ///< index into Instruction::types, or -1
  int8_t present_slot;  ///< index of the slot of the form with which the operand comes and goes, or -1
  Type fixed;        ///< the type when type_slot is -1; Type::count_ for none
  uint8_t count;     ///< a vector of exactly so many elements, an imm below it; 0: see vector
  std::string_view name;
  bool is(Flag flag) const { return flags & flag; }
};

struct Form {
  Op op;
  Class cls;
  State state;
  bool rest;   ///< operands are not described
  bool traps;  ///< dead lanes need a harmless operand
  uint16_t first_slot, slot_count, first_operand, operand_count;
  uint16_t since;    ///< PTX version times ten
  uint16_t target;   ///< lowest sm
  char suffix;       ///< 'a' when the feature belongs to that architecture only
  std::string_view text;
  std::string_view source;
};

/// A matched opcode text such as "add.rn.ftz.f32".
struct Opcode {
  Op op{};
  uint16_t form = 0;
  uint8_t type_count = 0;
  std::array<Type, 4> types{};
  TokSet mods;
};

const Form& form(uint16_t index);
size_t form_count();
inline const Form& form(const Instruction& i) { return form(i.form); }
std::span<const Form> forms_of(Op op);
std::span<const OperandRule> operands_of(const Form& form);
std::span<const SlotRule> slots_of(const Form& form);
bool slot_is_type(const SlotRule& slot);
/// Is one of the slot's modifiers among `mods`?
bool has_any(const TokSet& mods, const SlotRule& slot);
/// The modifiers a slot lists; types of a mixed slot are left out.
std::vector<Tok> tokens_of(const SlotRule& slot);

TypeKind kind_of(Type type);
Type sreg_type(SReg sreg);
uint8_t sreg_components(SReg sreg);

/// Name to value; false when unknown. `sreg` names come without '%'.
bool find_op(std::string_view name, Op& out);
bool find_tok(std::string_view name, Tok& out);
bool find_type(std::string_view name, Type& out);
bool find_sreg(std::string_view name, SReg& out);

/// Matches an opcode text; modifiers in any order, as ptxas takes them, types in text order.
/// errors: an empty string means success, else the message.
std::string match_opcode(std::string_view text, Opcode& out);

/// The state space a memory instruction names; Space::none means generic. ".shared::cluster" is
/// Space::shared, ".param::entry" is Space::param.
Space space_of(const Instruction& instruction);
/// 1, 2, 4 or 8 from .v2 .v4 .v8.
unsigned vector_of(const Instruction& instruction);

}  // namespace limen::ptx
