// What random programs are made of: registers to choose from, and instructions that only read and
// write registers. random_program.cpp builds the control flow, memory and warp operations on it.
// Every value is defined by PTX ISA 9.0 or, where that leaves it open, the same on every device we
// measured. Which payload wins of several f64 NaNs is the processor's choice, so they are made
// canonical after each step, but in programs for LIMEN_EXACT_NAN.
#pragma once
#include <fmt/format.h>

#include <random>
#include <string>
#include <vector>

namespace limen::test {

class RandomInstructions {
 public:
  explicit RandomInstructions(uint64_t seed, bool exact_nan)
      : random_(seed), exact_nan_(exact_nan) {}

 protected:
  static constexpr uint32_t registers = 10, wides = 4, predicates = 4, floats = 4,
                            doubles = 2;

  uint32_t pick(uint32_t n) { return static_cast<uint32_t>(random_() % n); }
  std::string pick(std::initializer_list<const char*> words) {
    return words.begin()[pick(static_cast<uint32_t>(words.size()))];
  }
  void line(const std::string& s) { text_ += "  " + s + ";\n"; }
  template <typename... A>
  void emit(fmt::format_string<A...> format, A&&... a) {
    line(fmt::format(format, std::forward<A>(a)...));
  }
  void label(int l) { text_ += fmt::format("L{}:\n", l); }

  std::string reg() { return fmt::format("%r{}", pick(registers)); }
  std::string wide() { return fmt::format("%d{}", pick(wides)); }
  std::string single_reg() { return fmt::format("%g{}", pick(floats)); }
  std::string double_reg() { return fmt::format("%k{}", pick(doubles)); }
  std::string pred() { return fmt::format("%p{}", pick(predicates)); }
  /// Empty, or "@p " of any predicate.
  std::string guard() {
    return pick(6) == 0 ? fmt::format("@{}{} ", pick(2) ? "!" : "", pred()) : "";
  }
  /// A register or a constant of 32 bits.
  std::string value();
  std::string wide_value();
  std::string shift() { return pick(4) ? std::to_string(pick(34)) : reg(); }
  std::string negation() { return pick(4) ? "" : "!"; }

  /// The registers that the instructions use beside those of the program.
  static const char* scratch_registers();
  void any_instruction();
  /// Gives the registers that are declared as floats their first values, half of them integers' bits.
  void start_floats(const std::string& lane);

 private:
  void basic();
  void basic_wide();
  void integer();
  void bits();
  void integer64();
  void bits64();
  void carry();
  void halfwords();
  void bytes();
  void video();
  void predicates_only();
  void single();
  void single_compare();
  void single_convert();
  void twice();
  void twice_convert();
  void halves();
  void half();
  void small_floats();
  void typed_floats();
  void typed_moves();
  void typed_doubles();
  void canonical(const std::string& d);

 protected:
  std::mt19937_64 random_;
  bool exact_nan_;
  std::string text_;
};

}  // namespace limen::test
