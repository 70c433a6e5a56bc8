// The bytes' work. A large job is cut into pieces that the calling thread and idle workers claim
// one by one: the caller never waits for a worker that is busy elsewhere, only for pieces in
// progress. Thread rule: see the header.
#include "drivers/cpu/memory/transfer.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <functional>
#include <memory>
#include <thread>

namespace limen::cpu {

namespace {

constexpr uint64_t share_above_bytes = 4 << 20;
constexpr uint64_t piece_bytes = 1 << 20;

struct SharedWork {
  std::function<void(uint64_t)> piece;
  uint64_t count = 0;
  std::atomic<uint64_t> next{0}, done{0};

  void help() {
    for (uint64_t i; (i = next.fetch_add(1)) < count;) {
      piece(i);
      done.fetch_add(1, std::memory_order_release);
    }
  }
};

void share(engine::Pool* helpers, uint64_t count, std::function<void(uint64_t)> piece) {
  auto work = std::make_shared<SharedWork>();
  work->piece = std::move(piece);
  work->count = count;
  uint64_t others = std::min<uint64_t>(helpers->threads(), count) - 1;
  for (uint64_t i = 0; i < others; ++i) helpers->submit_task([work] { work->help(); });
  work->help();
  while (work->done.load(std::memory_order_acquire) < count) std::this_thread::yield();
}

void copy_bytes(uint64_t dst, uint64_t src, uint64_t bytes) {
  std::memmove(reinterpret_cast<void*>(dst), reinterpret_cast<const void*>(src), bytes);
}

/// A row of a job with a sparse array on a side, piece by piece.
void copy_tiled_row(const Transfer& job, uint64_t slice, uint64_t row) {
  auto place = [&](const engine::TileMap* tiles, uint64_t base, uint64_t pitch, uint64_t step,
                   uint64_t x, uint64_t* run) {
    if (tiles) return tiles->at(base + x, pitch + row, step + slice, run);
    *run = job.width - x;
    return reinterpret_cast<uint8_t*>(base + slice * step + row * pitch + x);
  };
  for (uint64_t x = 0; x < job.width;) {
    uint64_t to_run, from_run;
    uint8_t* to = place(job.dst_tiles, job.dst, job.dst_pitch, job.dst_slice, x, &to_run);
    const uint8_t* from = place(job.src_tiles, job.src, job.src_pitch, job.src_slice, x, &from_run);
    const uint64_t bytes = std::min({to_run, from_run, job.width - x});
    if (to && from)
      std::memmove(to, from, bytes);
    else if (to)
      std::memset(to, 0, bytes);
    x += bytes;
  }
}

void fill_row(uint64_t dst, uint64_t elements, uint32_t value, uint32_t element_bytes) {
  if (element_bytes == 1)
    std::memset(reinterpret_cast<void*>(dst), int(value), elements);
  else if (element_bytes == 2)
    std::fill_n(reinterpret_cast<uint16_t*>(dst), elements, static_cast<uint16_t>(value));
  else
    std::fill_n(reinterpret_cast<uint32_t*>(dst), elements, value);
}

}  // namespace

void Transfer::run(engine::Pool* helpers) const {
  const bool tiled = dst_tiles || src_tiles;
  bool whole =
      !tiled && (height * depth == 1 ||
                 (dst_pitch == width && src_pitch == width &&
                  (depth == 1 || (dst_slice == width * height && src_slice == width * height))));
  bool large = helpers && helpers->threads() > 1 && bytes() >= share_above_bytes;
  if (whole && !large) return copy_bytes(dst, src, bytes());
  if (whole) {
    bool overlap = dst < src + bytes() && src < dst + bytes();
    if (overlap) return copy_bytes(dst, src, bytes());
    uint64_t total = bytes();
    share(helpers, (total + piece_bytes - 1) / piece_bytes, [this, total](uint64_t i) {
      uint64_t at = i * piece_bytes;
      copy_bytes(dst + at, src + at, std::min(piece_bytes, total - at));
    });
    return;
  }
  uint64_t rows_a_piece =
      large ? std::max<uint64_t>(1, piece_bytes / std::max<uint64_t>(width, 1)) : height * depth;
  uint64_t rows = height * depth;
  auto copy_rows = [this, rows_a_piece, rows, tiled](uint64_t i) {
    for (uint64_t r = i * rows_a_piece, end = std::min(rows, r + rows_a_piece); r < end; ++r) {
      uint64_t slice = r / height, row = r % height;
      if (tiled) {
        copy_tiled_row(*this, slice, row);
        continue;
      }
      copy_bytes(dst + slice * dst_slice + row * dst_pitch,
                 src + slice * src_slice + row * src_pitch, width);
    }
  };
  if (!large) return copy_rows(0);
  share(helpers, (rows + rows_a_piece - 1) / rows_a_piece, copy_rows);
}

void Fill::run(engine::Pool* helpers) const {
  bool large = helpers && helpers->threads() > 1 && bytes() >= share_above_bytes;
  uint64_t row_bytes = width * element_bytes;
  if (large && (height == 1 || pitch == row_bytes)) {
    uint64_t elements = width * height, a_piece = piece_bytes / element_bytes;
    share(helpers, (elements + a_piece - 1) / a_piece, [this, elements, a_piece](uint64_t i) {
      uint64_t at = i * a_piece;
      fill_row(dst + at * element_bytes, std::min(a_piece, elements - at), value, element_bytes);
    });
    return;
  }
  for (uint64_t row = 0; row < height; ++row)
    fill_row(dst + row * pitch, width, value, element_bytes);
}

}  // namespace limen::cpu
