// Random PTX for the differential test. See runner.h. Values only flow through registers, own
// memory slots and, behind barriers or in shuffles, neighbours': no data races, no undefined
// behaviour.
#include <fmt/format.h>

#include <random>

#include "runner.h"

namespace limen::test {

namespace {

constexpr int registers = 10, wides = 4, predicates = 4;

class Writer {
 public:
  Writer(uint64_t seed, bool barriers, bool warp_ops)
      : random_(seed), barriers_(barriers), warp_ops_(warp_ops) {}

  std::string program() {
    text_ =
        ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 pin, .param "
        ".u64 pout, .param .u32 pn)\n{\n";
    text_ += fmt::format(
        ".reg .b32 %r<{}>;\n.reg .b64 %d<{}>;\n.reg .pred %p<{}>;\n.reg .b32 %t<8>;\n.reg .b64 "
        "%a<8>;\n.reg .b32 %c<16>;\n.reg .pred %q<8>;\n",
        registers, wides, predicates);
    text_ += ".shared .align 4 .b8 sm[4096];\n";
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
    for (int i = 0; i < registers; ++i) line(fmt::format("mov.u32 %r{}, {}", i, start(i)));
    line("ld.global.u32 %r1, [%a3]");
    for (int i = 0; i < wides; ++i) line(fmt::format("cvt.u64.u32 %d{}, %r{}", i, i));
    for (int i = 0; i < predicates; ++i)
      line(fmt::format("setp.lt.u32 %p{}, %r1, {}", i, 1u << (30 + i % 2)));
    // Of a neighbour that exits early the others read this.
    if (barriers_) {
      own_shared_word();
      line("st.shared.u32 [%c4], %t4");
    }
    // A shuffle from a lane that has exited is undefined: no exits where lanes look at each other.
    if (pick(4) == 0 && !warp_ops_) early_exit();
    statements(3 + pick(5), 0, true);
    for (int i = 0; i < registers; ++i) line(fmt::format("st.global.u32 [%a4+{}], %r{}", 4 * i, i));
    for (int i = 0; i < 2; ++i) line(fmt::format("st.global.u64 [%a4+{}], %d{}", 40 + 8 * i, i));
    line("ret");
    text_ += "}\n";
    return text_;
  }

