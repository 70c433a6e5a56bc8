// Random PTX for the differential test. See runner.h. Values flow through registers, own memory
// slots and local arrays, and, behind barriers, in shuffles or by atomics whose final result has no
// order, from neighbours: no data races, no undefined behaviour. The evaluator is strict and holds
// the programs to it.
#include "random_instructions.h"
#include "runner.h"

namespace limen::test {

namespace {

constexpr int local_bytes = 64, shared_sums = 2048;

class Writer : private RandomInstructions {
 public:
  Writer(uint64_t seed, bool barriers, bool warp_ops, bool exact_nan)
      : RandomInstructions(seed, exact_nan), barriers_(barriers), warp_ops_(warp_ops) {}

  std::string program() {
    text_ = ".version 8.2\n.target sm_90\n.address_size 64\n";
    text_ +=
        ".const .align 4 .u32 table[16] = {1, 2, 4, 8, 16, 0xffffffff, 0x80000000, 0, 7, 9, "
        "0x3f800000, 0x7f800000, 0xff800001, 3, 5, 1000};\n";
    text_ +=
        ".global .align 8 .u64 wide_table[4] = {1, 0xffffffffffffffff, 0x4000000000000000, "
        "99};\n";
    calls_ = pick(3) == 0;
    if (calls_) functions();
    budget_ = text_.size() + 2000 + pick(2500);
    text_ += ".visible .entry k(.param .u64 pin, .param .u64 pout, .param .u32 pn)\n{\n";
    declarations();
    text_ += ".reg .b32 %t<8>;\n.reg .b64 %a<8>;\n";
    text_ += ".shared .align 8 .b8 sm[4096];\n";
    has_local_ = pick(3) == 0;
    if (has_local_) text_ += fmt::format(".local .align 8 .b8 loc[{}];\n", local_bytes);
    addresses();
    for (uint32_t i = 0; i < registers; ++i) emit("mov.u32 %r{}, {}", i, start(i));
    line("ld.global.u32 %r1, [%a3]");
    for (uint32_t i = 0; i < wides; ++i) emit("cvt.u64.u32 %d{}, %r{}", i, i);
    for (uint32_t i = 0; i < predicates; ++i)
      emit("setp.lt.u32 %p{}, %r1, {}", i, 1u << (30 + i % 2));
    start_floats("%t4");
    // Of a neighbour that exits early the others read this.
    own_shared_word();
    line("st.shared.u32 [%c4], %t4");
    line("setp.lt.u32 %q6, %c1, 16");
    emit("@%q6 st.shared.u32 [%c4+{}], %t4", shared_sums);
    if (has_local_)
      for (int at = 0; at < local_bytes; at += 8)
        emit("st.local.u64 [loc+{}], %d{}", at, pick(wides));
    // A shuffle from a lane that has exited is undefined: no exits where lanes look at each other.
    if (pick(4) == 0 && !warp_ops_) early_exit();
    statements(3 + pick(5), 0, true);
    for (uint32_t i = 0; i < floats; ++i) {
      emit("mov.b32 %c0, %g{}", i);
      emit("xor.b32 %r{}, %r{}, %c0", i + 2, i + 2);
    }
    for (uint32_t i = 0; i < doubles; ++i) {
      emit("mov.b64 %f0, %k{}", i);
      emit("xor.b64 %d{}, %d{}, %f0", i, i);
    }
    for (uint32_t i = 0; i < registers; ++i) emit("st.global.u32 [%a4+{}], %r{}", 4 * i, i);
    for (uint32_t i = 0; i < 2; ++i) emit("st.global.u64 [%a4+{}], %d{}", 40 + 8 * i, i);
    line("ret");
    text_ += "}\n";
    return std::move(text_);
  }

 private:
  void declarations() {
    text_ += fmt::format(".reg .b32 %r<{}>;\n.reg .b64 %d<{}>;\n.reg .pred %p<{}>;\n", registers,
                         wides, predicates);
    text_ += ".reg .b32 %c<20>;\n.reg .pred %q<8>;\n.reg .b64 %f<4>;\n";
    text_ += scratch_registers();
  }

