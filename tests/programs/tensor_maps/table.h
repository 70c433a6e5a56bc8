// Arguments of cuTensorMapEncode*, right and wrong, and the codes that answer them. Each row changes one
// thing of a good call. `want` is for compute capability 9.0, all of it measured (H200, driver
// 580.159.04); `want_10` for 10.0 and later, from the manual.
#pragma once
#include <cuda.h>

#include <cstdint>
#include <vector>

struct TiledArguments {
  CUtensorMap* map;
  int type = CU_TENSOR_MAP_DATA_TYPE_UINT32;
  cuuint32_t rank = 2;
  void* address;
  cuuint64_t dims[6] = {64, 32, 8, 4, 2, 2};
  cuuint64_t strides[5] = {256, 8192, 65536, 262144, 524288};
  cuuint32_t box[6] = {32, 8, 1, 1, 1, 1};
  cuuint32_t steps[6] = {1, 1, 1, 1, 1, 1};
  int interleave = 0, swizzle = 0, promotion = 0, fill = 0;
  bool no_dims = false, no_strides = false, no_box = false, no_steps = false;
};

struct Im2colArguments : TiledArguments {
  int lower[3] = {0, 0, 0}, upper[3] = {0, 0, 0};
  cuuint32_t channels = 32, pixels = 16;
  int mode = 0;
  Im2colArguments() { rank = 4; }
};

template <typename Arguments>
struct Row {
  const char* name;
  void (*change)(Arguments&);
  int want;
  int want_10 = -1;      ///< -1: the same; -2: as the device has shared memory, not asked
  bool crashes = false;  ///< NVIDIA's driver may: not asked there
};

constexpr int good = CUDA_SUCCESS, bad = CUDA_ERROR_INVALID_VALUE;

