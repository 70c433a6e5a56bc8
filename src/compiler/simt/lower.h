// PTX instructions to LLVM IR, a warp as a vector of lanes. One Lowering makes one LLVM function
// from one Plan. lower.cpp holds the skeleton and control flow, value.cpp operands and registers,
// and lower_<family>.cpp the instructions. Invariant: a node's code runs only with a lane active.
#pragma once
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "compiler/simt/plan.h"

namespace limen::kernel {
struct DeviceFunction;
}

namespace limen::simt {

/// The machine the code is for.
struct Target {
  bool avx512 = false;
  bool avx2 = false;
  bool fma = false;
  std::string cpu, features;
  bool has(const char* feature) const {
    return features.find(std::string("+") + feature) != std::string::npos;
  }
};

/// State shared by the functions of one compiled kernel.
struct Unit {
  llvm::Module& module;
  ptx::Module& ptx;
  const Target& target;
  LaunchShape launch;  ///< frame_bytes is set by function
  kernel::Strategy strategy;
  bool flush_by_mxcsr = false;                      ///< FTZ/DAZ are on: .ftz needs no code
  std::map<ptx::Index, llvm::Function*> functions;  ///< device functions, declared on first use
  std::vector<ptx::Index> pending;                  ///< declared, body not made yet
  std::string error;                                ///< first failure; empty = none
  Code error_code = Code::not_supported;
  bool exact_nan = false;  ///< of several different f64 NaNs the one that the device passes on
};

/// One value over the lanes: scalar base + offsets, or a vector.
struct Val {
  llvm::Value* base = nullptr;
  Offsets offsets;
  llvm::Value* correction = nullptr;  ///< <W x i64> added to base + offsets when a widening wrapped
  llvm::Value* exact = nullptr;       ///< i1: correction is zero in every lane
  llvm::Value* vec = nullptr;
  uint8_t zeros = 0;      ///< addresses of instructions: known trailing zero bits of the base
  bool computed = false;  ///< addresses: no value out of memory is in it, so lanes may lie in a row
  /// Addresses, where known: index_base + index * index_scale, of <W x i32> and as they are
  /// extended.
  llvm::Value* index = nullptr;
  llvm::Value* index_base = nullptr;
  uint8_t index_scale = 1;
  bool index_signed = false;
  bool uniform() const { return base && offsets.empty() && !correction; }
  bool shaped() const { return base != nullptr; }
  static Val scalar(llvm::Value* v) {
    Val r;
    r.base = v;
    return r;
  }
  static Val vector(llvm::Value* v) {
    Val r;
    r.vec = v;
    return r;
  }
};

struct FrameLayout {
  std::vector<uint64_t> offset;  ///< by Function::locals index; .local and .shared variables
  uint64_t local_bytes = 0;      ///< per lane
};

/// Places .local variables; `shared_base` is advanced over the function's .shared variables.
FrameLayout lay_out(const ptx::Module& module, const ptx::Function& function,
                    uint64_t& shared_bytes);

class Lowering {
 public:
  Lowering(Unit& unit, const Plan& plan, ptx::Index function_index,
           const std::vector<uint64_t>& shared_offsets, const FrameLayout& frame);

  /// Region strategy: limen_kernel and its regions. Other strategies: one function for the whole
  /// body.
  void make_kernel();
  /// A device function's body (declared before by declare_function).
  void make_function();
  uint32_t slot_bytes() const { return slot_bytes_; }

  static llvm::Function* declare_function(Unit& unit, ptx::Index index);

 private:
  using Inst = ptx::Instruction;
  using Value = llvm::Value;

