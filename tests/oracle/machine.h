// The evaluator's machine: blocks, warps and threads with their frames, and how an instruction
// reads and writes operands. Instructions are grouped by file: integer.cpp, video.cpp, real.cpp,
// convert.cpp, memory.cpp, warp.cpp, control.cpp. A group returns false for what it does not know.
// An error ends the run: fail() keeps the first one, and every loop looks at failed().
#pragma once
#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

#include "number.h"
#include "oracle.h"

namespace limen::oracle {

using ptx::Function;
using ptx::Index;
using ptx::Instruction;
using ptx::no_index;
using ptx::Op;
using ptx::Operand;
using ptx::Space;
using ptx::Tok;
using ptx::Type;

/// Aligned bytes that know which of them were written.
class Memory {
 public:
  void reserve(uint32_t bytes) {
    lines_.reset(new Line[(bytes + 63) / 64]);
    known_.assign(bytes, 0);
  }
  void forget(uint32_t first, uint32_t bytes) {
    std::memset(get() + first, 0xa5, bytes);
    std::memset(known_.data() + first, 0, bytes);
  }
  uint8_t* get() const { return lines_ ? lines_[0].bytes : nullptr; }
  explicit operator bool() const { return lines_ != nullptr; }
  bool holds(const uint8_t* p) const { return lines_ && p >= get() && p < get() + known_.size(); }
  void write(const uint8_t* p, size_t bytes) { std::memset(&known_[index(p)], 1, bytes); }
  bool is_known(const uint8_t* p, size_t bytes) const {
    return !std::memchr(&known_[index(p)], 0, bytes);
  }

 private:
  struct alignas(64) Line {
    uint8_t bytes[64];
  };
  size_t index(const uint8_t* p) const { return static_cast<size_t>(p - get()); }
  std::unique_ptr<Line[]> lines_;
  std::vector<uint8_t> known_;
};

/// Where a function's registers and variables lie in a frame.
struct Layout {
  bool ready = false;
  std::vector<uint32_t> registers;  ///< first slot of each register
  uint32_t slots = 0;
  std::vector<uint32_t> locals;  ///< offset of each variable in its space
  uint32_t local_bytes = 0;
  uint32_t argument_bytes = 0;   ///< .param variables declared in the body
  std::vector<uint32_t> params;  ///< parameters, then return parameters
  uint32_t param_bytes = 0;
};

struct Frame {
  Index function = no_index;
  const Function* code = nullptr;
  const Layout* layout = nullptr;
  uint32_t block = 0, at = 0;
  uint32_t local_base = 0;
  const Instruction* call = nullptr;  ///< in the caller
  std::vector<Wide> registers;
  std::vector<uint8_t> written;
  Memory params, arguments;
};

struct Block;

struct Thread {
  enum class State : uint8_t { running, meeting, gathering, barrier, cluster, exited };
  State state = State::running;
  uint32_t linear = 0, warp = 0, lane = 0;
  uint32_t tid[3] = {};
  uint32_t rounds = 0;                      ///< gathering: how long already
  bool carry = false, carry_known = false;  ///< CC.CF
  bool predicate = false;                   ///< handed in at a barrier
  bool yielded = false;
  const Instruction* waits = nullptr;
  uint32_t member = 0;            ///< mask of a meeting
  uint64_t value = 0, extra = 0;  ///< handed in
  uint32_t barrier = 0;
  uint64_t cluster_phase = 0;
  uint32_t local_top = 0;
  Memory local;
  std::vector<Frame> frames;
  Block* block = nullptr;
};

struct Barrier {
  uint32_t threads = 0;  ///< 0: all of the block
  bool counted = false;
  std::vector<uint32_t> arrived;  ///< lanes of each warp
  uint32_t with_predicate = 0, participants = 0;
};

struct Block {
  uint32_t ctaid[3] = {};
  std::vector<Thread> threads;
  std::vector<uint32_t> exited;  ///< lanes of each warp, those that never were included
  uint32_t alive = 0;
  Memory shared;
  Barrier barriers[16];
  uint32_t cluster_arrived = 0;
  uint64_t cluster_phase = 0;
};

class Machine {
 public:
  Machine(ptx::Module& module, const Launch& launch) : module_(module), launch_(launch) {}
  Outcome run();

 private:
  // machine.cpp: set-up and turns
  bool prepare();
  bool prepare_variables();
  bool prepare_function(Index index);
  std::unique_ptr<Block> make_block(uint64_t number);
  bool turn(Block& block);
  void step(Thread& t);
  void execute(Thread& t, const Instruction& i);
  void push_frame(Thread& t, Index function, const Instruction* call);
  bool stuck(const std::vector<std::unique_ptr<Block>>& blocks);

  // operands.cpp
  bool fail(const Thread& t, const Instruction& i, std::string_view why);
  bool failed() const { return !error_.empty(); }
  Wide read(Thread& t, const Instruction& i, const Operand& o, Type type);
  uint64_t read64(Thread& t, const Instruction& i, const Operand& o, Type type) {
    return static_cast<uint64_t>(read(t, i, o, type));
  }
  bool read_predicate(Thread& t, const Instruction& i, const Operand& o) {
    return read64(t, i, o, Type::pred) & 1;
  }
  /// Registers keep as many bits as they have.
  void write(Thread& t, const Operand& o, Wide bits);
  /// Sign- or zero-extended to the register, as conversions and loads do.
  void write_extended(Thread& t, const Operand& o, Type type, Wide bits);
  uint64_t special(Thread& t, const Instruction& i, const Operand& o);
  uint64_t symbol_address(Thread& t, const Instruction& i, const Operand& o);
  Space symbol_space(const Thread& t, const Operand& o) const;
  Wide read_register(Thread& t, const Instruction& i, Index index, uint32_t component);
  uint32_t register_bits(const Thread& t, const Operand& o) const;

