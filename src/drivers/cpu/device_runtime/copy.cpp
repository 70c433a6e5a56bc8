// Grids that copy and fill memory for the device runtime: blocks of native code, one a piece of a
// row. They run as kernels do, so a wild address ends in the context's error.
// Thread rule: constant code; blocks of one grid touch different bytes.
#include <algorithm>
#include <cstring>

#include "drivers/cpu/device_runtime/device_grid.h"

namespace limen::cpu {

namespace {

constexpr uint64_t piece_bytes = 64 << 10;

struct Work {
  MemoryRows rows;
  uint8_t value;
};

struct Piece {
  uint64_t to, from, bytes;
};

Piece piece_of(const kernel::BlockContext& block, const MemoryRows& rows) {
  const uint64_t at = block.ctaid[0] * piece_bytes;
  const uint64_t row = block.ctaid[1], slice = block.ctaid[2];
  return {rows.to + row * rows.to_pitch + slice * rows.to_slice + at,
          rows.from + row * rows.from_pitch + slice * rows.from_slice + at,
          std::min(piece_bytes, rows.width - at)};
}

void copy_block(kernel::BlockContext* block) {
  const auto& work = *reinterpret_cast<const Work*>(block->launch->params);
  const Piece piece = piece_of(*block, work.rows);
  std::memcpy(reinterpret_cast<void*>(piece.to), reinterpret_cast<const void*>(piece.from),
              piece.bytes);
}

void fill_block(kernel::BlockContext* block) {
  const auto& work = *reinterpret_cast<const Work*>(block->launch->params);
  const Piece piece = piece_of(*block, work.rows);
  std::memset(reinterpret_cast<void*>(piece.to), work.value, piece.bytes);
}

std::shared_ptr<const engine::KernelCode> native_code(kernel::BlockFn function, const char* name) {
  auto code = std::make_shared<engine::KernelCode>();
  code->meta.abi_version = kernel::kernel_abi_version;
  code->meta.strategy = kernel::Strategy::region;
  code->meta.width = 32;
  code->block_fn = function;
  code->name = name;
  return code;
}

std::unique_ptr<engine::GridSpec> make_grid(std::shared_ptr<const engine::KernelCode> code,
                                            const Work& work) {
  auto grid = std::make_unique<engine::GridSpec>();
  grid->code = std::move(code);
  grid->params.resize(sizeof work);
  std::memcpy(grid->params.data(), &work, sizeof work);
  grid->grid[0] = static_cast<uint32_t>((work.rows.width + piece_bytes - 1) / piece_bytes);
  grid->grid[1] = static_cast<uint32_t>(work.rows.height);
  grid->grid[2] = static_cast<uint32_t>(work.rows.depth);
  return grid;
}

}  // namespace

std::unique_ptr<engine::GridSpec> make_copy_grid(const MemoryRows& rows) {
  static const auto* code = new auto(native_code(copy_block, "cudaMemcpyAsync of a kernel"));
  return make_grid(*code, {rows, 0});
}

std::unique_ptr<engine::GridSpec> make_fill_grid(const MemoryRows& rows, uint8_t value) {
  static const auto* code = new auto(native_code(fill_block, "cudaMemsetAsync of a kernel"));
  return make_grid(*code, {rows, value});
}

}  // namespace limen::cpu
