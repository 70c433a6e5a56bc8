// Reads mma, wmma.mma, wmma.load and wmma.store into forms; see matrix.h. The order of additions is
// that of sm_90, where fp8, the 4-bit types and m8n8k4 are made of other instructions: measured by
// reading what ptxas 13.0 makes of each form for sm_90.
#include "compiler/simt/matrix.h"

#include "compiler/ptx/table.h"

namespace limen::simt {

using ptx::Instruction;
using ptx::Tok;
using ptx::Type;

namespace {

struct ShapeRow {
  Tok tok;
  uint32_t m, n, k;
};
constexpr ShapeRow shapes[] = {
    {Tok::m8n8k4, 8, 8, 4},       {Tok::m8n8k16, 8, 8, 16},     {Tok::m8n8k32, 8, 8, 32},
    {Tok::m8n8k128, 8, 8, 128},   {Tok::m16n8k4, 16, 8, 4},     {Tok::m16n8k8, 16, 8, 8},
    {Tok::m16n8k16, 16, 8, 16},   {Tok::m16n8k32, 16, 8, 32},   {Tok::m16n8k64, 16, 8, 64},
    {Tok::m16n8k128, 16, 8, 128}, {Tok::m16n8k256, 16, 8, 256}, {Tok::m16n16k8, 16, 16, 8},
    {Tok::m16n16k16, 16, 16, 16}, {Tok::m8n32k16, 8, 32, 16},   {Tok::m32n8k16, 32, 8, 16},
};

const ShapeRow* shape_of(const Instruction& inst) {
  for (const ShapeRow& row : shapes)
    if (inst.has(row.tok)) return &row;
  return nullptr;
}

bool is_fp8(Type t) { return t == Type::e4m3 || t == Type::e5m2; }

/// Groups of `size` consecutive k.
std::vector<std::vector<uint32_t>> in_groups(uint32_t kept, uint32_t size) {
  std::vector<std::vector<uint32_t>> steps;
  for (uint32_t k = 0; k < kept; ++k) {
    if (k % size == 0) steps.emplace_back();
    steps.back().push_back(k);
  }
  return steps;
}

void order_additions(MatrixForm& f, bool wmma) {
  if (is_fp8(f.a)) {
    // Two products of f16: the lower halves of the words, then the upper ones; c comes last.
    f.steps.resize(2);
    for (uint32_t k = 0; k < f.kept(); ++k) f.steps[k % 4 / 2].push_back(k);
    f.c_last = true;
    return;
  }
  // wmma of tf32 is made of products with k = 4.
  f.steps = in_groups(f.kept(), wmma && f.a == Type::tf32 ? 4 : f.kept());
}

uint32_t highest_selector(const MatrixForm& f) {
  const uint32_t row_bits = f.a == Type::tf32                    ? f.k / 2 * 4
                            : f.a == Type::s4 || f.a == Type::u4 ? f.k / 2
                                                                 : f.k;
  return row_bits == 16 ? 3 : row_bits == 32 ? 1 : 0;
}

}  // namespace

uint32_t element_bits(Type t) {
  switch (t) {
    case Type::f64:
      return 64;
    case Type::tf32:
    case Type::f32:
    case Type::s32:
      return 32;
    case Type::f16:
    case Type::bf16:
      return 16;
    case Type::s4:
    case Type::u4:
      return 4;
    case Type::b1:
      return 1;
    default:
      return 8;
  }
}

std::string describe(const Instruction& inst, MatrixForm& f) {
  const ShapeRow* shape = shape_of(inst);
  if (!shape) return "matrix shape is not known";
  f.m = shape->m, f.n = shape->n, f.k = shape->k;
  f.d = inst.type(0);
  if (inst.type_count == 2) {
    f.a = f.b = Type::f16;
    f.c = inst.type(1);
  } else {
    f.a = inst.type(1), f.b = inst.type(2), f.c = inst.type(3);
  }
  const bool wmma = inst.op == ptx::Op::wmma;
  f.sparse = inst.has(Tok::sp) || inst.has(Tok::sp__ordered_metadata);
  f.satfinite = inst.has(Tok::satfinite);
  f.exclusive = inst.has(Tok::xor_);
  f.rounding = inst.has(Tok::rz) ? 1 : inst.has(Tok::rm) ? 2 : inst.has(Tok::rp) ? 3 : 0;
  switch (f.a) {
    case Type::f64:
      f.kind = MatrixForm::Kind::f64;
      break;
    case Type::b1:
      f.kind = MatrixForm::Kind::bits;
      break;
    case Type::s8:
    case Type::u8:
    case Type::s4:
    case Type::u4:
      f.kind = MatrixForm::Kind::integer;
      break;
    default:
      f.kind = MatrixForm::Kind::floating;
      if (!wmma && f.m == 8) {
        f.kind = MatrixForm::Kind::quads;
        f.a_col = inst.has(Tok::col_row) || inst.has(Tok::col_col);
        f.b_row = inst.has(Tok::row_row) || inst.has(Tok::col_row);
      } else {
        order_additions(f, wmma);
      }
  }
  if (f.sparse) {
    f.selector = static_cast<uint32_t>(inst.ops[5].bits);
    if (f.selector > highest_selector(f))
      return "sparsity selector " + std::to_string(inst.ops[5].bits) + " is out of range";
  }
  f.key = "mma.m" + std::to_string(f.m) + "n" + std::to_string(f.n) + "k" + std::to_string(f.k);
  for (Type t : {f.d, f.a, f.b, f.c}) f.key += "." + std::string(ptx::name(t));
  f.key += (f.sparse ? ".sp" + std::to_string(f.selector) : "") + (f.satfinite ? ".sat" : "") +
           (f.exclusive ? ".xor" : "") + ".r" + std::to_string(f.rounding) +
           (f.a_col ? ".acol" : "") + (f.b_row ? ".brow" : "") + (wmma ? ".wmma" : "");
  return {};
}

std::string describe(const Instruction& inst, FragmentForm& f) {
  const ShapeRow* shape = shape_of(inst);
  if (!shape) return "matrix shape is not known";
  f.type = inst.type();
  f.store = inst.has(Tok::store);
  const bool col = inst.has(Tok::col);
  if (inst.has(Tok::a)) {
    f.rows = shape->m, f.columns = shape->k, f.across = col;
  } else if (inst.has(Tok::b)) {
    f.rows = shape->n, f.columns = shape->k, f.across = !col;
  } else {
    f.rows = shape->m, f.columns = shape->n, f.across = col;
    f.accumulator = true;
  }
  f.registers = static_cast<uint32_t>(inst.ops[f.store ? 1 : 0].elems.size());
  // A's and B's registers run in different orders.
  f.key = std::string(f.store ? "store" : "load") + (inst.has(Tok::b) ? ".b." : ".a.") +
          std::to_string(f.rows) + "x" + std::to_string(f.columns) + "." +
          std::string(ptx::name(f.type)) + (f.across ? ".across" : "") +
          (f.accumulator ? ".acc" : "") + "." + std::to_string(f.registers);
  f.rows_first = !inst.has(Tok::b);
  return {};
}

}  // namespace limen::simt
