// Tensor maps: every swizzle, interleave, rank, type, fill and traversal stride, tiled and im2col,
// loads, stores, reductions and multicast, against model.h; the encode functions' answers to good
// and bad arguments; and what a kernel that uses a map wrongly ends with. Modes: none: all of it.
// --table: the encode functions' codes. --faults: codes of wrong use, each in a child process.
// --seed N: other random boxes. An H200 (driver 580.159.04) answered what is expected here; what
// compute capability 10 adds has been asked of no GPU.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "check.h"
#include "kernels.h"
#include "model.h"
#include "reductions.h"
#include "table.h"

using EncodeTiled = decltype(&cuTensorMapEncodeTiled);
using EncodeIm2col = decltype(&cuTensorMapEncodeIm2col);
using EncodeWide = decltype(&cuTensorMapEncodeIm2colWide);
using Replace = decltype(&cuTensorMapReplaceAddress);

static EncodeTiled encode_tiled;
static EncodeIm2col encode_im2col;
static EncodeWide encode_wide;
static Replace replace_address;
static int capability;
static Verdict verdict;

template <typename F>
static void find(const char* name, F* function) {
  cudaDriverEntryPointQueryResult how;
  void* p = nullptr;
  CHECK(cudaGetDriverEntryPointByVersion(name, &p, CUDART_VERSION, cudaEnableDefault, &how));
  if (how != cudaDriverEntryPointSuccess)
    std::printf("%s: not found (%d)\nFAILED\n", name, how), std::exit(1);
  *function = (F)p;
}

static uint8_t *device_tensor, *device_out;
constexpr size_t tensor_room = 640 << 10, margin = 16 << 10;

static void begin() {
  CHECK(cudaFree(nullptr));
  find("cuTensorMapEncodeTiled", &encode_tiled);
  find("cuTensorMapEncodeIm2col", &encode_im2col);
  find("cuTensorMapEncodeIm2colWide", &encode_wide);
  find("cuTensorMapReplaceAddress", &replace_address);
  cudaDeviceProp p;
  CHECK(cudaGetDeviceProperties(&p, 0));
  capability = p.major * 10 + p.minor;
  CHECK(cudaMalloc(&device_tensor, tensor_room));
  CHECK(cudaMalloc(&device_out, shared_bytes + 64));
  const int dynamic = shared_bytes + 64;
  CHECK(cudaFuncSetAttribute(load, cudaFuncAttributeMaxDynamicSharedMemorySize, dynamic));
  CHECK(cudaFuncSetAttribute(put, cudaFuncAttributeMaxDynamicSharedMemorySize, dynamic));
}

/// Where the test's tensors begin: not at the start of an allocation, and not aligned to more than
/// needed.
static uint8_t* tensor_at() { return device_tensor + margin + 32; }

static CUresult encode(const Case& c, CUtensorMap* map) {
  void* at = tensor_at();
  auto type = (CUtensorMapDataType)c.type;
  auto interleave = (CUtensorMapInterleave)c.interleave;
  auto swizzle = (CUtensorMapSwizzle)c.swizzle;
  auto fill = (CUtensorMapFloatOOBfill)c.fill;
  const auto promotion = CU_TENSOR_MAP_L2_PROMOTION_L2_128B;
  const auto* dims = (const cuuint64_t*)c.dims;
  const auto* strides = (const cuuint64_t*)c.strides;
  if (c.mode == im2col)
    return encode_im2col(map, type, c.rank, at, dims, strides, c.lower, c.upper, c.channels,
                         c.pixels, c.steps, interleave, swizzle, promotion, fill);
  if (c.mode == im2col_w)
    return encode_wide(map, type, c.rank, at, dims, strides, c.lower[0], c.upper[0], c.channels,
                       c.pixels, c.steps, interleave, CU_TENSOR_MAP_IM2COL_WIDE_MODE_W, swizzle,
                       promotion, fill);
  return encode_tiled(map, type, c.rank, at, dims, strides, c.box, c.steps, interleave, swizzle,
                      promotion, fill);
}

static Args arguments(const Case& c, uint32_t bytes) {
  Args a{c.mode, c.rank, c.form, c.base, bytes, {}, {}};
  for (int i = 0; i < 5; ++i) a.at[i] = c.at[i];
  for (int i = 0; i < 3; ++i) a.info[i] = (unsigned short)c.info[i];
  return a;
}

static void describe(const Case& c) {
  std::printf("  %s: type %d rank %d mode %d interleave %d swizzle %d fill %d base %u form %d",
              c.name.c_str(), c.type, c.rank, c.mode, c.interleave, c.swizzle, c.fill, c.base,
              c.form);
  for (int i = 0; i < c.rank; ++i)
    std::printf(" | size %llu stride %llu box %u step %u at %d", (unsigned long long)c.dims[i],
                i ? (unsigned long long)c.strides[i - 1] : 0ull, c.box[i], c.steps[i], c.at[i]);
  if (c.mode != tile)
    std::printf(" | channels %u pixels %u lower %d %d %d upper %d %d %d info %d %d %d", c.channels,
                c.pixels, c.lower[0], c.lower[1], c.lower[2], c.upper[0], c.upper[1], c.upper[2],
                c.info[0], c.info[1], c.info[2]);
  if (c.mode == gather4) std::printf(" | rows %d %d %d %d", c.at[1], c.at[2], c.at[3], c.at[4]);
  std::printf("\n");
}

/// Prints words that differ, as `offset: got / want`; offsets count from `origin`.
static bool same(const Case& c, const std::vector<uint8_t>& got, const std::vector<uint8_t>& want,
                 size_t bytes, const char* what, size_t origin = 0) {
  if (std::memcmp(got.data(), want.data(), bytes) == 0) return true;
  verdict.failures++;
  int shown = 0, wrong = 0;
  for (size_t i = 0; i + 4 <= bytes; i += 4) wrong += std::memcmp(&got[i], &want[i], 4) != 0;
  std::printf("wrong: %s, %d words\n", what, wrong);
  describe(c);
  for (size_t i = 0; i + 4 <= bytes && shown < 40; i += 4) {
    uint32_t g, w;
    std::memcpy(&g, &got[i], 4);
    std::memcpy(&w, &want[i], 4);
    if (g == w) continue;
    std::printf("%s%lld: %08x / %08x", shown % 4 ? ",  " : "    ", (long long)i - (long long)origin,
                g, w);
    if (++shown % 4 == 0) std::printf("\n");
  }
  std::printf("\n");
  return false;
}