  // -- skeleton and control flow (lower.cpp)
  void make_kernel_region();
  void make_kernel_fiber();
  void begin_function(llvm::Function* fn);
  llvm::Function* make_region(uint32_t index);
  Bits nodes_before_exits() const;
  void lay_out_slots();
  bool needs_slot(ptx::Index r) const;
  void load_slots(uint32_t region);
  void compute_again(ptx::Index r, Bits& done);
  void save_slots(uint32_t region, NodeId barrier);
  void emit_nodes(const RegionPlan& rp);
  void emit_node(NodeId id);
  void emit_body(NodeId id);
  void emit_leave(NodeId id);
  void leave_cond(NodeId id, const Inst& inst);
  void leave_some(NodeId id, const Val& g);
  void part_lanes(NodeId id, const Val& g);
  void leave_indexed(NodeId id, const Inst& inst);
  void leave_barrier(NodeId id, const Inst& inst);
  void leave_ret(NodeId id, Value* lanes);
  void send(NodeId from, NodeId to, Value* lanes);
  void jump(NodeId to);
  void jump_chain(NodeId from);
  void end_of_component(uint32_t component);
  bool waits_in_loop(NodeId header) const;
  Value* ready_for_sync(NodeId id, Value* here);
  void again_while_waiting(uint32_t component);
  void finish_region(Value* next);
  void emit_inst(const Inst& inst);
  void emit_guarded(const Inst& inst);
  bool emit_plain(const Inst& inst);
  bool has_side_effects(const Inst& inst) const;
  void accumulate_reduction(const Inst& inst);
  void read_reduction(const Inst& inst);
  Value* initial_mask(Value* warp);
  void fail(const Inst& inst, const std::string& what);

  // -- whole versions (lower_whole.cpp)
  void emit_whole_node(NodeId id);
  void as_whole(const std::function<void()>& emit);
  void as_part(NodeId id, const std::function<void()>& emit);
  void part_or_branch(NodeId id, const Inst& inst, const Val& g, llvm::BasicBlock* taken,
                      llvm::BasicBlock* other, bool taken_unmasked, bool other_unmasked);
  void rejoin(NodeId to);
  void branch_if_whole(NodeId to);
  /// What scalar code can say of a predicate in all lanes; neither may be true.
  struct Agreement {
    Value* all;
    Value* none;
  };
  std::optional<Agreement> sign_agreement(const Node& node, ptx::Index r, uint32_t before,
                                          int depth);
  static Agreement both(llvm::IRBuilder<>& b, const Agreement& x, const Agreement& y, bool is_and);
  std::optional<Agreement> agreement(const Node& node, ptx::Index p, uint32_t before, int depth);
  llvm::BasicBlock* unmask_header(NodeId header);