  void addresses() {
    line("ld.param.u64 %a0, [pin]");
    line("ld.param.u64 %a1, [pout]");
    line("ld.param.u32 %t7, [pn]");
    line("mov.u32 %t0, %tid.x");
    line("mov.u32 %t1, %ntid.x");
    line("mov.u32 %t2, %ctaid.x");
    line("mov.u32 %t3, %tid.y");
    line("mad.lo.u32 %t4, %t3, %t1, %t0");  // linear in a 2-D block
    line("mov.u32 %t5, %ntid.y");
    line("mul.lo.u32 %t6, %t1, %t5");
    line("mad.lo.u32 %t4, %t2, %t6, %t4");  // global thread
    line("mul.wide.u32 %a2, %t4, 4");
    line("add.s64 %a3, %a0, %a2");  // in[thread]
    line("mul.wide.u32 %a4, %t4, 64");
    line("add.s64 %a4, %a1, %a4");  // out[thread * 16]
    line("mul.wide.u32 %a6, %t7, 64");
    line("add.s64 %a6, %a1, %a6");  // the sums, behind the threads' words
  }

  std::string start(uint32_t i) {
    switch (i) {
      case 0:
        return "%t4";
      case 2:
        return "%t0";
      case 3:
        return "%ctaid.x";
      case 4:
        return "%t3";
      case 5:
        return "%laneid";
      default:
        return std::to_string(pick(1000));
    }
  }

  void early_exit() {
    emit("setp.ge.u32 %q0, %t4, %r{}", 6);
    line("@%q0 ret");
  }

  void simple() {
    const uint32_t k = pick(in_function_ ? 14 : 22);
    if (k < 14) return any_instruction();
    switch (k) {
      case 14:
      case 15:
        return load();
      case 16:
        return store();
      case 17:
        return pick(2) ? atomic() : constant();
      case 19:
        return vectors();
      case 20:
        return generic();
      case 18:
        return has_local_ ? local() : any_instruction();
      default:
        return calls_ ? call() : emit("{}mov.u32 {}, %t{}", guard(), reg(), pick(5));
    }
  }

  /// in[] is 4096 words; the index comes from a register, often a shaped one.
  void load() {
    const std::string r = reg(), g = guard();
    switch (pick(4)) {
      case 3:  // an index that was a float
        emit("cvt.rzi.u32.f32 %c0, {}", single_reg());
        line("and.b32 %c0, %c0, 1023");
        break;
      case 0:  // any index, made legal
        emit("and.b32 %c0, {}, 1023", r);
        break;
      case 1:  // thread + constant: stays shaped
        emit("add.s32 %c0, %t4, {}", pick(64));
        break;
      default:  // a progression that wraps below: unsigned, guarded widening, legal after the
                // maximum
        emit("add.s32 %c0, %t0, {}", static_cast<int>(pick(40)) - 40);
        line("max.s32 %c0, %c0, 0");
        break;
    }
    line("mul.wide.u32 %a5, %c0, 4");
    line("add.s64 %a5, %a0, %a5");
    switch (pick(8)) {
      case 0:
        return emit("{}ld.global.{} {}, [%a5+{}]", g, pick({"u8", "s8"}), reg(), pick(4));
      case 1:
        return emit("{}ld.global.{} {}, [%a5+{}]", g, pick({"u16", "s16"}), reg(), 2 * pick(2));
      case 2:
        line("and.b64 %a5, %a5, -8");
        return emit("{}ld.global{}.v2.u32 {{{}, {}}}, [%a5]", g, pick({"", ".nc"}), "%r6", "%r7");
      case 3:
        line("and.b64 %a5, %a5, -16");
        return emit("{}ld.global.v4.u32 {{%r6, %r1, %r9, %r8}}, [%a5]", g);
      case 4:
        line("and.b64 %a5, %a5, -8");
        return emit("{}ld.{}u64 {}, [%a5]", g, pick({"global.", ""}), wide());
      default:
        return emit("{}ld.global{}.u32 {}, [%a5]", g, pick({"", "", ".nc"}), reg());
    }
  }

