// What random programs are made of: registers to choose from, and instructions that only read and
// write registers. random_program.cpp builds the control flow, memory and warp operations on it.
// Every value is defined by PTX ISA 9.0 or, where that leaves it open, the same on every device we
// measured; f64 NaNs are made canonical after each step, since which payload wins is open.
#pragma once
#include <fmt/format.h>

#include <random>
#include <string>
#include <vector>

namespace limen::test {

class RandomInstructions {
 public:
  explicit RandomInstructions(uint64_t seed) : random_(seed) {}

 protected:
  static constexpr uint32_t registers = 10, wides = 4, predicates = 4;

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
  void canonical(const std::string& d);

 protected:
  std::mt19937_64 random_;
  std::string text_;
};

}  // namespace limen::test