  // -- values (value.cpp)
  uint32_t width() const { return unit_.launch.width; }
  bool scalar_mode() const { return unit_.launch.scalar; }
  llvm::Type* scalar_type(ptx::Type t) const;  ///< i1, iN, float, double
  llvm::Type* int_type(uint32_t bits) const;
  llvm::Type* vec_type(llvm::Type* t) const;
  llvm::Constant* splat_const(llvm::Type* scalar, int64_t v) const;
  Value* splat(Value* scalar);
  Value* offsets_vector(const Offsets& o, llvm::Type* element);
  Value* vec(const Val& v);  ///< materialises every lane
  /// `scalar`, or as many of it as `v` has elements.
  static llvm::Type* like(Value* v, llvm::Type* scalar);
  Value* cast(Value* v, llvm::Type* scalar);  ///< same width reinterpretation, scalar or vector
  Val cast(const Val& v, llvm::Type* scalar);
  Value* keep_arithmetic(Value* number);
  Value* hidden(Value* v);
  Val read(const ptx::Operand& o, ptx::Type t);  ///< as t's storage type (int or float)
  Val read_int(const ptx::Operand& o, uint32_t bits);
  bool has_known_value(ptx::Index r) const;
  Val read_reg(ptx::Index r);
  Val read_sreg(ptx::SReg s, uint8_t component);
  Value* read_cluster_sreg(ptx::SReg s, uint8_t component);
  Val fit(const Val& v, llvm::Type* to);  ///< truncates or zero-extends integers
  Val symbol_address(const ptx::Operand& o);
  void write(const ptx::Operand& dest, const Val& v, ptx::Type t);
  void write_reg(ptx::Index r, const Val& v);
  llvm::AllocaInst* entry_alloca(llvm::Type* type, const llvm::Twine& name, bool zero = true);
  struct Slot {
    llvm::AllocaInst* value = nullptr;
    llvm::AllocaInst* correction = nullptr;
    llvm::AllocaInst* exact = nullptr;
  };
  Slot& slot(ptx::Index r);
  llvm::Type* register_type(ptx::Index r) const;
  Value* active();           ///< <W x i1>
  bool active_full() const;  ///< statically all lanes
  Value* bits(Value* mask);  ///< i32
  Value* any(Value* mask);
  Value* all(Value* mask);
  Value* mask_of_bits(Value* i32);
  Value* lane_ids();
  Shape transfer_of(const Inst& inst) const;
  Value* ctx_field(size_t offset, llvm::Type* t, bool invariant = true);
  Value* launch_field(size_t offset, llvm::Type* t);
  Value* runtime(size_t offset);  ///< function pointer
  Value* warp_index();            ///< i32, index of this W-wide warp in the block
  Value* thread_linear_base();    ///< i32
  void fault(kernel::Fault kind, uint32_t line, Value* lanes, Value* address);
  void fault_if(Value* lanes_bad, kernel::Fault kind, uint32_t line, Value* address);

  /// Runs f on scalars when every listed operand is uniform, else on vectors.
  Val map(const std::vector<Val>& args, const std::function<Value*(const std::vector<Value*>&)>& f);
  /// Calls `body(lane, i32 lane index)` for every active lane in a loop over set bits.
  void for_each_lane(Value* mask, const std::function<void(Value* lane)>& body);
  Value* spill(const Val& v, llvm::Type* element);  ///< array in memory, for indexed lanes
  Value* load_lane(Value* array, llvm::Type* element, Value* lane);
  void store_lane(Value* array, llvm::Type* element, Value* lane, Value* v);
  void then(Value* condition, const std::function<void()>& body);

  // -- integer (lower_integer.cpp)
  bool lower_integer(const Inst& inst);
  bool write_known_lanes(const Inst& inst);
  bool lower_linear(const Inst& inst);
  void lower_carry(const Inst& inst);
  Value* divide(const Inst& inst, Value* a, Value* b, bool is_signed, bool remainder);
  void lower_setp(const Inst& inst);
  Value* compare(const Inst& inst, ptx::Type t, Value* a, Value* b);
  Value* combined(const Inst& inst, Value* p, Value* third);
  Value* find_nth_set(Value* mask, Value* base, Value* offset);
  Value* permute_bytes(Value* a, Value* b, Value* sel, const Inst& inst);

  // -- video (lower_video.cpp)
  bool lower_video(const Inst& inst);