  /// Several values at once, of any type, from in[] or from and to the thread's own words. The
  /// first 48 bytes of these are written for good at the end.
  void vectors() {
    const std::string g = guard();
    line("mov.b64 %f0, %a4");
    if (pick(2)) {
      if (pick(2))
        emit("and.b32 %c0, {}, 255", reg());
      else
        emit("add.s32 %c0, %t0, {}", pick(64));
      line("mul.wide.u32 %f0, %c0, 16");
      line("add.s64 %f0, %a0, %f0");
    }
    switch (pick(11)) {
      case 0:
        return emit("{}ld.global.v2.f32 {{%g0, %g3}}, [%f0+{}]", g, 8 * pick(2));
      case 1:
        return emit("{}ld.global.v4.f32 {{%g1, %g0, %g3, %g2}}, [%f0]", g);
      case 2:
        return emit("{}ld.global.v2.u64 {{%d2, %d0}}, [%f0]", g);
      case 3:
        return emit("{}ld.global.v2.f64 {{%k1, %k0}}, [%f0]", g);
      case 4:
        return emit("{}ld.global.v4.u8 {{%r3, %r0, %r2, %r9}}, [%f0+{}]", g, 4 * pick(4));
      case 5:
        return emit("{}ld.global.v2.s16 {{%r4, %r5}}, [%f0+{}]", g, 4 * pick(4));
      case 6:
        return emit("{}ld.v4.b32 {{%r2, %g1, %r5, %g2}}, [%f0]", g);
      case 7:
        return emit("{}st.global.v4.u32 [%a4+{}], {{{}, {}, {}, {}}}", g, 16 * pick(3), reg(),
                    reg(), reg(), reg());
      case 8:
        return emit("{}st.global.v4.f32 [%a4+{}], {{{}, {}, {}, {}}}", g, 16 * pick(3),
                    single_reg(), single_reg(), single_reg(), single_reg());
      case 9:
        return emit("{}st.global.v2.f64 [%a4+{}], {{%k0, %k1}}", g, 16 * pick(3));
      default:
        return emit("{}st.global.v2.b32 [%a4+{}], {{{}, {}}}", g, 8 * pick(6), single_reg(), reg());
    }
  }

  /// Through an address of one of two spaces: the thread's own word in shared memory, in the output
  /// or in its local array.
  void generic() {
    const std::string g = guard();
    own_shared_word();
    line("cvt.u64.u32 %f0, %c4");
    line("cvta.shared.u64 %f0, %f0");
    line("add.s64 %f1, %a4, 56");
    if (has_local_ && pick(2)) {
      const uint32_t instead = pick(2);
      emit("mov.u64 %f{}, loc", instead);
      emit("cvta.local.u64 %f{}, %f{}", instead, instead);
    }
    emit("selp.b64 %f0, %f0, %f1, {}", pred());
    switch (pick(6)) {
      case 0:
        return emit("{}ld.u32 {}, [%f0]", g, reg());
      case 1:
        return emit("{}ld.f32 {}, [%f0]", g, single_reg());
      case 2:
        return emit("{}st.f32 [%f0], {}", g, single_reg());
      case 3:
        return emit("{}ld.{} {}, [%f0+{}]", g, pick({"u8", "s8"}), reg(), pick(4));
      default:
        return emit("{}st.u32 [%f0], {}", g, reg());
    }
  }

  void store() {
    const std::string g = guard();
    switch (pick(6)) {
      // Cut first: ptxas 13.0 stores part of a register that holds a float as a rounded integer.
      case 0:
        emit("and.b32 %c0, {}, 255", reg());
        return emit("{}st.global.u8 [%a4+{}], %c0", g, 56 + pick(8));
      case 1:
        emit("and.b32 %c0, {}, 65535", reg());
        return emit("{}st.global.u16 [%a4+{}], %c0", g, 56 + 2 * pick(4));
      case 2:
        return emit("{}st.global.v2.u32 [%a4+56], {{{}, {}}}", g, reg(), reg());
      case 3:
        return emit("{}st.u64 [%a4+56], {}", g, wide());
      default:
        return emit("{}st.global.u32 [%a4+{}], {}", g, 56 + 4 * pick(2), reg());
    }
  }

