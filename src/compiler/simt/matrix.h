// Warp-level matrix instructions as data: shape, element types, fragment sizes and the order in
// which the device adds. matrix.cpp reads an instruction into a MatrixForm; matrix_code.cpp and
// matrix_memory.cpp make one LLVM function a form, shared by all its uses in a kernel. Such a
// function works on fragments in memory: word arrays [register][lane] of 32 lanes.
//
// Every fragment is made of core matrices of 8 rows by 16 bytes (32 for f64), one a register: lane
// 4g+t holds word t of row g. A's registers run through the row blocks first, B's (rows = n) and
// the accumulators' as given in docs/design/matrix.md.
#pragma once
#include <string>
#include <vector>

#include "compiler/simt/lower.h"

namespace limen::simt {

/// How one step of the device's dot product adds: products and addend are cut (towards zero) at
/// `fraction_bits` below the largest exponent among them, or below `least_exponent` where all are
/// smaller, then summed exactly. Zeros do not count.
/// source: arXiv 2511.10909 for sm_90. Measured: H200, driver 580.159.04, tests/golden/matrix.
struct TensorModel {
  int fraction_bits = 25;
  int least_exponent = -133;  ///< only products of bf16 and tf32 get there
  int output_bits = 23;       ///< fraction bits of an f32 result; the rest is cut
};

struct MatrixForm {
  enum class Kind : uint8_t {
    floating,  ///< f16, bf16, tf32, fp8
    integer,   ///< 4 and 8 bits
    bits,      ///< b1
    f64,
    quads,  ///< m8n8k4 of f16: a product for each quad pair of lanes
  };
  Kind kind{};
  uint32_t m = 0, n = 0, k = 0;
  ptx::Type a{}, b{}, c{}, d{};
  bool sparse = false;
  uint32_t selector = 0;
  bool satfinite = false;
  bool exclusive = false;             ///< b1: xor, else and
  int rounding = 0;                   ///< f64: 0 rn, 1 rz, 2 rm, 3 rp
  bool a_col = false, b_row = false;  ///< quads only: elsewhere the load has put them in place
  std::vector<std::vector<uint32_t>> steps;  ///< floating: which of the kept k are summed at once
  bool c_last = false;  ///< floating: c is added at the end, rounded to nearest
  TensorModel model;
  std::string key;  ///< names the function

  uint32_t kept() const { return sparse ? k / 2 : k; }
  uint32_t row_blocks() const { return m / 8; }
  uint32_t column_blocks() const { return n / 8; }
};

/// Bits of one element of A or B; 32 for tf32.
uint32_t element_bits(ptx::Type t);

/// Reads mma and wmma.mma. Returns what is wrong, or nothing.
std::string describe(const ptx::Instruction& inst, MatrixForm& form);

/// wmma.load and wmma.store: a matrix of rows x columns elements in memory, `leading` apart.
struct FragmentForm {
  uint32_t rows = 0, columns = 0;  ///< as the fragment has them: B's rows are n
  ptx::Type type{};
  bool accumulator = false;
  bool rows_first = true;  ///< registers run through the row blocks first (A); B: k blocks first
  bool across = false;     ///< consecutive elements in memory belong to one column
  bool store = false;
  uint32_t registers = 0;
  std::string key;
};
std::string describe(const ptx::Instruction& inst, FragmentForm& form);

/// void(ptr d, ptr a, ptr b, ptr c, ptr metadata, ptr rounded_f64)
llvm::Function* multiply_function(Unit& unit, const MatrixForm& form);
/// void(ptr words, i64 address, i64 elements between rows or columns)
llvm::Function* fragment_function(Unit& unit, const FragmentForm& form);
/// ldmatrix, stmatrix: void(ptr words, ptr row addresses)
llvm::Function* rows_function(Unit& unit, uint32_t matrices, bool transposed, bool store);
/// movmatrix: void(ptr to, ptr from)
llvm::Function* transpose_function(Unit& unit);
/// void(ptr words, ptr snapshot values): what the lane strategy's exchange gathered, as words.
llvm::Function* spread_function(Unit& unit, uint32_t word_bytes);

}  // namespace limen::simt