  // -- float (lower_float.cpp, lower_math.cpp)
  bool lower_float(const Inst& inst);
  void lower_half(const Inst& inst);
  void lower_pair(const Inst& inst);
  Value* flush(const Inst& inst, Value* v);
  Value* in_pieces(unsigned lanes, const std::vector<Value*>& args,
                   const std::function<Value*(const std::vector<Value*>&)>& f);
  Value* rounded(const Inst& inst, kernel::RoundedOp op, std::vector<Value*> args);
  Value* rounded_fma(const Inst& inst, const std::vector<Value*>& args,
                     const std::function<Value*()>& general);
  Value* rounded_avx512(const Inst& inst, kernel::RoundedOp op, std::vector<Value*> in);
  Value* rounded_avx(const Inst& inst, kernel::RoundedOp op, const std::vector<Value*>& in);
  Value* rounded_by_helper(const Inst& inst, kernel::RoundedOp op, const std::vector<Value*>& args);
  Value* control_word(uint32_t value);
  int round_mode(const Inst& inst) const;
  Value* saturate(const Inst& inst, Value* v);
  Value* min_max(const Inst& inst, Value* a, Value* b, bool is_max);
  Value* ex2(Value* x);
  Value* lg2(Value* x);
  Value* sin_cos(Value* x, bool is_cos);
  Value* tanh(Value* x);
  Value* upper_half_f64(const Inst& inst, Value* x);
  Value* rsqrt_f64(Value* x);
  Value* divide_approx(Value* x, Value* y);
  Value* add_to_odd(Value* a, Value* b);
  Value* intrinsic(unsigned id, std::vector<Value*> args);
  Value* half_to_float(Value* v, bool bf16);
  Value* half_operand(const Inst& inst, Value* v, bool bf16);
  Value* float_to_half(Value* v, bool bf16);
  Value* real(Value* v, double c);            ///< constant of v's type
  Value* canonical_nan(Value* v);             ///< f32 (or its bits): every NaN becomes 0x7fffffff
  Value* quiet_nan(Value* v, Value* number);  ///< v is a NaN: v made quiet; else `number`
  bool chooses_nan(const Inst& inst) const;
  Value* chosen_nan(const Inst& inst, Value* result, const std::vector<Value*>& operands);
  /// What an f32 instruction computed, as its destination holds it.
  Value* f32_result(const Inst& inst, Value* v);

  // -- conversion (lower_convert.cpp)
  void lower_cvt(const Inst& inst);
  Value* float_to_int(const Inst& inst, Value* v, ptx::Type to);
  Value* int_to_float(const Inst& inst, Value* v, ptx::Type from, ptx::Type to);
  Value* step_rounding(Value* exact, Value* bits, Value* back, int mode);
  Value* narrow_directed(Value* wide_value, int mode);
  Value* half_directed(Value* v, bool bf16, int mode);
  Value* round_to_integral(const Inst& inst, Value* v);
  void lower_mov(const Inst& inst);
  void lower_cvt_packed(const Inst& inst);
  void lower_cvt_pack(const Inst& inst);
  Value* float_to_fp8(Value* x, ptx::Type to);
  Value* fp8_to_half(Value* code, ptx::Type from);
  Value* finite_half(Value* h, bool bf16);
  Value* cvt_to_half(const Inst& inst, Value* x, bool bf16);