  void constant() {
    const std::string g = guard();
    if (pick(2)) {
      emit("and.b32 %c0, {}, 15", reg());
      line("mul.wide.u32 %a5, %c0, 4");
      line("mov.u64 %f0, table");
      line("add.s64 %a5, %f0, %a5");
      return emit("{}ld.const.u32 {}, [%a5]", g, reg());
    }
    return emit("{}ld.global.u64 {}, [wide_table+{}]", g, wide(), 8 * pick(4));
  }

  /// Own words give their old value; of words that all share only the final value has no order, and
  /// it has none only if each word sees one operation.
  void atomic() {
    const std::string g = guard();
    switch (pick(6)) {
      case 0:
        return emit("{}atom.global.{} {}, [%a4+{}], {}", g,
                    pick({"add.u32", "exch.b32", "max.s32", "min.u32", "and.b32", "or.b32",
                          "xor.b32", "inc.u32", "dec.u32"}),
                    reg(), 56 + 4 * pick(2), reg());
      case 1:
        return emit("{}atom.global.cas.b32 {}, [%a4+56], {}, {}", g, reg(), reg(), reg());
      case 2:
        return emit("{}atom.{} {}, [%a4+56], {}", g,
                    pick({"add.u64", "exch.b64", "max.u64", "min.s64", "xor.b64"}), wide(), wide());
      default:
        return shared_word(g, "global", "%a6");
    }
  }

  /// One of 8 words (two of them of 64 bits) behind `base`, each with an operation of its own.
  void shared_word(const std::string& g, const char* space, const char* base) {
    const struct {
      const char* op;
      int at;
      bool wide;
    } words[] = {{"add.u32", 0, false},  {"max.u32", 4, false},  {"min.s32", 8, false},
                 {"or.b32", 12, false},  {"xor.b32", 16, false}, {"max.s32", 20, false},
                 {"add.u64", 24, true},  {"or.b64", 32, true},   {"and.b32", 40, false},
                 {"min.u32", 44, false}, {"max.s64", 48, true},  {"xor.b64", 56, true}};
    const auto& w = words[pick(12)];
    const std::string v = w.wide ? wide() : reg();
    if (pick(2)) return emit("{}red.{}.{} [{}+{}], {}", g, space, w.op, base, w.at, v);
    emit("{}atom.{}.{} {}, [{}+{}], {}", g, space, w.op, w.wide ? "%f3" : "%c19", base, w.at, v);
  }

  void local() {
    const std::string g = guard();
    const uint32_t bytes = 1u << pick(4);
    emit("and.b32 %c0, {}, {}", pick(4) ? reg() : pick({"%t0", "%t4"}),
         (local_bytes - 1) & ~(bytes - 1));
    const bool generic = pick(4) == 0;
    line("mov.u64 %f0, loc");
    if (generic) line("cvta.local.u64 %f0, %f0");
    line("cvt.u64.u32 %f1, %c0");
    line("add.s64 %f0, %f0, %f1");
    const char* space = generic ? "" : ".local";
    const std::string type = bytes == 8 ? "b64" : pick({"u", "s"}) + std::to_string(8 * bytes);
    const std::string v = bytes == 8 ? wide() : reg();
    if (pick(2)) return emit("{}ld{}.{} {}, [%f0]", g, space, type, v);
    if (bytes < 4) {
      emit("and.b32 %c0, {}, {}", v, (1u << 8 * bytes) - 1);
      return emit("{}st{}.{} [%f0], %c0", g, space, type);
    }
    emit("{}st{}.{} [%f0], {}", g, space, type, v);
  }