inline const std::vector<Row<TiledArguments>>& tiled_rows() {
  using A = TiledArguments;
  static const std::vector<Row<A>> rows = {
      {"good", [](A&) {}, good},
      {"map null", [](A& a) { a.map = nullptr; }, bad},
      {"map + 16", [](A& a) { a.map = (CUtensorMap*)((char*)a.map + 16); }, good},
      {"map + 1", [](A& a) { a.map = (CUtensorMap*)((char*)a.map + 1); }, good},
      {"map + 64", [](A& a) { a.map = (CUtensorMap*)((char*)a.map + 64); }, good},
      {"type 12", [](A& a) { a.type = 12; }, good},
      {"type 13, 16U4_ALIGN8B", [](A& a) { a.type = 13; }, bad, good},
      {"type 13, odd size", [](A& a) { a.type = 13, a.dims[0] = 63; }, bad},
      {"type 13, box 16", [](A& a) { a.type = 13, a.box[0] = 16; }, bad},
      {"type 14, 16U4_ALIGN16B", [](A& a) { a.type = 14, a.dims[0] = 128, a.box[0] = 128; }, bad, good},
      {"type 14, box 64", [](A& a) { a.type = 14, a.dims[0] = 128, a.box[0] = 64; }, bad},
      {"type 14, size 64", [](A& a) { a.type = 14, a.box[0] = 128; }, bad},
      {"type 14, swizzle 64B", [](A& a) { a.type = 14, a.dims[0] = 128, a.box[0] = 128, a.swizzle = 2; }, bad},
      {"type 14, swizzle 128B", [](A& a) { a.type = 14, a.dims[0] = 128, a.box[0] = 128, a.swizzle = 3; }, bad, good},
      {"type 14, swizzle atom 64B", [](A& a) { a.type = 14, a.dims[0] = 128, a.box[0] = 128, a.swizzle = 6; }, bad},
      {"type 15, 16U6_ALIGN16B", [](A& a) { a.type = 15, a.dims[0] = 128, a.box[0] = 128; }, bad, good},
      {"type 15, address + 16", [](A& a) { a.type = 15, a.dims[0] = 128, a.box[0] = 128, a.address = (char*)a.address + 16; }, bad},
      {"type 15, stride 272", [](A& a) { a.type = 15, a.dims[0] = 128, a.box[0] = 128, a.strides[0] = 272; }, bad},
      {"type 15, swizzle atom 64B", [](A& a) { a.type = 15, a.dims[0] = 128, a.box[0] = 128, a.swizzle = 6; }, bad, good},
      {"type 16", [](A& a) { a.type = 16; }, bad},
      {"type -1", [](A& a) { a.type = -1; }, bad},
      {"rank 0", [](A& a) { a.rank = 0; }, bad},
      {"rank 1", [](A& a) { a.rank = 1; }, good},
      {"rank 1, strides null", [](A& a) { a.rank = 1, a.no_strides = true; }, bad},
      {"rank 5", [](A& a) { a.rank = 5; }, good},
      {"rank 6", [](A& a) { a.rank = 6; }, bad},
      {"address + 16", [](A& a) { a.address = (char*)a.address + 16; }, good},
      {"address + 8", [](A& a) { a.address = (char*)a.address + 8; }, bad},
      {"address null", [](A& a) { a.address = nullptr; }, good},
      {"address of the host", [](A& a) { a.address = (void*)0x7f0000001000; }, good},
      {"address 2^56", [](A& a) { a.address = (void*)(1ull << 56); }, good},
      {"address 2^57", [](A& a) { a.address = (void*)(1ull << 57); }, bad},
      {"sizes null", [](A& a) { a.no_dims = true; }, bad, -1, true},
      {"strides null", [](A& a) { a.no_strides = true; }, bad, -1, true},
      {"box null", [](A& a) { a.no_box = true; }, bad, -1, true},
      {"steps null", [](A& a) { a.no_steps = true; }, bad, -1, true},
      {"size 0", [](A& a) { a.dims[1] = 0; }, bad},
      {"size 2^32", [](A& a) { a.dims[1] = 1ull << 32; }, good},
      {"size 2^32 + 1", [](A& a) { a.dims[1] = (1ull << 32) + 1; }, bad},
      {"stride 264", [](A& a) { a.strides[0] = 264; }, bad},
      {"stride 0", [](A& a) { a.strides[0] = 0; }, good},
      {"stride below the row", [](A& a) { a.strides[0] = 128; }, good},
      {"stride 2^40 - 16", [](A& a) { a.strides[0] = (1ull << 40) - 16; }, good},
      {"stride 2^40", [](A& a) { a.strides[0] = 1ull << 40; }, bad},
      {"strides falling", [](A& a) { a.rank = 3, a.strides[1] = 128; }, good},
      {"box 0", [](A& a) { a.box[1] = 0; }, bad},
      {"box 256", [](A& a) { a.box[0] = 256, a.dims[0] = 256; }, good},
      {"box 257", [](A& a) { a.box[1] = 257; }, bad},
      {"box beyond the tensor", [](A& a) { a.box[0] = 128; }, good},
      {"box beyond shared memory", [](A& a) { a.box[0] = a.box[1] = 256; }, bad},
      {"box of 228 KiB", [](A& a) { a.box[0] = 256, a.box[1] = 228; }, good, -2},
      {"box beyond 228 KiB", [](A& a) { a.box[0] = 256, a.box[1] = 229; }, bad},
      {"box of 128 KiB by a step", [](A& a) { a.box[0] = a.box[1] = 256, a.steps[1] = 2; }, good, -2},
      {"row of 12 bytes", [](A& a) { a.box[0] = 3; }, bad},
      {"row of 8 bytes", [](A& a) { a.box[0] = 2; }, bad},
      {"step 0 along 0", [](A& a) { a.steps[0] = 0; }, bad},
      {"step 8 along 0", [](A& a) { a.steps[0] = 8; }, good},
      {"step 9 along 0", [](A& a) { a.steps[0] = 9; }, bad},
      {"step 0", [](A& a) { a.steps[1] = 0; }, bad},
      {"step 8", [](A& a) { a.steps[1] = 8; }, good},
      {"step 9", [](A& a) { a.steps[1] = 9; }, bad},
      {"step beyond the box", [](A& a) { a.steps[1] = 8, a.box[1] = 2; }, good},
      {"swizzle 32B, row 32", [](A& a) { a.swizzle = 1, a.box[0] = 8; }, good},
      {"swizzle 32B, row 16", [](A& a) { a.swizzle = 1, a.box[0] = 4; }, good},
      {"swizzle 32B, row 48", [](A& a) { a.swizzle = 1, a.box[0] = 12; }, bad},
      {"swizzle 64B, row 64", [](A& a) { a.swizzle = 2, a.box[0] = 16; }, good},
      {"swizzle 64B, row 80", [](A& a) { a.swizzle = 2, a.box[0] = 20; }, bad},
      {"swizzle 128B, row 128", [](A& a) { a.swizzle = 3; }, good},
      {"swizzle 128B, row 144", [](A& a) { a.swizzle = 3, a.box[0] = 36; }, bad},
      {"swizzle 128B atom 32B", [](A& a) { a.swizzle = 4; }, bad, good},
      {"swizzle 128B atom 32B flip 8B", [](A& a) { a.swizzle = 5; }, bad, good},
      {"swizzle 128B atom 64B", [](A& a) { a.swizzle = 6; }, bad, good},
      {"swizzle 7", [](A& a) { a.swizzle = 7; }, bad},
      {"interleave 16B, rank 2", [](A& a) { a.interleave = 1; }, bad},
      {"interleave 16B", [](A& a) { a.interleave = 1, a.rank = 3; }, good},
      {"interleave 16B, odd row", [](A& a) { a.interleave = 1, a.rank = 3, a.box[0] = 3; }, bad},
      {"interleave 16B, swizzle 32B, row of 1024 bytes", [](A& a) { a.interleave = 1, a.rank = 3, a.swizzle = 1, a.box[0] = 256; }, good},
      {"interleave 16B, swizzle 32B", [](A& a) { a.interleave = 1, a.rank = 3, a.swizzle = 1; }, good},
      {"interleave 16B, swizzle 128B", [](A& a) { a.interleave = 1, a.rank = 3, a.swizzle = 3; }, good},
      {"interleave 16B, step 0", [](A& a) { a.interleave = 1, a.rank = 3, a.steps[0] = 0; }, bad},
      {"interleave 32B, swizzle 32B", [](A& a) { a.interleave = 2, a.rank = 3, a.swizzle = 1; }, good},
      {"interleave 32B, no swizzle", [](A& a) { a.interleave = 2, a.rank = 3; }, good},
      {"interleave 32B, swizzle 64B", [](A& a) { a.interleave = 2, a.rank = 3, a.swizzle = 2; }, good},
      {"interleave 32B, address + 16", [](A& a) { a.interleave = 2, a.rank = 3, a.swizzle = 1, a.address = (char*)a.address + 16; }, bad},
      {"interleave 32B, stride 272", [](A& a) { a.interleave = 2, a.rank = 3, a.swizzle = 1, a.strides[0] = 272; }, bad},
      {"interleave 3", [](A& a) { a.interleave = 3, a.rank = 3; }, bad},
      {"promotion 3", [](A& a) { a.promotion = 3; }, good},
      {"promotion 4", [](A& a) { a.promotion = 4; }, bad},
      {"fill NaN, u32", [](A& a) { a.fill = 1; }, bad},
      {"fill NaN, f16", [](A& a) { a.fill = 1, a.type = 6; }, good},
      {"fill NaN, f32", [](A& a) { a.fill = 1, a.type = 7; }, good},
      {"fill NaN, f64", [](A& a) { a.fill = 1, a.type = 8, a.box[0] = 16; }, good},
      {"fill NaN, bf16", [](A& a) { a.fill = 1, a.type = 9; }, good},
      {"fill NaN, tf32.ftz", [](A& a) { a.fill = 1, a.type = 12; }, good},
      {"fill 2", [](A& a) { a.fill = 2, a.type = 7; }, bad},
  };
  return rows;
}

