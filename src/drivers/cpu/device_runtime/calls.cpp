// The functions of the device runtime, one lane's call each: dispatch, errors, parameter buffers
// and launches. Streams, events, copies and questions are in services.cpp. Invariant: the kernel's
// memory is touched only outside of the HostSection in DeviceGrid::call. Thread rule: as
// device_grid.h.
#include <semaphore>
#include <utility>

#include <fmt/format.h>

#include "base/log.h"
#include "drivers/cpu/device_runtime/device_grid.h"
#include "drivers/cpu/graph/condition.h"
#include "engine/fault.h"

namespace limen::cpu {

namespace {

using kernel::DeviceCall;

constexpr uint64_t tail_launch_stream = 3, fire_and_forget_stream = 4;

DeviceCall function_of(const engine::DeviceCall& call) {
  return static_cast<DeviceCall>(call.function & (kernel::device_call_per_thread - 1));
}

uint32_t word(const engine::DeviceCall& call, size_t argument) {
  return static_cast<uint32_t>(call.args[argument]);
}

void read_dimensions(const engine::DeviceCall& call, size_t argument, uint32_t out[3]) {
  // The structure lies on the calling lane's own stack.
  __builtin_memcpy(out, reinterpret_cast<const void*>(call.args[argument]), 12);
}

/// Runs `work` on a thread with a whole stack of its own and waits: parsing and compiling need more
/// than a fiber has.
template <typename Work>
void on_helper(engine::Pool& pool, Work&& work) {
  auto over = std::make_shared<std::binary_semaphore>(0);
  pool.submit_task(
      [over, &work] {
        work();
        over->release();
      },
      true);
  over->acquire();
}

/// The calling thread within its grid.
uint64_t thread_key(const engine::DeviceCall& call) {
  const kernel::BlockContext& block = *call.block;
  const uint32_t* grid = block.launch->grid;
  const uint64_t linear =
      block.ctaid[0] + uint64_t{grid[0]} * (block.ctaid[1] + uint64_t{grid[1]} * block.ctaid[2]);
  return linear << 11 | call.thread;
}

/// Stands for the block in place of one of its threads, of which there are 1,024 at most.
constexpr uint64_t whole_block = 2047;

}  // namespace

uint64_t DeviceGrid::call(engine::DeviceCall& call) {
  if (call.function == kernel::device_call_current_graph_exec)
    return tree_->environment ? tree_->environment->current_graph_exec() : 0;
  if (function_of(call) >= DeviceCall::graph_kernel_node_set_param &&
      function_of(call) <= DeviceCall::graph_kernel_node_updates_apply)
    return change_nodes(call);
  CallMemory memory;
  if (function_of(call) == DeviceCall::memcpy_3d_async)
    __builtin_memcpy(memory.copy_3d.data(), reinterpret_cast<const void*>(call.args[0]),
                     sizeof memory.copy_3d);
  uint64_t value;
  {
    engine::HostSection host;
    value = dispatch(call, memory);
  }
  if (memory.out != 0 && call.fault == kernel::Fault::none)
    __builtin_memcpy(reinterpret_cast<void*>(memory.out), memory.bytes.data(), memory.out_bytes);
  return value;
}

uint64_t DeviceGrid::dispatch(engine::DeviceCall& call, CallMemory& memory) {
  int code = success;
  switch (function_of(call)) {
    case DeviceCall::graph_set_conditional:
      set_condition(call.args[0], word(call, 1));
      return 0;
    case DeviceCall::graph_launch:
      return static_cast<uint64_t>(graph_launch(call));
    case DeviceCall::graph_kernel_node_set_param:
    case DeviceCall::graph_kernel_node_set_enabled:
    case DeviceCall::graph_kernel_node_set_grid_dim:
    case DeviceCall::graph_kernel_node_updates_apply:
      break;  // change_nodes
    case DeviceCall::get_parameter_buffer:
      return parameter_buffer(call);
    case DeviceCall::get_parameter_buffer_v2:
      return parameter_buffer_v2(call);
    case DeviceCall::get_error_string:
      return reinterpret_cast<uint64_t>(runtime_error_text(static_cast<int>(word(call, 0))));
    case DeviceCall::get_error_name:
      return reinterpret_cast<uint64_t>(runtime_error_name(static_cast<int>(word(call, 0))));
    case DeviceCall::get_last_error:
      return static_cast<uint64_t>(last_error(call, true));
    case DeviceCall::peek_at_last_error:
      return static_cast<uint64_t>(last_error(call, false));
    case DeviceCall::launch_device:
      code = launch_device(call);
      break;
    case DeviceCall::launch_device_v2:
      code = launch_device_v2(call);
      break;
    case DeviceCall::stream_create_with_flags:
      code = stream_create(call, memory);
      break;
    case DeviceCall::stream_destroy:
      code = stream_destroy(call);
      break;
    case DeviceCall::stream_wait_event:
      code = stream_wait_event(call);
      break;
    case DeviceCall::event_create_with_flags:
      code = event_create(call, memory);
      break;
    case DeviceCall::event_record:
    case DeviceCall::event_record_with_flags:
      code = event_record(call);
      break;
    case DeviceCall::event_destroy:
      code = event_destroy(call);
      break;
    case DeviceCall::func_get_attributes:
      code = func_get_attributes(call, memory);
      break;
    case DeviceCall::occupancy:
    case DeviceCall::occupancy_with_flags:
      code = occupancy(call, memory);
      break;
    case DeviceCall::get_device_count:
    case DeviceCall::get_device:
    case DeviceCall::device_get_attribute:
    case DeviceCall::device_get_limit:
    case DeviceCall::device_get_cache_config:
    case DeviceCall::device_get_shared_mem_config:
    case DeviceCall::runtime_get_version:
      code = device_get(call, memory);
      break;
    case DeviceCall::malloc:
    case DeviceCall::free:
      code = allocate(call, memory);
      break;
    case DeviceCall::memcpy_async:
    case DeviceCall::memcpy_2d_async:
    case DeviceCall::memcpy_3d_async:
    case DeviceCall::memset_async:
    case DeviceCall::memset_2d_async:
    case DeviceCall::memset_3d_async:
      code = copy(call, memory);
      break;
  }
  return static_cast<uint64_t>(fail_call(call, code));
}

// ---- Errors ------------------------------------------------------------------------------------

/// Remembers a failure as the calling thread's last error.
int DeviceGrid::fail_call(const engine::DeviceCall& call, int code) {
  if (code == success) return code;
  std::lock_guard lock(mutex_);
  errors_[thread_key(call)] = code;
  return code;
}

int DeviceGrid::last_error(const engine::DeviceCall& call, bool clear) {
  std::lock_guard lock(mutex_);
  auto found = errors_.find(thread_key(call));
  if (found == errors_.end()) return success;
  const int code = found->second;
  if (clear) errors_.erase(found);
  return code;
}

/// What is not built, or cannot be compiled, ends the kernel and fails the context: an error code
/// here would be lost in kernels that look at none.
int DeviceGrid::refuse(engine::DeviceCall& call, const Error& error) const {
  int none = 0;
  if (tree_->context.error.compare_exchange_strong(none, static_cast<int>(error.code)))
    log::write(log::Level::error, error.what);
  call.fault = kernel::Fault::trap;
  call.detail = error.what;
  return invalid_device_function;
}

// ---- Kernels -----------------------------------------------------------------------------------

bool DeviceGrid::find_kernel(uint64_t function, std::shared_ptr<KernelState>* state) const {
  ptx::Index index;
  if (!function_of_token(function, &index)) return false;
  if (!tree_->instance->program().is_kernel(index)) return false;
  *state = tree_->state_of(index);
  return true;
}

Result<KernelNeeds> DeviceGrid::needs_of(KernelState& state) const {
  KernelNeeds known;
  if (state.program->known_needs(state.index, &known)) return known;
  Result<KernelNeeds> needs = KernelNeeds{};
  on_helper(*tree_->context.pool, [&] { needs = state.program->needs(state.index); });
  return needs;
}

/// Checks a launch and fills in all of `grid` but its parameters. Compiles when needed.
int DeviceGrid::prepare(engine::DeviceCall& call, uint64_t function, const LaunchShape& shape,
                        engine::GridSpec& grid) {
  std::shared_ptr<KernelState> state;
  if (!find_kernel(function, &state)) return invalid_device_function;
  const Device& device = tree_->context.device;
  const std::string& name = state->function().name;
  if (CUresult result = check_shape(shape, *state, device)) {
    if (result != CUDA_ERROR_NOT_SUPPORTED) return invalid_configuration;
    return refuse(call, {Code::not_supported,
                         fmt::format("kernel {} cannot be launched by a kernel yet", name), ""});
  }
  auto needs = needs_of(*state);
  if (!needs.ok()) return refuse(call, needs.error());
  if (shape.shared_bytes >
      static_cast<uint32_t>(most_dynamic_shared(*state, needs->static_shared_bytes, device)))
    return invalid_configuration;
  bool is_explicit;
  if (CUresult result = find_cluster(shape, *state, device, nullptr, grid.cluster, &is_explicit))
    return result;
  const bool clusters = uint64_t{grid.cluster[0]} * grid.cluster[1] * grid.cluster[2] > 1;
  const jit::Residency residency = clusters ? jit::Residency::cluster : jit::Residency::free;
  const bool small = is_small(shape);
  Program& program = *state->program;
  grid.code = program.known_version(state->index, shape.block, small, residency);
  if (!grid.code) {
    Result<std::shared_ptr<const engine::KernelCode>> code = grid.code;
    on_helper(*tree_->context.pool,
              [&] { code = program.version(state->index, shape.block, small, residency); });
    if (!code.ok()) {
      Error error = code.error();
      error.what = fmt::format("cannot launch {}: {}", name, error.what);
      return refuse(call, error);
    }
    grid.code = std::move(*code);
  }
  grid.explicit_cluster = is_explicit;
  grid.globals = tree_->instance->addresses();
  grid.dynamic_shared_bytes = shape.shared_bytes;
  for (int i = 0; i < 3; ++i) grid.grid[i] = shape.grid[i], grid.block[i] = shape.block[i];
  // At least a byte: its address names the launch.
  const size_t bytes = std::max<size_t>(state->function().param_bytes, 1);
  if (grid.params.size() < bytes) grid.params.resize(bytes);
  return success;
}

/// Memory for the parameters of a launch, whose kernel is named later.
uint64_t DeviceGrid::parameter_buffer(engine::DeviceCall& call) {
  // source: PTX ISA 9.0, ".param": a kernel's parameters take 32,764 bytes at most.
  constexpr uint64_t most_bytes = 32764, most_alignment = 4096;
  const uint64_t alignment = std::max<uint64_t>(call.args[0], 1), bytes = call.args[1];
  if (bytes > most_bytes || alignment > most_alignment || (alignment & (alignment - 1)) != 0) {
    fail_call(call, invalid_value);
    return 0;
  }
  auto grid = std::make_unique<engine::GridSpec>();
  grid->params.resize(bytes + alignment);
  const auto base = reinterpret_cast<uint64_t>(grid->params.data());
  const uint64_t address = (base + alignment - 1) & ~(alignment - 1);
  std::lock_guard lock(mutex_);
  prepared_[address] = {std::move(grid), address - base};
  return address;
}

uint64_t DeviceGrid::parameter_buffer_v2(engine::DeviceCall& call) {
  LaunchShape shape{};
  read_dimensions(call, 1, shape.grid);
  read_dimensions(call, 2, shape.block);
  shape.shared_bytes = word(call, 3);
  auto grid = std::make_unique<engine::GridSpec>();
  if (int code = prepare(call, call.args[0], shape, *grid)) {
    fail_call(call, code);
    return 0;
  }
  const auto address = reinterpret_cast<uint64_t>(grid->params.data());
  std::lock_guard lock(mutex_);
  prepared_[address] = {std::move(grid), 0};
  return address;
}

DeviceGrid::Prepared DeviceGrid::take_prepared(uint64_t buffer) {
  std::lock_guard lock(mutex_);
  auto found = prepared_.find(buffer);
  if (found == prepared_.end()) return {};
  Prepared prepared = std::move(found->second);
  prepared_.erase(found);
  return prepared;
}

int DeviceGrid::launch_device(engine::DeviceCall& call) {
  Prepared prepared = take_prepared(call.args[1]);
  if (!prepared.grid) return invalid_value;
  LaunchShape shape{};
  read_dimensions(call, 2, shape.grid);
  read_dimensions(call, 3, shape.block);
  shape.shared_bytes = word(call, 4);
  std::vector<uint8_t>& params = prepared.grid->params;
  params.erase(params.begin(), params.begin() + static_cast<ptrdiff_t>(prepared.offset));
  if (int code = prepare(call, call.args[0], shape, *prepared.grid)) return code;
  return start(call, std::move(prepared.grid), call.args[5]);
}

int DeviceGrid::launch_device_v2(engine::DeviceCall& call) {
  Prepared prepared = take_prepared(call.args[0]);
  // A buffer of the first kind does not say which kernel.
  if (!prepared.grid || !prepared.grid->code) return invalid_value;
  return start(call, std::move(prepared.grid), call.args[1]);
}

// ---- Launches ----------------------------------------------------------------------------------

/// The stream a handle means to the calling thread; nullptr: none of this grid's.
std::shared_ptr<Stream> DeviceGrid::find_stream(const engine::DeviceCall& call, uint64_t handle) {
  constexpr uint64_t legacy = 1, per_thread = 2;
  const bool own = handle == per_thread ||
                   (handle == 0 && (call.function & kernel::device_call_per_thread) != 0);
  if (own) return own_stream(thread_key(call));
  if (handle <= legacy) return own_stream(thread_key(call) | whole_block);
  std::lock_guard lock(mutex_);
  auto found = streams_.find(handle);
  return found == streams_.end() ? nullptr : found->second;
}

/// The unnamed stream of a block, or of a thread.
std::shared_ptr<Stream> DeviceGrid::own_stream(uint64_t key) {
  std::lock_guard lock(mutex_);
  if (own_streams_.size() >= own_streams_swept_) {
    // Those of blocks long over. An idle one makes no difference to a new one.
    std::erase_if(own_streams_, [](const auto& entry) {
      return entry.second.use_count() == 1 && entry.second->idle();
    });
    own_streams_swept_ = 2 * own_streams_.size() + 64;
  }
  std::shared_ptr<Stream>& stream = own_streams_[key];
  if (!stream) stream = std::make_shared<Stream>(tree_->context, Stream::Kind::non_blocking, 0);
  return stream;
}

/// Hands a grid to its stream.
int DeviceGrid::start(const engine::DeviceCall& call, std::unique_ptr<engine::GridSpec> grid,
                      uint64_t stream) {
  const bool tail = stream == tail_launch_stream, forget = stream == fire_and_forget_stream;
  std::shared_ptr<Stream> on;
  // source: measured on an H200: any other handle, also that of another grid's stream, is code 1.
  if (!tail && !forget && !(on = find_stream(call, stream))) return invalid_value;
  Context& context = tree_->context;
  if (!tail) tree_->take_launch();
  auto child = std::make_shared<DeviceGrid>(tree_, shared_from_this(), tail ? depth_ : depth_ + 1);
  child->pending_ = !tail;
  attach_context(*grid, context);
  grid->keep_alive = tree_->instance;
  grid->priority = child->priority();
  grid->children = child;
  if (!on)
    grid->done = [&context](const engine::FaultInfo& fault) {
      if (fault.kind != kernel::Fault::none) context.kernel_failed(fault);
    };
  {
    std::lock_guard lock(mutex_);
    if (tail) {
      // source: measured on an H200: none of these begins before the grid is over, and the limit
      // is exact.
      if (tails_.size() >= context.pending_launches.load(std::memory_order_relaxed))
        return launch_pending_count_exceeded;
      tails_.push_back(std::move(grid));
      return success;
    }
    ++open_;
    child->counted_ = true;
  }
  child.reset();
  if (on)
    on->launch(std::move(grid));
  else if (context.error.load(std::memory_order_acquire) == 0)
    context.pool->submit(std::move(grid));
  return success;
}

}  // namespace limen::cpu