  void shuffle() {
    switch (pick(7)) {
      case 0:
        return emit("vote.sync.ballot.b32 {}, {}{}, -1", reg(), negation(), pred());
      case 1:
        return emit("vote.sync.{}.pred {}, {}, -1", pick({"any", "all", "uni"}), pred(), pred());
      case 2:
        return emit("redux.sync.{} {}, {}, -1",
                    pick({"add.s32", "min.s32", "max.u32", "and.b32", "or.b32", "xor.b32",
                          "min.u32", "max.s32", "add.u32"}),
                    reg(), reg());
      case 3:
        if (pick(2)) return emit("match.any.sync.b32 {}, {}, -1", reg(), reg());
        return emit("match.{}.b64 {}, {}, -1", pick({"any.sync", "all.sync"}), reg(), wide());
      case 4:
        emit("and.b32 %c0, {}, 1", reg());
        return emit("match.all.sync.b32 {}|{}, %c0, -1", reg(), pred());
      default:
        break;
    }
    const uint32_t mode = pick(4);
    const char* modes[] = {"up", "down", "bfly", "idx"};
    const uint32_t segment = pick(3) ? 0 : (32 - (1u << pick(5))) << 8;
    emit("shfl.sync.{}.b32 {}|{}, {}, {}, {}, -1", modes[mode], reg(), pred(), reg(),
         pick(2) ? std::to_string(pick(32)) : reg(), segment + (mode == 0 ? 0 : 31));
    if (pick(2)) emit("vote.sync.ballot.b32 {}, {}, -1", reg(), pred());
  }

  void own_shared_word() {
    line("mad.lo.u32 %c1, %t3, %t1, %t0");
    line("shl.b32 %c2, %c1, 2");
    line("mov.u32 %c3, sm");
    line("add.s32 %c4, %c3, %c2");
  }

  void barrier() {
    switch (pick(5)) {
      case 0:
        return reduction();
      case 1:
        return block_sums();
      default:
        break;
    }
    // Own word out, neighbour's in; two barriers keep the phases apart.
    own_shared_word();
    emit("st.shared.u32 [%c4], {}", reg());
    line(pick({"bar.sync 0", "barrier.sync 0", "bar.sync 1"}));
    emit("add.s32 %c5, %c1, {}", 1 + pick(40));
    line("rem.u32 %c5, %c5, %t6");
    line("shl.b32 %c5, %c5, 2");
    line("add.s32 %c5, %c3, %c5");
    if (pick(3))
      emit("ld.shared.u32 {}, [%c5]", reg());
    else
      emit("ld.shared.{} {}, [%c5+{}]", pick({"u8", "s8"}), reg(), pick(4));
    line("bar.sync 0");
  }

  void reduction() {
    if (pick(2)) return emit("bar.red.popc.u32 {}, 0, {}{}", reg(), negation(), pred());
    emit("bar.red.{}.pred {}, 0, {}{}", pick({"and", "or"}), pred(), negation(), pred());
  }

  /// Words that all threads of the block add to, between barriers.
  void block_sums() {
    line("bar.sync 0");
    own_shared_word();
    line("setp.lt.u32 %q6, %c1, 16");
    emit("@%q6 st.shared.u32 [%c4+{}], {}", shared_sums, static_cast<int>(pick(3)) - 1);
    line("bar.sync 0");
    line("mov.u32 %c5, sm");
    emit("add.s32 %c5, %c5, {}", shared_sums);
    for (uint32_t n = 0, all = 1 + pick(3); n < all; ++n) shared_word(guard(), "shared", "%c5");
    if (pick(2)) {
      // As often as each lane likes.
      const int head = next_++, end = next_++;
      emit("and.b32 %c6, {}, 3", reg());
      label(head);
      line("setp.le.s32 %q6, %c6, 0");
      emit("@%q6 bra L{}", end);
      shared_word(guard(), "shared", "%c5");
      if (pick(2)) any_instruction();
      if (pick(3) == 0) emit("@{} bra L{}", pred(), end);
      line("sub.s32 %c6, %c6, 1");
      emit("bra L{}", head);
      label(end);
    }
    line("bar.sync 0");
    emit("ld.shared.u32 {}, [%c5+{}]", reg(), 4 * pick(16));
    emit("ld.shared.u64 {}, [%c5+{}]", wide(), 8 * pick(8));
    line("bar.sync 0");
  }