  // instruction groups
  bool integer(Thread& t, const Instruction& i);
  bool integer_logic(Thread& t, const Instruction& i);
  bool integer_bits(Thread& t, const Instruction& i);
  void integer_multiply(Thread& t, const Instruction& i);
  void integer_carry(Thread& t, const Instruction& i);
  void integer_halves(Thread& t, const Instruction& i);
  void compare_and_set(Thread& t, const Instruction& i);
  bool compare_once(const Instruction& i, Type type, uint64_t a, uint64_t b) const;
  void byte_permute(Thread& t, const Instruction& i);
  void dot_product(Thread& t, const Instruction& i);
  bool video(Thread& t, const Instruction& i);
  void video_scalar(Thread& t, const Instruction& i);
  void video_simd(Thread& t, const Instruction& i, unsigned parts);
  bool real(Thread& t, const Instruction& i);
  bool real_arithmetic(Thread& t, const Instruction& i);
  bool real_other(Thread& t, const Instruction& i);
  uint64_t real_element(const Instruction& i, const Format& f, uint64_t a, uint64_t b, uint64_t c);
  uint64_t real_extreme(const Instruction& i, const Format& f, uint64_t a, uint64_t b) const;
  uint64_t real_approximate(const Instruction& i, const Format& f, uint64_t a, uint64_t b) const;
  bool convert(Thread& t, const Instruction& i);
  bool convert_number(Thread& t, const Instruction& i);
  bool convert_packed(Thread& t, const Instruction& i);
  bool convert_ue8m0(Thread& t, const Instruction& i);
  uint64_t convert_float(const Instruction& i, const Format& from, const Format& to,
                         uint64_t bits) const;
  void move(Thread& t, const Instruction& i);
  bool convert_address(Thread& t, const Instruction& i);
  bool memory(Thread& t, const Instruction& i);
  void load(Thread& t, const Instruction& i);
  void store(Thread& t, const Instruction& i);
  bool atomic(Thread& t, const Instruction& i);
  bool atomic_result(const Instruction& i, Type type, Space space, Wide old, Wide b, Wide c,
                     Wide& out) const;
  void copy_asynchronous(Thread& t, const Instruction& i);
  uint8_t* locate(Thread& t, const Instruction& i, const Operand& address, Space space,
                  uint64_t bytes);
  void note_write(Thread& t, const uint8_t* p, size_t bytes);
  bool note_read(Thread& t, const Instruction& i, const uint8_t* p, size_t bytes);
  uint8_t* locate_host(Thread& t, uint64_t address, uint64_t bytes);
  bool warp(Thread& t, const Instruction& i);
  void meet(Block& block, uint32_t warp);
  void complete_meeting(Block& block, const Thread& first, uint32_t lanes);
  void gather(Block& block);
  void give_result(Thread& t, const Instruction& i, Block& block, uint32_t lanes);
  void give_shuffle(Thread& t, const Instruction& i, Block& block, uint32_t lanes);
  void give_vote(Thread& t, const Instruction& i, Block& block, uint32_t lanes);
  void give_match(Thread& t, const Instruction& i, Block& block, uint32_t lanes);
  void give_redux(Thread& t, const Instruction& i, Block& block, uint32_t lanes);
  bool synchronise(Thread& t, const Instruction& i);
  void arrive_at_barrier(Thread& t, const Instruction& i);
  void check_barrier(Block& block, uint32_t id);
  void check_cluster(Block& block);
  bool control(Thread& t, const Instruction& i);
  void call(Thread& t, const Instruction& i);
  void give_back(Thread& t);
  void leave(Thread& t);
  void go_to(Thread& t, Index label);

  Thread& lane_of(Block& block, uint32_t warp, uint32_t lane) {
    return block.threads[warp * 32 + lane];
  }

  ptx::Module& module_;
  const Launch& launch_;
  std::string error_;
  uint64_t steps_ = 0;
  uint32_t threads_ = 0, warps_ = 0;
  std::vector<Layout> layouts_;
  std::vector<std::vector<uint8_t>> variables_;  ///< module variables with storage of their own
  std::vector<uint64_t> addresses_;              ///< by variable: host address or shared offset
  std::vector<std::vector<uint32_t>> shared_locals_;  ///< by function and variable
  uint32_t shared_bytes_ = 0;
};

/// Bits of a type, sign-extended where the type is signed.
__int128 extend(Type type, Wide bits);
inline uint32_t bits_of(Type type) { return static_cast<uint32_t>(ptx::size_of(type)) * 8; }
inline Wide mask_of(uint32_t bits) { return bits >= 128 ? ~Wide{0} : (Wide{1} << bits) - 1; }
Rounding rounding_of(const Instruction& i, Rounding otherwise);
uint64_t function_address(Index function);
inline constexpr uint64_t first_function_address = 0x1000, function_stride = 16;
inline constexpr uint32_t local_capacity = 256 * 1024;

}  // namespace limen::oracle