/// The tensor's memory: words that tell where they are, or numbers with every edge.
static std::vector<uint8_t> contents(const Case& c, size_t bytes, uint64_t seed) {
  std::vector<uint8_t> data((bytes + 15) / 16 * 16 + 16);
  Random random(seed);
  static const uint32_t edges[] = {0x3f801001, 0x3f803000, 0x3f805000, 0x3f801000, 0xbf801000,
                                   0xbf803000, 0x80000001, 0x00000001, 0x007fffff, 0x7f800001,
                                   0x7fc00001, 0xff800001, 0x7f800000, 0xff800000, 0x3fffffff,
                                   0x00002000, 0x80000000, 0x7f7fffff, 0x00001000, 0x00003000,
                                   0x7f7ff000, 0xff7fefff};
  const bool numbers =
      c.type == CU_TENSOR_MAP_DATA_TYPE_FLOAT32 || c.type >= CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ;
  for (size_t i = 0; i * 4 < data.size(); ++i) {
    uint32_t word = uint32_t(i) * 4 + 1;
    if (bits_of(c.type) < 32) word = random.bits();
    if (numbers && c.type < 13) word = random.below(2) ? edges[random.below(22)] : random.bits();
    std::memcpy(&data[i * 4], &word, 4);
  }
  return data;
}

static void place(const std::vector<uint8_t>& data) {
  CHECK(cudaMemset(device_tensor, 0xee, tensor_room));
  CHECK(cudaMemcpy(tensor_at(), data.data(), data.size(), cudaMemcpyHostToDevice));
}

/// Waits for the kernel; what it ends with, if not well, ends the program.
static void finish_kernel(const Case& c) {
  const cudaError_t code = cudaDeviceSynchronize();
  if (code == cudaSuccess) return;
  std::printf("wrong: the kernel ends with %s\n", cudaGetErrorName(code));
  describe(c);
  std::printf("FAILED\n");
  std::exit(1);
}

static bool encoded(const Case& c, CUtensorMap* map) {
  const CUresult code = encode(c, map);
  if (code == CUDA_SUCCESS) return true;
  verdict.failures++;
  std::printf("wrong: encode answers %d\n", code);
  describe(c);
  return false;
}

static void check_load(const Case& c) {
  alignas(128) CUtensorMap map;
  if (!encoded(c, &map)) return;
  const Plan p = plan(c);
  const std::vector<uint8_t> data = contents(c, tensor_bytes(c), 7);
  place(data);
  std::vector<uint8_t> want(shared_bytes, 0xcd), got(shared_bytes + 4);
  after_load(c, data, want);
  load<<<1, 128, shared_bytes + 64>>>(map, arguments(c, p.moved), device_out);
  finish_kernel(c);
  CHECK(cudaMemcpy(got.data(), device_out, got.size(), cudaMemcpyDeviceToHost));
  unsigned complete;
  std::memcpy(&complete, &got[shared_bytes], 4);
  if (!complete) {
    size_t touched = 0;
    for (size_t i = 0; i < shared_bytes; ++i) touched += got[i] != 0xcd;
    verdict.failures++;
    std::printf("wrong: the barrier did not get %u bytes; %zu bytes changed\n", p.moved, touched);
    describe(c);
  }
  same(c, got, want, shared_bytes, "load");
}

static const char* const op_names[] = {"add", "min", "max", "inc", "dec", "and", "or", "xor"};

static void check_put(const Case& c, int op = -1,
                      const std::function<void(uint8_t*, const uint8_t*)>& combine = {},
                      const std::vector<uint8_t>* given = nullptr,
                      const std::vector<uint8_t>* before = nullptr) {
  alignas(128) CUtensorMap map;
  if (!encoded(c, &map)) return;
  std::vector<uint8_t> source(shared_bytes);
  Random random(11 + op);
  for (uint8_t& b : source) b = (uint8_t)random.bits();
  if (given) source = *given;
  std::vector<uint8_t> data = before ? *before : contents(c, tensor_bytes(c), 13);
  place(data);
  std::vector<uint8_t> want(tensor_room, 0xee), got(tensor_room);
  const size_t begin = tensor_at() - device_tensor;
  after_store(c, source, data, combine);
  std::memcpy(&want[begin], data.data(), data.size());
  CHECK(cudaMemcpy(device_out, source.data(), shared_bytes, cudaMemcpyHostToDevice));
  put<<<1, 128, shared_bytes + 64>>>(map, arguments(c, 0), op, device_out);
  finish_kernel(c);
  CHECK(cudaMemcpy(got.data(), device_tensor, tensor_room, cudaMemcpyDeviceToHost));
  same(c, got, want, tensor_room, op < 0 ? "store" : op_names[op], begin);
}

// ---- Boxes
// -----------------------------------------------------------------------------------------

/// A random tensor of `rank` with padding, and steps.
static void random_tensor(Case& c, Random& r, int most_size) {
  for (int d = 0; d < c.rank; ++d) {
    c.dims[d] = 1 + r.below(most_size);
    c.steps[d] = r.below(3) ? 1 : 1 + r.below(3);
  }
  const uint64_t align = c.interleave == 2 || padded(c.type) ? 32 : 16;
  uint64_t inner = c.interleave ? c.dims[0] * (c.interleave == 1 ? 16 : 32)
                                : (c.dims[0] * bits_of(c.type) + 7) / 8;
  for (int d = 1; d < c.rank; ++d) {
    c.strides[d - 1] = (inner + align - 1) / align * align + align * r.below(2);
    inner = c.strides[d - 1] * c.dims[d];
  }
}

static bool fits(const Case& c) {
  return tensor_bytes(c) + 2 * margin < tensor_room && c.base + plan(c).extent <= shared_bytes;
}