  void statements(uint32_t n, int depth, bool uniform) {
    for (uint32_t i = 0; i < n; ++i) statement(depth, uniform);
  }

  void statement(int depth, bool uniform) {
    uint32_t k = pick(15);
    const bool full = text_.size() > budget_;
    if (depth >= 4 || full) k = 13;
    if (k < 3) return branch(depth);
    if (k < 5) return loop(depth);
    if (k == 5 && uniform && barriers_) return barrier();
    if (k == 6 && uniform && warp_ops_) return shuffle();
    if (k == 7 && !breaks_.empty() && pick(2)) return leave();
    if (k == 8) return indexed_branch(depth);
    if (k == 9 && uniform && depth < 2 && (barriers_ || warp_ops_))
      return pick(2) ? uniform_loop(depth) : uniform_branch(depth);
    for (uint32_t i = 0, n = full ? 1 : 1 + pick(4); i < n; ++i) simple();
  }

  void branch(int depth) {
    const int other = next_++, end = next_++;
    emit("@{}{} bra L{}", pick(2) ? "!" : "", pred(), other);
    statements(1 + pick(3), depth + 1, false);
    if (pick(2)) {
      emit("bra L{}", end);
      label(other);
      statements(1 + pick(3), depth + 1, false);
    } else {
      label(other);
    }
    label(end);
  }

  void indexed_branch(int depth) {
    const int end = next_++, list = next_++;
    const uint32_t count = 2 + pick(2) * 2;
    std::vector<int> arms;
    std::string names;
    for (uint32_t n = 0; n < count; ++n) {
      arms.push_back(next_++);
      // The second arm may be entered by two indices.
      names += fmt::format("{}L{}", n ? ", " : "", n == 3 && pick(2) ? arms[1] : arms[n]);
    }
    text_ += fmt::format("T{}: .branchtargets {};\n", list, names);
    emit("and.b32 %c0, {}, {}", reg(), count - 1);
    emit("brx.idx %c0, T{}", list);
    for (uint32_t n = 0; n < count; ++n) {
      label(arms[n]);
      statements(1 + pick(2), depth + 1, false);
      if (n + 1 < count && pick(4)) emit("bra L{}", end);
    }
    label(end);
  }

  /// Bounded by a counter of its own depth; sometimes uniform, sometimes by lane.
  void loop(int depth) {
    const int head = next_++, end = next_++, latch = next_++;
    const std::string c = fmt::format("%c{}", 8 + depth);
    if (pick(2))
      emit("mov.u32 {}, {}", c, 1 + pick(5));
    else
      emit("and.b32 {}, {}, 7", c, reg());
    label(head);
    emit("setp.le.s32 %q{}, {}, 0", 1 + depth, c);
    emit("@%q{} bra L{}", 1 + depth, end);
    breaks_.push_back({head, end, latch, c});
    statements(1 + pick(3), depth + 1, false);
    breaks_.pop_back();
    label(latch);
    emit("sub.s32 {}, {}, 1", c, c);
    emit("bra L{}", head);
    label(end);
  }

  /// The block's own number of turns, unknown when it is compiled; barriers inside are met by all.
  void uniform_loop(int depth) {
    const int head = next_++, end = next_++;
    const std::string c = fmt::format("%c{}", 12 + depth);
    emit("add.u32 {}, %t2, {}", c, pick(2));
    if (pick(2)) emit("mad.lo.u32 {}, %t2, 5, 1", c);
    emit("and.b32 {}, {}, 3", c, c);
    label(head);
    emit("setp.eq.u32 %q7, {}, 0", c);
    emit("@%q7 bra L{}", end);
    statements(1 + pick(3), depth + 1, true);
    emit("sub.u32 {}, {}, 1", c, c);
    emit("bra L{}", head);
    label(end);
  }

