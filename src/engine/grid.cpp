// The record of one launch; see grid.h.
#include "engine/grid.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <iterator>

#include "engine/services.h"
#include "engine/stacks.h"

namespace limen::engine {
namespace {
constexpr size_t text_flush_bytes = 64 * 1024;
constexpr uint32_t most_multiprocessors = 160;  // of any GPU so far
/// What a fiber needs beside its code's frames and its threads' calls: services, printf, a
/// signal's frame.
constexpr size_t own_stack_bytes = 64 * 1024;

const char* kind_words(kernel::Fault kind) {
  switch (kind) {
    case kernel::Fault::none:
      return "no fault";
    case kernel::Fault::illegal_address:
      return "illegal memory address";
    case kernel::Fault::misaligned_address:
      return "misaligned address";
    case kernel::Fault::trap:
      return "trap";
    case kernel::Fault::assert_failed:
      return "assertion failed";
    case kernel::Fault::stack_overflow:
      return "stack overflow";
    case kernel::Fault::illegal_instruction:
      return "illegal instruction";
    case kernel::Fault::invalid_pc:
      return "call of what is no function";
    case kernel::Fault::lanes_apart:
      return "member lanes of a .sync instruction are not together";
    case kernel::Fault::deadlock:
      return "deadlock";
    case kernel::Fault::invalid_address_space:
      return "address outside its state space";
    case kernel::Fault::out_of_resources:
      return "out of resources";
    case kernel::Fault::no_multicast:
      return "multimem.ld_reduce outside of multicast objects, at address";
  }
  return "unknown fault";
}

uint32_t fibers_of_block(const kernel::KernelMeta& meta, uint32_t threads) {
  if (meta.strategy == kernel::Strategy::region) return 0;
  const uint32_t width = meta.strategy == kernel::Strategy::lane ? 1 : std::max(1u, meta.width);
  return (threads + width - 1) / width;
}

}  // namespace

size_t bonus_stack_limit() { return StackStore::limit() / 4 * 3; }

uint64_t most_resident_blocks(const kernel::KernelMeta& meta, uint32_t block_threads) {
  const uint32_t fibers = fibers_of_block(meta, block_threads);
  return fibers == 0 ? UINT64_MAX : bonus_stack_limit() / fibers;
}

void GridRun::start(std::unique_ptr<GridSpec> new_spec) {
  spec = std::move(new_spec);
  partition = spec->partition;
  const kernel::KernelMeta& meta = spec->code->meta;
  launch.params = spec->params.data();
  launch.globals = spec->globals;
  launch.runtime = &runtime_table;
  std::copy(std::begin(spec->grid), std::end(spec->grid), launch.grid);
  std::copy(std::begin(spec->block), std::end(spec->block), launch.block);
  launch.dynamic_shared_bytes = spec->dynamic_shared_bytes;
  launch.shared_bytes = meta.static_shared_bytes + spec->dynamic_shared_bytes;
  launch.grid_id = spec->grid_id;
  launch.sm_count = spec->sm_count;
  launch.cancel = 0;
  if (spec->children) spec->children->begin(&launch.cancel);
  launch.launch = this;
  total = uint64_t{spec->grid[0]} * spec->grid[1] * spec->grid[2];
  block_threads = spec->block[0] * spec->block[1] * spec->block[2];
  priority = spec->priority;
  fibers = meta.strategy != kernel::Strategy::region;
  cooperative = spec->cooperative;
  std::copy(std::begin(spec->cluster), std::end(spec->cluster), launch.cluster);
  launch.explicit_cluster = spec->explicit_cluster;
  launch.workspace = 0;
  if (spec->cooperative) {
    std::fill(std::begin(workspace), std::end(workspace), uint8_t{0});
    launch.workspace = reinterpret_cast<uint64_t>(&workspace);
  }
  cluster_blocks = spec->cluster[0] * spec->cluster[1] * spec->cluster[2];
  fibers_per_cluster = 0;
  fiber_stack_bytes = 0;
  if (fibers) {
    const uint32_t lanes = meta.strategy == kernel::Strategy::lane ? 1 : std::max(1u, meta.width);
    // Powers of two: workers hold stacks of one size, and stores of them are kept a size.
    fiber_stack_bytes =
        std::bit_ceil(spec->stack_bytes * lanes + meta.native_frame_bytes + own_stack_bytes);
    fibers_per_cluster = fibers_of_block(meta, block_threads) * cluster_blocks;
    const uint32_t per_sm = std::clamp(2048u / std::max(1u, block_threads), 1u, 32u);
    // Programs count on more blocks at once than a small machine has multiprocessors for (24 are
    // written into ECL-BH). They are let in only where blocks wait, so the largest GPU's number
    // costs nobody anything.
    const uint64_t limit = uint64_t{std::max(most_multiprocessors, spec->sm_count)} * per_sm;
    const uint64_t whole = std::max<uint64_t>(limit / cluster_blocks, 1) * cluster_blocks;
    const uint64_t blocks = spec->cooperative ? total : std::min(total, whole);
    resident_limit = static_cast<uint32_t>(std::min<uint64_t>(blocks, UINT32_MAX));
  }
  next.store(0, std::memory_order_relaxed);
  finished.store(0, std::memory_order_relaxed);
  resident.store(0, std::memory_order_relaxed);
}

void GridRun::record_fault(FaultInfo info) {
  fault_lock.lock();
  if (fault.kind == kernel::Fault::none) fault = std::move(info);
  fault_lock.unlock();
  __atomic_store_n(&launch.cancel, 1u, __ATOMIC_RELEASE);
}

void GridRun::print(const char* data, size_t bytes) {
  text_lock.lock();
  text.append(data, bytes);
  if (text.size() >= text_flush_bytes) {
    if (spec->print) spec->print(text.data(), text.size());
    text.clear();
  }
  text_lock.unlock();
}

void GridRun::flush_text() {
  text_lock.lock();
  if (!text.empty() && spec->print) spec->print(text.data(), text.size());
  text.clear();
  text_lock.unlock();
}

void block_coordinates(const kernel::LaunchContext& launch, uint64_t linear, uint32_t out[3]) {
  const uint32_t* cluster = launch.cluster;
  const uint32_t size = cluster[0] * cluster[1] * cluster[2];
  if (size > 1) {
    const auto rank = static_cast<uint32_t>(linear % size);
    const uint32_t wide = launch.grid[0] / cluster[0], high = launch.grid[1] / cluster[1];
    const uint64_t at = linear / size;
    out[0] = static_cast<uint32_t>(at % wide) * cluster[0] + rank % cluster[0];
    out[1] = static_cast<uint32_t>(at / wide % high) * cluster[1] + rank / cluster[0] % cluster[1];
    out[2] = static_cast<uint32_t>(at / wide / high) * cluster[2] + rank / cluster[0] / cluster[1];
    return;
  }
  out[0] = static_cast<uint32_t>(linear % launch.grid[0]);
  const uint64_t rest = linear / launch.grid[0];
  out[1] = static_cast<uint32_t>(rest % launch.grid[1]);
  out[2] = static_cast<uint32_t>(rest / launch.grid[1]);
}

void thread_coordinates(const uint32_t block[3], uint32_t linear, uint32_t out[3]) {
  out[0] = linear % block[0];
  out[1] = linear / block[0] % block[1];
  out[2] = linear / block[0] / block[1];
}

void describe_fault(FaultInfo& info, const std::string& kernel_name, const std::string& detail) {
  std::string text = fmt::format("kernel {}: {}", kernel_name, kind_words(info.kind));
  if (info.address != 0 && info.kind != kernel::Fault::deadlock)
    text += fmt::format(" {:#x}", info.address);
  if (!detail.empty()) text += fmt::format(" ({})", detail);
  text += fmt::format(" in block ({},{},{})", info.ctaid[0], info.ctaid[1], info.ctaid[2]);
  if (info.thread_known)
    text += fmt::format(" thread ({},{},{})", info.thread[0], info.thread[1], info.thread[2]);
  if (info.line != 0) text += fmt::format(" at PTX line {}", info.line);
  info.message = std::move(text);
}

}  // namespace limen::engine