  // -- memory (lower_memory.cpp, lower_atomic.cpp)
  struct Address {
    Val at;  ///< i64 host address
    bool shared = false;
  };
  bool lower_memory(const Inst& inst);
  ptx::Space space_of(const Inst& inst) const;
  Address address(const Inst& inst, const ptx::Operand& o);
  uint8_t address_zeros(const ptx::Operand& o) const;
  bool comes_from_memory(ptx::Index r);
  void find_index(ptx::Index address, int64_t offset, Val& at);
  bool comes_again_behind_barrier(NodeId id) const;
  Value* step_of(ptx::Index r, int depth);
  void prefetch_next(const Inst& inst, const Val& at, uint64_t bytes);
  Value* gather_by_index(const Val& at, llvm::Type* t, uint64_t bytes);
  Value* lies_in_a_row(const Val& at, uint64_t bytes, Value*& first);
  Val to_host(ptx::Space space, Val v);
  void lower_load(const Inst& inst);
  void lower_store(const Inst& inst);
  void lower_param(const Inst& inst, bool store);
  void check_alignment(const Inst& inst, const Val& at, uint64_t bytes);
  Value* load_vector(const Inst& inst, const Val& at, llvm::Type* t, uint64_t bytes);
  void store_vector(const Inst& inst, const Val& at, Value* v, uint64_t bytes, uint64_t lane_bytes);
  bool in_runs(const Offsets& o, uint64_t bytes) const;
  Value* gather(Value* base, const Val& at, llvm::Type* t, uint64_t bytes);
  /// Pointers of an access without offsets known at compile time, for loops over the lanes.
  struct LaneAddresses {
    Value* window = nullptr;  ///< i64, added to every lane's number
    Value* numbers = nullptr;
    llvm::Type* type = nullptr;
  };
  LaneAddresses spill_addresses(const Val& at);
  Value* lane_pointer(const LaneAddresses& a, Value* lane);
  Value* lane_pointer(const Val& at, uint32_t lane);
  llvm::AllocaInst* lane_room(llvm::Type* element, bool for_addresses);
  bool mask_is_dear(uint64_t bytes) const;
  Value* if_all_active(const std::function<Value*()>& whole, const std::function<Value*()>& some);
  std::vector<Value*> one_of(Value* condition, const std::function<std::vector<Value*>()>& yes,
                             const std::function<std::vector<Value*>()>& no, bool usually = true);
  static Value* shared_offsets(Value* addresses, Value*& window);
  static uint32_t store_group(uint64_t lane_bytes);
  std::vector<int> store_order(uint64_t lane_bytes) const;
  Value* winning_lane(uint64_t lane_bytes);
  void scatter(const Val& at, Value* v, uint64_t bytes, uint64_t lane_bytes);
  Value* pointer(Value* address);
  Value* addresses(const Val& at);
  void memory_fence(const Inst& inst);
  bool is_strong(const Inst& inst) const;
  void compiler_barrier();
  void lower_atomic(const Inst& inst);
  void lower_atomic_vector(const Inst& inst);
  void prefetch_lanes(const Val& at);
  Value* atomic_one(const Inst& inst, Value* p, Value* b, Value* c, bool shared);
  Value* combine(const Inst& inst, Value* old, Value* b, Value* c, bool shared);
  Value* sum_in_memory(Value* old, Value* value, bool shared);
  Value* own_shared(uint64_t offset);
  void lower_multimem(const Inst& inst);

  // -- consecutive words of each lane (lower_words.cpp)
  std::vector<Value*> load_grouped(const Inst& inst, const Val& at, llvm::Type* t, uint64_t bytes,
                                   uint32_t count);
  std::vector<Value*> load_words(const Inst& inst, const Val& at, llvm::Type* t, uint64_t bytes,
                                 uint32_t count);
  bool reads_whole_page(const Val& at, uint64_t bytes, uint32_t count) const;
  Value* in_one_page(const Val& at, uint64_t bytes);
  std::vector<Value*> as_if_all(const std::function<std::vector<Value*>()>& code);
  std::vector<Value*> load_interleaved(const Val& at, llvm::Type* t, uint64_t bytes,
                                       uint32_t count);
  std::vector<Value*> load_transposed(const Val& at, llvm::Type* t, uint64_t bytes, uint32_t count);
  std::vector<Value*> load_by_lane(const Val& at, llvm::Type* t, uint64_t bytes, uint32_t count);
  bool begin_stores(const Inst& inst, const Val& at, uint64_t bytes, uint32_t count);
  void join_stores(const Inst& inst, uint64_t bytes, const std::vector<Val>& values);
  void store_words(const Val& at, uint64_t bytes, const std::vector<Value*>& words,
                   uint64_t lane_bytes);
  void store_interleaved(const Val& at, uint64_t bytes, const std::vector<Value*>& words);
  void scatter_words(const Val& at, uint64_t bytes, const std::vector<Value*>& words);
  void store_transposed(const Val& at, uint64_t bytes, const std::vector<Value*>& words,
                        uint64_t lane_bytes);
  void store_by_lane(const Val& at, uint64_t bytes, const std::vector<Value*>& words,
                     uint64_t lane_bytes);
  std::vector<Value*> lane_pointers(const Val& at);

