// Reads one function body into blocks of instructions: declarations, scopes, labels, instructions.
// Operands are read in operand_parser.cpp. blocks[0] never has predecessors; every path ends in a
// terminator (a `ret` is added where the text falls off the end). One thread per BodyParser.
#pragma once
#include <string_view>
#include <vector>

#include "compiler/ptx/reader.h"
#include "compiler/ptx/symbols.h"

namespace limen::ptx {

class BodyParser : public Reader {
 public:
  BodyParser(Module& module, Function& function)
      : Reader(module, module.text.data() + function.body_begin,
               module.text.data() + function.body_end, function.body_line),
        f_(function) {}
  bool run();

 private:
  struct Range {
    std::string_view prefix;
    uint64_t count;
    Type type;
    uint8_t vector;
  };

  // body_parser.cpp
  bool declare_params();
  bool statement();
  bool directive();
  bool registers();
  bool range_count(uint64_t& out);
  bool local_variables(Space space);
  bool location();
  bool labelled(std::string_view name, uint32_t line, uint32_t column);
  bool define_label(std::string_view name, uint32_t line, uint32_t column);
  bool prototype(std::string_view name, uint32_t line, uint32_t column);
  bool target_list(std::string_view name, uint32_t line, uint32_t column, bool of_calls);
  bool add_name(std::string_view name, Symbol symbol, uint32_t column);
  void enter_scope();
  bool leave_scope();
  Index label_reference(std::string_view name);
  Index add_register(std::string_view name, Type type, uint8_t vector);
  void start_block();
  bool finish();
  bool link_blocks();

  // operand_parser.cpp
  bool instruction(std::string_view root, uint32_t line, uint32_t column);
  bool guard(Instruction& i);
  bool opcode(std::string_view root, uint32_t line, uint32_t column, Instruction& i);
  bool operands(Instruction& i);
  bool operand(Instruction& i, Operand& o, int depth);
  bool address(Instruction& i, Operand& o);
  bool vector(Instruction& i, Operand& o, int depth);
  bool second_of_pair(Operand& o);
  bool name_operand(Operand& o, std::string_view name, uint32_t line, uint32_t column);
  bool component(Operand& o, unsigned count, std::string_view name);
  bool selector(Operand& o, std::string_view word);
  bool offset(Operand& o);
  bool immediate(Operand& o);
  bool call(Instruction& i);
  bool call_list(std::vector<Operand>& out, Instruction& i);
  bool branch_target(Instruction& i);
  bool indexed_branch(Instruction& i);
  /// The innermost meaning of a name; makes a register out of a range on first use.
  const Symbol* resolve(std::string_view name);
  const Symbol* resolve_range(std::string_view name, int above_level);

  Function& f_;
  ScopedTable names_, range_names_;
  std::vector<Range> ranges_;
  uint16_t level_ = 0;
  uint16_t deepest_range_level_ = 0;
  std::vector<Index> label_alias_;  ///< label -> label of an outer scope that it turned out to be
  Index current_ = 0;               ///< block being filled
  bool block_ended_ = false;
  uint32_t loc_line_ = 0, loc_file_ = 0;
  Instruction guarded_;             ///< guard of the instruction being read
};

}  // namespace limen::ptx
