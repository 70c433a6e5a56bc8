// Registers whose value never changes: one write in the whole function, of what a launch and a
// lane's place decide. Whoever needs such a value may compute it again instead of keeping it, and
// what is known at its write holds wherever it is read. Pure analysis.
#pragma once
#include <vector>

#include "compiler/simt/shape.h"

namespace limen::simt {

struct Constants {
  /// By register: its only write; null for registers that change, or cost too much to compute
  /// again.
  std::vector<const ptx::Instruction*> write;
  bool has(ptx::Index r) const { return r < write.size() && write[r] != nullptr; }
};

/// Entry functions only: nothing is constant in others.
Constants find_constants(const Graph& graph, const std::vector<Shape>& shapes);

}  // namespace limen::simt