  // -- asynchronous copies, mbarriers, clusters, stack (lower_async.cpp)
  bool lower_async(const Inst& inst);
  void lower_async_copy(const Inst& inst);
  void lower_bulk(const Inst& inst);
  void lower_bulk_fill(const Inst& inst);
  void lower_async_store(const Inst& inst);
  void lower_mbarrier(const Inst& inst);
  void lower_mbarrier_wait(const Inst& inst);
  void lower_mapa(const Inst& inst);
  void lower_getctarank(const Inst& inst);
  void lower_cluster_barrier(const Inst& inst);
  void lower_stack(const Inst& inst);
  Val address_in(ptx::Space space, const ptx::Operand& o);
  Value* update_mbarrier(Value* p, Value* arrivals, Value* dropped, Value* bytes);
  void count_loop(Value* end, uint64_t step, const std::function<void(Value*)>& body);
  Value* shared_window();
  void for_each_block(Value* blocks,
                      const std::function<void(const std::function<Value*(Value*)>&)>& body);

  // -- tensor copies (lower_tensor.cpp)
  void lower_tensor(const Inst& inst);
  void lower_tensormap(const Inst& inst);

  // -- taking blocks that have not begun (lower_cancel.cpp)
  void lower_clusterlaunchcontrol(const Inst& inst);
  void lower_try_cancel(const Inst& inst);
  void lower_query_cancel(const Inst& inst);

  // -- warp (lower_warp.cpp)
  bool lower_warp(const Inst& inst);
  void lower_shfl(const Inst& inst);
  void lower_vote(const Inst& inst);
  void lower_match(const Inst& inst);
  Value* match_any(Value* v);
  Value* match_bytes(Value* v);
  void lower_redux(const Inst& inst);
  void lower_warp_scalar(const Inst& inst);
  Value* exchange(const Inst& inst, Value* member, Value* value);
  Value* permute(Value* v, Value* index);
  static const ptx::Operand* member_mask(const Inst& inst);
  void check_member(const Inst& inst, const ptx::Operand& member);
  void check_together(const Inst& inst);
  void lower_barrier(const Inst& inst);
  void lower_yield();

  // -- textures and surfaces (lower_texture.cpp)
  bool lower_texture(const Inst& inst);
  void lower_tex(const Inst& inst);
  void lower_texture_query(const Inst& inst);
  void lower_istypep(const Inst& inst);
  void lower_surface(const Inst& inst);
  bool coordinate_words(const Inst& inst, const ptx::Operand& at, kernel::TextureGeometry geometry,
                        ptx::Type type, std::vector<Val>& words);
  std::vector<Value*> call_texture(const Inst& inst, kernel::TextureOp op, const Val& handle,
                                   const std::vector<Val>& words, size_t results);

  // -- matrices of a warp (lower_matrix.cpp)
  enum class MatrixWords : uint8_t { a, b, c, d, e, count_ };
  bool lower_matrix(const Inst& inst);
  void lower_mma(const Inst& inst);
  void lower_wmma_memory(const Inst& inst);
  void lower_matrix_rows(const Inst& inst);
  void meet_aligned(const Inst& inst);
  Value* matrix_words(MatrixWords which);
  void store_words(const Inst& inst, Value* to, const ptx::Operand& o, ptx::Type t);
  Value* store_fragment(const Inst& inst, MatrixWords which, const ptx::Operand& o, ptx::Type t);
  void load_fragment(Value* words, const ptx::Operand& o, ptx::Type t);
  Value* agreed(const Val& v);

  // -- calls (lower_call.cpp)
  void lower_call(const Inst& inst);
  bool call_service(const Inst& inst, const ptx::Function& callee);
  void call_device_runtime(const Inst& inst, const ptx::Function& callee,
                           const kernel::DeviceFunction& function);
  void call_direct(const Inst& inst, ptx::Index callee, Value* lanes);
  void call_indirect(const Inst& inst);
  struct Storage {
    Value* memory = nullptr;
    uint64_t bytes = 0;
    bool lanes_apart = false;  ///< arrays: lane-major bytes; scalars: one element a lane
  };
  Storage& storage_of(const ptx::Operand& o);
  Storage make_storage(uint64_t bytes, bool array, const llvm::Twine& name);
  Val lane_bytes(const Storage& s);
  Val load_storage(const Storage& s, uint64_t offset, ptx::Type t);
  void store_storage(const Storage& s, uint64_t offset, const Val& v, ptx::Type t);