  void uniform_branch(int depth) {
    const int other = next_++, end = next_++;
    emit("setp.{}.u32 %q7, %t2, {}", pick({"eq", "gt", "ne"}), pick(3));
    emit("@%q7 bra L{}", other);
    statements(1 + pick(2), depth + 1, true);
    emit("bra L{}", end);
    label(other);
    statements(1 + pick(2), depth + 1, true);
    label(end);
  }

  void leave() {
    const Loop& any = breaks_[pick(static_cast<uint32_t>(breaks_.size()))];
    switch (pick(7)) {
      case 0:
        return emit("@{} bra L{}", pred(), breaks_.back().latch);
      case 1:
        if (barriers_ || warp_ops_ || in_function_) break;
        return emit("@{} ret", pred());
      case 2:
        return emit("@{} bra L{}", pred(), any.latch);
      case 3:
      case 4: {  // a back edge of its own from inside an arm, of this loop or of an outer one
        const int skip = next_++;
        emit("@{} bra L{}", pred(), skip);
        simple();
        emit("sub.s32 {}, {}, 1", any.counter, any.counter);
        if (pick(2)) {
          emit("@{} bra L{}", pred(), any.head);
          emit("bra L{}", any.end);
        } else {
          emit("bra L{}", any.head);
        }
        return label(skip);
      }
      default:
        break;
    }
    emit("@{} bra L{}", pred(), any.end);
  }

  /// Two device functions, the second calls the first; both of (u32, u64) to u32.
  void functions() {
    in_function_ = true;
    for (int n = 0; n < 2; ++n) {
      text_ += fmt::format(
          ".func (.param .b32 result) f{}(.param .b32 first, .param .b64 second)\n{{\n", n);
      declarations();
      line("ld.param.u32 %r0, [first]");
      line("ld.param.u64 %d0, [second]");
      for (uint32_t i = 1; i < registers; ++i)
        emit("{} %r{}, %r0, {}", i % 2 ? "add.s32" : "xor.b32", i, pick(1000));
      for (uint32_t i = 1; i < wides; ++i) emit("add.s64 %d{}, %d0, {}", i, pick(1000));
      for (uint32_t i = 0; i < predicates; ++i)
        emit("setp.lt.u32 %p{}, %r{}, {}", i, i, 1u << (4 + 8 * i % 28));
      start_floats("%r0");
      statements(1 + pick(2), 2, false);
      if (n) call_one(0);
      emit("st.param.b32 [result], {}", reg());
      line("ret");
      text_ += "}\n";
    }
    in_function_ = false;
  }

  void call() { call_one(static_cast<int>(pick(2))); }

  void call_one(int f) {
    const std::string d = reg();
    text_ += "{\n.param .b32 p0;\n.param .b64 p1;\n.param .b32 q0;\n";
    emit("st.param.b32 [p0], {}", reg());
    emit("st.param.b64 [p1], {}", wide());
    if (!in_function_ && pick(3) == 0) {
      const int list = next_++;
      line("mov.u64 %f0, f0");
      line("mov.u64 %f1, f1");
      emit("selp.b64 %f0, %f0, %f1, {}", pred());
      text_ += fmt::format(
          "P{}: .callprototype (.param .b32 _) _ (.param .b32 _, .param .b64 _);\n", list);
      emit("call (q0), %f0, (p0, p1), P{}", list);
    } else {
      emit("call (q0), f{}, (p0, p1)", f);
    }
    emit("ld.param.b32 {}, [q0]", d);
    text_ += "}\n";
  }

  struct Loop {
    int head, end, latch;
    std::string counter;
  };

  bool barriers_, warp_ops_;
  bool calls_ = false, has_local_ = false, in_function_ = false;
  int next_ = 0;
  /// Characters of text after which no more structure is begun: compile time is what tests cost.
  size_t budget_ = 1500;
  std::vector<Loop> breaks_;
};

}  // namespace

std::string random_program(uint64_t seed, bool barriers, bool warp_ops, bool exact_nan) {
  return Writer(seed, barriers, warp_ops, exact_nan).program();
}

}  // namespace limen::test
