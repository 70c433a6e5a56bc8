// What the module parser and the body parser share: errors with their place, types, declarations of
// variables and parameters, initialisers.
// Invariant: after a function returns false, error() is set and parsing stops. One thread per Reader.
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "compiler/ptx/cursor.h"
#include "compiler/ptx/ir.h"
#include "compiler/ptx/table.h"

namespace limen::ptx {

inline constexpr uint64_t max_variable_bytes = uint64_t{1} << 46;
inline constexpr uint64_t max_initialised_bytes = uint64_t{256} << 20;
inline constexpr uint64_t max_param_bytes = 32764;
inline constexpr size_t max_params = 4096;
inline constexpr size_t max_dimensions = 16;

/// `.align 8 .v2 .f32 name[4][2]`
struct Declaration {
  std::string_view name;
  Type type{};
  uint8_t vector = 1;
  uint32_t align = 0;  ///< resolved: never 0 after declaration()
  std::vector<uint64_t> dims;
  bool unsized = false;  ///< first dimension is []
  uint64_t bytes = 0;    ///< 0 when unsized
  uint32_t line = 0;
};

/// Whose parameters a list declares.
enum class Owner : uint8_t { entry, function, prototype };

/// A symbol named in an initialiser, bound when all declarations are known.
struct PendingSymbol {
  Index variable;
  size_t reloc;
  std::string_view name;
  uint32_t line, column;
};

class Reader {
 public:
  Reader(Module& module, const char* at, const char* end, uint32_t line)
      : module_(module), cur_(module.text.data(), at, end, line) {}
  std::unique_ptr<Error> take_error() { return std::move(error_); }

 protected:
  bool fail(const std::string& what, Code code = Code::invalid_ptx) {
    return fail_at(cur_.line(), cur_.column(), what, code);
  }
  bool fail_at(uint32_t line, uint32_t column, const std::string& what,
               Code code = Code::invalid_ptx);
  /// "unexpected 'token', expected <what>"
  bool unexpected(std::string_view what);
  bool expect(char c);
  bool integer(uint64_t& out, uint64_t limit);
  /// `.u32`; opaque types only when allowed.
  bool type(Type& out);
  bool alignment(uint32_t& out);
  /// From the alignment or type up to the dimensions. `may_omit_name`: for prototypes; `may_point`:
  /// .ptr may follow the type.
  bool declaration(Declaration& out, bool may_omit_name = false, bool may_point = false);
  bool dimensions(Declaration& d);
  bool total_bytes(Declaration& d);
  bool params(std::vector<Param>& out, Owner owner);
  bool one_param(Param& out, Owner owner);
  bool attributes_of_pointer();
  /// `= ...`; sizes an unsized array.
  bool initialiser(Variable& v, Declaration& d, Index variable, std::vector<PendingSymbol>& pending);
  bool sampler_initialiser();
  bool string(std::string_view& out);

  Module& module_;
  Cursor cur_;

 private:
  struct Init {
    Variable& v;
    const Declaration& d;
    Index variable;
    std::vector<PendingSymbol>& pending;
  };
  bool aggregate(Init& init, size_t level, uint64_t base, uint64_t limit, uint64_t& used);
  bool scalar(Init& init, uint64_t offset);
  bool reserve(Init& init, uint64_t bytes);
  bool write_number(Init& init, uint64_t offset, const Number& number);
  bool write_symbol(Init& init, uint64_t offset, bool masked, uint8_t shift);

  std::unique_ptr<Error> error_;
  uint64_t initialised_bytes_ = 0;
};

}  // namespace limen::ptx