/// A box begins at a multiple of 16 bytes along dimension 0.
static int whole_chunks(int at, uint32_t elements) {
  return (at >= 0 ? at : at - (int)elements + 1) / (int)elements * (int)elements;
}

static Case random_tile(Random& r, int type, int rank, int interleave, int swizzle, bool stores) {
  for (;;) {
    Case c;
    c.name = "tile";
    c.type = type, c.rank = rank, c.interleave = interleave, c.swizzle = swizzle;
    c.form = r.below(3);
    random_tensor(c, r, rank < 3 ? 60 : rank == 3 ? 14 : 8);
    const uint32_t bits = bits_of(type);
    const uint32_t least = 128 / bits;  // elements of 16 bytes
    const uint32_t most = interleave || !swizzle ? 256 : span_of(swizzle) * 8 / bits;
    c.box[0] = least * (1 + r.below(std::min(most / least, 8u)));
    for (int d = 1; d < rank; ++d) c.box[d] = 1 + r.below(rank < 3 ? 24 : 6);
    for (int d = 0; d < rank; ++d)
      c.at[d] = stores ? (int)r.below(c.dims[d] + 2)
                       : (int)r.below(c.dims[d] + c.box[d] + 2) - (int)c.box[d];
    if (r.below(2))
      for (int d = 0; d < rank; ++d) c.at[d] = 0;
    if (!interleave) c.at[0] = whole_chunks(c.at[0], least);
    c.base = 128 * r.below(9);
    const bool real =
        type >= CU_TENSOR_MAP_DATA_TYPE_FLOAT16 && type <= CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ;
    c.fill = real && r.below(2);
    if (fits(c)) return c;
  }
}

static Case random_im2col(Random& r, int type, int rank, int interleave, int swizzle, bool stores) {
  for (;;) {
    Case c;
    c.name = "im2col";
    c.mode = im2col;
    c.type = type, c.rank = rank, c.interleave = interleave, c.swizzle = swizzle;
    c.form = r.below(2);
    random_tensor(c, r, rank < 5 ? 12 : 7);
    c.steps[rank - 1] = 1;
    if (interleave) c.dims[rank - 2] = 1 + r.below(3);
    const uint32_t least = 128 / bits_of(type);
    const uint32_t most = interleave || !swizzle ? 128 : span_of(swizzle) * 8 / bits_of(type);
    c.channels = least * (1 + r.below(std::min(most / least, 4u)));
    c.pixels = 1 + r.below(60);
    const int first = interleave ? 0 : 1;
    bool empty = false;
    for (int i = 0; i < rank - 2; ++i) {
      const int size = (int)c.dims[first + i];
      c.lower[i] = stores ? (int)r.below(2) : (int)r.below(5) - 2;
      c.upper[i] = stores ? -(int)r.below(2) : (int)r.below(5) - 2;
      c.info[i] = stores ? 0 : (int)r.below(4);
      const int cells = size + c.upper[i] - c.lower[i];
      empty |= cells <= 0;
      c.at[first + i] = c.lower[i] + (cells > 0 ? (int)r.below(cells) : 0);
    }
    if (empty) continue;
    if (!interleave) c.at[0] = stores ? (int)r.below(c.dims[0]) : (int)r.below(c.dims[0] + 4) - 4;
    if (!interleave) c.at[0] = whole_chunks(c.at[0], least);
    if (interleave) c.at[rank - 2] = (int)r.below(c.dims[rank - 2]);
    c.at[rank - 1] = (int)r.below(c.dims[rank - 1]);
    c.base = 128 * r.below(9);
    c.fill = type == CU_TENSOR_MAP_DATA_TYPE_FLOAT16 && r.below(2);
    if (fits(c)) return c;
  }
}

static const int plain_types = CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN8B;

static void check_tiles(uint64_t seed) {
  Random r(seed);
  const int swizzles = capability >= 100 ? 6 : 4;
  for (int i = 0; i < 120; ++i)
    check_load(random_tile(r, i % plain_types, 1 + i / 2 % 5, 0, i % swizzles, false));
  for (int i = 0; i < 48; ++i)
    check_load(random_tile(r, 2 + i % 6, 3 + i % 3, 1 + i / 6 % 2, i / 12, false));
  // Each swizzle at each place of its pattern, all columns.
  for (int swizzle = 0; swizzle < swizzles; ++swizzle)
    for (int line = 0; line < 8; ++line) {
      Case c;
      c.name = "pattern";
      c.swizzle = swizzle;
      c.dims[0] = 64, c.dims[1] = 40, c.strides[0] = 256;
      c.box[0] = swizzle ? span_of(swizzle) / 4 : 32, c.box[1] = 33;
      c.at[0] = 4, c.at[1] = 2, c.base = 128 * line;
      check_load(c);
    }
  for (int i = 0; i < 60; ++i) {
    const int swizzle = i % 4;
    check_put(random_tile(r, i % plain_types, 1 + i / 2 % 5, 0, swizzle, true));
  }
  for (int i = 0; i < 24; ++i)
    check_put(random_tile(r, 2 + i % 3, 3 + i % 3, 1 + i % 2, i / 6, true));
  // Where a row ends within 16 bytes, the rest of them is stored too.
  for (int size = 33; size < 48; ++size) {
    Case c;
    c.name = "end of a row";
    c.type = 0;
    c.dims[0] = size, c.dims[1] = 16, c.strides[0] = 64;
    c.box[0] = 32, c.box[1] = 4, c.at[0] = 32;
    check_put(c);
    c.at[0] = 0, c.at[1] = 14;
    check_put(c);
    c.at[0] = 48, c.at[1] = 16;  // nothing
    check_put(c);
  }
}

static void check_im2col(uint64_t seed) {
  Random r(seed + 1);
  static const int types[] = {0, 1, 2, 5, 6, 9};
  for (int i = 0; i < 90; ++i)
    check_load(random_im2col(r, types[i % 6], 3 + i % 3, 0, i / 3 % 4, false));
  for (int i = 0; i < 30; ++i)
    check_put(random_im2col(r, types[i % 6], 3 + i % 3, 0, i / 3 % 4, true));
  for (int i = 0; i < 24; ++i)
    check_load(random_im2col(r, types[i % 6], 3 + i % 3, 1 + i / 3 % 2, i / 6, false));
  for (int i = 0; i < 8; ++i) check_put(random_im2col(r, 2, 3 + i % 3, 1 + i % 2, i / 2, true));
}

