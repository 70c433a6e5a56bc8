// Tensor maps as kernels use them: one box is loaded into shared memory and copied out. Needs
// compute capability 9.0; cases end as skipped below. Thread rule: as conform.h.
#pragma once
#include "conformance/places.h"

namespace limen::conform {

/// Ends the case where the device has no tensor copies.
inline void need_tensor_copies() {
  int major = 0;
  REQUIRE(cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 0));
  if (major < 9) skip("tensor copies need compute capability 9.0");
}

/// What cuTensorMapEncodeTiled takes; by default 8 x 4 words of which a box is 4 x 2.
struct TiledMap {
  CUtensorMapDataType type = CU_TENSOR_MAP_DATA_TYPE_UINT32;
  CUdeviceptr address = 0;
  cuuint32_t rank = 2;
  std::vector<cuuint64_t> sizes{8, 4}, strides{32};
  std::vector<cuuint32_t> box{4, 2}, steps{1, 1};
  CUtensorMapInterleave interleave = CU_TENSOR_MAP_INTERLEAVE_NONE;
  CUtensorMapSwizzle swizzle = CU_TENSOR_MAP_SWIZZLE_NONE;
  CUtensorMapL2promotion promotion = CU_TENSOR_MAP_L2_PROMOTION_NONE;
  CUtensorMapFloatOOBfill fill = CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE;

  CUresult encode(CUtensorMap* map) const {
    return cuTensorMapEncodeTiled(map, type, rank, reinterpret_cast<void*>(address), sizes.data(),
                                  strides.data(), box.data(), steps.data(), interleave, swizzle,
                                  promotion, fill);
  }
};

/// The words of a box. `form` is what follows "global." in the instruction, `behind` its operands
/// after the barrier; coordinates may be up to five.
inline std::vector<uint32_t> load_box(const CUtensorMap& map, unsigned words,
                                      const std::vector<int>& coordinates,
                                      const std::string& form = "tile",
                                      const std::string& behind = "") {
  std::string registers;
  for (size_t i = 0; i < coordinates.size(); ++i)
    registers += (i ? std::string(", %c") : std::string("%c")) + std::to_string(i);
  const std::string rank = std::to_string(coordinates.size());
  const std::string text =
      ".version 8.0\n.target sm_90\n.address_size 64\n"
      ".visible .entry k(.param .u64 out, .param .u32 words, .param .align 64 .b8 map[128],\n"
      "                  .param .align 4 .b8 at[20]) {\n"
      "  .reg .b64 %rd<8>;\n  .reg .b32 %r<8>, %c<5>;\n  .reg .pred %p<3>;\n"
      "  .shared .align 1024 .b8 box[4096];\n  .shared .align 8 .b64 bar;\n"
      "  ld.param.u64 %rd0, [out];\n  ld.param.u32 %r0, [words];\n"
      "  ld.param.u32 %c0, [at];\n  ld.param.u32 %c1, [at+4];\n  ld.param.u32 %c2, [at+8];\n"
      "  ld.param.u32 %c3, [at+12];\n  ld.param.u32 %c4, [at+16];\n"
      "  mov.b64 %rd1, map;\n  cvta.param.u64 %rd1, %rd1;\n"
      "  mov.u32 %r1, box;\n  mov.u32 %r2, bar;\n"
      "  mbarrier.init.shared.b64 [%r2], 1;\n  fence.proxy.async;\n"
      "  shl.b32 %r3, %r0, 2;\n"
      "  mbarrier.arrive.expect_tx.shared.b64 %rd2, [%r2], %r3;\n"
      "  cp.async.bulk.tensor." +
      rank + "d.shared::cluster.global." + form +
      ".mbarrier::complete_tx::bytes\n    [%r1], [%rd1, {" + registers + "}], [%r2]" + behind +
      ";\n"
      "again:\n  mbarrier.try_wait.parity.shared.b64 %p0, [%r2], 0;\n  @!%p0 bra again;\n"
      "  mov.u32 %r4, 0;\n"
      "copy:\n  setp.ge.u32 %p1, %r4, %r0;\n  @%p1 bra done;\n"
      "  shl.b32 %r5, %r4, 2;\n  add.u32 %r6, %r1, %r5;\n  ld.shared.u32 %r7, [%r6];\n"
      "  cvt.u64.u32 %rd3, %r5;\n  add.u64 %rd4, %rd0, %rd3;\n  st.global.u32 [%rd4], %r7;\n"
      "  add.u32 %r4, %r4, 1;\n  bra copy;\n"
      "done:\n  ret;\n}\n";
  Buffer out(words * 4);
  CUfunction kernel = load_kernel(text.c_str(), "k");
  CUdeviceptr address = out;
  int at[5] = {};
  for (size_t i = 0; i < coordinates.size(); ++i) at[i] = coordinates[i];
  CUtensorMap copy = map;
  void* arguments[] = {&address, &words, &copy, at};
  REQUIRE(cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr));
  return read_list<uint32_t>(out, words);
}

/// `count` words, from 1 on.
inline void count_up(CUdeviceptr address, uint32_t count, uint32_t first = 1) {
  std::vector<uint32_t> words;
  for (uint32_t i = 0; i < count; ++i) words.push_back(first + i);
  write_list(address, words);
}

}  // namespace limen::conform
