// CONTRACT 2: PTX as data. What the parser makes, and the verifier, the analyses and the code
// generator read. Enumerations Op, Tok, Type and SReg come from spec/ptx (build/gen/ptx/enums.inc).
// Registers are mutable variables, as in PTX; there is no SSA here.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ptx/enums.inc"  // enum class Op, Tok, Type, SReg; Op::count_ etc.

namespace limen::ptx {

enum class Space : uint8_t { none, reg, sreg, global, shared, local, constant, param, tex };
enum class Linkage : uint8_t { internal, visible, external, weak, common };

using Index = uint32_t;
inline constexpr Index no_index = 0xffffffffu;

/// Set of modifier tokens of one instruction (`.rn`, `.ftz`, `.wide`, ...), types excluded.
struct TokSet {
  std::array<uint64_t, (static_cast<size_t>(Tok::count_) + 63) / 64> bits{};
  bool operator==(const TokSet&) const = default;
  bool has(Tok t) const { return bits[size_t(t) / 64] >> (size_t(t) % 64) & 1; }
  void add(Tok t) { bits[size_t(t) / 64] |= uint64_t{1} << (size_t(t) % 64); }
};

/// Selector of a video operand: `.b2`, `.h10`, `.b7654`. Which parts a source takes, or, on the
/// destination, which part (scalar) or parts (SIMD) are written.
struct Selector {
  uint8_t count = 0;               ///< digits; 0: the operand has none
  bool halves = false;             ///< .h, else .b
  uint16_t digits = 0;             ///< as written, a digit in 4 bits: 0x7654
  unsigned part(size_t i) const { return digits >> (4 * i) & 15u; }  ///< 0: the last digit
  explicit operator bool() const { return count != 0; }
};

struct Operand {
  enum class Kind : uint8_t {
    none,
    reg,      ///< index = register of the function; component for vector registers (0..3), else 0
    sreg,     ///< sreg, component 0..3 for .x .y .z .w
    imm,      ///< bits: two's complement integer, or IEEE bits when imm_is_float
    symbol,   ///< address of a variable or function: symbol + offset (in bits)
    address,  ///< [base + offset]: base is a register, a symbol, or none (absolute)
    vector,   ///< {a, b, ...}: elems
    label,    ///< index = block label of the function
    sink,     ///< _
    pair,     ///< d|p: elems[0], elems[1]
  };
  enum class SymbolKind : uint8_t { none, variable, local_variable, param, function, label };

  Kind kind = Kind::none;
  bool negated = false;       ///< !p, or -r of vmad; a minus of an immediate is folded into it
  bool imm_is_float = false;  ///< 0f/0d or decimal float literal; bits are f64 when imm_is_f64
  bool imm_is_f64 = false;
  uint8_t component = 0;
  SReg sreg{};
  /// Of a symbol, or of an address with a symbol base. `param` counts the function's parameters first,
  /// then its return parameters: index params.size() + i is returns[i].
  SymbolKind symbol_kind = SymbolKind::none;
  Index index = no_index;  ///< register, label, or symbol index; address: base register if symbol_kind none
  Selector selector;       ///< of a register in a video instruction
  int64_t bits = 0;        ///< immediate, or byte offset of symbol/address
  /// vector and pair: the parts. address: what follows the base, as in [texture, {x, y}].
  std::vector<Operand> elems;
};

struct Instruction {
  Op op{};
  uint16_t form = 0;               ///< row of the form table that matched
  uint32_t line = 0;               ///< 1-based line of the PTX text
  uint32_t source_line = 0;        ///< from the last .loc, 0 if none
  uint32_t source_file = 0;
  Index guard = no_index;          ///< predicate register of @p
  bool guard_negated = false;
  uint8_t type_count = 0;
  std::array<Type, 4> types{};     ///< in text order: cvt.f32.s32 -> {f32, s32}
  TokSet mods;
  std::vector<Operand> ops;        ///< destination first, as written
  // call only: ops = {callee} for direct and indirect calls; arguments below.
  std::vector<Operand> call_returns;
  std::vector<Operand> call_args;
  Index prototype = no_index;      ///< indirect call: index into Function::prototypes
  Index target_list = no_index;    ///< brx.idx / indirect call with a .calltargets or .branchtargets