inline const std::vector<Row<Im2colArguments>>& im2col_rows() {
  using A = Im2colArguments;
  static const std::vector<Row<A>> rows = {
      {"im2col good", [](A&) {}, good},
      {"im2col rank 2", [](A& a) { a.rank = 2; }, bad},
      {"im2col rank 3", [](A& a) { a.rank = 3; }, good},
      {"im2col rank 5", [](A& a) { a.rank = 5; }, good},
      {"im2col rank 6", [](A& a) { a.rank = 6; }, bad},
      {"im2col rank 3, corner -32768", [](A& a) { a.rank = 3, a.lower[0] = -32768; }, good},
      {"im2col rank 3, corner -32769", [](A& a) { a.rank = 3, a.lower[0] = -32769; }, bad},
      {"im2col rank 4, corner -128", [](A& a) { a.lower[1] = -128; }, good},
      {"im2col rank 4, corner -129", [](A& a) { a.lower[1] = -129; }, bad},
      {"im2col rank 4, corner 127", [](A& a) { a.upper[0] = 127; }, good},
      {"im2col rank 4, corner 128", [](A& a) { a.upper[0] = 128; }, bad},
      {"im2col rank 5, corner -16", [](A& a) { a.rank = 5, a.lower[2] = -16; }, good},
      {"im2col rank 5, corner -17", [](A& a) { a.rank = 5, a.lower[2] = -17; }, bad},
      {"im2col box of one", [](A& a) { a.upper[0] = -31; }, good},
      {"im2col box of none", [](A& a) { a.upper[0] = -32; }, bad},
      {"im2col box of none by corners", [](A& a) { a.lower[1] = 4, a.upper[1] = -4; }, bad},
      {"im2col channels 0", [](A& a) { a.channels = 0; }, bad},
      {"im2col channels 256", [](A& a) { a.channels = 256; }, good},
      {"im2col channels 260", [](A& a) { a.channels = 260; }, bad},
      {"im2col row of 12 bytes", [](A& a) { a.channels = 3; }, bad},
      {"im2col pixels 0", [](A& a) { a.pixels = 0; }, bad},
      {"im2col pixels 1024", [](A& a) { a.pixels = 1024; }, good},
      {"im2col pixels 1025", [](A& a) { a.pixels = 1025; }, bad},
      {"im2col swizzle 128B", [](A& a) { a.swizzle = 3; }, good},
      {"im2col swizzle 64B", [](A& a) { a.swizzle = 2; }, bad},
      {"im2col step 9", [](A& a) { a.steps[2] = 9; }, bad},
      {"im2col interleave 16B", [](A& a) { a.interleave = 1; }, good},
      {"im2col interleave 16B, odd channels", [](A& a) { a.interleave = 1, a.channels = 3; }, bad},
      {"im2col of 228 KiB", [](A& a) { a.channels = 64, a.pixels = 912; }, good, -2},
      {"im2col beyond 228 KiB", [](A& a) { a.channels = 64, a.pixels = 913; }, bad},
      {"im2col step 0 along 0", [](A& a) { a.steps[0] = 0; }, bad},
      {"im2col step 9 along 0", [](A& a) { a.steps[0] = 9; }, bad},
      {"im2col interleave 32B, swizzle 32B", [](A& a) { a.interleave = 2, a.swizzle = 1; }, good},
  };
  return rows;
}

