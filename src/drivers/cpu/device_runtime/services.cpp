// Streams, events, memory and questions of the device runtime; see calls.cpp.
// Thread rule: as device_grid.h.
#include <algorithm>

#include "drivers/cpu/device_runtime/device_grid.h"
#include "engine/fault.h"

namespace limen::cpu {

namespace {

using kernel::DeviceCall;

/// source: measured on an H200, with the device runtime of CUDA 13.0.
constexpr int runtime_version = 6000;

/// source: CUDA Runtime API 13.0, struct cudaFuncAttributes.
struct FuncAttributes {
  uint64_t shared_bytes, constant_bytes, local_bytes;
  int most_threads, registers, ptx_version, binary_version, cache_mode_ca, most_dynamic_shared,
      carveout, cluster_must_be_set, cluster_width, cluster_height, cluster_depth, cluster_policy,
      non_portable_cluster, reserved[16];
};
static_assert(sizeof(FuncAttributes) == 144);

struct PitchedPointer {
  uint64_t address, pitch, xsize, ysize;
};

/// Part of an array of `pitch` bytes a row and `ysize` rows a slice.
uint64_t place_in(const PitchedPointer& pointer, const uint64_t at[3]) {
  return pointer.address + at[0] + pointer.pitch * (at[1] + pointer.ysize * at[2]);
}

bool is_shared(const kernel::BlockContext& block, uint64_t address) {
  return address - reinterpret_cast<uint64_t>(block.shared) <
         block.shared_offset + uint64_t{block.launch->shared_bytes};
}

}  // namespace

// ---- Streams and events ------------------------------------------------------------------------

int DeviceGrid::stream_create(const engine::DeviceCall& call, CallMemory& memory) {
  // source: measured on an H200: the default flags are taken as well; all streams are alike.
  constexpr uint32_t non_blocking = 1;
  if (!call.args[0] || static_cast<uint32_t>(call.args[1]) > non_blocking) return invalid_value;
  const uint64_t handle = tree_->next_handle.fetch_add(1, std::memory_order_relaxed);
  memory.put(call.args[0], handle);
  std::lock_guard lock(mutex_);
  streams_[handle] = std::make_shared<Stream>(tree_->context, Stream::Kind::non_blocking, 0);
  return success;
}

/// Work in the stream goes on.
int DeviceGrid::stream_destroy(const engine::DeviceCall& call) {
  std::lock_guard lock(mutex_);
  return streams_.erase(call.args[0]) ? success : invalid_resource_handle;
}

std::shared_ptr<EventState> DeviceGrid::find_event(uint64_t handle) {
  std::lock_guard lock(mutex_);
  auto found = events_.find(handle);
  return found == events_.end() ? nullptr : found->second;
}

int DeviceGrid::event_create(const engine::DeviceCall& call, CallMemory& memory) {
  constexpr uint32_t disable_timing = 2;
  if (!call.args[0] || static_cast<uint32_t>(call.args[1]) != disable_timing) return invalid_value;
  const uint64_t handle = tree_->next_handle.fetch_add(1, std::memory_order_relaxed);
  auto event = std::make_shared<EventState>();
  event->timing = false;
  std::lock_guard lock(mutex_);
  // source: CUDA C++ Programming Guide, cudaLimitDevRuntimePendingLaunchCount: twice as many.
  if (events_.size() >= 2 * tree_->context.pending_launches.load(std::memory_order_relaxed))
    return memory_allocation;
  events_[handle] = std::move(event);
  memory.put(call.args[0], handle);
  return success;
}

int DeviceGrid::event_destroy(const engine::DeviceCall& call) {
  std::lock_guard lock(mutex_);
  return events_.erase(call.args[0]) ? success : invalid_resource_handle;
}

namespace {
/// Tail launches and those to be forgotten form no stream that could be recorded or waited in.
bool is_special(uint64_t stream) { return stream == 3 || stream == 4; }
}  // namespace

int DeviceGrid::event_record(const engine::DeviceCall& call) {
  if (is_special(call.args[1])) return invalid_value;
  const bool has_flags = (call.function & (kernel::device_call_per_thread - 1)) ==
                         static_cast<uint32_t>(DeviceCall::event_record_with_flags);
  if (has_flags && static_cast<uint32_t>(call.args[2]) != 0) return invalid_value;
  std::shared_ptr<EventState> event = find_event(call.args[0]);
  std::shared_ptr<Stream> stream = find_stream(call, call.args[1]);
  if (!event || !stream) return invalid_resource_handle;
  stream->record(event);
  return success;
}

int DeviceGrid::stream_wait_event(const engine::DeviceCall& call) {
  if (is_special(call.args[0]) || static_cast<uint32_t>(call.args[2]) != 0) return invalid_value;
  std::shared_ptr<EventState> event = find_event(call.args[1]);
  std::shared_ptr<Stream> stream = find_stream(call, call.args[0]);
  if (!event || !stream) return invalid_resource_handle;
  stream->wait_for(event->latest());
  return success;
}

// ---- Questions ---------------------------------------------------------------------------------

int DeviceGrid::func_get_attributes(engine::DeviceCall& call, CallMemory& memory) {
  if (!call.args[0]) return invalid_value;
  std::shared_ptr<KernelState> state;
  if (!find_kernel(call.args[1], &state)) return invalid_device_function;
  auto needs = needs_of(*state);
  if (!needs.ok()) return refuse(call, needs.error());
  auto get = [&](CUfunction_attribute attribute) {
    int value = 0;
    get_function_attribute(&value, attribute, *state, tree_->context.device);
    return value;
  };
  FuncAttributes out{};
  out.shared_bytes = needs->static_shared_bytes;
  out.constant_bytes = static_cast<uint64_t>(get(CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES));
  out.local_bytes = needs->local_bytes;
  out.most_threads = get(CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
  out.registers = get(CU_FUNC_ATTRIBUTE_NUM_REGS);
  out.ptx_version = get(CU_FUNC_ATTRIBUTE_PTX_VERSION);
  out.binary_version = get(CU_FUNC_ATTRIBUTE_BINARY_VERSION);
  out.cache_mode_ca = get(CU_FUNC_ATTRIBUTE_CACHE_MODE_CA);
  // source: measured on an H200: 0 where the host has set nothing.
  out.most_dynamic_shared = 
      std::max(state->on(tree_->context.device).max_dynamic_shared_bytes.load(), 0);
  out.carveout = get(CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT);
  out.cluster_must_be_set = get(CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET);
  out.cluster_width = get(CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH);
  out.cluster_height = get(CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT);
  out.cluster_depth = get(CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH);
  out.cluster_policy = get(CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE);
  out.non_portable_cluster = get(CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED);
  memory.put(call.args[0], out);
  return success;
}

int DeviceGrid::occupancy(engine::DeviceCall& call, CallMemory& memory) {
  const auto threads = static_cast<int>(call.args[2]);
  const bool has_flags = (call.function & (kernel::device_call_per_thread - 1)) ==
                         static_cast<uint32_t>(DeviceCall::occupancy_with_flags);
  constexpr uint32_t disable_caching_override = 1;
  if (!call.args[0] || threads <= 0 ||
      (has_flags && static_cast<uint32_t>(call.args[4]) > disable_caching_override))
    return invalid_value;
  std::shared_ptr<KernelState> state;
  if (!find_kernel(call.args[1], &state)) return invalid_device_function;
  auto needs = needs_of(*state);
  if (!needs.ok()) return refuse(call, needs.error());
  int blocks = 0;
  const uint64_t dynamic_bytes = std::min<uint64_t>(call.args[3], INT32_MAX);
  if (CUresult result = resident_blocks(*state, tree_->context.device, threads,
                                        static_cast<int64_t>(dynamic_bytes), &blocks))
    return result;
  memory.put(call.args[0], blocks);
  return success;
}

int DeviceGrid::device_get(const engine::DeviceCall& call, CallMemory& memory) const {
  Context& context = tree_->context;
  const uint64_t out = call.args[0];
  if (!out) return invalid_value;
  switch (static_cast<DeviceCall>(call.function)) {
    case DeviceCall::get_device_count:
      memory.put(out, static_cast<int>(driver().devices.size()));
      return success;
    case DeviceCall::get_device:
      memory.put(out, context.device.ordinal());
      return success;
    case DeviceCall::device_get_attribute: {
      const Device* device = driver().device(static_cast<int>(call.args[2]));
      int value = 0;
      if (!device) return invalid_device;
      if (!device->attribute(static_cast<int>(call.args[1]), &value)) return invalid_value;
      memory.put(out, value);
      return success;
    }
    case DeviceCall::device_get_limit: {
      size_t value = 0;
      const auto limit = static_cast<CUlimit>(static_cast<uint32_t>(call.args[1]));
      const CUresult result = limit_of(context, limit, &value);
      // source: measured on an H200: a limit that the device has not is all ones.
      if (result == CUDA_ERROR_UNSUPPORTED_LIMIT) value = SIZE_MAX;
      if (result == CUDA_SUCCESS || result == CUDA_ERROR_UNSUPPORTED_LIMIT) memory.put(out, value);
      return result;
    }
    case DeviceCall::device_get_cache_config:
      memory.put(out, context.cache_config.load());
      return success;
    case DeviceCall::device_get_shared_mem_config:
      memory.put(out, context.shared_config.load());
      return success;
    default:
      memory.put(out, runtime_version);
      return success;
  }
}

// ---- Memory ------------------------------------------------------------------------------------

/// The device heap's, as malloc and free in kernels.
int DeviceGrid::allocate(const engine::DeviceCall& call, CallMemory& memory) const {
  DeviceHeap& heap = tree_->context.heap;
  if (static_cast<DeviceCall>(call.function) == DeviceCall::free)
    return call.args[0] == 0 || heap.release(call.args[0]) ? success : invalid_value;
  if (!call.args[0]) return invalid_value;
  const uint64_t address = call.args[1] ? heap.allocate(call.args[1]) : 0;
  if (!address && call.args[1]) return memory_allocation;
  memory.put(call.args[0], address);
  return success;
}

int DeviceGrid::copy(const engine::DeviceCall& call, const CallMemory& memory) {
  const uint64_t* args = call.args;
  MemoryRows rows;
  uint64_t stream = 0;
  uint32_t kind = 3;
  bool fill = false, pitched = false;
  uint8_t value = 0;
  switch (static_cast<DeviceCall>(call.function & (kernel::device_call_per_thread - 1))) {
    case DeviceCall::memcpy_async:
      rows.to = args[0], rows.from = args[1], rows.width = args[2];
      kind = static_cast<uint32_t>(args[3]), stream = args[4];
      break;
    case DeviceCall::memcpy_2d_async:
      rows = {args[0], args[2], args[1], args[3], 0, 0, args[4], args[5], 1};
      kind = static_cast<uint32_t>(args[6]), stream = args[7], pitched = true;
      break;
    case DeviceCall::memcpy_3d_async: {
      // srcArray, srcPos, srcPtr, dstArray, dstPos, dstPtr, extent, kind: see cudaMemcpy3DParms.
      const uint64_t* p = memory.copy_3d.data();
      if (p[0] || p[8]) return invalid_value;  // kernels do not copy arrays
      const PitchedPointer from{p[4], p[5], p[6], p[7]}, to{p[12], p[13], p[14], p[15]};
      rows = {place_in(to, p + 9),
              place_in(from, p + 1),
              to.pitch,
              from.pitch,
              to.pitch * to.ysize,
              from.pitch * from.ysize,
              p[16],
              p[17],
              p[18]};
      kind = static_cast<uint32_t>(p[19]), stream = args[1], pitched = true;
      break;
    }
    case DeviceCall::memset_async:
      rows.to = args[0], rows.width = args[2], stream = args[3];
      value = static_cast<uint8_t>(args[1]), fill = true;
      break;
    case DeviceCall::memset_2d_async:
      rows = {args[0], 0, args[1], 0, 0, 0, args[3], args[4], 1};
      value = static_cast<uint8_t>(args[2]), stream = args[5], fill = true, pitched = true;
      break;
    default: {
      // cudaPitchedPtr and cudaExtent, on the calling lane's own stack.
      PitchedPointer to{};
      uint64_t extent[3];
      __builtin_memcpy(&to, reinterpret_cast<const void*>(args[0]), sizeof to);
      __builtin_memcpy(extent, reinterpret_cast<const void*>(args[2]), sizeof extent);
      rows = {to.address, 0, to.pitch, 0, to.pitch * to.ysize, 0, extent[0], extent[1], extent[2]};
      value = static_cast<uint8_t>(args[1]), stream = args[3], fill = true, pitched = true;
      break;
    }
  }
  // source: CUDA C++ Programming Guide, dynamic parallelism: kernels copy within the device.
  constexpr uint32_t device_to_device = 3, by_address = 4;
  if (kind != device_to_device && kind != by_address) return invalid_memcpy_direction;
  if (pitched && (rows.height > 1 || rows.depth > 1) &&
      (rows.to_pitch < rows.width || (!fill && rows.from_pitch < rows.width)))
    return invalid_pitch_value;
  // The block may be over before the copy runs.
  // source: CUDA C++ Programming Guide, dynamic parallelism: no shared or local memory is passed.
  if (is_shared(*call.block, rows.to) || (!fill && is_shared(*call.block, rows.from)))
    return invalid_value;
  if (rows.width == 0 || rows.height == 0 || rows.depth == 0) return success;
  if (rows.height > UINT32_MAX || rows.depth > UINT32_MAX) return invalid_value;
  return start(call, fill ? make_fill_grid(rows, value) : make_copy_grid(rows), stream);
}

}  // namespace limen::cpu
