// Services for generated code; see services.h and devlib/kernel_abi.h.
// Invariant: a service reads the kernel's memory only while it holds no lock and no C++ resource of
// its own (buffers belong to the worker), because such a read may land the worker elsewhere.
#include "engine/services.h"

#include <fmt/format.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "devlib/device_runtime.h"
#include "engine/block_set.h"
#include "engine/grid.h"
#include "engine/machine.h"
#include "engine/printf.h"
#include "engine/rounded.h"
#include "engine/tensor_copy.h"
#include "engine/texture_service.h"
#include "engine/worker.h"

namespace limen::engine {
namespace {

using kernel::BlockContext;
using kernel::Fault;
using kernel::WarpContext;

BlockRecord& record_of(BlockContext* context) { return *static_cast<BlockRecord*>(context->block); }

[[noreturn]] void stop(BlockContext* context, PendingFault pending) {
  Worker& worker = *record_of(context).worker;
  pending.set = true;
  worker.pending = std::move(pending);
  worker.stop_kernel();
}

/// Services that enter the C library or the driver need room: running out of stack in there could
/// leave a lock held, and a fault inside a driver callback would not be the kernel's.
void require_stack(BlockContext* context) {
  constexpr uint64_t needed_bytes = 24 * 1024;
  const KernelThread& thread = record_of(context).worker->thread;
  const auto here = reinterpret_cast<uint64_t>(__builtin_frame_address(0));
  if (here >= thread.stack_begin + needed_bytes) return;
  PendingFault pending;
  pending.kind = Fault::stack_overflow;
  pending.detail = "no room left for a runtime service";
  stop(context, std::move(pending));
}

/// A fiber strategy's service needs its fiber; under the region strategy the compiler was wrong.
Fiber& fiber_of(BlockContext* context, WarpContext* warp, const char* service) {
  BlockRecord& record = record_of(context);
  if (!record.fibers || warp == nullptr) {
    PendingFault pending;
    pending.kind = Fault::lanes_apart;
    pending.detail = fmt::format("{} was called under the region strategy", service);
    stop(context, std::move(pending));
  }
  return *static_cast<Fiber*>(warp->fiber);
}

// An attribute of the type, not only of the declaration: clang compares it with the member's.
__attribute__((noreturn)) void service_fault(BlockContext* context, uint32_t kind, uint32_t warp,
                                             uint32_t lane, uint32_t line, uint64_t address) {
  PendingFault pending;
  pending.kind = kind == 0 || kind > static_cast<uint32_t>(Fault::no_multicast)
                     ? Fault::trap
                     : static_cast<Fault>(kind);
  // Warps of 32 lanes here, whatever the width of the code's vectors.
  if (warp != UINT32_MAX && lane < 32) pending.thread = warp * 32 + lane;
  pending.line = line;
  pending.address = address;
  stop(context, std::move(pending));
}

int32_t service_vprintf(BlockContext* context, uint64_t format, uint64_t args) {
  require_stack(context);
  BlockRecord& record = record_of(context);
  std::string& text = record.worker->text;
  text.clear();
  const int32_t count = format_printf(text, reinterpret_cast<const char*>(format),
                                      reinterpret_cast<const uint8_t*>(args));
  if (!text.empty()) {
    HostSection host;
    record.grid->print(text.data(), text.size());
  }
  return count;
}

/// Appends a device string of characters `char_size` bytes wide; may fault while measuring.
void append_device_string(std::string& out, uint64_t address, uint64_t char_size) {
  if (address == 0) {
    out += "(null)";
    return;
  }
  constexpr size_t longest = 4096;
  const auto* bytes = reinterpret_cast<const volatile uint8_t*>(address);
  const uint64_t step = char_size == 2 || char_size == 4 ? char_size : 1;
  for (size_t i = 0; i < longest && bytes[i * step] != 0; ++i)
    out.push_back(static_cast<char>(bytes[i * step]));
}

void service_assert_note(BlockContext* context, uint32_t thread, uint64_t message, uint64_t file,
                         uint32_t line, uint64_t function, uint64_t char_size) {
  require_stack(context);
  BlockRecord& record = record_of(context);
  uint32_t at[3] = {0, 0, 0};
  thread_coordinates(record.grid->launch.block, thread, at);
  const uint32_t* block = context->ctaid;
  std::string& text = record.worker->text;
  text.clear();
  append_device_string(text, file, char_size);
  fmt::format_to(std::back_inserter(text), ":{}: ", line);
  append_device_string(text, function, char_size);
  fmt::format_to(std::back_inserter(text), ": block: [{},{},{}], thread: [{},{},{}] Assertion `",
                 block[0], block[1], block[2], at[0], at[1], at[2]);
  append_device_string(text, message, char_size);
  text += "` failed.\n";
  // Straight to the descriptor: one write a message keeps lines of several workers apart.
  HostSection host;
  for (size_t done = 0; done < text.size();) {
    const ssize_t written = write(STDERR_FILENO, text.data() + done, text.size() - done);
    if (written <= 0) break;
    done += static_cast<size_t>(written);
  }
}

void service_assertfail(BlockContext* context, uint32_t thread, uint64_t message, uint64_t file,
                        uint32_t line, uint64_t function, uint64_t char_size) {
  service_assert_note(context, thread, message, file, line, function, char_size);
  PendingFault pending;
  pending.kind = Fault::assert_failed;
  pending.thread = thread;
  stop(context, std::move(pending));
}

uint64_t service_malloc(BlockContext* context, uint64_t bytes) {
  require_stack(context);
  HostSection host;
  const auto& allocate = record_of(context).grid->spec->device_malloc;
  return allocate ? allocate(bytes) : 0;
}

void service_free(BlockContext* context, uint64_t address) {
  if (address == 0) return;
  require_stack(context);
  {
    HostSection host;
    const auto& release = record_of(context).grid->spec->device_free;
    if (release && release(address)) return;
  }
  PendingFault pending;
  pending.kind = Fault::trap;
  pending.address = address;
  pending.detail = "free of what is no live block of the device heap";
  stop(context, std::move(pending));
}

uint32_t service_barrier(BlockContext* context, WarpContext* warp, uint32_t id, uint32_t threads,
                         uint32_t arriving, uint32_t mode, uint32_t predicates) {
  Fiber& fiber = fiber_of(context, warp, "barrier");
  if (id >= BarrierSet::count) {
    PendingFault pending;
    pending.kind = Fault::illegal_instruction;
    pending.detail = fmt::format("barrier {} of {}", id, BarrierSet::count);
    stop(context, std::move(pending));
  }
  return record_of(context).worker->blocks().barrier(fiber, id, threads, mode, predicates);
}

void service_cluster_barrier(BlockContext* context, WarpContext* warp, uint32_t mode,
                             uint32_t line) {
  Fiber& fiber = fiber_of(context, warp, "barrier.cluster");
  if (record_of(context).worker->blocks().cluster_barrier(fiber, mode == 1)) return;
  PendingFault pending;
  pending.kind = Fault::illegal_instruction;
  pending.line = line;
  pending.detail = mode == 1 ? "barrier.cluster.wait of threads that have not arrived"
                             : "barrier.cluster.arrive of threads that have arrived and not waited";
  stop(context, std::move(pending));
}

uint64_t service_try_cancel(BlockContext* context) {
  GridRun& grid = *record_of(context).grid;
  uint64_t linear = 0;
  if (grid.cancelled() || !grid.take_unbegun(linear)) return 0;
  uint32_t at[3];
  block_coordinates(grid.launch, linear, at);
  return uint64_t{1} << 63 | uint64_t{at[2]} << 47 | uint64_t{at[1]} << 31 | at[0];
}

const kernel::Exchange* service_exchange(BlockContext* context, WarpContext* warp, uint32_t member,
                                         uint32_t tag, uint64_t value) {
  require_stack(context);
  Fiber& fiber = fiber_of(context, warp, "exchange");
  if (!fiber.block->lanes || (member >> fiber.context.lane & 1) == 0) {
    PendingFault pending;
    pending.kind = Fault::lanes_apart;
    pending.detail =
        fmt::format("lane {} is not in its own member mask {:#010x}", fiber.context.lane, member);
    stop(context, std::move(pending));
  }
  return record_of(context).worker->blocks().exchange(fiber, member, tag, value);
}

/// Region strategy: the only chance to notice that the grid was cancelled.
void leave_if_cancelled(BlockContext* context) {
  if (record_of(context).grid->cancelled()) stop(context, PendingFault{});
}

void service_yield(BlockContext* context, WarpContext* warp) {
  if (record_of(context).fibers && warp != nullptr)
    FiberPool::suspend(static_cast<Fiber*>(warp->fiber), FiberEvent::yielded);
  else
    leave_if_cancelled(context);
}

void service_nanosleep(BlockContext* context, WarpContext* warp, uint32_t nanoseconds) {
  // source: PTX ISA 9.0, "nanosleep": the duration is capped at 1 ms.
  const uint32_t length = std::min(nanoseconds, 1'000'000u);
  BlockRecord& record = record_of(context);
  if (record.fibers && warp != nullptr) {
    record.worker->blocks().sleep(*static_cast<Fiber*>(warp->fiber), length);
    return;
  }
  leave_if_cancelled(context);
  const timespec duration{0, static_cast<long>(length)};
  if (length != 0) clock_nanosleep(CLOCK_MONOTONIC, 0, &duration, nullptr);
}

void service_texture(BlockContext* context, uint64_t op, uint32_t width, uint32_t lanes,
                     uint32_t thread, uint32_t line, const uint64_t* handles, const uint32_t* in,
                     uint32_t* out) {
  const GridSpec& spec = *record_of(context).grid->spec;
  TextureCall call{std::bit_cast<kernel::TextureOp>(op), width, lanes, handles, in, out};
  // Filtering must not depend on the kernel's flush mode. Not read back: read_float_control() says why.
  const uint32_t flushes = spec.code->meta.flush_denormals;
  if (flushes != 0) write_float_control(float_control_default);
  const TextureError error = run_texture({spec.textures, spec.bindings.get()}, call);
  if (flushes != 0) write_float_control(float_control_of_kernel(flushes));
  if (error.what == nullptr) return;
  PendingFault pending;
  pending.kind = error.kind;
  pending.thread = thread + error.lane;
  pending.line = line;
  pending.detail = error.what;
  stop(context, std::move(pending));
}

uint64_t service_device_call(BlockContext* context, WarpContext*, uint32_t function,
                             uint32_t thread, uint32_t line, const uint64_t* args) {
  require_stack(context);
  GridRun& grid = *record_of(context).grid;
  ChildGrids* children = grid.spec->children.get();
  // Launched neither by a graph that kernels may launch nor with the device runtime: no graph.
  if (children == nullptr && function == kernel::device_call_current_graph_exec) return 0;
  PendingFault pending;
  if (children == nullptr) {
    pending.kind = Fault::illegal_instruction;
    pending.detail = "this launch has no device runtime";
  } else {
    {
      // What a child prints comes after what its parent printed before the launch.
      HostSection host;
      grid.flush_text();
    }
    DeviceCall call{context, function, thread, line, args, Fault::none, {}};
    const uint64_t value = children->call(call);
    if (call.fault == Fault::none) return value;
    pending.kind = call.fault;
    pending.detail = std::move(call.detail);
  }
  pending.thread = thread;
  pending.line = line;
  stop(context, std::move(pending));
}

uint64_t service_tensor(BlockContext* context, uint64_t op, uint32_t thread, uint64_t map,
                        uint64_t shared, const int32_t* words) {
  // Reductions must not depend on the kernel's flush mode.
  const FloatControl kernel_control = read_float_control();
  write_float_control(float_control_default);
  const auto replacement = std::bit_cast<kernel::TensorReplacement>(op);
  const bool replaces = replacement.mark == kernel::tensor_replacement_mark;
  const TensorCall call{std::bit_cast<kernel::TensorOp>(op), map, shared, words};
  uint64_t value = 0;
  if (replaces) std::memcpy(&value, words, sizeof value);
  const TensorResult result =
      replaces ? replace_field(replacement, map, value) : run_tensor(*context, call);
  write_float_control(kernel_control);
  if (result.what == nullptr) return result.bytes;
  PendingFault pending;
  pending.kind = result.kind;
  pending.thread = thread;
  pending.line = call.op.line;  // at one place in both
  pending.address = result.address;
  pending.detail = result.what;
  stop(context, std::move(pending));
}

uint64_t service_globaltimer() {
  timespec t;
  clock_gettime(CLOCK_REALTIME, &t);
  return static_cast<uint64_t>(t.tv_sec) * 1'000'000'000u + static_cast<uint64_t>(t.tv_nsec);
}

}  // namespace

const kernel::Runtime runtime_table = {service_fault,       service_vprintf,
                                       service_assertfail,  service_malloc,
                                       service_free,        service_barrier,
                                       service_exchange,    service_yield,
                                       service_nanosleep,   service_globaltimer,
                                       rounded_f32,         rounded_f64,
                                       service_assert_note, service_texture,
                                       service_tensor,      service_device_call,
                                       {},                  service_cluster_barrier,
                                       service_try_cancel};

}  // namespace limen::engine