inline const std::vector<Row<Im2colArguments>>& wide_rows() {
  using A = Im2colArguments;
  static const std::vector<Row<A>> rows = {
      {"wide good", [](A& a) { a.swizzle = 3; }, good},
      {"wide 128", [](A& a) { a.swizzle = 3, a.mode = 1; }, good},
      {"wide 128, pixels 0", [](A& a) { a.swizzle = 3, a.mode = 1, a.pixels = 0; }, bad},
      {"wide mode 2", [](A& a) { a.swizzle = 3, a.mode = 2; }, bad},
      {"wide no swizzle", [](A& a) { a.swizzle = 0; }, good, bad},
      {"wide swizzle 32B", [](A& a) { a.swizzle = 1, a.channels = 8; }, good, bad},
      {"wide swizzle 64B", [](A& a) { a.swizzle = 2, a.channels = 16; }, good},
      {"wide interleave", [](A& a) { a.swizzle = 3, a.interleave = 1; }, good, bad},
      {"wide rank 3, corner -32768", [](A& a) { a.rank = 3, a.swizzle = 3, a.lower[0] = -32768; }, good},
      {"wide corner -128", [](A& a) { a.swizzle = 3, a.lower[0] = -128; }, good},
      {"wide corner -129", [](A& a) { a.swizzle = 3, a.lower[0] = -129; }, bad},
      {"wide rank 5, corner 15", [](A& a) { a.rank = 5, a.swizzle = 3, a.upper[0] = 15; }, good},
      {"wide rank 5, corner 16", [](A& a) { a.rank = 5, a.swizzle = 3, a.upper[0] = 16; }, bad},
      {"wide step 9 along 0", [](A& a) { a.swizzle = 3, a.steps[0] = 9; }, bad},
      {"wide box of none", [](A& a) { a.swizzle = 3, a.upper[0] = -32; }, bad},
  };
  return rows;
}
