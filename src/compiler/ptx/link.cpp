// The linker: one pass to place the symbols of every input, one to rewrite the indices in its
// bodies. A strong definition wins over weak and common ones, the first weak one over later ones;
// internal symbols get a name of their own where they would meet another. Thread rule: see the
// header.
#include "compiler/ptx/link.h"

#include <algorithm>

#include <fmt/format.h>

#include "compiler/ptx/parser.h"

namespace limen::ptx {

namespace {

bool defines(const Variable& variable) { return variable.linkage != Linkage::external; }
bool defines(const Function& function) { return function.has_body; }

bool is_function(const Variable&) { return false; }
bool is_function(const Function&) { return true; }

/// 3 strong, 2 weak, 1 common, 0 declaration only.
template <typename Symbol>
int rank(const Symbol& symbol) {
  if (!defines(symbol)) return 0;
  if (symbol.linkage == Linkage::common) return 1;
  return symbol.linkage == Linkage::weak ? 2 : 3;
}

template <typename Symbol>
void add_strong(const std::vector<Symbol>& symbols, std::vector<std::string>* names) {
  for (const Symbol& symbol : symbols)
    if (rank(symbol) == 3 && symbol.linkage != Linkage::internal) names->push_back(symbol.name);
}

class Linker {
 public:
  explicit Linker(std::vector<std::unique_ptr<Module>> inputs) : inputs_(std::move(inputs)) {}

  Result<std::unique_ptr<Module>> run() {
    out_->address_size = 64;
    for (auto& input : inputs_) LIMEN_CHECK(parse_bodies(*input));
    for (size_t i = 0; i < inputs_.size(); ++i) {
      Module& input = *inputs_[i];
      take_head(input);
      function_map_.emplace_back();
      variable_map_.emplace_back();
      LIMEN_CHECK(place_all(input.functions, out_->functions, out_->function_index,
                            function_map_.back(), i, "function"));
      LIMEN_CHECK(place_all(input.variables, out_->variables, out_->variable_index,
                            variable_map_.back(), i, "variable"));
    }
    return std::move(out_);
  }

 private:
  static Result<void> parse_bodies(Module& module) {
    for (Index i = 0; i < module.functions.size(); ++i)
      if (module.functions[i].has_body) LIMEN_CHECK(parse_body(module, i));
    return {};
  }

  void take_head(Module& input) {
    auto version = std::pair(input.version_major, input.version_minor);
    if (version > std::pair(out_->version_major, out_->version_minor))
      std::tie(out_->version_major, out_->version_minor) = version;
    if (input.target_sm > out_->target_sm) {
      out_->target_sm = input.target_sm;
      out_->target_suffix = input.target_suffix;
    }
    out_->target_debug |= input.target_debug;
    first_file_.push_back(static_cast<uint32_t>(out_->files.size()));
    out_->files.insert(out_->files.end(), input.files.begin(), input.files.end());
    out_->text += input.text;
    out_->text += '\n';
  }

  template <typename Symbol>
  Result<void> place_all(std::vector<Symbol>& from, std::vector<Symbol>& to,
                         std::unordered_map<std::string, Index>& names, std::vector<Index>& map,
                         size_t input, const char* what) {
    map.assign(from.size(), no_index);
    std::vector<Index> taken;  // inputs that became the definition of their name
    for (Index i = 0; i < from.size(); ++i) {
      Symbol& symbol = from[i];
      auto known = names.find(symbol.name);
      bool internal = symbol.linkage == Linkage::internal && defines(symbol);
      if (known != names.end() && internal) {
        symbol.name = fmt::format("{}${}", symbol.name, input);
        known = names.end();
      } else if (known != names.end() && to[known->second].linkage == Linkage::internal &&
                 defines(to[known->second])) {
        // An earlier module's internal symbol makes room for the shared name.
        Symbol& earlier = to[known->second];
        Index index = known->second;
        names.erase(known);
        earlier.name = fmt::format("{}${}", earlier.name, "internal");
        names.emplace(earlier.name, index);
        known = names.end();
      }
      if (known == names.end()) {
        map[i] = static_cast<Index>(to.size());
        names.emplace(symbol.name, map[i]);
        to.push_back(std::move(symbol));
        moved_.push_back({is_function(symbol), map[i], input});
        continue;
      }
      map[i] = known->second;
      int old_rank = rank(to[map[i]]), new_rank = rank(symbol);
      if (old_rank == 3 && new_rank == 3)
        return Error{Code::invalid_ptx,
                     fmt::format("multiple definition of {} '{}' in linked PTX", what, symbol.name),
                     "keep one definition"};
      if (new_rank > old_rank) {
        to[map[i]] = std::move(symbol);
        moved_.push_back({is_function(symbol), map[i], input});
      }
    }
    return {};
  }

 public:
  /// Rewrites the indices of everything that came from input `i`. Called once all are placed.
  void rewrite_all(Module& out) {
    std::vector<size_t> function_owner(out.functions.size()), variable_owner(out.variables.size());
    for (const Moved& moved : moved_) {
      auto& owner = moved.function ? function_owner : variable_owner;
      owner[moved.index] = moved.input;
    }
    for (Index i = 0; i < out.functions.size(); ++i) rewrite(out.functions[i], function_owner[i]);
    for (Index i = 0; i < out.variables.size(); ++i) rewrite(out.variables[i], variable_owner[i]);
  }

 private:
  struct Moved {
    bool function;
    Index index;
    size_t input;
  };

  Index mapped(Operand::SymbolKind kind, Index index, size_t input) const {
    if (kind == Operand::SymbolKind::function) return function_map_[input][index];
    if (kind == Operand::SymbolKind::variable) return variable_map_[input][index];
    return index;
  }

  void rewrite(Operand& operand, size_t input) const {
    operand.index = mapped(operand.symbol_kind, operand.index, input);
    for (Operand& element : operand.elems) rewrite(element, input);
  }

  void rewrite(Variable& variable, size_t input) const {
    for (Reloc& reloc : variable.relocs)
      reloc.symbol = mapped(reloc.kind, reloc.symbol, input);
  }

  void rewrite(Function& function, size_t input) const {
    for (Variable& local : function.locals) rewrite(local, input);
    for (auto& list : function.call_targets)
      for (Index& target : list) target = function_map_[input][target];
    for (Block& block : function.blocks)
      for (Instruction& instruction : block.body) {
        if (instruction.source_line) instruction.source_file += first_file_[input];
        for (Operand& operand : instruction.ops) rewrite(operand, input);
        for (Operand& operand : instruction.call_returns) rewrite(operand, input);
        for (Operand& operand : instruction.call_args) rewrite(operand, input);
      }
  }

  std::vector<std::unique_ptr<Module>> inputs_;
  std::unique_ptr<Module> out_ = std::make_unique<Module>();
  std::vector<std::vector<Index>> function_map_, variable_map_;
  std::vector<Moved> moved_;
  std::vector<uint32_t> first_file_;  ///< by input: where its .file table begins in the output
};

}  // namespace

std::vector<std::string> strong_definitions(const Module& module) {
  std::vector<std::string> names;
  add_strong(module.functions, &names);
  add_strong(module.variables, &names);
  return names;
}

Result<std::unique_ptr<Module>> link_modules(
    std::vector<std::unique_ptr<Module>> modules) {
  if (modules.empty()) return std::make_unique<Module>();
  if (modules.size() == 1) return std::move(modules.front());
  Linker linker(std::move(modules));
  LIMEN_TRY(std::unique_ptr<Module> out, linker.run());
  linker.rewrite_all(*out);
  return out;
}

}  // namespace limen::ptx
