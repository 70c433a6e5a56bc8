// The control-flow graph the code generator works on: PTX blocks cut at barriers, with the orders,
// dominators, loops and liveness every later step needs. Pure analysis; makes no LLVM IR.
// Invariant: node 0 is the entry; a node's barrier, if any, is its last instruction.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "compiler/ptx/ir.h"

namespace limen::simt {

using ptx::Index;
using NodeId = uint32_t;
inline constexpr NodeId no_node = 0xffffffffu;

/// Dense bit set over registers or nodes.
class Bits {
 public:
  Bits() = default;
  explicit Bits(size_t size) : words_((size + 63) / 64) {}
  bool has(size_t i) const { return words_[i / 64] >> (i % 64) & 1; }
  void add(size_t i) { words_[i / 64] |= uint64_t{1} << (i % 64); }
  void remove(size_t i) { words_[i / 64] &= ~(uint64_t{1} << (i % 64)); }
  bool any() const;
  bool merge(const Bits& other);  ///< true when it grew
  size_t words() const { return words_.size(); }
  size_t count() const;
  template <typename F>
  void each(F&& f) const {
    for (size_t w = 0; w < words_.size(); ++w)
      for (uint64_t bits = words_[w]; bits; bits &= bits - 1)
        f(w * 64 + static_cast<size_t>(__builtin_ctzll(bits)));
  }

 private:
  std::vector<uint64_t> words_;
};

/// How control leaves a node.
enum class Leave : uint8_t {
  fall,      ///< to succ[0]
  branch,    ///< `bra` without guard: to succ[0]
  cond,      ///< guarded `bra`: taken succ[0], else succ[1]
  indexed,   ///< `brx.idx`: succ by index
  barrier,   ///< block barrier, then succ[0]
  ret,       ///< `ret` or `exit` without guard
  cond_ret,  ///< guarded `ret`/`exit`, or branch to one: the others go to succ[0]
  stop,      ///< `trap` or a call that does not return
};

struct Node {
  Index block = 0;
  uint32_t begin = 0, end = 0;  ///< instructions [begin, end) of the block
  Leave leave = Leave::fall;
  std::vector<NodeId> succ;
  bool inverted = false;  ///< cond_ret: those for whom the guard is false return
};

struct Graph {
  const ptx::Function* function = nullptr;
  std::vector<Node> nodes;
  std::vector<Bits> live_in;  ///< registers live at a node's start, by node
  size_t registers = 0;       ///< function registers + 1: the last is the carry flag
  bool has_barrier = false;

  const ptx::Instruction& inst(const Node& n, uint32_t i) const {
    return function->blocks[n.block].body[i];
  }
  const ptx::Instruction* last(const Node& n) const {
    return n.end > n.begin ? &inst(n, n.end - 1) : nullptr;
  }
  Index carry() const { return static_cast<Index>(registers - 1); }
};

/// Is this a barrier of the whole block that a region may end at? (bar.sync/bar.red and barrier.*)
bool is_block_barrier(const ptx::Instruction& inst);

/// A barrier of all threads of the block, without a count or a name.
bool needs_whole_block(const ptx::Instruction& inst);

/// Does this wait for lanes of its warp: those that a member mask names, or all? (`shfl.sync`, ...)
bool is_warp_sync(const ptx::Instruction& inst);

/// Registers an instruction reads and writes (carry flag included).
void uses_and_defs(const Graph& graph, const ptx::Instruction& inst, std::vector<Index>& uses,
                   std::vector<Index>& defs);

/// Analyses keep tables of nodes x registers and nodes x nodes. Functions for which those would
/// take gigabytes (no compiler writes such) are not analysed; `why` has the numbers.
bool is_too_large(const ptx::Function& function, std::string& why);

/// Where nodes end but for branches.
enum class Cut : uint8_t {
  none,
  after_barriers,  ///< block barriers leave their node
  before_syncs,    ///< block barriers and what waits for lanes of the warp begin one
};

/// Builds nodes and liveness.
Graph build_graph(const ptx::Function& function, Cut cut);

/// A loop of a region, natural (single header).
struct Loop {
  NodeId header = no_node;
  Bits nodes;
  uint32_t parent = 0xffffffffu;
  uint32_t depth = 1;
};

/// Part of the graph run between two barriers: what is reachable from `entry` without crossing one.
struct Region {
  NodeId entry = 0;
  std::vector<NodeId> order;              ///< loop-contiguous topological order, barrier nodes last
  std::vector<uint32_t> position;         ///< by node; no_node when outside
  std::vector<std::vector<NodeId>> succ;  ///< by node, inside the region (barrier edges cut)
  std::vector<std::vector<NodeId>>
      flow;                   ///< succ plus pseudo edges of exit tails, for post-dominance
  std::vector<NodeId> ipdom;  ///< by node; no_node = the region's end
  std::vector<Loop> loops;
  std::vector<uint32_t> loop_of;  ///< innermost loop by node
  bool reducible = true;
  bool contains(NodeId n) const { return position[n] != no_node; }
};

Region build_region(const Graph& graph, NodeId entry);

/// Nodes that control may come to from `from` (itself included) without passing `stop`.
Bits reach(const Region& region, NodeId from, NodeId stop);

/// Has the node a barrier of the block (any but `bar.warp.sync`)?
bool has_block_barrier(const Graph& graph, NodeId node);

}  // namespace limen::simt
