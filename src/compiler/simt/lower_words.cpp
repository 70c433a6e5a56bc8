// Several consecutive words of every lane: `ld.v2` and `ld.v4`, and scalar loads behind one base
// register with nothing written between them (members of a struct, a row of a tile), which are done
// together by the first. Lanes that lie side by side are read as whole vectors, others by 16 bytes
// a lane, and the words sorted by shuffles. Stores likewise, together by the last, where lanes are
// known not to overlap.
#include <algorithm>

#include <llvm/IR/MDBuilder.h>

#include "compiler/simt/lower.h"

using namespace llvm;

namespace limen::simt {

using ptx::Op;
using ptx::Operand;
using ptx::Tok;

namespace {

constexpr uint32_t most_words = 8;      ///< of one group
constexpr uint32_t most_distance = 64;  ///< instructions looked through
constexpr int64_t most_span = 1024;     ///< bytes, of a page's 4096: seldom do they cross its end

struct Follower {
  const ptx::Instruction* load;
  int64_t offset;  ///< bytes from the first load's address
  uint32_t words;
};

bool stores(const ptx::Instruction& i) {
  return i.op == Op::st || (i.op == Op::multimem && i.has(Tok::st));
}

uint32_t words_of(const ptx::Instruction& i) {
  const Operand& value = i.ops[stores(i) ? 1 : 0];
  return value.kind == Operand::Kind::vector ? static_cast<uint32_t>(value.elems.size()) : 1;
}

/// The smallest distance between two lanes.
int64_t least_distance(Offsets o) {
  std::sort(o.begin(), o.end());
  int64_t least = INT64_MAX;
  for (size_t i = 1; i < o.size(); ++i) least = std::min(least, o[i] - o[i - 1]);
  return least;
}

const Operand& address_of(const ptx::Instruction& i) { return i.ops[stores(i) ? 0 : 1]; }

bool same_kind(const ptx::Instruction& a, const ptx::Instruction& b) {
  return a.op == b.op && a.guard == b.guard && a.type() == b.type() && a.mods == b.mods &&
         address_of(b).symbol_kind == Operand::SymbolKind::none &&
         address_of(a).index == address_of(b).index;
}

/// Every second element of a and b behind each other, from `from` on.
Value* every_second(IRBuilder<>& b, Value* a, Value* c, int from) {
  const auto lanes = cast<FixedVectorType>(a->getType())->getNumElements();
  std::vector<int> mask;
  for (uint32_t i = 0; i < lanes; ++i) mask.push_back(static_cast<int>(2 * i) + from);
  return b.CreateShuffleVector(a, c, mask);
}

/// Vectors that hold records of `parts.size()` words one after the other: a vector a word.
std::vector<Value*> take_apart(IRBuilder<>& b, const std::vector<Value*>& parts) {
  const auto count = static_cast<uint32_t>(parts.size());
  if (count == 1) return parts;
  std::vector<Value*> out(count);
  if (count == 3) {
    const auto lanes = cast<FixedVectorType>(parts[0]->getType())->getNumElements();
    for (uint32_t word = 0; word < 3; ++word) {
      std::vector<int> two(lanes, -1), all(lanes, -1);
      for (uint32_t i = 0; i < lanes; ++i) {
        const uint32_t at = 3 * i + word;
        if (at < 2 * lanes) two[i] = static_cast<int>(at);
        all[i] = static_cast<int>(at < 2 * lanes ? i : at - lanes);
      }
      out[word] =
          b.CreateShuffleVector(b.CreateShuffleVector(parts[0], parts[1], two), parts[2], all);
    }
    return out;
  }
  for (int odd = 0; odd < 2; ++odd) {
    std::vector<Value*> half;
    for (uint32_t i = 0; i < count; i += 2)
      half.push_back(every_second(b, parts[i], parts[i + 1], odd));
    half = take_apart(b, half);
    for (uint32_t i = 0; i < count / 2; ++i) out[2 * i + static_cast<uint32_t>(odd)] = half[i];
  }
  return out;
}

std::vector<int> sequence(uint32_t first, uint32_t count) {
  std::vector<int> r;
  for (uint32_t i = 0; i < count; ++i) r.push_back(static_cast<int>(first + i));
  return r;
}

Value* joined(IRBuilder<>& b, std::vector<Value*> parts) {
  while (parts.size() > 1) {
    const auto lanes = cast<FixedVectorType>(parts[0]->getType())->getNumElements();
    std::vector<Value*> next;
    for (size_t i = 0; i < parts.size(); i += 2)
      next.push_back(b.CreateShuffleVector(parts[i], parts[i + 1], sequence(0, 2 * lanes)));
    parts = next;
  }
  return parts[0];
}

/// Words of which the vectors of `rows` hold one or two records in every 128 bits, sorted within
/// these: x86 shuffles cross them only with a penalty. Rows and words of 4 bytes: 4 x 4 or 2 x 4,
/// of 8 bytes: 2 x 2.
std::vector<Value*> sort_within(IRBuilder<>& b, const std::vector<Value*>& rows, uint32_t per_128) {
  const auto lanes = cast<FixedVectorType>(rows[0]->getType())->getNumElements();
  auto pick = [&](Value* x, Value* y, const std::vector<int>& of) {
    std::vector<int> mask;  // `of` numbers the words of x's and y's 128 bits together
    for (uint32_t at = 0; at < lanes; at += per_128)
      for (int i : of) {
        const auto n = static_cast<uint32_t>(i);
        mask.push_back(static_cast<int>(n < per_128 ? at + n : lanes + at + n - per_128));
      }
    return b.CreateShuffleVector(x, y, mask);
  };
  if (per_128 == 2) return {pick(rows[0], rows[1], {0, 2}), pick(rows[0], rows[1], {1, 3})};
  if (rows.size() == 2)
    return {pick(rows[0], rows[1], {0, 2, 4, 6}), pick(rows[0], rows[1], {1, 3, 5, 7})};
  Value* low0 = pick(rows[0], rows[1], {0, 4, 1, 5});
  Value* high0 = pick(rows[0], rows[1], {2, 6, 3, 7});
  Value* low1 = pick(rows[2], rows[3], {0, 4, 1, 5});
  Value* high1 = pick(rows[2], rows[3], {2, 6, 3, 7});
  return {pick(low0, low1, {0, 1, 4, 5}), pick(low0, low1, {2, 3, 6, 7}),
          pick(high0, high1, {0, 1, 4, 5}), pick(high0, high1, {2, 3, 6, 7})};
}

/// Of two vectors of words of 4 bytes: rows of pairs, those of lanes 4i and 4i + 1 in the first, of
/// 4i + 2 and 4i + 3 in the second.
std::vector<Value*> pair_within(IRBuilder<>& b, const std::vector<Value*>& words) {
  const auto lanes = cast<FixedVectorType>(words[0]->getType())->getNumElements();
  std::vector<Value*> rows;
  for (uint32_t first = 0; first < 4; first += 2) {
    std::vector<int> mask;
    for (uint32_t at = first; at < lanes; at += 4)
      for (uint32_t lane = at; lane < at + 2; ++lane) {
        mask.push_back(static_cast<int>(lane));
        mask.push_back(static_cast<int>(lanes + lane));
      }
    rows.push_back(b.CreateShuffleVector(words[0], words[1], mask));
  }
  return rows;
}

Val moved(IRBuilder<>& b, Val at, int64_t bytes) {
  if (bytes == 0) return at;  // as it is: shared_offsets() looks at how it was made
  Value*& number = at.shaped() ? at.base : at.vec;
  const auto plus = [&](Value* n) {
    return b.CreateAdd(n, ConstantInt::get(n->getType(), static_cast<uint64_t>(bytes), true));
  };
  number = plus(number);
  if (at.index) at.index_base = plus(at.index_base);
  return at;
}

}  // namespace

/// The words of `inst` and, beside them, those of the loads that follow it, kept in loaded_.
std::vector<Value*> Lowering::load_grouped(const Inst& inst, const Val& at, llvm::Type* t,
                                           uint64_t bytes, uint32_t count) {
  std::vector<Follower> group{{&inst, 0, count}};
  const Operand& from = inst.ops[1];
  const bool worth = (bytes == 4 || bytes == 8) && !guard_mask_ && inst.guard == ptx::no_index &&
                     from.symbol_kind == Operand::SymbolKind::none && from.index != ptx::no_index &&
                     !(at.shaped() && (at.uniform() || in_runs(at.offsets, bytes)));
  if (!worth || node_ == no_node) return load_words(inst, at, t, bytes, count);
  const Node& node = plan_.graph.nodes[node_];
  std::vector<ptx::Index> uses, defs;
  auto writes_base = [&](const Inst& other) {
    uses_and_defs(plan_.graph, other, uses, defs);
    return std::find(defs.begin(), defs.end(), from.index) != defs.end();
  };
  const uint32_t end = std::min(node.end, position_ + most_distance);
  for (uint32_t i = position_ + 1; i < end && !writes_base(plan_.graph.inst(node, i - 1)); ++i) {
    const Inst& other = plan_.graph.inst(node, i);
    if (other.op == Op::ld && !is_strong(other)) {
      const int64_t offset = same_kind(inst, other) ? other.ops[1].bits - from.bits : 1;
      if (offset % static_cast<int64_t>(bytes) == 0)
        group.push_back({&other, offset, words_of(other)});
    } else if (has_side_effects(other)) {
      break;
    }
  }
  // The run of words without a gap around the first load's own.
  std::sort(group.begin(), group.end(),
            [](const Follower& a, const Follower& b) { return a.offset < b.offset; });
  const auto step = static_cast<int64_t>(bytes);
  auto end_of = [&](const Follower& f) { return f.offset + f.words * step; };
  size_t first = 0;
  while (group[first].load != &inst) ++first;
  size_t last = first + 1;
  int64_t low = 0, high = count * step;
  for (; last < group.size() && group[last].offset <= high; ++last) {
    if (end_of(group[last]) > low + most_words * step) break;
    high = std::max(high, end_of(group[last]));
  }
  for (; first > 0 && end_of(group[first - 1]) >= low; --first) {
    if (high - group[first - 1].offset > most_words * step) break;
    low = group[first - 1].offset;
  }
  const auto words = static_cast<uint32_t>((high - low) / step);
  std::vector<Value*> all = load_words(inst, moved(b_, at, low), t, bytes, words);
  std::vector<Value*> own;
  for (size_t i = first; i < last; ++i) {
    auto begin = all.begin() + (group[i].offset - low) / step;
    std::vector<Value*> part(begin, begin + group[i].words);
    if (group[i].load == &inst)
      own = part;
    else
      loaded_[group[i].load] = part;
  }
  return own;
}

/// `count` consecutive words a lane, a vector a word.
std::vector<Value*> Lowering::load_words(const Inst& inst, const Val& at, llvm::Type* t,
                                         uint64_t bytes, uint32_t count) {
  auto by_lane = [&](const Val& from) {
    return count == 1 ? std::vector<Value*>{gather(nullptr, from, t, bytes)}
                      : load_by_lane(from, t, bytes, count);
  };
  if (at.correction) {
    // Either the plan holds (no lane wrapped) or every lane's own address is used.
    Val planned = at;
    planned.correction = planned.exact = nullptr;
    return one_of(
        at.exact, [&] { return load_words(inst, planned, t, bytes, count); },
        [&] { return by_lane(Val::vector(vec(at))); });
  }
  if (reads_whole_page(at, bytes, count))
    return one_of(
        in_one_page(at, bytes * count),
        [&] { return as_if_all([&] { return load_words(inst, at, t, bytes, count); }); },
        [&] { return by_lane(at); });
  if (count == 1 && !at.uniform()) return {load_vector(inst, at, t, bytes)};
  const bool power = count == 2 || count == 4;
  if (at.computed && !at.shaped() && power && (bytes == 4 || bytes == 8)) {
    Val other = at;
    other.computed = false;
    Value *first, *window;
    // Of shared memory's 32-bit addresses the question costs a sixth of what a row saves, of 64-bit
    // ones a third, and tables (of twiddle factors, in fft) are seldom read in rows.
    if (!shared_offsets(addresses(at), window)) return load_words(inst, other, t, bytes, count);
    Value* in_row = lies_in_a_row(at, bytes * count, first);
    Val row = Val::scalar(first);
    for (uint64_t i = 0; i < width(); ++i)
      row.offsets.push_back(static_cast<int64_t>(i * bytes * count));
    return one_of(
        in_row, [&] { return as_if_all([&] { return load_interleaved(row, t, bytes, count); }); },
        [&] { return load_words(inst, other, t, bytes, count); }, false);
  }
  const bool offsets = at.shaped() && !at.uniform();
  const auto in_128 = static_cast<uint32_t>(16 / bytes);
  const bool sorts = (bytes == 4 || bytes == 8) && width() % in_128 == 0 && !at.uniform() &&
                     !(offsets && in_runs(at.offsets, bytes));
  const bool side_by_side = offsets && !mask_is_dear(bytes) && (count <= 4 || count == 8) &&
                            progression(at.offsets, static_cast<int64_t>(bytes * count));
  // Sorting within 128 bits takes fewer shuffles than taking whole vectors apart.
  if (side_by_side && !(sorts && active_full() && count % in_128 == 0))
    return load_interleaved(at, t, bytes, count);
  if (sorts && active_full()) return load_transposed(at, t, bytes, count);
  if (sorts)
    return one_of(
        all(active()), [&] { return load_transposed(at, t, bytes, count); },
        [&] { return load_by_lane(at, t, bytes, count); });
  std::vector<Value*> values;
  for (uint32_t i = 0; i < count; ++i) {
    const Val word = moved(b_, at, static_cast<int64_t>(i * bytes));
    values.push_back(at.uniform() ? splat(b_.CreateAlignedLoad(t, pointer(word.base), Align(bytes)))
                                  : load_vector(inst, word, t, bytes));
  }
  return values;
}

/// May the words of lanes that are not active be read too, where all lie in one page? Some lane is
/// active where a load stands (not so where a copy is cut short: that calls load_vector), so the
/// page is there. AVX2's masked loads are slow where the cache misses: spmv_csr.
bool Lowering::reads_whole_page(const Val& at, uint64_t bytes, uint32_t count) const {
  if (active_full() || unit_.target.avx512 || !at.shaped() || at.uniform()) return false;
  const auto step = static_cast<int64_t>(bytes * count);
  // Others are read lane by lane, which masks cost less.
  if (!progression(at.offsets, step) && !in_runs(at.offsets, bytes)) return false;
  const auto [least, most] = std::minmax_element(at.offsets.begin(), at.offsets.end());
  return *most - *least + step <= most_span;
}

/// i1: do all lanes' `bytes` lie in one page?
Value* Lowering::in_one_page(const Val& at, uint64_t bytes) {
  constexpr uint64_t page = 4096;  // the smallest of the machine
  const auto [least, most] = std::minmax_element(at.offsets.begin(), at.offsets.end());
  const uint64_t span = static_cast<uint64_t>(*most - *least) + bytes;
  Value* first = b_.CreateAdd(at.base, b_.getInt64(static_cast<uint64_t>(*least)));
  return b_.CreateICmpULE(b_.CreateAnd(first, b_.getInt64(page - 1)), b_.getInt64(page - span));
}

/// Code as for a warp whose lanes are all active.
std::vector<Value*> Lowering::as_if_all(const std::function<std::vector<Value*>()>& code) {
  Value *const guard = guard_mask_, *const node = node_mask_;
  const bool live = live_full_;
  guard_mask_ = node_mask_ = nullptr;
  live_full_ = true;
  std::vector<Value*> values = code();
  guard_mask_ = guard;
  node_mask_ = node;
  live_full_ = live;
  return values;
}

/// Lanes side by side: whole vectors, then taken apart.
std::vector<Value*> Lowering::load_interleaved(const Val& at, llvm::Type* t, uint64_t bytes,
                                               uint32_t count) {
  const uint32_t w = width();
  std::vector<Value*> parts;
  for (uint32_t j = 0; j < count; ++j) {
    Value* p = pointer(b_.CreateAdd(
        at.base, b_.getInt64(static_cast<uint64_t>(at.offsets[0]) + uint64_t{j} * w * bytes)));
    if (active_full()) {
      parts.push_back(b_.CreateAlignedLoad(vec_type(t), p, Align(bytes)));
      continue;
    }
    std::vector<int> lanes;
    for (uint32_t e = 0; e < w; ++e) lanes.push_back(static_cast<int>((j * w + e) / count));
    Value* m = b_.CreateShuffleVector(active(), lanes);
    parts.push_back(
        b_.CreateMaskedLoad(vec_type(t), p, Align(bytes), m, Constant::getNullValue(vec_type(t))));
  }
  return take_apart(b_, parts);
}

/// All lanes, at any addresses: up to 16 bytes of each at once, sorted by shuffles.
std::vector<Value*> Lowering::load_transposed(const Val& at, llvm::Type* t, uint64_t bytes,
                                              uint32_t count) {
  const auto in_128 = static_cast<uint32_t>(16 / bytes);
  const auto pointers = lane_pointers(at);
  auto lane = [&](uint32_t i, uint64_t offset) -> Value* {
    return b_.CreateConstGEP1_64(b_.getInt8Ty(), pointers[i], offset);
  };
  std::vector<Value*> out;
  for (uint32_t word = 0; word < count;) {
    const uint32_t left = count - word;
    const uint32_t n = left >= in_128 ? in_128 : left >= 2 ? 2 : 1;
    const uint64_t offset = word * bytes;
    word += n;
    if (n == 1) {
      Value* all = PoisonValue::get(vec_type(t));
      for (uint32_t i = 0; i < width(); ++i)
        all =
            b_.CreateInsertElement(all, b_.CreateAlignedLoad(t, lane(i, offset), Align(bytes)), i);
      out.push_back(all);
      continue;
    }
    // Lane i's words stand in the 128 bits in which lane i belongs; in a row `together` of them.
    const uint32_t together = in_128 / n;
    llvm::Type* record = FixedVectorType::get(t, n);
    std::vector<Value*> rows;
    for (uint32_t row = 0; row < in_128 / together; ++row) {
      std::vector<Value*> parts;
      for (uint32_t group = 0; group < width(); group += in_128)
        for (uint32_t k = 0; k < together; ++k)
          parts.push_back(
              b_.CreateAlignedLoad(record, lane(group + row * together + k, offset), Align(bytes)));
      rows.push_back(joined(b_, parts));
    }
    for (Value* sorted : sort_within(b_, rows, in_128)) out.push_back(sorted);
  }
  return out;
}

/// The addresses of all lanes.
std::vector<Value*> Lowering::lane_pointers(const Val& at) {
  std::vector<Value*> pointers;
  if (at.shaped() && !at.correction) {
    for (uint32_t i = 0; i < width(); ++i) pointers.push_back(lane_pointer(at, i));
    return pointers;
  }
  // From 32 bits, where it can: a vector of such is taken apart in half the time.
  Value* window = nullptr;
  Value* numbers = addresses(at);
  Value* offsets = shared_offsets(numbers, window);
  for (uint64_t i = 0; i < width(); ++i) {
    Value* one = b_.CreateExtractElement(offsets ? offsets : numbers, i);
    pointers.push_back(
        offsets ? b_.CreateGEP(b_.getInt8Ty(), pointer(window), b_.CreateZExt(one, b_.getInt64Ty()))
                : pointer(one));
  }
  return pointers;
}

/// A loop over the active lanes, each with all its words.
std::vector<Value*> Lowering::load_by_lane(const Val& at, llvm::Type* t, uint64_t bytes,
                                           uint32_t count) {
  if (unit_.target.avx512) {
    std::vector<Value*> values;
    for (uint32_t i = 0; i < count; ++i)
      values.push_back(gather(nullptr, moved(b_, at, static_cast<int64_t>(i * bytes)), t, bytes));
    return values;
  }
  std::vector<AllocaInst*> words;
  for (uint32_t i = 0; i < count; ++i) {
    AllocaInst*& room = word_rooms_[{t, i}];
    if (!room) room = entry_alloca(vec_type(t), "words", false);
    b_.CreateStore(Constant::getNullValue(vec_type(t)), room);
    words.push_back(room);
  }
  const LaneAddresses from = spill_addresses(at);
  for_each_lane(active(), [&](Value* lane) {
    Value* p = lane_pointer(from, lane);
    for (uint32_t i = 0; i < count; ++i)
      store_lane(words[i], t, lane,
                 b_.CreateAlignedLoad(t, b_.CreateConstGEP1_64(b_.getInt8Ty(), p, i * bytes),
                                      Align(bytes)));
  });
  std::vector<Value*> values;
  for (AllocaInst* room : words) values.push_back(b_.CreateLoad(vec_type(t), room));
  return values;
}

/// Does `inst` begin a group of stores (or make one alone) that its last member should write?
/// Sets storing_. Nothing between the members may touch memory, and no two lanes' words may be the
/// same: of such the instruction that comes later has the last word, not the lane.
bool Lowering::begin_stores(const Inst& inst, const Val& at, uint64_t bytes, uint32_t count) {
  const Operand& to = inst.ops[0];
  const auto step = static_cast<int64_t>(bytes);
  const bool worth = (bytes == 4 || bytes == 8) && !guard_mask_ && inst.guard == ptx::no_index &&
                     to.symbol_kind == Operand::SymbolKind::none && to.index != ptx::no_index &&
                     at.shaped() && !at.offsets.empty() && !in_runs(at.offsets, bytes) &&
                     width() % (16 / bytes) == 0 && (active_full() || !unit_.target.avx512);
  if (!worth || node_ == no_node) return false;
  const int64_t most =
      std::min<int64_t>(most_words, least_distance(at.offsets) / step) * step;  // bytes
  StoreGroup group;
  int64_t low = 0, high = count * step;
  std::vector<std::pair<const Inst*, int64_t>> members{{&inst, 0}};
  const Node& node = plan_.graph.nodes[node_];
  std::vector<ptx::Index> uses, defs;
  const uint32_t end = std::min(node.end, position_ + most_distance);
  for (uint32_t i = position_ + 1; i < end; ++i) {
    const Inst& other = plan_.graph.inst(node, i);
    uses_and_defs(plan_.graph, other, uses, defs);
    if (std::find(defs.begin(), defs.end(), to.index) != defs.end()) break;
    if (!has_side_effects(other)) continue;
    if (!same_kind(inst, other) || words_of(other) != count) break;
    const int64_t offset = other.ops[0].bits - to.bits, behind = offset + count * step;
    if (offset != high && behind != low) break;
    if (std::max(high, behind) - std::min(low, offset) > most) break;
    low = std::min(low, offset);
    high = std::max(high, behind);
    members.push_back({&other, offset});
  }
  const auto words = static_cast<uint32_t>((high - low) / step);
  if (words == 1 || high - low > most) return false;
  group.at = moved(b_, at, low);
  group.words.resize(words);
  for (auto [store, offset] : members)
    group.members[store] = static_cast<uint32_t>((offset - low) / step);
  group.last = members.back().first;
  group.lane_bytes = bytes * count;
  storing_ = std::move(group);
  return true;
}

/// What `inst` writes joins its group, which the last member writes.
void Lowering::join_stores(const Inst& inst, uint64_t bytes, const std::vector<Val>& values) {
  const uint32_t first = storing_.members.at(&inst);
  for (uint32_t i = 0; i < values.size(); ++i) storing_.words[first + i] = vec(values[i]);
  if (&inst != storing_.last) return;
  const StoreGroup group = std::move(storing_);
  storing_ = {};
  store_words(group.at, bytes, group.words, group.lane_bytes);
}

void Lowering::store_words(const Val& at, uint64_t bytes, const std::vector<Value*>& words,
                           uint64_t lane_bytes) {
  using None = std::vector<Value*>;
  const size_t count = words.size();
  if (at.correction) {
    Val planned = at;
    planned.correction = planned.exact = nullptr;
    one_of(
        at.exact, [&] { return store_words(planned, bytes, words, lane_bytes), None{}; },
        [&] {
          const Val lanes = Val::vector(vec(at));
          for (size_t i = 0; i < count; ++i)
            scatter(moved(b_, lanes, static_cast<int64_t>(i * bytes)), words[i], bytes, lane_bytes);
          return None{};
        });
    return;
  }
  if ((count == 2 || count == 4) && progression(at.offsets, static_cast<int64_t>(bytes * count)))
    return store_interleaved(at, bytes, words);
  if (active_full()) return store_transposed(at, bytes, words, lane_bytes);
  one_of(
      all(active()), [&] { return store_transposed(at, bytes, words, lane_bytes), None{}; },
      [&] { return store_by_lane(at, bytes, words, lane_bytes), None{}; });
}

/// The words of one vector store to addresses of which nothing is known. It is aligned, so two
/// lanes' words are the same or apart.
void Lowering::scatter_words(const Val& at, uint64_t bytes, const std::vector<Value*>& words) {
  using None = std::vector<Value*>;
  const uint64_t lane_bytes = bytes * words.size();
  if (at.computed) {
    Val other = at;
    other.computed = false;
    Value* first;
    Value* in_row = lies_in_a_row(at, lane_bytes, first);
    Val row = Val::scalar(first);
    for (uint64_t i = 0; i < width(); ++i)
      row.offsets.push_back(static_cast<int64_t>(i * lane_bytes));
    one_of(
        in_row,
        [&] { return as_if_all([&] { return store_interleaved(row, bytes, words), None{}; }); },
        [&] { return scatter_words(other, bytes, words), None{}; }, false);
    return;
  }
  if (unit_.target.avx512) {
    for (size_t i = 0; i < words.size(); ++i)
      scatter(moved(b_, at, static_cast<int64_t>(i * bytes)), words[i], bytes, lane_bytes);
    return;
  }
  auto all_lanes = [&] { return store_transposed(at, bytes, words, lane_bytes), None{}; };
  if (active_full())
    all_lanes();
  else
    one_of(all(active()), all_lanes,
           [&] { return store_by_lane(at, bytes, words, lane_bytes), None{}; });
}

/// Two or four words of lanes side by side: put together, then whole vectors.
void Lowering::store_interleaved(const Val& at, uint64_t bytes, const std::vector<Value*>& words) {
  const uint32_t w = width(), count = static_cast<uint32_t>(words.size());
  auto zip = [&](Value* x, Value* y, bool upper) {
    std::vector<int> m;
    for (uint32_t i = 0; i < w; ++i) {
      const uint32_t e = (upper ? w / 2 : 0) + i / 2;
      m.push_back(static_cast<int>(i % 2 ? w + e : e));
    }
    return b_.CreateShuffleVector(x, y, m);
  };
  std::vector<Value*> out;
  if (count == 2) {
    out = {zip(words[0], words[1], false), zip(words[0], words[1], true)};
  } else {
    Value* p0 = zip(words[0], words[2], false);
    Value* p1 = zip(words[0], words[2], true);
    Value* q0 = zip(words[1], words[3], false);
    Value* q1 = zip(words[1], words[3], true);
    out = {zip(p0, q0, false), zip(p0, q0, true), zip(p1, q1, false), zip(p1, q1, true)};
  }
  for (uint32_t j = 0; j < count; ++j) {
    Value* p = pointer(b_.CreateAdd(
        at.base, b_.getInt64(static_cast<uint64_t>(at.offsets[0]) + uint64_t{j} * w * bytes)));
    if (active_full()) {
      b_.CreateAlignedStore(out[j], p, Align(bytes));
      continue;
    }
    std::vector<int> lanes;
    for (uint32_t e = 0; e < w; ++e) lanes.push_back(static_cast<int>((j * w + e) / count));
    b_.CreateMaskedStore(out[j], p, Align(bytes), b_.CreateShuffleVector(active(), lanes));
  }
}

/// All lanes: the words sorted within 128 bits, up to 16 bytes of each lane at once, the lanes in
/// the order in which the device has them.
void Lowering::store_transposed(const Val& at, uint64_t bytes, const std::vector<Value*>& words,
                                uint64_t lane_bytes) {
  const auto in_128 = static_cast<uint32_t>(16 / bytes);
  const auto pointers = lane_pointers(at);
  const std::vector<int> order = store_order(lane_bytes);
  std::vector<Value*> pieces(width());
  auto store_pieces = [&](uint64_t offset) {
    for (int lane : order) {
      const auto i = static_cast<size_t>(lane);
      b_.CreateAlignedStore(pieces[i], b_.CreateConstGEP1_64(b_.getInt8Ty(), pointers[i], offset),
                            Align(bytes));
    }
  };
  for (uint32_t word = 0; word < words.size();) {
    const auto left = static_cast<uint32_t>(words.size()) - word;
    const uint32_t n = left >= in_128 ? in_128 : left >= 2 ? 2 : 1;
    const uint64_t offset = word * bytes;
    const std::vector<Value*> own(words.begin() + word, words.begin() + word + n);
    word += n;
    if (n == 1) {
      for (uint32_t lane = 0; lane < width(); ++lane)
        pieces[lane] = b_.CreateExtractElement(own[0], lane);
      store_pieces(offset);
      continue;
    }
    const uint32_t together = in_128 / n;  // lanes in 128 bits of a row
    const std::vector<Value*> rows =
        n == in_128 ? sort_within(b_, own, in_128) : pair_within(b_, own);
    for (uint32_t row = 0; row < rows.size(); ++row)
      for (uint32_t group = 0; group < width(); group += in_128)
        for (uint32_t k = 0; k < together; ++k)
          pieces[group + row * together + k] =
              b_.CreateShuffleVector(rows[row], sequence(group + k * n, n));
    store_pieces(offset);
  }
}

/// A loop over the active lanes, each with all its words.
void Lowering::store_by_lane(const Val& at, uint64_t bytes, const std::vector<Value*>& words,
                             uint64_t lane_bytes) {
  llvm::Type* t = words[0]->getType()->getScalarType();
  std::vector<AllocaInst*> rooms;
  for (uint32_t i = 0; i < words.size(); ++i) {
    AllocaInst*& room = word_rooms_[{t, i}];
    if (!room) room = entry_alloca(vec_type(t), "words", false);
    b_.CreateStore(words[i], room);
    rooms.push_back(room);
  }
  const LaneAddresses to = spill_addresses(at);
  // Where offsets are known, no two lanes' words are the same: any order will do.
  const bool ordered = !at.shaped();
  const uint32_t reversed = ordered ? std::min(store_group(lane_bytes), width()) - 1 : 0;
  Value* lanes = active();
  if (ordered) lanes = b_.CreateShuffleVector(lanes, store_order(lane_bytes));
  for_each_lane(lanes, [&](Value* turn) {
    Value* lane = b_.CreateXor(turn, reversed);
    Value* p = lane_pointer(to, lane);
    for (uint32_t i = 0; i < rooms.size(); ++i)
      b_.CreateAlignedStore(load_lane(rooms[i], t, lane),
                            b_.CreateConstGEP1_64(b_.getInt8Ty(), p, i * bytes), Align(bytes));
  });
}

/// The values of one of two ways of code; the first is the usual one, if `usually`.
std::vector<Value*> Lowering::one_of(Value* condition,
                                     const std::function<std::vector<Value*>()>& yes,
                                     const std::function<std::vector<Value*>()>& no, bool usually) {
  BasicBlock* first = BasicBlock::Create(llvm_, "usual", out_);
  BasicBlock* second = BasicBlock::Create(llvm_, "rare", out_);
  BasicBlock* after = BasicBlock::Create(llvm_, "either", out_);
  b_.CreateCondBr(condition, first, second,
                  usually ? MDBuilder(llvm_).createBranchWeights(1000000, 1) : nullptr);
  b_.SetInsertPoint(first);
  const std::vector<Value*> a = yes();
  first = b_.GetInsertBlock();
  b_.CreateBr(after);
  b_.SetInsertPoint(second);
  const std::vector<Value*> c = no();
  second = b_.GetInsertBlock();
  b_.CreateBr(after);
  b_.SetInsertPoint(after);
  std::vector<Value*> out;
  for (size_t i = 0; i < a.size(); ++i) {
    PHINode* phi = b_.CreatePHI(a[i]->getType(), 2);
    phi->addIncoming(a[i], first);
    phi->addIncoming(c[i], second);
    out.push_back(phi);
  }
  return out;
}

}  // namespace limen::simt