  Unit& unit_;
  const Plan& plan_;
  const ptx::Function& fn_;
  ptx::Index fn_index_;
  const std::vector<uint64_t>& shared_offsets_;  ///< by module variable, then function locals
  const FrameLayout& frame_;
  llvm::LLVMContext& llvm_;
  llvm::IRBuilder<> b_;
  llvm::Function* out_ = nullptr;
  llvm::BasicBlock* entry_ = nullptr;
  Value* ctx_ = nullptr;
  Value* warp_ctx_ = nullptr;  ///< fiber and lane strategies
  Value* warp_ = nullptr;
  Value* frame_base_ = nullptr;  ///< device functions: own .local frames
  std::vector<Slot> slots_;
  std::optional<Bits> from_memory_;  ///< registers that hold or follow from what was loaded
  std::map<ptx::Index, Storage> params_, locals_;  ///< .param storage
  std::vector<Storage> returns_;
  std::map<std::pair<llvm::Type*, bool>, llvm::AllocaInst*> lane_rooms_;      ///< see lane_room
  std::map<std::pair<llvm::Type*, uint32_t>, llvm::AllocaInst*> word_rooms_;  ///< see load_by_lane
  llvm::AllocaInst* texture_words_ = nullptr;  ///< operands and results of texture calls
  llvm::AllocaInst* tensor_words_ = nullptr;   ///< one lane's coordinates
  llvm::AllocaInst* matrix_words_[static_cast<size_t>(MatrixWords::count_)] =
      {};  ///< fragments in memory, by operand
  const RegionPlan* rp_ = nullptr;
  uint32_t region_index_ = 0;
  std::vector<llvm::BasicBlock*> heads_;
  std::vector<llvm::AllocaInst*> masks_;
  std::vector<llvm::BasicBlock*> ends_;  ///< of independent components, once made
  llvm::AllocaInst* live_ = nullptr;
  Bits none_left_;          ///< nodes before which no lane of a whole warp can have left
  bool live_full_ = false;  ///< so it is where code is being made
  Bits whole_;              ///< nodes with a whole version
  std::vector<llvm::BasicBlock*> whole_heads_;  ///< theirs
  bool full_ = false;                           ///< a whole version is being made
  llvm::BasicBlock* done_ = nullptr;
  NodeId node_ = no_node;
  uint32_t position_ = 0;  ///< of the current instruction in its node
  /// Loads of the current node that an earlier one did with its own: their words.
  std::map<const Inst*, std::vector<Value*>> loaded_;
  /// Consecutive words of stores of the current node, which the last of them writes.
  struct StoreGroup {
    Val at;  ///< of the lowest word
    std::vector<Value*> words;
    std::map<const Inst*, uint32_t> members;  ///< their first words
    const Inst* last = nullptr;
    uint64_t lane_bytes = 0;  ///< that one member writes for a lane
  };
  StoreGroup storing_;
  Value* node_mask_ = nullptr;    ///< masked node: its lanes
  Value* guard_mask_ = nullptr;   ///< lanes on which the current instruction acts, if narrower
  bool nan_bits_ = true;          ///< the current instruction reads NaNs as bits (nans.h)
  Value* write_guard_ = nullptr;  ///< pure guarded instruction: where its result is taken
  std::vector<uint32_t> slot_offset_;
  uint32_t slot_bytes_ = 0;
  std::vector<uint64_t> slot_map_;
};

}  // namespace limen::simt