// ---- Reductions
// ------------------------------------------------------------------------------------

static Case box_of(int type, int mode = 0) {
  Case c;
  c.name = "reduce";
  c.type = type;
  const uint32_t bytes = bits_of(type) / 8;
  c.dims[0] = 42, c.dims[1] = 9, c.strides[0] = 42 * bytes + 16 - 42 * bytes % 16;
  c.box[0] = 16, c.box[1] = 7;
  c.at[0] = 32, c.at[1] = 4, c.base = 128;
  c.swizzle = type % 4;
  if (c.swizzle && 16 * bytes > span_of(c.swizzle)) c.swizzle = 3;
  if (mode) {
    c.mode = im2col, c.rank = 4;
    c.dims[2] = 5, c.dims[3] = 2, c.strides[1] = c.strides[0] * 9, c.strides[2] = c.strides[1] * 5;
    c.channels = 16, c.pixels = 70, c.upper[0] = -1, c.lower[1] = 1;
    c.at[1] = 5, c.at[2] = 2, c.steps[1] = 2;
  }
  return c;
}

static std::vector<uint8_t> words_of(const std::vector<uint64_t>& edges, uint32_t bytes,
                                     size_t size, uint64_t seed) {
  std::vector<uint8_t> out(size);
  Random r(seed);
  for (size_t i = 0; i + bytes <= size; i += bytes) {
    const uint64_t word = r.below(3) ? edges[r.below((uint32_t)edges.size())] : r.next();
    std::memcpy(&out[i], &word, bytes);
  }
  return out;
}

static void check_reduction(int type, int op, const std::vector<uint64_t>& edges,
                            const std::function<void(uint8_t*, const uint8_t*)>& combine) {
  for (int mode = 0; mode < 2; ++mode) {
    const Case c = box_of(type, mode);
    const uint32_t bytes = bits_of(type) / 8;
    const auto from = words_of(edges, bytes, shared_bytes, op + 1);
    const auto to = words_of(edges, bytes, (tensor_bytes(c) + 31) / 16 * 16, op + 100);
    check_put(c, op, combine, &from, &to);
  }
}

static const std::vector<uint64_t> whole_edges = {0,
                                                  1,
                                                  2,
                                                  5,
                                                  0x7fffffff,
                                                  0x80000000,
                                                  0xffffffff,
                                                  0x7fffffffffffffff,
                                                  0x8000000000000000,
                                                  0xffffffffffffffff,
                                                  0x100000000};
static const std::vector<uint64_t> f32_edges = {
    0,          0x80000000, 1,          0x80000001, 0x007fffff, 0x00800000,
    0x80800000, 0x00800001, 0x3f800000, 0xbf800000, 0x33800000, 0x34000000,
    0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0x7f800001};
static const std::vector<uint64_t> f64_edges = {0,
                                                0x8000000000000000,
                                                1,
                                                0x8000000000000001,
                                                0x000fffffffffffff,
                                                0x0010000000000000,
                                                0x3ff0000000000000,
                                                0xbff0000000000000,
                                                0x3ca0000000000000,
                                                0x7fefffffffffffff,
                                                0x7ff0000000000000,
                                                0x7ff8000000000000,
                                                0x7ff0000000000001};
static const std::vector<uint64_t> f16_edges = {0,      0x8000, 1,      0x8001, 0x3ff,  0x400,
                                                0x8400, 0x3c00, 0xbc00, 0x1000, 0x7bff, 0xfbff,
                                                0x7c00, 0xfc00, 0x7e00, 0x7c01, 0xfe00};
static const std::vector<uint64_t> bf16_edges = {0,      0x8000, 1,      0x8001, 0x7f,   0x80,
                                                 0x8080, 0x3f80, 0xbf80, 0x3b80, 0x7f7f, 0xff7f,
                                                 0x7f80, 0xff80, 0x7fc0, 0x7f81, 0xffc0};

static void check_reductions() {
  enum { u32 = 2, s32, u64, s64, f16, f32, f64, bf16, f32_ftz, tf32, tf32_ftz };
  for (int op = 0; op < 8; ++op) {
    check_reduction(u32, op, whole_edges, with<uint32_t>(op));
    if (op == 3 || op == 4) continue;
    check_reduction(s32, op, whole_edges, with<int32_t>(op));
    check_reduction(u64, op, whole_edges, with<uint64_t>(op));
    if (op == 1 || op == 2) check_reduction(s64, op, whole_edges, with<int64_t>(op));
  }
  for (int op = 0; op < 3; ++op) {
    check_reduction(f16, op, f16_edges, halves<false>(op));
    check_reduction(bf16, op, bf16_edges, halves<true>(op));
  }
  check_reduction(f32, 0, f32_edges, add_f32(false));
  check_reduction(f32_ftz, 0, f32_edges, add_f32(true));
  check_reduction(tf32, 0, f32_edges, add_f32(false));
  check_reduction(tf32_ftz, 0, f32_edges, add_f32(true));
  check_reduction(f64, 0, f64_edges, add_f64);
  Random r(5);
  for (int rank = 1; rank <= 5; ++rank)
    check_put(random_tile(r, u32, rank, 0, rank % 4, true), 0, with<uint32_t>(0));
}

// ---- Other programs
// --------------------------------------------------------------------------------

/// A tensor of u32, 48 x 24, each element its index; the map's box is `x` by `y`.
static CUtensorMap counted(uint32_t x, uint32_t y, std::vector<unsigned>* values) {
  Case c;
  c.name = "counted";
  c.dims[0] = 48, c.dims[1] = 24, c.strides[0] = 192, c.box[0] = x, c.box[1] = y;
  values->resize(48 * 24);
  for (size_t i = 0; i < values->size(); ++i) (*values)[i] = (unsigned)i + 1;
  CHECK(cudaMemcpy(tensor_at(), values->data(), values->size() * 4, cudaMemcpyHostToDevice));
  CUtensorMap map;
  encoded(c, &map);
  return map;
}

