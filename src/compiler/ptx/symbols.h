// Names of one function body under nested { } scopes, with shadowing, and ranges such as %r<100> that
// become registers only when used (so %r<4000000000> costs nothing).
// Keys are views into the module's text, which outlives the table. One thread per table.
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

namespace limen::ptx {

struct Symbol {
  enum class Kind : uint8_t {
    none, reg, range, local, param, label, prototype, branch_list, call_list,
  };
  Kind kind = Kind::none;
  bool defined = true;  ///< labels: false for a forward reference
  uint16_t level = 0;   ///< scope depth
  uint32_t index = 0;
  uint32_t line = 0;    ///< of the declaration or first use
};

class ScopedTable {
 public:
  ScopedTable() : slots_(64, 0) {}

  /// The innermost living symbol of that name, or nullptr. Valid until the next insert.
  Symbol* find(std::string_view name) {
    const uint32_t id = slots_[slot_of(name, hash(name))];
    if (!id || entries_[id - 1].symbol.kind == Symbol::Kind::none) return nullptr;
    return &entries_[id - 1].symbol;
  }

  /// Adds a symbol. False when its level already has one of that name.
  bool insert(std::string_view name, const Symbol& symbol) {
    if ((entries_.size() + 1) * 2 > slots_.size()) grow();
    const uint32_t h = hash(name);
    uint32_t& slot = slots_[slot_of(name, h)];
    uint32_t shadowed = slot;
    if (slot) {
      const Symbol& old = entries_[slot - 1].symbol;
      if (old.kind != Symbol::Kind::none && old.level == symbol.level) return false;
      if (old.kind == Symbol::Kind::none) shadowed = 0;
    }
    entries_.push_back({name, h, shadowed, symbol});
    slot = static_cast<uint32_t>(entries_.size());
    if (symbol.level) {
      if (levels_.size() <= symbol.level) levels_.resize(symbol.level + 1u);
      levels_[symbol.level].push_back(slot);
    }
    return true;
  }

  /// Ends scope `level`; `visit(name, symbol)` sees each of its symbols.
  template <typename Visit>
  void leave(uint16_t level, Visit visit) {
    if (levels_.size() <= level) return;
    for (uint32_t id : levels_[level]) {
      Entry& entry = entries_[id - 1];
      visit(entry.name, entry.symbol);
      entry.symbol.kind = Symbol::Kind::none;
      if (entry.shadowed) slots_[slot_of(entry.name, entry.hash)] = entry.shadowed;
    }
    levels_[level].clear();
  }

  /// Visits the living symbols of the outermost scope.
  template <typename Visit>
  void visit_outermost(Visit visit) {
    for (Entry& entry : entries_)
      if (entry.symbol.kind != Symbol::Kind::none && !entry.symbol.level)
        visit(entry.name, entry.symbol);
  }

 private:
  struct Entry {
    std::string_view name;
    uint32_t hash;
    uint32_t shadowed;  ///< entry id that this one hides, 0 for none
    Symbol symbol;
  };

  static uint32_t hash(std::string_view name) {
    uint32_t h = 2166136261u;
    for (char c : name) h = (h ^ static_cast<uint8_t>(c)) * 16777619u;
    return h ^ h >> 15;
  }
  size_t slot_of(std::string_view name, uint32_t h) const {
    size_t at = h & (slots_.size() - 1);
    while (slots_[at]) {
      const Entry& entry = entries_[slots_[at] - 1];
      if (entry.hash == h && entry.name == name) break;
      at = (at + 1) & (slots_.size() - 1);
    }
    return at;
  }
  void grow() {
    std::vector<uint32_t> old(slots_.size() * 2, 0);
    old.swap(slots_);
    for (uint32_t id : old)
      if (id) slots_[slot_of(entries_[id - 1].name, entries_[id - 1].hash)] = id;
  }

  std::vector<Entry> entries_;
  std::vector<uint32_t> slots_;
  std::vector<std::vector<uint32_t>> levels_;
};

}  // namespace limen::ptx