  bool has(Tok t) const { return mods.has(t); }
  Type type(size_t i = 0) const { return types[i]; }
};

/// A run of instructions with one entry (its start) and one exit (its last instruction or fall-through
/// to the next block in order). Made by the parser: labels and terminators split blocks.
struct Block {
  Index label = no_index;          ///< index into Function::labels, no_index when unlabelled
  std::vector<Instruction> body;
  std::vector<Index> succ;         ///< successor blocks: taken branch first, then fall-through
};

struct Register {
  std::string name;
  Type type{};
  uint8_t vector = 1;              ///< 1, 2 or 4 components
};

struct Reloc {
  uint64_t offset = 0;             ///< byte offset inside the initialiser
  uint8_t bytes = 8;               ///< width written
  uint8_t shift = 0;               ///< mask(symbol) initialisers: right shift in bits
  Operand::SymbolKind kind = Operand::SymbolKind::variable;
  Index symbol = no_index;
  int64_t addend = 0;
  bool generic = false;            ///< generic(symbol)
};

struct Variable {
  std::string name;
  Space space = Space::none;
  Linkage linkage = Linkage::internal;
  Type type{};
  uint8_t vector = 1;
  uint32_t align = 1;
  uint64_t bytes = 0;              ///< 0: extern array without a size (dynamic shared memory)
  std::vector<uint8_t> init;       ///< the first bytes; zeros after them up to `bytes`
  std::vector<Reloc> relocs;
  bool managed = false;            ///< .attribute(.managed)
  uint32_t line = 0;
};

struct Param {
  std::string name;
  Space space = Space::param;      ///< param, or reg for register parameters of functions
  Type type{};
  uint32_t align = 1;
  uint64_t bytes = 0;
  uint64_t offset = 0;             ///< in the kernel's parameter buffer
  Index reg = no_index;            ///< .reg parameters of functions
};

struct Prototype {
  std::vector<Param> returns, params;
  bool noreturn = false;
};

struct Function {
  std::string name;
  bool is_entry = false;
  bool has_body = false;
  bool noreturn = false;
  Linkage linkage = Linkage::internal;
  std::vector<Param> returns, params;
  uint64_t param_bytes = 0;        ///< entry: size of the parameter buffer
  std::array<uint32_t, 3> max_ntid{};  ///< 0: not given
  std::array<uint32_t, 3> req_ntid{};
  std::array<uint32_t, 3> req_cluster{};
  bool explicit_cluster = false;       ///< .explicitcluster: a launch must have cluster dimensions
  bool blocks_are_clusters = false;    ///< .blocksareclusters
  uint32_t max_cluster_rank = 0;       ///< .maxclusterrank; 0: not given
  uint32_t min_ctapersm = 0;
  uint32_t max_nreg = 0;
  uint32_t line = 0;
  // Body text inside Module::text; parse_body() fills the rest.
  size_t body_begin = 0, body_end = 0;
  uint32_t body_line = 0;
  bool body_parsed = false;
  std::vector<Register> registers;
  std::vector<Variable> locals;    ///< .local, .shared and .param variables declared inside
  std::vector<std::string> labels;
  std::vector<Index> label_block;  ///< label -> block
  std::vector<Block> blocks;       ///< blocks[0] is the entry
  std::vector<Prototype> prototypes;
  std::vector<std::vector<Index>> branch_targets;  ///< .branchtargets: label indices
  std::vector<std::vector<Index>> call_targets;    ///< .calltargets: function indices
};

struct Module {
  std::string text;                ///< the PTX text, kept: bodies refer into it
  uint32_t version_major = 0, version_minor = 0;
  uint32_t target_sm = 0;          ///< 75 for sm_75
  char target_suffix = 0;          ///< 'a', 'f' or 0
  bool target_debug = false;
  uint32_t address_size = 64;
  std::vector<Variable> variables; ///< module scope, in order; the index is LaunchContext::globals'
  std::vector<Function> functions; ///< a declaration and its later definition are one entry
  std::vector<std::string> files;  ///< by .file index
  std::unordered_map<std::string, Index> function_index, variable_index;
};

size_t size_of(Type type);         ///< bytes of one element; pred counts as 1
bool is_float(Type type);
bool is_signed(Type type);
bool is_int(Type type);            ///< u*, s*, b* scalars
std::string_view name(Op op);
std::string_view name(Tok tok);
std::string_view name(Type type);  ///< "f32"
std::string_view name(SReg sreg);  ///< "%tid"

}  // namespace limen::ptx