static void check_spread() {
  std::vector<unsigned> values, got(8 * 128);
  const CUtensorMap map = counted(32, 4, &values);
  unsigned* out;
  CHECK(cudaMalloc(&out, got.size() * 4));
  for (int turn = 0; turn < 4; ++turn) {
    const unsigned short mask = (unsigned short)(turn == 0   ? 0b1011
                                                 : turn == 1 ? 0b1111
                                                 : turn == 2 ? 0b0100
                                                             : 1);
    spread<<<8, 128, 2048>>>(map, mask, turn & 1, 4, out);
    CHECK(cudaMemcpy(got.data(), out, got.size() * 4, cudaMemcpyDeviceToHost));
    for (int b = 0; b < 8; ++b)
      for (int i = 0; i < 128; ++i) {
        unsigned want = values[(b / 4 * 4 + i / 32) * 48 + 4 + i % 32];
        if (!(mask >> b % 4 & 1)) want = 1000000 + b % 4;
        verdict.equal(got[b * 128 + i], want, "multicast", turn * 1024 + b * 128 + i);
      }
  }
  CHECK(cudaFree(out));
}

static void check_places() {
  std::vector<unsigned> values, got(3 * 128);
  const CUtensorMap map = counted(32, 4, &values);
  unsigned* out;
  CUtensorMap* maps;
  CHECK(cudaMalloc(&out, got.size() * 4));
  CHECK(cudaMalloc(&maps, 2 * sizeof map));
  CHECK(cudaMemcpy(maps, &map, sizeof map, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpyToSymbol(constant_map, &map, sizeof map));
  from_anywhere<<<1, 128, 12 * 1024>>>(maps, maps + 1, 4, out);
  CHECK(cudaMemcpy(got.data(), out, got.size() * 4, cudaMemcpyDeviceToHost));
  for (int i = 0; i < 3; ++i)
    for (int n = 0; n < 128; ++n)
      verdict.equal(got[i * 128 + n], values[(i + n / 32) * 48 + i * 4 + n % 32],
                    i == 0   ? "map in constant memory"
                    : i == 1 ? "map in global memory"
                             : "map copied by the kernel",
                    n);
  // The same map, moved four rows on.
  CUtensorMap moved = map;
  verdict.equal((int)replace_address(&moved, tensor_at() + 4 * 192), 0,
                "cuTensorMapReplaceAddress");
  CHECK(cudaMemcpy(maps, &moved, sizeof map, cudaMemcpyHostToDevice));
  from_anywhere<<<1, 128, 12 * 1024>>>(maps, maps + 1, 4, out);
  CHECK(cudaMemcpy(got.data(), out, got.size() * 4, cudaMemcpyDeviceToHost));
  for (int n = 0; n < 128; ++n)
    verdict.equal(got[128 + n], values[(5 + n / 32) * 48 + 4 + n % 32], "replaced address", n);
  CHECK(cudaFree(out));
  CHECK(cudaFree(maps));
}

static void check_together() {
  std::vector<unsigned> values;
  const CUtensorMap map = counted(32, 1, &values);
  constexpr int blocks = 50;
  add_together<<<blocks, 64, 64 * 128>>>(map);
  std::vector<unsigned> got(values.size());
  CHECK(cudaMemcpy(got.data(), tensor_at(), got.size() * 4, cudaMemcpyDeviceToHost));
  for (int t = 0; t < 64; ++t)
    for (int i = 0; i < 32; ++i) {
      const int x = t % 2 * 32 + i, y = t / 2 % 8;
      if (t % 3 != 1 && x < 48) values[y * 48 + x] += blocks * (i + t);
    }
  for (size_t i = 0; i < got.size(); ++i)
    verdict.equal(got[i], values[i], "sums of all blocks", (long long)i);
}

/// What needs compute capability 10: sub-byte types, gather4, im2col::w.
static void check_later(uint64_t seed) {
  if (capability < 100) return;
  Random r(seed + 2);
  for (int i = 0; i < 12; ++i) {
    Case c;
    c.name = "gather4";
    c.mode = gather4;
    c.dims[0] = 50, c.dims[1] = 20, c.strides[0] = 208;
    c.box[0] = c.swizzle = i % 4;
    c.box[0] = c.swizzle ? span_of(c.swizzle) / 4 : 40;
    c.at[0] = whole_chunks((int)r.below(50) - 8, 4);
    for (int n = 1; n < 5; ++n) c.at[n] = (int)r.below(24) - 2;
    check_load(c);
  }
  for (int i = 0; i < 24; ++i) {
    Case c = random_im2col(r, 2, 3 + i % 3, 0, 2 + i % 3, false);
    c.name = "im2col::w";
    c.mode = im2col_w;
    c.info[0] = (int)r.below(5), c.info[1] = (int)r.below(3), c.info[2] = 0;
    for (int n = 1; n < 3; ++n) c.lower[n] = c.upper[n] = 0;
    for (int d = 2; d < c.rank - 1; ++d) c.at[d] = (int)r.below(c.dims[d]);
    if (fits(c)) check_load(c);
  }
  for (int type = 13; type < 16; ++type)
    for (int i = 0; i < 6; ++i) {
      Case c;
      c.name = "sub-byte";
      c.type = type, c.form = 1;
      c.dims[0] = 384, c.dims[1] = 9, c.strides[0] = 320;
      c.box[0] = 128, c.box[1] = 5;
      c.swizzle = i % 2 ? 3 + (type > 13) * (i / 2 % 2) : 0;
      c.at[0] = 128 * (i % 4) - (i == 5 ? 128 : 0), c.at[1] = i - 1;
      check_load(c);
      if (type != 14 && c.at[0] >= 0 && c.at[1] >= 0) check_put(c);
    }
  Case c;
  c.name = "atom 64B";
  c.swizzle = 6;
  c.dims[0] = 64, c.dims[1] = 40, c.strides[0] = 256, c.box[0] = 32, c.box[1] = 12, c.base = 128;
  check_put(c);
}

// ---- Single questions
// ------------------------------------------------------------------------

/// What the manual leaves open, each asked by itself.
static void check_single() {
  Random r(99);
  auto ask = [&](Case c, const char* name) {
    c.name = name;
    check_load(c);
  };
  for (int swizzle = 1; swizzle < 4; ++swizzle)
    for (uint32_t box : {4, 8, 12, 16}) {
      Case c;
      c.interleave = 1, c.swizzle = swizzle, c.rank = 3;
      c.dims[0] = 20, c.dims[1] = 3, c.dims[2] = 4, c.strides[0] = 320, c.strides[1] = 960;
      c.box[0] = box, c.box[2] = 3;
      ask(c, "interleave 16B, narrow or wide rows under a swizzle");
    }
  Case c;
  c.interleave = 1, c.rank = 3;
  c.dims[0] = 20, c.dims[1] = 6, c.dims[2] = 4, c.strides[0] = 320, c.strides[1] = 1920;
  c.box[0] = 4, c.box[1] = 8, c.box[2] = 2;
  ask(c, "interleave 16B, box of 8 along the slices");
  c.at[1] = 5;
  ask(c, "interleave 16B, last slice");
  c.at[1] = 6;
  ask(c, "interleave 16B, slice beyond");
  c.at[1] = -1;
  ask(c, "interleave 16B, slice before");
  c.type = CU_TENSOR_MAP_DATA_TYPE_FLOAT32, c.fill = 1;
  ask(c, "interleave 16B, NaN fill");
  c.type = CU_TENSOR_MAP_DATA_TYPE_TFLOAT32, c.fill = 0, c.at[1] = 1;
  ask(c, "interleave 16B, tf32");
  c = random_im2col(r, 2, 4, 0, 0, false);
  c.steps[3] = 2;
  ask(c, "im2col, step along N");
  c.at[3] = -1;
  ask(c, "im2col, image before the first");
  c.at[3] = (int)c.dims[3];
  ask(c, "im2col, image after the last");
}

// ---- Wrong use
// -------------------------------------------------------------------------------------

template <typename A, typename Call>
static void ask(const std::vector<Row<A>>& rows, bool table, Call call) {
  for (const Row<A>& row : rows) {
    if ((row.crashes && real_gpu()) || (row.want_10 == -2 && capability != 90)) continue;
    alignas(128) static CUtensorMap maps[2];
    A a;
    a.map = &maps[0];
    a.address = device_tensor;
    row.change(a);
    const int got = call(a), want = capability >= 100 && row.want_10 >= 0 ? row.want_10 : row.want;
    if (table) std::printf("%-44s %d\n", row.name, got);
    if (got == want) continue;
    if (!table) verdict.failures++;
    std::printf("%s: %s answers %d, want %d\n", table ? "differs" : "wrong", row.name, got, want);
  }
}

/// Rows of boxes of each type, interleave and swizzle, as capability 9.0 takes them.
static void check_rows() {
  if (capability != 90) return;
  const cuuint64_t dims[5] = {256, 32, 8, 4, 2}, strides[4] = {8192, 8192 * 32, 8192 * 256, 8192};
  const cuuint32_t ones[5] = {1, 1, 1, 1, 1};
  const int corners[3] = {0, 0, 0};
  alignas(128) CUtensorMap map;
  for (int row = 0; row < 16 * 3 * 7 * 64; ++row) {
    const int type = row / 64 / 7 / 3, interleave = row / 64 / 7 % 3, swizzle = row / 64 % 7;
    const cuuint32_t n = row % 64 * 4 + 4, box[5] = {n, 4, 2, 1, 1};
    const auto t = (CUtensorMapDataType)type;
    const auto i = (CUtensorMapInterleave)interleave;
    const auto s = (CUtensorMapSwizzle)swizzle;
    const auto l2 = CU_TENSOR_MAP_L2_PROMOTION_NONE;
    const auto fill = CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE;
    const auto nan = CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA;
    const uint32_t bits = n * bits_of(type);
    const bool fine = type < 13 && swizzle < 4 && bits % 128 == 0 &&
                      (interleave || !swizzle || bits / 8 <= span_of(swizzle));
    const int want = fine ? good : bad;
    auto tiled = [&](CUtensorMapFloatOOBfill f) {
      return (int)encode_tiled(&map, t, 3, device_tensor, dims, strides, box, ones, i, s, l2, f);
    };
    auto wide = [&](CUtensorMapIm2ColWideMode mode) {
      return (int)encode_wide(&map, t, 4, device_tensor, dims, strides, 0, 0, n, 16, ones, i, mode,
                              s, l2, fill);
    };
    verdict.equal(tiled(fill), want, "tiled row", row);
    verdict.equal(tiled(nan), type < 6 ? bad : want, "tiled row, NaN fill", row);
    verdict.equal((int)encode_im2col(&map, t, 4, device_tensor, dims, strides, corners, corners, n,
                                     16, ones, i, s, l2, fill),
                  want, "im2col row", row);
    verdict.equal(wide(CU_TENSOR_MAP_IM2COL_WIDE_MODE_W), want, "wide row", row);
    verdict.equal(wide(CU_TENSOR_MAP_IM2COL_WIDE_MODE_W128), want, "wide row of 128", row);
  }
}

static void check_encode(bool table) {
  ask<TiledArguments>(tiled_rows(), table, [](TiledArguments& a) {
    return (int)encode_tiled(a.map, (CUtensorMapDataType)a.type, a.rank, a.address,
                             a.no_dims ? nullptr : a.dims, a.no_strides ? nullptr : a.strides,
                             a.no_box ? nullptr : a.box, a.no_steps ? nullptr : a.steps,
                             (CUtensorMapInterleave)a.interleave, (CUtensorMapSwizzle)a.swizzle,
                             (CUtensorMapL2promotion)a.promotion, (CUtensorMapFloatOOBfill)a.fill);
  });
  ask<Im2colArguments>(im2col_rows(), table, [](Im2colArguments& a) {
    return (int)encode_im2col(a.map, (CUtensorMapDataType)a.type, a.rank, a.address, a.dims,
                              a.strides, a.lower, a.upper, a.channels, a.pixels, a.steps,
                              (CUtensorMapInterleave)a.interleave, (CUtensorMapSwizzle)a.swizzle,
                              (CUtensorMapL2promotion)a.promotion, (CUtensorMapFloatOOBfill)a.fill);
  });
  ask<Im2colArguments>(wide_rows(), table, [](Im2colArguments& a) {
    return (int)encode_wide(a.map, (CUtensorMapDataType)a.type, a.rank, a.address, a.dims,
                            a.strides, a.lower[0], a.upper[0], a.channels, a.pixels, a.steps,
                            (CUtensorMapInterleave)a.interleave, (CUtensorMapIm2ColWideMode)a.mode,
                            (CUtensorMapSwizzle)a.swizzle, (CUtensorMapL2promotion)a.promotion,
                            (CUtensorMapFloatOOBfill)a.fill);
  });
  if (!table) check_rows();
  alignas(128) CUtensorMap map;
  Case c = box_of(2);
  encoded(c, &map);
  auto tell = [&](const char* name, int got, int want) {
    if (table) std::printf("%-44s %d\n", name, got);
    if (got != want)
      std::printf("%s: %s answers %d, want %d\n", table ? "differs" : "wrong", name, got, want);
    if (got != want && !table) verdict.failures++;
  };
  tell("replace", replace_address(&map, device_tensor), good);
  tell("replace, address + 16", replace_address(&map, device_tensor + 16), good);
  tell("replace, address + 8", replace_address(&map, device_tensor + 8), bad);
  tell("replace, address null", replace_address(&map, nullptr), bad);
  if (!real_gpu()) tell("replace, map null", replace_address(nullptr, device_tensor), bad);
  std::memset(&map, 0x5a, sizeof map);
  tell("replace, no map", replace_address(&map, device_tensor), good);
  int lonely = -1;
  std::thread([&] { lonely = (int)encode(c, &map); }).join();
  tell("encode in a thread without a context", lonely, CUDA_ERROR_INVALID_CONTEXT);
}

struct Wrong {
  const char* name;
  void (*change)(Case&, Args&, CUtensorMap&);
  int op;             ///< -2 a load, -1 a store, else a reduction
  int want;           ///< of cudaDeviceSynchronize
  int want_gpu = -1;  ///< where a GPU answers otherwise, or the same
};

static constexpr int illegal = cudaErrorIllegalInstruction;

/// An im2col map over a tensor of 16 channels, 9 by 7 pixels and 5 images; pixels begin at (2, 2).
static void make_im2col(Case& c) {
  c.mode = im2col, c.rank = 4;
  c.dims[0] = 16, c.dims[1] = 9, c.dims[2] = 7, c.dims[3] = 5;
  c.strides[0] = 64, c.strides[1] = 576, c.strides[2] = 4032;
  c.channels = 8, c.pixels = 20, c.upper[0] = c.upper[1] = -2;
  c.at[0] = 0, c.at[1] = c.at[2] = 2;
}
template <int x, int w, int h, int n>
static void im2col_at(Case& c, Args&, CUtensorMap&) {
  make_im2col(c);
  c.at[0] = x, c.at[1] = w, c.at[2] = h, c.at[3] = n;
}
template <int x, int y>
static void tile_at(Case& c, Args&, CUtensorMap&) {
  c.at[0] = x, c.at[1] = y;
}
template <int type, int x = 0>
static void of_type(Case& c, Args&, CUtensorMap&) {
  c.type = type, c.at[0] = x;
}

static const Wrong wrongs[] = {
    {"none", [](Case&, Args&, CUtensorMap&) {}, -2, 0},
    {"garbage for a map", [](Case&, Args&, CUtensorMap& m) { std::memset(&m, 0x5a, sizeof m); }, -2,
     illegal},
    {"zeros for a map", [](Case&, Args&, CUtensorMap& m) { std::memset(&m, 0, sizeof m); }, -2,
     illegal},
    {"a map with one bit changed", [](Case&, Args&, CUtensorMap& m) { m.opaque[5] ^= 1ull << 40; },
     -2, illegal, 0},
    {"rank 3 with a map of rank 2", [](Case&, Args& a, CUtensorMap&) { a.rank = 3; }, -2, illegal},
    {"im2col with a tiled map", [](Case&, Args& a, CUtensorMap&) { a.rank = 3, a.mode = 1; }, -2,
     illegal},
    {"shared address + 64", [](Case&, Args& a, CUtensorMap&) { a.base += 64; }, -2,
     cudaErrorMisalignedAddress},
    {"shared address + 16", [](Case&, Args& a, CUtensorMap&) { a.base += 16; }, -2,
     cudaErrorMisalignedAddress},
    {"store, shared address + 64", [](Case&, Args& a, CUtensorMap&) { a.base += 64; }, -1,
     cudaErrorMisalignedAddress},
    {"box beyond shared memory", [](Case&, Args& a, CUtensorMap&) { a.base = 32 * 1024; }, -2,
     cudaErrorIllegalAddress},
    {"tensor of nowhere", [](Case&, Args&, CUtensorMap& m) { replace_address(&m, (void*)0x10000); },
     -2, cudaErrorIllegalAddress},
    // Where boxes may begin.
    {"load at 4 bytes", tile_at<1, 0>, -2, illegal},
    {"load at 8 bytes", tile_at<2, 0>, -2, illegal},
    {"load at 16 bytes", tile_at<4, 0>, -2, 0},
    {"load of u8 at 8 bytes", of_type<0, 8>, -2, illegal},
    {"load of u64 at 8 bytes", of_type<4, 1>, -2, illegal},
    {"load at -8 bytes", tile_at<-2, 0>, -2, illegal},
    {"load at -16 bytes", tile_at<-4, -3>, -2, 0},
    {"load beyond, at 4 bytes", tile_at<65, 0>, -2, illegal},
    {"load beyond", tile_at<1000, 100>, -2, 0},
    {"store at 4 bytes", tile_at<1, 0>, -1, illegal},
    {"store from a negative column", tile_at<-4, 0>, -1, illegal},
    {"store before a row", tile_at<-16, 0>, -1, illegal},
    {"store from a negative row", tile_at<0, -1>, -1, illegal},
    {"store beyond", tile_at<80, 20>, -1, 0},
    {"add from a negative column", tile_at<-4, 0>, 0, illegal},
    {"add from a negative row", tile_at<0, -1>, 0, illegal},
    {"add beyond", tile_at<64, 0>, 0, 0},
    {"im2col", im2col_at<0, 2, 2, 1>, -2, 0},
    {"im2col left of the bounding box", im2col_at<0, -1, 2, 1>, -2, illegal},
    {"im2col right of the bounding box", im2col_at<0, 7, 2, 1>, -2, illegal},
    {"im2col above the bounding box", im2col_at<0, 2, -1, 1>, -2, illegal},
    {"im2col below the bounding box", im2col_at<0, 2, 5, 1>, -2, illegal},
    {"im2col in the tensor, left of the bounding box",
     [](Case& c, Args& a, CUtensorMap& m) { im2col_at<0, 0, 2, 1>(c, a, m), c.lower[0] = 1; }, -2,
     illegal},
    {"im2col at 8 bytes", im2col_at<2, 2, 2, 1>, -2, illegal},
    {"im2col store beyond", im2col_at<16, 2, 2, 5>, -1, 0},
    {"im2col store from a negative image", im2col_at<0, 2, 2, -1>, -1, illegal},
    {"im2col store from negative channels", im2col_at<-4, 2, 2, 1>, -1, illegal},
    {"im2col store, box from a negative column",
     [](Case& c, Args& a, CUtensorMap& m) {
       im2col_at<0, 3, 3, 1>(c, a, m), c.lower[0] = c.lower[1] = -1, c.pixels = 90;
     },
     -1, illegal},
    {"im2col store, box beyond the last column",
     [](Case& c, Args& a, CUtensorMap& m) {
       im2col_at<0, 3, 3, 1>(c, a, m), c.upper[0] = 2, c.upper[1] = 1, c.pixels = 60;
     },
     -1, illegal},
    // Reductions that types have or not.
    {"add to u8", of_type<0>, 0, illegal},
    {"add to u16", of_type<1>, 0, illegal},
    {"add to s64", of_type<5>, 0, illegal},
    {"and of s64", of_type<5>, 5, illegal},
    {"add to f64", of_type<8>, 0, 0},
    {"min of f64", of_type<8>, 1, illegal},
    {"add to tf32", of_type<11>, 0, 0},
    {"min of tf32", of_type<11>, 1, illegal},
    {"max of f32.ftz", of_type<10>, 2, illegal},
    {"min of f32", of_type<7>, 1, illegal},
    {"inc of s32", of_type<3>, 3, illegal},
    {"inc of u64", of_type<4>, 3, illegal},
    {"and of f32", of_type<7>, 5, illegal},
    {"xor of f16", of_type<6>, 7, illegal},
    {"and of s32", of_type<3>, 5, 0},
};

/// In a child: what the synchronisation after the kernel answers.
static int run_wrong(const Wrong& wrong) {
  begin();
  Case c;
  c.dims[0] = 64, c.dims[1] = 16, c.strides[0] = 512, c.box[0] = 16, c.box[1] = 4, c.base = 0;
  alignas(128) CUtensorMap map;
  Args a{};
  wrong.change(c, a, map);  // the type comes before the map
  if (!encoded(c, &map)) return 250;
  a = arguments(c, plan(c).moved);
  wrong.change(c, a, map);  // what is wrong with the map and the arguments
  CHECK(cudaMemset(device_tensor, 0, tensor_room));
  CHECK(cudaMemset(device_out, 1, shared_bytes));
  if (wrong.op == -2)
    load<<<1, 128, shared_bytes + 64>>>(map, a, device_out);
  else
    put<<<1, 128, shared_bytes + 64>>>(map, a, wrong.op, device_out);
  const int code = (int)cudaDeviceSynchronize();
  return code < 250    ? code
         : code == 700 ? 231
         : code == 715 ? 232
         : code == 716 ? 233
         : code == 719 ? 234
                       : 249;
}

static int code_of(int exit) {
  return exit == 231 ? 700 : exit == 232 ? 715 : exit == 233 ? 716 : exit == 234 ? 719 : exit;
}

/// Runs `body` in a child that knows nothing of CUDA yet; its exit code.
template <typename F>
static int in_child(F body) {
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    verdict.failures = 0;
    const int code = body();
    std::fflush(stdout);
    _exit(code);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

static bool check_faults(bool table) {
  const bool gpu = in_child([] { return (int)real_gpu(); });
  for (const Wrong& wrong : wrongs) {
    const int got = code_of(in_child([&] { return run_wrong(wrong); }));
    const int want = gpu && wrong.want_gpu >= 0 ? wrong.want_gpu : wrong.want;
    if (table || got != want)
      std::printf("%s: %s answers %d, want %d\n", table ? "fault" : "wrong", wrong.name, got, want);
    if (got != want && !table) verdict.failures++;
  }
  return gpu;
}

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  const uint64_t seed = what == "--seed" && argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  if (what == "--faults") {
    check_faults(true);
    return 0;
  }
  if (what == "--table") {
    begin();
    check_encode(true);
    return 0;
  }
  // Children first: none may inherit a context.
  const bool gpu = check_faults(false);
  // On a GPU each part is a child too, so that a fault in one hides no other.
  const std::function<void()> parts[] = {[] { check_encode(false); },
                                         [=] { check_tiles(seed); },
                                         [=] { check_im2col(seed); },
                                         check_reductions,
                                         check_single,
                                         check_spread,
                                         check_places,
                                         check_together,
                                         [=] { check_later(seed); }};
  if (!gpu) begin();
  for (const auto& part : parts) {
    if (!gpu) {
      part();
      continue;
    }
    const int code = in_child([&] {
      begin();
      part();
      return verdict.failures != 0;
    });
    if (code) {
      std::printf("wrong: part %d (child ends with %d)\n", int(&part - parts), code);
      verdict.failures++;
    }
  }
  return verdict.finish();
}