 private:
  uint32_t pick(uint32_t n) { return static_cast<uint32_t>(random_() % n); }
  void line(const std::string& s) { text_ += "  " + s + ";\n"; }
  void label(int l) { text_ += fmt::format("L{}:\n", l); }
  std::string start(int i) {
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
  std::string reg() { return fmt::format("%r{}", pick(registers)); }
  std::string wide() { return fmt::format("%d{}", pick(wides)); }
  std::string pred() { return fmt::format("%p{}", pick(predicates)); }
  std::string value() {
    switch (pick(4)) {
      case 0:
        return std::to_string(static_cast<int>(pick(64)) - 16);
      case 1:
        return pick(3) ? std::to_string(1 << pick(8))
                       : std::to_string(static_cast<int32_t>(random_()));
      default:
        return reg();
    }
  }
  std::string guard() {
    return pick(6) == 0 ? fmt::format("@{}{} ", pick(2) ? "!" : "", pred()) : "";
  }

  void early_exit() {
    line(fmt::format("setp.ge.u32 %q0, %t4, %r{}", 6));
    line("@%q0 ret");
  }

  void simple() {
    const char* two[] = {"add.s32", "sub.s32", "mul.lo.s32", "and.b32", "or.b32",  "xor.b32",
                         "min.s32", "max.u32", "min.u32",    "div.u32", "rem.s32", "div.s32"};
    const char* compares[] = {"eq.s32", "ne.s32", "lt.s32", "le.s32", "gt.s32",
                              "ge.s32", "lt.u32", "le.u32", "gt.u32", "ge.u32"};
    switch (pick(18)) {
      case 15:
      case 16:
        return real();
      case 0:
      case 1:
      case 2:
      case 3:
        return line(guard() + fmt::format("{} {}, {}, {}", two[pick(pick(3) ? 6 : 12)], reg(),
                                          reg(), value()));
      case 4:
        return line(guard() + fmt::format("mov.u32 {}, {}", reg(),
                                          pick(2) ? value() : fmt::format("%t{}", pick(5))));
      case 5:
        return line(guard() + fmt::format("{} {}, {}, {}",
                                          pick(2)   ? "shl.b32"
                                          : pick(2) ? "shr.u32"
                                                    : "shr.s32",
                                          reg(), reg(),
                                          pick(4) ? std::to_string(pick(34)) : reg()));
      case 6:
        return line(guard() +
                    fmt::format("setp.{} {}, {}, {}", compares[pick(10)], pred(), reg(), value()));
      case 7:
        return line(guard() +
                    fmt::format("selp.b32 {}, {}, {}, {}", reg(), value(), reg(), pred()));
      case 8:
        return line(guard() +
                    fmt::format("mad.lo.s32 {}, {}, {}, {}", reg(), reg(), value(), reg()));
      case 9:
        return line(guard() + fmt::format("mul.wide.{} {}, {}, {}", pick(2) ? "s32" : "u32", wide(),
                                          reg(), std::to_string(1 << pick(5))));
      case 10:
        return line(guard() +
                    fmt::format("cvt.{} {}, {}", pick(2) ? "s64.s32" : "u64.u32", wide(), reg()));
      case 11:
        return line(guard() + fmt::format("{} {}, {}, {}", pick(2) ? "add.s64" : "sub.s64", wide(),
                                          wide(), pick(2) ? wide() : std::to_string(pick(99))));
      case 12:
        return line(guard() + fmt::format("cvt.u32.u64 {}, {}", reg(), wide()));
      case 13:
        return load();
      case 14:
        return line(guard() + fmt::format("{} {}, {}, {}",
                                          pick(2)   ? "xor.pred"
                                          : pick(2) ? "and.pred"
                                                    : "or.pred",
                                          pred(), pred(), pred()));
      default:
        return store();
    }
  }

  /// f32 in the same registers: bits that were integers are often NaNs and subnormals.
  void real() {
    const char* two[] = {"add.f32", "sub.f32", "mul.f32", "min.f32", "max.f32", "div.rn.f32"};
    const char* one[] = {"neg.f32", "abs.f32", "sqrt.rn.f32", "cvt.rn.f32.s32", "cvt.rzi.s32.f32"};
    const char* compares[] = {"lt", "leu", "eq", "neu", "nan", "num"};
    switch (pick(6)) {
      case 0:
        return line(guard() + fmt::format("fma.rn.f32 {}, {}, {}, {}", reg(), reg(), reg(), reg()));
      case 1:
        return line(guard() + fmt::format("{} {}, {}", one[pick(5)], reg(), reg()));
      case 2:
        return line(guard() +
                    fmt::format("setp.{}.f32 {}, {}, {}", compares[pick(6)], pred(), reg(), reg()));
      case 3:
        return line(guard() + fmt::format("mov.f32 {}, {}", reg(), pick(4) ? reg() : "0f7FC12345"));
      default:
        return line(guard() + fmt::format("{} {}, {}, {}", two[pick(6)], reg(), reg(), reg()));
    }
  }

  /// in[] is 1024 words; the index comes from a register, often a shaped one.
  void load() {
    std::string r = reg();
    std::string g = guard();
    switch (pick(3)) {
      case 0: {  // any index, made legal
        line(fmt::format("and.b32 %c0, {}, 1023", r));
        line("mul.wide.u32 %a5, %c0, 4");
        break;
      }
      case 1:  // thread + constant: stays shaped
        line(fmt::format("add.s32 %c0, %t4, {}", pick(64)));
        line("mul.wide.s32 %a5, %c0, 4");
        break;
      default:  // 32-bit progression that may wrap below: unsigned, guarded widening, legal after
                // the mask
        line(fmt::format("add.s32 %c0, %t0, {}", static_cast<int>(pick(40)) - 40));
        line("max.s32 %c0, %c0, 0");
        line("mul.wide.u32 %a5, %c0, 4");
        break;
    }
    line("add.s64 %a5, %a0, %a5");
    line(g + fmt::format("ld.global.u32 {}, [%a5]", reg()));
  }

  void store() {
    line(guard() + fmt::format("st.global.u32 [%a4+{}], {}", 56 + 4 * pick(2), reg()));
  }

  void shuffle() {
    const char* modes[] = {"up", "down", "bfly", "idx"};
    const char* clamps[] = {"31", "0", "31", "31"};
    uint32_t m = pick(4);
    line(fmt::format("shfl.sync.{}.b32 {}|{}, {}, {}, {}, -1", modes[m], reg(), pred(), reg(),
                     pick(2) ? std::to_string(pick(32)) : reg(), m == 0 ? clamps[1] : clamps[0]));
    if (pick(2)) line(fmt::format("vote.sync.ballot.b32 {}, {}, -1", reg(), pred()));
    if (pick(4) == 0)
      line(fmt::format("vote.sync.{}.pred {}, {}, -1", pick(2) ? "any" : "all", pred(), pred()));
  }

  void own_shared_word() {
    line("mad.lo.u32 %c1, %t3, %t1, %t0");
    line("shl.b32 %c2, %c1, 2");
    line("mov.u32 %c3, sm");
    line("add.s32 %c4, %c3, %c2");
  }

  void barrier() {
    // Own word out, neighbour's in; two barriers keep the phases apart.
    own_shared_word();
    line(fmt::format("st.shared.u32 [%c4], {}", reg()));
    line("bar.sync 0");
    line(fmt::format("add.s32 %c5, %c1, {}", 1 + pick(40)));
    line("rem.u32 %c5, %c5, %t6");
    line("shl.b32 %c5, %c5, 2");
    line("add.s32 %c5, %c3, %c5");
    line(fmt::format("ld.shared.u32 {}, [%c5]", reg()));
    line("bar.sync 0");
  }

  void statements(uint32_t n, int depth, bool uniform) {
    for (uint32_t i = 0; i < n; ++i) statement(depth, uniform);
  }

  void statement(int depth, bool uniform) {
    uint32_t k = pick(14);
    if (depth >= 4) k = 13;
    if (k < 3) return branch(depth, uniform);
    if (k < 5) return loop(depth);
    if (k == 5 && uniform && barriers_) return barrier();
    if (k == 6 && uniform && warp_ops_) return shuffle();
    if (k == 7 && !breaks_.empty() && pick(2)) return leave();
    for (uint32_t i = 0, n = 1 + pick(5); i < n; ++i) simple();
  }

  void branch(int depth, bool) {
    const int other = next_++, end = next_++;
    line(fmt::format("@{}{} bra L{}", pick(2) ? "!" : "", pred(), other));
    statements(1 + pick(3), depth + 1, false);
    if (pick(2)) {
      line(fmt::format("bra{} L{}", "", end));
      label(other);
      statements(1 + pick(3), depth + 1, false);
    } else {
      label(other);
    }
    label(end);
  }

  /// Bounded by a counter of its own depth; sometimes uniform, sometimes by lane.
  void loop(int depth) {
    const int head = next_++, end = next_++, latch = next_++;
    const std::string c = fmt::format("%c{}", 8 + depth);
    const bool same = pick(2);
    line(same ? fmt::format("mov.u32 {}, {}", c, 1 + pick(5))
              : fmt::format("and.b32 {}, {}, 7", c, reg()));
    label(head);
    line(fmt::format("setp.le.s32 %q{}, {}, 0", 1 + depth, c));
    line(fmt::format("@%q{} bra L{}", 1 + depth, end));
    breaks_.push_back({head, end, latch, c});
    statements(1 + pick(3), depth + 1, false);
    breaks_.pop_back();
    label(latch);
    line(fmt::format("sub.s32 {}, {}, 1", c, c));
    line(fmt::format("bra L{}", head));
    label(end);
  }

  void leave() {
    const Loop& any = breaks_[pick(static_cast<uint32_t>(breaks_.size()))];
    switch (pick(7)) {
      case 0:
        return line(fmt::format("@{} bra L{}", pred(), breaks_.back().latch));
      case 1:
        if (barriers_ || warp_ops_) break;
        return line(fmt::format("@{} ret", pred()));
      case 2:
        return line(fmt::format("@{} bra L{}", pred(), any.latch));
      case 3:
      case 4: {  // a back edge of its own from inside an arm, of this loop or of an outer one
        const int skip = next_++;
        line(fmt::format("@{} bra L{}", pred(), skip));
        simple();
        line(fmt::format("sub.s32 {}, {}, 1", any.counter, any.counter));
        if (pick(2)) {
          line(fmt::format("@{} bra L{}", pred(), any.head));
          line(fmt::format("bra L{}", any.end));
        } else {
          line(fmt::format("bra L{}", any.head));
        }
        return label(skip);
      }
      default:
        break;
    }
    line(fmt::format("@{} bra L{}", pred(), any.end));
  }

  struct Loop {
    int head, end, latch;
    std::string counter;
  };

  std::mt19937_64 random_;
  bool barriers_, warp_ops_;
  std::string text_;
  int next_ = 0;
  std::vector<Loop> breaks_;
};

}  // namespace

std::string random_program(uint64_t seed, bool barriers, bool warp_ops) {
  return Writer(seed, barriers, warp_ops).program();
}

}  // namespace limen::test
