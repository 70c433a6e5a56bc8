// Contract between generated code and the engine: what a compiled kernel receives and may call.
// Plain C layout; generated code uses offsetof(), so a change here changes kernel_abi_version and
// with it every key of the disk cache. Nothing here is visible to CUDA programs.
//
// Address spaces: global, const and generic addresses are host addresses. `.shared` addresses are
// 32-bit offsets from BlockContext::shared; their generic form is the host address of the byte.
// In a cluster launch that base is the cluster's shared window: the block of rank r has the bytes
// from r << cluster_window_shift on, so that an address means the same byte to all its blocks.
// `.local` memory is lane-major: lane L of warp w has its frame at
// local + (w * width + L) * frame; the generic form is the host address.
#pragma once
#include <cstddef>
#include <cstdint>

namespace limen::kernel {

inline constexpr uint32_t kernel_abi_version = 7;

/// Each block of a cluster has so much of the cluster's shared window.
inline constexpr uint32_t cluster_window_shift = 24;
inline constexpr uint32_t least_shared_alignment = 128;  ///< of BlockContext::shared

/// How a kernel's threads are executed (docs/engine.md, "Three strategies").
enum class Strategy : uint32_t {
  region = 0,  ///< one call runs a whole block; loops over warps between barriers
  fiber = 1,   ///< one fiber per warp
  lane = 2,    ///< one fiber per lane (width 1)
};

/// Why a kernel stopped. The engine maps each to its CUresult.
enum class Fault : uint32_t {
  none = 0,
  illegal_address = 1,     ///< 700
  misaligned_address = 2,  ///< 716
  trap = 3,                ///< 719, `trap` instruction
  assert_failed = 4,       ///< 710
  stack_overflow = 5,
  illegal_instruction = 6,     ///< 715
  invalid_pc = 7,              ///< 718, indirect call to what is no function
  lanes_apart = 8,             ///< a `.sync` whose member lanes are not together: wrong strategy
  deadlock = 9,                ///< no fiber can progress
  invalid_address_space = 10,  ///< 717
  out_of_resources = 11,       ///< 701: no memory for stacks, local or shared memory of a block
  no_multicast = 12,           ///< multimem.ld_reduce at an address of no multicast object
};

struct BlockContext;
struct WarpContext;

/// What all lanes named in a `.sync` instruction handed in (lane strategy).
struct Exchange {
  uint32_t present;     ///< lanes that took part
  uint64_t values[32];  ///< by lane; 0 for lanes that did not
};

enum class TextureKind : uint8_t {
  fetch,             ///< tex
  gather,            ///< tld4
  query,             ///< txq, suq
  is_type,           ///< istypep
  load,              ///< suld.b
  store,             ///< sust.b
  store_formatted,   ///< sust.p
  reduce,            ///< sured.b
  reduce_formatted,  ///< sured.p
};
enum class TextureGeometry : uint8_t { d1, d2, d3, a1d, a2d, cube, acube };
enum class TextureLod : uint8_t { base, level, grad };
enum class TextureQuery : uint8_t {
  width,
  height,
  depth,
  array_size,
  num_mipmap_levels,
  num_samples,
  normalized_coords,
};
enum class TextureResult : uint8_t { words, half, half_pair };  ///< tex: 32 bits, .f16, .f16x2
enum class SurfaceClamp : uint8_t { trap, clamp, zero };
enum class SurfaceReduction : uint8_t { add, min, max, and_, or_ };

/// One texture or surface instruction. Constant in generated code, handed over as one 64-bit word.
struct TextureOp {
  TextureKind kind;
  TextureGeometry geometry;
  TextureLod lod;  ///< fetch; query: level when a level is given
  uint8_t detail;  ///< gather: component; query: TextureQuery; is_type: 0 tex, 1 sampler, 2 surf;
                   ///< surfaces: SurfaceClamp
  uint8_t type;    ///< fetch: TextureResult; load, store, reduce: bytes of an element
  uint8_t count;   ///< elements of the vector
  uint8_t reduction;  ///< SurfaceReduction; bit 7: signed
  uint8_t flags;      ///< texture_integer_coordinates, texture_offsets
};
static_assert(sizeof(TextureOp) == 8);
inline constexpr uint8_t texture_integer_coordinates = 1, texture_offsets = 2;

enum class TensorDirection : uint8_t { load, store, reduce };
enum class TensorMode : uint8_t { tile, gather4, im2col, im2col_w };
enum class TensorReduction : uint8_t { add, min, max, inc, dec, and_, or_, xor_ };

/// One cp.async.bulk.tensor or cp.reduce.async.bulk.tensor, handed over as one 64-bit word.
struct TensorOp {
  TensorDirection direction;
  TensorMode mode;
  TensorReduction reduction;
  uint8_t rank;
  uint32_t line;  ///< of the PTX text
};
static_assert(sizeof(TensorOp) == 8);
/// Words of a tensor instruction: five for the coordinates, then the im2col information.
inline constexpr uint32_t tensor_coordinate_words = 5, tensor_words = 8;

/// Services generated code may call. All are plain C functions; `line` is the PTX line.
struct Runtime {
  __attribute__((noreturn)) void (*fault)(BlockContext*, uint32_t kind, uint32_t warp,
                                          uint32_t lane, uint32_t line, uint64_t address);
  /// One lane's printf: `format` and `args` are host addresses (args packed as nvcc packs vprintf's
  /// buffer). Returns what PTX's vprintf returns.
  int32_t (*vprintf)(BlockContext*, uint64_t format, uint64_t args);
  /// One failing lane's __assertfail; does not return.
  void (*assertfail)(BlockContext*, uint32_t thread_linear, uint64_t message, uint64_t file,
                     uint32_t line, uint64_t function, uint64_t char_size);
  uint64_t (*malloc)(BlockContext*, uint64_t bytes);
  void (*free)(BlockContext*, uint64_t address);
  /// Barrier for the fiber and lane strategies. `threads` = 0 means all threads of the block.
  /// `arriving` = lanes arriving now. mode: 0 sync, 1 arrive (does not wait). `pred_count` =
  /// arriving lanes whose predicate is true. Returns the sum of pred_count over all arrivals.
  uint32_t (*barrier)(BlockContext*, WarpContext*, uint32_t id, uint32_t threads, uint32_t arriving,
                      uint32_t mode, uint32_t pred_count);
  /// Waits until all lanes of `member` that have not exited call it with the same `tag` kind; gives
  /// every one of them the same snapshot. Lane strategy only. The result lives until the next call.
  const Exchange* (*exchange)(BlockContext*, WarpContext*, uint32_t member, uint32_t tag,
                              uint64_t value);
  /// Lets other fibers run (fiber and lane strategies); a no-op under the region strategy apart
  /// from checking for cancellation.
  void (*yield)(BlockContext*, WarpContext*);
  void (*nanosleep)(BlockContext*, WarpContext*, uint32_t nanoseconds);
  uint64_t (*globaltimer)();  ///< nanoseconds
  /// One float32/float64 operation with a rounding mode that has no direct machine form.
  /// op: see RoundedOp; mode: 1 rz, 2 rm, 3 rp (0 rn). 64-bit sources are handed over as bit
  /// patterns: rounded_f32 takes the low half of from_s64, from_u64 and from_f64 in a, the high
  /// half in b; rounded_f64 takes all 64 bits of from_s64 and from_u64 in a. f32 NaN results are
  /// 0x7fffffff.
  float (*rounded_f32)(uint32_t op, uint32_t mode, float a, float b, float c);
  double (*rounded_f64)(uint32_t op, uint32_t mode, double a, double b, double c);
  /// Prints one failing lane's assertion message and returns: a warp reports all its failing lanes
  /// with it, then calls assertfail or fault. Same parameters as assertfail.
  void (*assert_note)(BlockContext*, uint32_t thread_linear, uint64_t message, uint64_t file,
                      uint32_t line, uint64_t function, uint64_t char_size);
  /// One texture or surface instruction on the lanes of `lanes` (bit per lane of `width`). `thread`
  /// is the first lane's linear thread index. `in` and `out` hold words by [operand][lane]: the
  /// layer, the coordinates as the instruction has them (cube: x y z), the level or both gradients,
  /// the offsets, the values to store (64-bit ones: low words, then high words, by element).
  void (*texture)(BlockContext*, uint64_t op, uint32_t width, uint32_t lanes, uint32_t thread,
                  uint32_t line, const uint64_t* handles, const uint32_t* in, uint32_t* out);
  /// One lane's tensor instruction between the tensor behind `map` (the generic address of a
  /// CUtensorMap) and the bytes at the host address `shared`. `words` as tensor_words says. Returns
  /// the bytes that an mbarrier is told.
  uint64_t (*tensor)(BlockContext*, uint64_t op, uint32_t thread, uint64_t map, uint64_t shared,
                     const int32_t* words);
  /// One lane's call of a function of device_runtime.h. `thread` is its linear thread index;
  /// args[i] holds a scalar (zero-extended) or the address of a structure. Returns the function's
  /// value.
  uint64_t (*device_call)(BlockContext*, WarpContext*, uint32_t call, uint32_t thread,
                          uint32_t line, const uint64_t* args);
  void* reserved[11];
  /// barrier.cluster of the warp's (or lane's) threads, all of them. mode: 0 arrive, 1 wait.
  void (*cluster_barrier)(BlockContext*, WarpContext*, uint32_t mode, uint32_t line);
  /// clusterlaunchcontrol.try_cancel: takes a cluster (outside of clusters: a block) of the same
  /// grid that has not begun, which then never runs. Bit 63: one was there; its first block is x in
  /// bits 0-30, y in 31-46, z in 47-62. Else 0.
  uint64_t (*try_cancel)(BlockContext*);
};

enum class RoundedOp : uint32_t {
  add,
  mul,
  fma,
  div,
  rcp,
  sqrt,
  from_s64,
  from_u64,
  from_f64,
  sub
};

inline constexpr uint32_t params_alignment = 16;

/// Constant for one launch.
struct LaunchContext {
  const uint8_t* params;  ///< at params_alignment: kernel parameters, laid out as the .param space
  void* const* globals;   ///< address of each module variable, by ptx::Module variable index
  const Runtime* runtime;
  uint32_t grid[3];
  uint32_t block[3];
  uint32_t dynamic_shared_bytes;
  uint32_t shared_bytes;  ///< static + dynamic, as laid out for this launch
  uint64_t grid_id;
  uint32_t sm_count;
  volatile uint32_t cancel;  ///< set when the context is poisoned: blocks not yet begun are skipped
  void* launch;              ///< the engine's own record
  uint32_t cluster[3];       ///< blocks of a cluster; 1, 1, 1 where there are none
  uint32_t explicit_cluster;  ///< 1: the launch or the kernel named cluster dimensions
  uint64_t workspace;  ///< %envreg1 (high half) and %envreg2 of a cooperative grid, zeros at its
                       ///< start; else 0
};

/// One running block; owned by a worker, reused from block to block.
struct BlockContext {
  const LaunchContext* launch;
  uint8_t* shared;  ///< shared memory of this block, aligned to KernelMeta::shared_align
  uint8_t* local;   ///< kernel-frame local memory of all its threads
  uint8_t*
      slots;  ///< region strategy: per-warp state, KernelMeta::slot_bytes each, 64-byte aligned
  uint32_t ctaid[3];
  uint32_t worker;         ///< worker index, shown as %smid
  uint32_t scratch[8];     ///< for generated code: block-wide accumulators of bar.red
  void* block;             ///< the engine's own record
  uint32_t shared_offset;  ///< where this block's bytes begin in `shared`: 0 outside of clusters
};

/// One warp's (or, under the lane strategy, one lane's) own record in fiber strategies.
struct WarpContext {
  uint32_t warp;  ///< warp index in the block
  uint32_t lane;  ///< lane strategy: lane index; else 0
  void* fiber;    ///< the engine's own record
};

/// Region strategy: runs one whole block.
using BlockFn = void (*)(BlockContext*);
/// Fiber and lane strategies: runs one warp (or lane) to its end.
using WarpFn = void (*)(BlockContext*, WarpContext*);

/// What the compiler tells the engine about a kernel version. Stored beside the code in the cache.
struct KernelMeta {
  uint32_t abi_version;
  Strategy strategy;
  uint32_t width;              ///< lanes per vector of generated code: 32 (warp ops) or any other
  uint32_t slot_bytes;         ///< per warp-of-`width`-lanes, region strategy; 0 without barriers
  uint32_t local_frame_bytes;  ///< per lane, the kernel's own .local variables
  uint32_t static_shared_bytes;
  uint32_t block[3];         ///< block dimensions it was compiled for; 0 = any
  uint32_t flush_denormals;  ///< 1: run with MXCSR FTZ and DAZ set (all f32 is .ftz, no f64)
  uint32_t has_barrier;
  uint32_t shared_align;        ///< of the shared memory, a power of two up to 4096; 0: 128
  uint32_t native_frame_bytes;  ///< stack of the code itself and what it calls, recursion aside
  uint32_t reserved[6];
};

}  // namespace limen::kernel
