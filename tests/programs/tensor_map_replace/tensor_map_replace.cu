// tensormap.replace: maps that a kernel makes from zeros, field after field, as Triton does, and maps of
// the encoder's of which it replaces address and sizes, as CUTLASS does for groups of matrices. Each is
// used for one load of a box, whose bytes the host knows.
#include <cuda.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "check.h"

struct Map {
  uint64_t address, stride;
  uint32_t width, height, box_width, box_height, step;
};

__device__ unsigned shared_address(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }

#define REPLACE(field, bits, ...) \
  asm volatile("tensormap.replace.tile." field ".shared::cta.b1024.b" bits " [%0], " __VA_ARGS__)

/// What `elemtype` and `swizzle` are must be constants.
template <int elemtype, int swizzle, int fill>
__device__ void set_all(unsigned map, const Map& m) {
  REPLACE("global_address", "64", "%1;" ::"r"(map), "l"(m.address) : "memory");
  REPLACE("rank", "32", "%1;" ::"r"(map), "r"(1) : "memory");
  REPLACE("box_dim", "32", "0, %1;" ::"r"(map), "r"(m.box_width) : "memory");
  REPLACE("box_dim", "32", "1, %1;" ::"r"(map), "r"(m.box_height) : "memory");
  REPLACE("global_dim", "32", "0, %1;" ::"r"(map), "r"(m.width) : "memory");
  REPLACE("global_dim", "32", "1, %1;" ::"r"(map), "r"(m.height) : "memory");
  REPLACE("global_stride", "64", "0, %1;" ::"r"(map), "l"(m.stride) : "memory");
  REPLACE("element_stride", "32", "0, %1;" ::"r"(map), "r"(1) : "memory");
  REPLACE("element_stride", "32", "1, %1;" ::"r"(map), "r"(m.step) : "memory");
  REPLACE("elemtype", "32", "%1;" ::"r"(map), "n"(elemtype) : "memory");
  REPLACE("interleave_layout", "32", "0;" ::"r"(map) : "memory");
  REPLACE("swizzle_mode", "32", "%1;" ::"r"(map), "n"(swizzle) : "memory");
  REPLACE("fill_mode", "32", "%1;" ::"r"(map), "n"(fill) : "memory");
}

/// The warp's map in shared memory goes to `copy`, and the box at (x, y) to `out`, `bytes` long.
__device__ void load_box(void* map, void* copy, int x, int y, uint32_t* out, unsigned bytes) {
  __shared__ __align__(1024) uint32_t box[2048];
  __shared__ unsigned long long barrier;
  const unsigned b = shared_address(&barrier);
  __syncwarp();
  asm volatile("tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned"
               " [%0], [%1], 128;" ::"l"(copy), "r"(shared_address(map)) : "memory");
  if (threadIdx.x == 0) {
    asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" ::"l"(copy) : "memory");
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(b) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(b), "r"(bytes)
                 : "memory");
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
        " [%0], [%1, {%2, %3}], [%4];" ::"r"(shared_address(box)),
        "l"(copy), "r"(x), "r"(y), "r"(b)
        : "memory");
  }
  __syncwarp();
  unsigned done = 0;
  for (int i = 0; i < 20000 && !done; ++i)
    asm volatile(
        "{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }"
        : "=r"(done) : "r"(b) : "memory");
  for (unsigned i = threadIdx.x; i < bytes / 4; i += 32) out[i] = done ? box[i] : 0xdeadu;
}

template <int elemtype, int swizzle, int fill>
__global__ void made_from_zeros(Map m, void* copy, int x, int y, uint32_t* out, unsigned bytes) {
  __shared__ __align__(128) uint32_t map[32];
  map[threadIdx.x] = 0;
  __syncwarp();
  if (threadIdx.x == 0) set_all<elemtype, swizzle, fill>(shared_address(map), m);
  load_box(map, copy, x, y, out, bytes);
}

/// Each block has a map of its own, with another address and height.
__global__ void moved(const __grid_constant__ CUtensorMap given, uint64_t address, uint64_t apart,
                      CUtensorMap* copies, uint32_t* out, unsigned bytes) {
  __shared__ __align__(128) uint32_t map[32];
  map[threadIdx.x] = reinterpret_cast<const uint32_t*>(&given)[threadIdx.x];
  __syncwarp();
  const unsigned group = blockIdx.x;
  if (threadIdx.x == 0) {
    REPLACE("global_address", "64", "%1;" ::"r"(shared_address(map)), "l"(address + group * apart)
            : "memory");
    REPLACE("global_dim", "32", "1, %1;" ::"r"(shared_address(map)), "r"(group + 1) : "memory");
  }
  load_box(map, copies + group, 0, 0, out + group * bytes / 4, bytes);
}

/// Two rows of 32 bytes fill the 64 bytes that the block has before its barrier.
__global__ void tight(const __grid_constant__ CUtensorMap map, uint32_t* out) {
  extern __shared__ __align__(128) uint32_t box[];
  const unsigned b = shared_address(box + 16);
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(b) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 64;" ::"r"(b) : "memory");
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
        " [%0], [%1, {%2, %3}], [%4];" ::"r"(shared_address(box)),
        "l"(&map), "r"(4), "r"(0), "r"(b)
        : "memory");
  }
  __syncwarp();
  unsigned done = 0;
  for (int i = 0; i < 20000 && !done; ++i)
    asm volatile(
        "{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }"
        : "=r"(done) : "r"(b) : "memory");
  if (threadIdx.x < 16) out[threadIdx.x] = done ? box[threadIdx.x] : 0xdeadu;
}

constexpr int width = 40, height = 24, pitch = 48;  // words
static std::vector<uint32_t> host(pitch* height);
static uint32_t *tensor, *device_out;
static CUtensorMap* copies;
static int failures;

static void expect(const char* name, const std::vector<uint32_t>& want) {
  CHECK(cudaDeviceSynchronize());
  std::vector<uint32_t> got(want.size());
  CHECK(cudaMemcpy(got.data(), device_out, got.size() * 4, cudaMemcpyDeviceToHost));
  CHECK(cudaMemset(device_out, 0x55, got.size() * 4));
  for (size_t i = 0; i < want.size(); ++i)
    if (got[i] != want[i]) {
      std::printf("%s: word %zu is %#x, not %#x\n", name, i, got[i], want[i]);
      ++failures;
      return;
    }
}

/// The box at (x, y) of `columns` words, its rows `step` apart, swizzled within `span` bytes.
static std::vector<uint32_t> box_at(int x, int y, int columns, int rows, int step, int span,
                                    uint32_t fill) {
  std::vector<uint32_t> out(columns * rows);
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < columns; ++c) {
      const int tx = x + c, ty = y + r * step;
      const bool inside = tx >= 0 && tx < width && ty >= 0 && ty < height;
      const size_t at = (size_t(r) * columns + c) * 4;
      const size_t place = span ? at ^ ((at >> 7 & (span / 16 - 1)) << 4) : at;
      out[place / 4] = inside ? host[ty * pitch + tx] : fill;
    }
  return out;
}

template <int elemtype, int swizzle, int fill>
static void try_one(const char* name, int per_word, int columns, int rows, int x, int y, int step = 1) {
  const Map m{(uint64_t)tensor, pitch * 4, uint32_t(width * per_word), uint32_t(height),
              uint32_t(columns * per_word), uint32_t(rows * step), uint32_t(step)};
  made_from_zeros<elemtype, swizzle, fill><<<1, 32>>>(m, copies, x * per_word, y, device_out,
                                                      unsigned(columns * rows * 4));
  const int span = swizzle == 0 ? 0 : 16 << swizzle;
  expect(name, box_at(x, y, columns, rows, step, span, fill ? 0x7ff77ff7u : 0));
}

int main() {
  for (size_t i = 0; i < host.size(); ++i) host[i] = 0x3f800000u + uint32_t(i) * 7;
  CHECK(cudaMalloc(&tensor, host.size() * 4));
  CHECK(cudaMemcpy(tensor, host.data(), host.size() * 4, cudaMemcpyHostToDevice));
  CHECK(cudaMalloc(&device_out, 64 << 10));
  CHECK(cudaMalloc(&copies, 16 * sizeof(CUtensorMap)));

  // The codes of element types: u8, u32, f16, f32, f32.ftz and bf16.
  try_one<0, 0, 0>("u8", 4, 16, 8, 4, 2);
  try_one<2, 0, 0>("u32", 1, 16, 8, 8, 3);
  try_one<6, 0, 0>("f16", 2, 16, 8, 4, 2);
  try_one<7, 0, 0>("f32", 1, 16, 8, 4, 2);
  try_one<8, 0, 0>("f32.ftz", 1, 16, 8, 4, 2);
  try_one<10, 0, 0>("bf16", 2, 16, 8, 4, 2);
  // Out of bounds on each side, with both fills.
  try_one<2, 0, 0>("u32, left above", 1, 16, 8, -8, -3);
  try_one<7, 0, 1>("f32, right below, NaNs", 1, 16, 8, 32, 20);
  try_one<2, 0, 0>("u32, every third row", 1, 16, 7, 8, 1, 3);
  try_one<2, 1, 0>("u32, swizzle of 32", 1, 8, 16, 8, 3);
  try_one<2, 2, 0>("u32, swizzle of 64", 1, 16, 16, 8, 3);
  try_one<6, 3, 0>("f16, swizzle of 128", 2, 32, 16, 4, 3);

  cudaDriverEntryPointQueryResult how;
  void* found = nullptr;
  CHECK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &found, CUDART_VERSION,
                                         cudaEnableDefault, &how));
  CUtensorMap map, small;
  const cuuint64_t sizes[] = {width, 1}, all[] = {width, height}, strides[] = {pitch * 4};
  const cuuint32_t box[] = {8, 4}, small_box[] = {8, 2}, steps[] = {1, 1};
  const auto encode = [&](CUtensorMap* to, const cuuint64_t* size, const cuuint32_t* part) {
    return decltype(&cuTensorMapEncodeTiled)(found)(
        to, CU_TENSOR_MAP_DATA_TYPE_UINT32, 2, tensor, size, strides, part, steps,
        CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE,
        CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  };
  if (!found || encode(&map, sizes, box) || encode(&small, all, small_box)) {
    std::printf("cuTensorMapEncodeTiled failed\nFAILED\n");
    return 1;
  }
  tight<<<1, 32, 72>>>(small, device_out);
  expect("a box at the end of the block's memory", box_at(4, 0, 8, 2, 1, 0, 0));
  constexpr int groups = 4;
  moved<<<groups, 32>>>(map, (uint64_t)tensor, pitch * 4 * 3, copies, device_out, 8 * 4 * 4);
  std::vector<uint32_t> want(groups * 32);
  for (int g = 0; g < groups; ++g)
    for (int r = 0; r < 4; ++r)
      for (int c = 0; c < 8; ++c)
        want[(g * 4 + r) * 8 + c] = r <= g ? host[(g * 3 + r) * pitch + c] : 0;
  expect("an encoder's map, moved", want);

  std::printf(failures ? "FAILED\n" : "PASSED\n");
  return failures != 0;
}
