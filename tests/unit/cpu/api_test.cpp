// The driver's calls and their codes, without compiled kernels (LIMEN_NOOP_KERNELS). Expected
// codes: measured H200, driver 580.x.
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include "abi/cpu_api.h"

namespace limen::cpu {
namespace {

const char* ptx = R"(.version 7.0
.target sm_75
.address_size 64
.visible .global .align 4 .u32 number = 42;
.visible .global .align 8 .u64 pointer = number;
.visible .const .align 4 .b8 bytes[8] = {1, 2, 3};
.visible .entry empty() { ret; }
.visible .entry two(.param .u32 a, .param .u64 b) { ret; }
.visible .entry bounded() .maxntid 64, 1, 1 { ret; }
.visible .entry exact() .reqntid 64, 1, 1 { ret; }
.visible .entry with_shared() {
  .reg .b32 %r<2>;
  .shared .align 4 .b8 buffer[16384];
  mov.u32 %r1, buffer;
  st.shared.u32 [%r1], %r1;
  ret;
})";

class Api : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    setenv("LIMEN_NOOP_KERNELS", "1", 1);
    setenv("LIMEN_DEVICES", "2", 1);
    setenv("LIMEN_MEMORY", "1G", 1);
    setenv("LIMEN_LOG", "off", 1);
    setenv("LIMEN_CACHE_SIZE", "0", 1);
    ASSERT_EQ(cuInit(0), CUDA_SUCCESS);
  }
  void SetUp() override { ASSERT_EQ(cuCtxCreate(&context, nullptr, 0, 0), CUDA_SUCCESS); }
  void TearDown() override { EXPECT_EQ(cuCtxDestroy(context), CUDA_SUCCESS); }

  CUmodule load() {
    CUmodule module = nullptr;
    EXPECT_EQ(cuModuleLoadData(&module, ptx), CUDA_SUCCESS);
    return module;
  }
  CUfunction kernel(CUmodule module, const char* name) {
    CUfunction function = nullptr;
    EXPECT_EQ(cuModuleGetFunction(&function, module, name), CUDA_SUCCESS);
    return function;
  }
  static CUresult launch(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                         unsigned by, unsigned bz, unsigned shared = 0, void** params = nullptr,
                         void** extra = nullptr, CUstream stream = nullptr) {
    return cuLaunchKernel(f, gx, gy, gz, bx, by, bz, shared, stream, params, extra);
  }
  CUcontext context = nullptr;
};

TEST_F(Api, launch_checks_have_the_measured_codes) {
  CUmodule module = load();
  CUfunction empty = kernel(module, "empty"), two = kernel(module, "two");
  EXPECT_EQ(launch(empty, 1, 1, 1, 1, 1, 1), CUDA_SUCCESS);
  EXPECT_EQ(launch(empty, 0, 1, 1, 1, 1, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(launch(empty, 1, 65536, 1, 1, 1, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(launch(empty, 0x80000000u, 1, 1, 1, 1, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(launch(empty, 1, 1, 1, 0, 1, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(launch(empty, 1, 1, 1, 1025, 1, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(launch(empty, 1, 1, 1, 1, 1, 65), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(launch(empty, 1, 1, 1, 64, 64, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(launch(empty, 1, 1, 1, 1, 1, 1, 49152), CUDA_SUCCESS);
  EXPECT_EQ(launch(empty, 1, 1, 1, 1, 1, 1, 49153), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(launch(kernel(module, "bounded"), 1, 1, 1, 128, 1, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(launch(kernel(module, "exact"), 1, 1, 1, 32, 1, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(launch(kernel(module, "exact"), 1, 1, 1, 64, 1, 1), CUDA_SUCCESS);
  EXPECT_EQ(launch(nullptr, 1, 1, 1, 1, 1, 1), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(launch(reinterpret_cast<CUfunction>(0x1234), 1, 1, 1, 1, 1, 1),
            CUDA_ERROR_INVALID_HANDLE);
  uint32_t a = 1;
  uint64_t b = 2;
  void* params[] = {&a, &b};
  EXPECT_EQ(launch(two, 1, 1, 1, 1, 1, 1, 0, params), CUDA_SUCCESS);
  EXPECT_EQ(launch(two, 1, 1, 1, 1, 1, 1), CUDA_ERROR_INVALID_VALUE);
  char buffer[32] = {};
  size_t size = 16;
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, buffer, CU_LAUNCH_PARAM_BUFFER_SIZE, &size,
                   CU_LAUNCH_PARAM_END};
  EXPECT_EQ(launch(two, 1, 1, 1, 1, 1, 1, 0, nullptr, extra), CUDA_SUCCESS);
  EXPECT_EQ(launch(two, 1, 1, 1, 1, 1, 1, 0, params, extra), CUDA_ERROR_INVALID_VALUE);
  size = 24;
  EXPECT_EQ(launch(two, 1, 1, 1, 1, 1, 1, 0, nullptr, extra), CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
  EXPECT_EQ(cuCtxSynchronize(nullptr), CUDA_SUCCESS);
}

TEST_F(Api, the_device_runtime_is_provided_and_its_first_version_refused) {
  const std::string head = ".version 8.0\n.target sm_75\n.address_size 64\n";
  auto caller = [&](const std::string& name) {
    return head + ".extern .func (.param .b32 r) " + name +
           "(.param .b64 a, .param .b64 b);\n.visible .entry k() {\n"
           "{ .param .b64 a; .param .b64 b; .param .b32 r;\nst.param.b64 [a], 0;\n"
           "st.param.b64 [b], 0;\ncall (r), " +
           name + ", (a, b); }\nret; }";
  };
  CUmodule module = nullptr;
  const std::string second = caller("__cudaCDP2LaunchDeviceV2");
  EXPECT_EQ(cuModuleLoadData(&module, second.c_str()), CUDA_SUCCESS);
  EXPECT_EQ(cuModuleLoadData(&module, caller("cudaLaunchDeviceV2").c_str()),
            CUDA_ERROR_UNSUPPORTED_DEVSIDE_SYNC);
  EXPECT_EQ(cuModuleLoadData(&module, caller("__cudaCDP2Unknown").c_str()), CUDA_ERROR_INVALID_PTX);
  // NVIDIA's own body of it is not taken: this one would not even parse.
  const std::string theirs = head +
                             ".visible .func (.param .b32 r) __cudaCDP2LaunchDeviceV2"
                             "(.param .b64 a, .param .b64 b) { secret.instruction; }";
  CUlinkState link;
  ASSERT_EQ(cuLinkCreate(0, nullptr, nullptr, &link), CUDA_SUCCESS);
  for (const std::string& text : {second, theirs})
    EXPECT_EQ(cuLinkAddData(link, CU_JIT_INPUT_PTX, const_cast<char*>(text.c_str()),
                            text.size() + 1, "part", 0, nullptr, nullptr),
              CUDA_SUCCESS);
  void* image = nullptr;
  size_t bytes = 0;
  EXPECT_EQ(cuLinkComplete(link, &image, &bytes), CUDA_SUCCESS);
  EXPECT_EQ(cuModuleLoadData(&module, image), CUDA_SUCCESS);
  EXPECT_EQ(launch(kernel(module, "k"), 1, 1, 1, 1, 1, 1), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxSynchronize(nullptr), CUDA_SUCCESS);
  EXPECT_EQ(cuLinkDestroy(link), CUDA_SUCCESS);
}

TEST_F(Api, shared_memory_limits_and_occupancy) {
  CUmodule module = load();
  CUfunction f = kernel(module, "with_shared");
  int value = 0;
  EXPECT_EQ(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, f), CUDA_SUCCESS);
  EXPECT_EQ(value, 16384);
  EXPECT_EQ(launch(f, 1, 1, 1, 1, 1, 1, 32768), CUDA_SUCCESS);
  EXPECT_EQ(launch(f, 1, 1, 1, 1, 1, 1, 32769), CUDA_ERROR_INVALID_VALUE);
  auto dynamic = CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
  EXPECT_EQ(cuFuncSetAttribute(f, dynamic, 232448 - 16384 + 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuFuncSetAttribute(f, dynamic, -1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuFuncSetAttribute(f, dynamic, 232448 - 16384), CUDA_SUCCESS);
  EXPECT_EQ(launch(f, 1, 1, 1, 1, 1, 1, 232448 - 16384), CUDA_SUCCESS);
  EXPECT_EQ(cuOccupancyMaxActiveBlocksPerMultiprocessor(&value, f, 128, 0), CUDA_SUCCESS);
  EXPECT_EQ(value, 13);
  CUfunction empty = kernel(module, "empty");
  EXPECT_EQ(cuOccupancyMaxActiveBlocksPerMultiprocessor(&value, empty, 32, 0), CUDA_SUCCESS);
  EXPECT_EQ(value, 32);
  EXPECT_EQ(cuOccupancyMaxActiveBlocksPerMultiprocessor(&value, empty, 128, 60000), CUDA_SUCCESS);
  EXPECT_EQ(value, 0);
  EXPECT_EQ(cuOccupancyMaxActiveBlocksPerMultiprocessor(&value, empty, 0, 0),
            CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Api, globals_are_initialised_and_relocated) {
  CUmodule module = load();
  CUdeviceptr number = 0, pointer = 0, bytes = 0, base = 0;
  size_t size = 0;
  ASSERT_EQ(cuModuleGetGlobal(&number, &size, module, "number"), CUDA_SUCCESS);
  EXPECT_EQ(size, 4u);
  ASSERT_EQ(cuModuleGetGlobal(&pointer, nullptr, module, "pointer"), CUDA_SUCCESS);
  ASSERT_EQ(cuModuleGetGlobal(&bytes, &size, module, "bytes"), CUDA_SUCCESS);
  EXPECT_EQ(size, 8u);
  uint32_t value = 0;
  uint64_t address = 0;
  EXPECT_EQ(cuMemcpyDtoH(&value, number, 4, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(value, 42u);
  EXPECT_EQ(cuMemcpyDtoH(&address, pointer, 8, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(address, number);
  EXPECT_EQ(cuMemGetAddressRange(&base, &size, number), CUDA_SUCCESS);
  EXPECT_EQ(base, number);
  EXPECT_EQ(size, 4u);
  EXPECT_EQ(cuModuleGetGlobal(&number, nullptr, module, "nope"), CUDA_ERROR_NOT_FOUND);
  EXPECT_EQ(number, 0u);
}

TEST_F(Api, wrong_frees_and_copies) {
  CUdeviceptr d = 0;
  EXPECT_EQ(cuMemAlloc(&d, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemAlloc(&d, size_t{1} << 40), CUDA_ERROR_OUT_OF_MEMORY);
  ASSERT_EQ(cuMemAlloc(&d, 1000), CUDA_SUCCESS);
  char host[2048] = {};
  EXPECT_EQ(cuMemcpyHtoD(d, host, 1000, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(cuMemcpyHtoD(d, host, 1001, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemcpyHtoD(d + 900, host, 101, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemcpyHtoD(0, host, 0, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(cuMemcpyHtoD(0, host, 4, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemcpyHtoD(reinterpret_cast<CUdeviceptr>(host), host, 4, nullptr),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemsetD32(d + 1, 0, 1, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemFree(d + 4), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemFree(d), CUDA_SUCCESS);
  EXPECT_EQ(cuMemFree(d), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemFree(0), CUDA_SUCCESS);
  EXPECT_EQ(cuMemFree(0x1234), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemcpyHtoD(d, host, 4, nullptr), CUDA_ERROR_INVALID_VALUE);
  // The H200 takes this one and ends in a signal (driver 580.159.04).
  CUdeviceptr from = reinterpret_cast<CUdeviceptr>(host);
  size_t bytes = 4, first = 0;
  CUmemcpyAttributes attributes{};
  attributes.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;
  EXPECT_EQ(cuMemcpyBatchAsync(&d, &from, &bytes, 1, &attributes, &first, 1, CU_STREAM_PER_THREAD),
            CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Api, mem_get_info_is_true) {
  size_t before = 0, after = 0, total = 0;
  ASSERT_EQ(cuMemGetInfo(&before, &total), CUDA_SUCCESS);
  EXPECT_EQ(total, size_t{1} << 30);
  CUdeviceptr d = 0;
  ASSERT_EQ(cuMemAlloc(&d, 100 << 20), CUDA_SUCCESS);
  ASSERT_EQ(cuMemGetInfo(&after, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(before - after, size_t{100} << 20);
  EXPECT_EQ(cuMemAlloc(&d, before), CUDA_ERROR_OUT_OF_MEMORY);
}

TEST_F(Api, pitched_copies_move_the_box) {
  CUdeviceptr d = 0;
  size_t pitch = 0;
  ASSERT_EQ(cuMemAllocPitch(&d, &pitch, 100, 10, 4), CUDA_SUCCESS);
  EXPECT_EQ(pitch, 512u);
  std::vector<char> in(1000), out(1000, 0);
  for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<char>(i * 7);
  CUDA_MEMCPY2D copy{};
  copy.srcMemoryType = CU_MEMORYTYPE_HOST;
  copy.srcHost = in.data();
  copy.srcPitch = 100;
  copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.dstDevice = d;
  copy.dstPitch = pitch;
  copy.WidthInBytes = 100;
  copy.Height = 10;
  EXPECT_EQ(cuMemcpy2D(&copy, nullptr), CUDA_SUCCESS);
  CUDA_MEMCPY2D back{};
  back.srcMemoryType = CU_MEMORYTYPE_DEVICE;
  back.srcDevice = d;
  back.srcPitch = pitch;
  back.dstMemoryType = CU_MEMORYTYPE_HOST;
  back.dstHost = out.data();
  back.dstPitch = 100;
  back.WidthInBytes = 100;
  back.Height = 10;
  EXPECT_EQ(cuMemcpy2D(&back, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(in, out);
  back.Height = 11;
  EXPECT_EQ(cuMemcpy2D(&back, nullptr), CUDA_ERROR_INVALID_VALUE);
  back.Height = 10;
  back.srcMemoryType = CU_MEMORYTYPE_ARRAY;
  EXPECT_EQ(cuMemcpy2D(&back, nullptr), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Api, large_copies_and_fills_are_whole) {
  constexpr size_t bytes = (37 << 20) + 12345;
  CUdeviceptr d = 0, e = 0;
  ASSERT_EQ(cuMemAlloc(&d, bytes), CUDA_SUCCESS);
  ASSERT_EQ(cuMemAlloc(&e, bytes), CUDA_SUCCESS);
  std::vector<unsigned char> in(bytes), out(bytes);
  for (size_t i = 0; i < bytes; ++i) in[i] = static_cast<unsigned char>(i ^ (i >> 11));
  EXPECT_EQ(cuMemcpyHtoD(d, in.data(), bytes, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(cuMemcpyDtoDAsync(e, d, bytes, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(cuMemcpyDtoH(out.data(), e, bytes, nullptr), CUDA_SUCCESS);
  EXPECT_TRUE(in == out);
  EXPECT_EQ(cuMemsetD32(e, 0x01020304, bytes / 4, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(cuMemcpyDtoH(out.data(), e, bytes, nullptr), CUDA_SUCCESS);
  for (size_t i = 0; i < bytes / 4 * 4; i += 4) ASSERT_EQ(out[i], 4) << i;
}

TEST_F(Api, host_memory_kinds) {
  void *pinned = nullptr, *none = &pinned;
  EXPECT_EQ(cuMemHostAlloc(&none, 0, 0), CUDA_SUCCESS);
  EXPECT_EQ(none, nullptr);
  EXPECT_EQ(cuMemHostAlloc(&none, 16, 8), CUDA_ERROR_INVALID_VALUE);
  ASSERT_EQ(cuMemHostAlloc(&pinned, 4096, CU_MEMHOSTALLOC_WRITECOMBINED), CUDA_SUCCESS);
  unsigned flags = 0, type = 0;
  EXPECT_EQ(cuMemHostGetFlags(&flags, pinned), CUDA_SUCCESS);
  EXPECT_EQ(flags, 6u);
  CUdeviceptr device = 0;
  EXPECT_EQ(cuMemHostGetDevicePointer(&device, pinned, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, device), CUDA_SUCCESS);
  EXPECT_EQ(type, unsigned(CU_MEMORYTYPE_HOST));
  EXPECT_EQ(cuMemFree(device), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemFreeHost(pinned), CUDA_SUCCESS);
  EXPECT_EQ(cuMemFreeHost(pinned), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemFreeHost(nullptr), CUDA_SUCCESS);
  std::vector<char> plain(1 << 20);
  EXPECT_EQ(cuMemHostRegister(plain.data(), plain.size(), 0), CUDA_SUCCESS);
  EXPECT_EQ(cuMemHostRegister(plain.data() + 4096, 10, 0),
            CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
  EXPECT_EQ(cuMemHostUnregister(plain.data() + 8), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemHostUnregister(plain.data()), CUDA_SUCCESS);
  EXPECT_EQ(cuMemHostUnregister(plain.data()), CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
  EXPECT_EQ(cuMemHostRegister(reinterpret_cast<void*>(0x10000), 4096, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                  reinterpret_cast<CUdeviceptr>(plain.data())),
            CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Api, stream_ordered_memory_is_reused_and_trimmed) {
  CUdeviceptr a = 0, b = 0, none = 1;
  EXPECT_EQ(cuMemAllocAsync(&a, 1000, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(cuMemFreeAsync(a, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(cuMemFreeAsync(a, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemAllocAsync(&b, 1000, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(a, b);
  EXPECT_EQ(cuMemFree(b), CUDA_SUCCESS);
  EXPECT_EQ(cuMemFree(b), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemAllocAsync(&none, 0, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(cuMemFreeAsync(0, nullptr), CUDA_SUCCESS);
  CUmemoryPool pool = nullptr;
  ASSERT_EQ(cuDeviceGetDefaultMemPool(&pool, 0), CUDA_SUCCESS);
  uint64_t bytes = 1;
  EXPECT_EQ(cuCtxSynchronize(nullptr), CUDA_SUCCESS);
  EXPECT_EQ(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, &bytes),
            CUDA_SUCCESS);
  EXPECT_EQ(bytes, 0u);
}

/// The codes that cuda.core's tests expect of NVIDIA's driver, for copies between `mine` on device
/// 0 and `pooled` on device 1. Kernels and peer copies are not held back.
void expect_copies_as_allowed(CUmemoryPool pool, CUdeviceptr pooled, CUdeviceptr mine,
                              CUcontext here, CUcontext there) {
  const auto allow = [&](CUmemAccess_flags flags) {
    const CUmemAccessDesc access{{CU_MEM_LOCATION_TYPE_DEVICE, 0}, flags};
    EXPECT_EQ(cuMemPoolSetAccess(pool, &access, 1), CUDA_SUCCESS);
  };
  const auto codes = [&](CUresult in, CUresult out) {
    EXPECT_EQ(cuMemcpyAsync(pooled, mine, 64, nullptr), in);
    EXPECT_EQ(cuMemcpyDtoD(pooled, mine, 64, nullptr), in);
    EXPECT_EQ(cuMemcpyDtoDAsync(mine, pooled, 64, nullptr), out);
    EXPECT_EQ(cuMemcpy(mine, pooled, 64, nullptr), out);
    EXPECT_EQ(cuMemcpyPeer(mine, here, pooled, there, 64, nullptr), CUDA_SUCCESS);
  };
  codes(CUDA_ERROR_INVALID_VALUE, CUDA_ERROR_INVALID_VALUE);
  allow(CU_MEM_ACCESS_FLAGS_PROT_READ);
  codes(CUDA_ERROR_INVALID_VALUE, CUDA_SUCCESS);
  allow(CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
  codes(CUDA_SUCCESS, CUDA_SUCCESS);
  allow(CU_MEM_ACCESS_FLAGS_PROT_NONE);
  codes(CUDA_ERROR_INVALID_VALUE, CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Api, copies_reach_another_devices_pool_as_far_as_it_allows) {
  CUmemPoolProps props{};
  props.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  props.handleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  props.location = {CU_MEM_LOCATION_TYPE_DEVICE, 1};
  CUmemoryPool pool = nullptr, imported = nullptr;
  ASSERT_EQ(cuMemPoolCreate(&pool, &props), CUDA_SUCCESS);
  int handle = -1;
  ASSERT_EQ(cuMemPoolExportToShareableHandle(&handle, pool, props.handleTypes, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuMemPoolImportFromShareableHandle(&imported, reinterpret_cast<void*>(intptr_t{handle}),
                                               props.handleTypes, 0),
            CUDA_SUCCESS);
  close(handle);
  CUcontext other = nullptr;
  ASSERT_EQ(cuDevicePrimaryCtxRetain(&other, 1), CUDA_SUCCESS);
  CUdeviceptr pooled = 0, again = 0, mine = 0;
  ASSERT_EQ(cuCtxPushCurrent(other), CUDA_SUCCESS);
  ASSERT_EQ(cuMemAllocFromPoolAsync(&pooled, 64, pool, nullptr), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamSynchronize(nullptr), CUDA_SUCCESS);
  CUmemPoolPtrExportData block;
  ASSERT_EQ(cuMemPoolExportPointer(&block, pooled), CUDA_SUCCESS);
  ASSERT_EQ(cuMemPoolImportPointer(&again, imported, &block), CUDA_SUCCESS);
  EXPECT_EQ(cuMemcpyAsync(pooled, pooled + 32, 32, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(cuMemcpyAsync(again, again + 32, 32, nullptr), CUDA_SUCCESS);
  ASSERT_EQ(cuCtxPopCurrent(&other), CUDA_SUCCESS);
  ASSERT_EQ(cuMemAlloc(&mine, 64), CUDA_SUCCESS);
  {
    SCOPED_TRACE("by the pool's own process");
    expect_copies_as_allowed(pool, pooled, mine, context, other);
  }
  // What the exporting side allows says nothing about the importing one.
  SCOPED_TRACE("imported");
  expect_copies_as_allowed(imported, again, mine, context, other);
  EXPECT_EQ(cuStreamSynchronize(nullptr), CUDA_SUCCESS);
  EXPECT_EQ(cuMemFree(mine), CUDA_SUCCESS);
  EXPECT_EQ(cuMemFree(again), CUDA_SUCCESS);
  EXPECT_EQ(cuMemFree(pooled), CUDA_SUCCESS);
  EXPECT_EQ(cuMemPoolDestroy(imported), CUDA_SUCCESS);
  EXPECT_EQ(cuMemPoolDestroy(pool), CUDA_SUCCESS);
  EXPECT_EQ(cuDevicePrimaryCtxRelease(1), CUDA_SUCCESS);
}

TEST_F(Api, pools_give_back_at_every_synchronising_call) {
  CUmemoryPool pool = nullptr;
  ASSERT_EQ(cuDeviceGetDefaultMemPool(&pool, 0), CUDA_SUCCESS);
  CUstream stream = nullptr;
  CUevent event = nullptr;
  ASSERT_EQ(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  ASSERT_EQ(cuEventCreate(&event, CU_EVENT_DEFAULT), CUDA_SUCCESS);
  auto reserved = [&] {
    uint64_t bytes = 0;
    EXPECT_EQ(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, &bytes),
              CUDA_SUCCESS);
    return bytes;
  };
  constexpr uint64_t bytes = 4 << 20;
  size_t before = 0, after = 0, total = 0;
  ASSERT_EQ(cuMemGetInfo(&before, &total), CUDA_SUCCESS);
  for (int how = 0; how < 3; ++how) {
    CUdeviceptr block = 0;
    ASSERT_EQ(cuMemAllocAsync(&block, bytes, stream), CUDA_SUCCESS);
    ASSERT_EQ(cuMemsetD8Async(block, 1, bytes, stream), CUDA_SUCCESS);
    ASSERT_EQ(cuMemFreeAsync(block, stream), CUDA_SUCCESS);
    ASSERT_EQ(cuEventRecord(event, stream), CUDA_SUCCESS);
    EXPECT_EQ(reserved(), bytes);
    EXPECT_EQ(how == 0   ? cuStreamSynchronize(stream)
              : how == 1 ? cuEventSynchronize(event)
                         : cuCtxSynchronize(nullptr),
              CUDA_SUCCESS);
    EXPECT_EQ(reserved(), 0u) << how;
    ASSERT_EQ(cuMemGetInfo(&after, &total), CUDA_SUCCESS);
    EXPECT_EQ(before, after);
  }
  uint64_t threshold = bytes;
  ASSERT_EQ(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &threshold),
            CUDA_SUCCESS);
  CUdeviceptr two[2] = {};
  for (CUdeviceptr& block : two) ASSERT_EQ(cuMemAllocAsync(&block, bytes, stream), CUDA_SUCCESS);
  for (CUdeviceptr block : two) ASSERT_EQ(cuMemFreeAsync(block, stream), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
  EXPECT_EQ(reserved(), bytes);  // the threshold stays, what is above goes
  threshold = 0;
  ASSERT_EQ(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &threshold),
            CUDA_SUCCESS);
  EXPECT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
  EXPECT_EQ(reserved(), 0u);
  EXPECT_EQ(cuEventDestroy(event), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamDestroy(stream), CUDA_SUCCESS);
}

TEST_F(Api, stale_handles_are_codes_not_crashes) {
  CUstream stream = nullptr;
  ASSERT_EQ(cuStreamCreate(&stream, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamDestroy(stream), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamSynchronize(stream), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuStreamQuery(stream), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuStreamDestroy(stream), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuStreamDestroy(nullptr), CUDA_ERROR_INVALID_HANDLE);
  CUevent event = nullptr;
  ASSERT_EQ(cuEventCreate(&event, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuEventDestroy(event), CUDA_SUCCESS);
  EXPECT_EQ(cuEventQuery(event), CUDA_ERROR_INVALID_HANDLE);
  CUmodule module = load();
  CUfunction function = kernel(module, "empty");
  EXPECT_EQ(cuModuleUnload(module), CUDA_SUCCESS);
  EXPECT_EQ(cuModuleGetFunction(&function, module, "empty"), CUDA_ERROR_INVALID_HANDLE);
  for (auto bits : {0x1ull, 0x3ull, 0x1234567812345678ull, ~0ull}) {
    auto* wild = reinterpret_cast<void*>(bits);
    EXPECT_EQ(cuModuleUnload(static_cast<CUmodule>(wild)), CUDA_ERROR_INVALID_HANDLE);
    // What never was an event belongs to no context. measured H200
    EXPECT_EQ(cuEventQuery(static_cast<CUevent>(wild)), CUDA_ERROR_INVALID_CONTEXT);
    if (bits > 2) {
      EXPECT_EQ(cuStreamQuery(static_cast<CUstream>(wild)), CUDA_ERROR_INVALID_HANDLE);
    }
  }
}

TEST_F(Api, streams_and_events_of_an_ended_context_say_so) {
  CUcontext own = nullptr;
  ASSERT_EQ(cuCtxCreate(&own, nullptr, 0, 0), CUDA_SUCCESS);
  CUstream stream = nullptr;
  CUevent event = nullptr;
  ASSERT_EQ(cuStreamCreate(&stream, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuEventCreate(&event, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuCtxDestroy(own), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamQuery(stream), CUDA_ERROR_CONTEXT_IS_DESTROYED);
  EXPECT_EQ(cuStreamDestroy(stream), CUDA_ERROR_CONTEXT_IS_DESTROYED);
  EXPECT_EQ(cuEventQuery(event), CUDA_ERROR_CONTEXT_IS_DESTROYED);
  EXPECT_EQ(cuEventSynchronize(event), CUDA_ERROR_CONTEXT_IS_DESTROYED);
  EXPECT_EQ(cuEventDestroy(event), CUDA_ERROR_CONTEXT_IS_DESTROYED);
}

TEST_F(Api, legacy_stream_orders_blocking_streams) {
  CUstream blocking = nullptr, free_running = nullptr;
  ASSERT_EQ(cuStreamCreate(&blocking, CU_STREAM_DEFAULT), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamCreate(&free_running, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  struct Shared {
    std::atomic<bool> go{false};
    std::atomic<int> order{0};
    int legacy = 0, after = 0;
  } shared;
  auto hold = [](void* data) {
    while (!static_cast<Shared*>(data)->go) std::this_thread::yield();
    static_cast<Shared*>(data)->order++;
  };
  auto legacy = [](void* data) {
    auto* to = static_cast<Shared*>(data);
    to->legacy = ++to->order;
  };
  auto after = [](void* data) {
    auto* to = static_cast<Shared*>(data);
    to->after = ++to->order;
  };
  EXPECT_EQ(cuLaunchHostFunc(blocking, hold, &shared), CUDA_SUCCESS);
  EXPECT_EQ(cuLaunchHostFunc(nullptr, legacy, &shared), CUDA_SUCCESS);
  EXPECT_EQ(cuLaunchHostFunc(blocking, after, &shared), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamQuery(nullptr), CUDA_ERROR_NOT_READY);
  EXPECT_EQ(cuStreamQuery(free_running), CUDA_SUCCESS);
  EXPECT_EQ(cuLaunchHostFunc(free_running, [](void*) {}, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamSynchronize(free_running), CUDA_SUCCESS);
  shared.go = true;
  EXPECT_EQ(cuStreamSynchronize(blocking), CUDA_SUCCESS);
  EXPECT_EQ(shared.legacy, 2);
  EXPECT_EQ(shared.after, 3);
}

TEST_F(Api, pageable_source_may_be_reused_after_an_async_copy) {
  CUstream stream = nullptr;
  ASSERT_EQ(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  std::atomic<bool> go{false};
  auto hold = [](void* data) {
    while (!static_cast<std::atomic<bool>*>(data)->load()) std::this_thread::yield();
  };
  CUdeviceptr d = 0;
  ASSERT_EQ(cuMemAlloc(&d, 64), CUDA_SUCCESS);
  EXPECT_EQ(cuLaunchHostFunc(stream, hold, &go), CUDA_SUCCESS);
  int value = 7, back = 0;
  EXPECT_EQ(cuMemcpyHtoDAsync(d, &value, 4, stream), CUDA_SUCCESS);
  value = 8;
  go = true;
  EXPECT_EQ(cuMemcpyDtoHAsync(&back, d, 4, stream), CUDA_SUCCESS);
  EXPECT_EQ(back, 7);  // to pageable memory the call returns when the data is there
}

TEST_F(Api, events_time_and_order) {
  CUevent start = nullptr, end = nullptr, untimed = nullptr;
  EXPECT_EQ(cuEventCreate(&start, CU_EVENT_DEFAULT), CUDA_SUCCESS);
  EXPECT_EQ(cuEventCreate(&end, CU_EVENT_BLOCKING_SYNC), CUDA_SUCCESS);
  EXPECT_EQ(cuEventCreate(&untimed, CU_EVENT_DISABLE_TIMING), CUDA_SUCCESS);
  EXPECT_EQ(cuEventCreate(&untimed, 16), CUDA_ERROR_INVALID_VALUE);
  float ms = -1;
  EXPECT_EQ(cuEventQuery(start), CUDA_SUCCESS);
  EXPECT_EQ(cuEventElapsedTime(&ms, start, end), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuEventRecord(start, nullptr), CUDA_SUCCESS);
  auto pause = [](void*) { std::this_thread::sleep_for(std::chrono::milliseconds(20)); };
  EXPECT_EQ(cuLaunchHostFunc(nullptr, pause, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(cuEventRecord(end, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(cuEventElapsedTime(&ms, start, end), CUDA_ERROR_NOT_READY);
  EXPECT_EQ(cuEventSynchronize(end), CUDA_SUCCESS);
  EXPECT_EQ(cuEventElapsedTime(&ms, start, end), CUDA_SUCCESS);
  EXPECT_GE(ms, 19.0f);
  EXPECT_LT(ms, 2000.0f);
  EXPECT_EQ(cuEventElapsedTime(&ms, start, untimed), CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(Api, contexts_and_the_stack) {
  CUcontext other = nullptr, now = nullptr;
  EXPECT_EQ(cuCtxCreate(&other, nullptr, 7, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuCtxCreate(&other, nullptr, 0, 9), CUDA_ERROR_INVALID_DEVICE);
  ASSERT_EQ(cuCtxCreate(&other, nullptr, CU_CTX_SCHED_SPIN, 1), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxGetCurrent(&now), CUDA_SUCCESS);
  EXPECT_EQ(now, other);
  CUdevice device = -1;
  EXPECT_EQ(cuCtxGetDevice(&device, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(device, 1);
  EXPECT_EQ(cuCtxDestroy(other), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxGetCurrent(&now), CUDA_SUCCESS);
  EXPECT_EQ(now, context);
  EXPECT_EQ(cuCtxDestroy(other), CUDA_ERROR_CONTEXT_IS_DESTROYED);
  CUcontext primary = nullptr;
  EXPECT_EQ(cuDevicePrimaryCtxRelease(0), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_EQ(cuDevicePrimaryCtxRetain(&primary, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxDestroy(primary), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_EQ(cuCtxPushCurrent(primary), CUDA_SUCCESS);
  CUdeviceptr d = 0;
  EXPECT_EQ(cuMemAlloc(&d, 16), CUDA_SUCCESS);
  EXPECT_EQ(cuDevicePrimaryCtxReset(0), CUDA_SUCCESS);
  EXPECT_EQ(cuMemAlloc(&d, 16), CUDA_ERROR_CONTEXT_IS_DESTROYED);
  EXPECT_EQ(cuDevicePrimaryCtxRelease(0), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxPopCurrent(nullptr), CUDA_SUCCESS);
}

TEST_F(Api, destroyed_context_stays_current_elsewhere) {
  CUcontext other = nullptr;
  ASSERT_EQ(cuCtxCreate(&other, nullptr, 0, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuCtxPopCurrent(nullptr), CUDA_SUCCESS);
  std::atomic<int> stage{0};
  std::thread thread([&] {
    CUdeviceptr d;
    EXPECT_EQ(cuCtxSetCurrent(other), CUDA_SUCCESS);
    EXPECT_EQ(cuMemAlloc(&d, 16), CUDA_SUCCESS);
    stage = 1;
    while (stage != 2) std::this_thread::yield();
    EXPECT_EQ(cuMemAlloc(&d, 16), CUDA_ERROR_CONTEXT_IS_DESTROYED);
    EXPECT_EQ(cuCtxSynchronize(nullptr), CUDA_ERROR_CONTEXT_IS_DESTROYED);
  });
  while (stage != 1) std::this_thread::yield();
  EXPECT_EQ(cuCtxDestroy(other), CUDA_SUCCESS);
  stage = 2;
  thread.join();
}

TEST_F(Api, jit_log_names_the_line) {
  char log[512] = "";
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {log, reinterpret_cast<void*>(sizeof log)};
  CUmodule module = nullptr;
  std::string text =
      ".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry k() {\n"
      "  nonsense.u32 %r1;\n  ret;\n}\n";
  EXPECT_EQ(cuModuleLoadDataEx(&module, text.c_str(), 2, options, values), CUDA_ERROR_INVALID_PTX);
  EXPECT_NE(std::string(log).find("line 5"), std::string::npos) << log;
  EXPECT_EQ(reinterpret_cast<size_t>(values[1]), std::strlen(log));
  text.replace(9, 3, "99.0");
  EXPECT_EQ(cuModuleLoadData(&module, text.c_str()), CUDA_ERROR_UNSUPPORTED_PTX_VERSION);
  EXPECT_EQ(cuModuleLoadData(&module, "hello"), CUDA_ERROR_INVALID_IMAGE);
  EXPECT_EQ(cuModuleLoadData(&module, nullptr), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Api, linking_resolves_between_inputs) {
  std::string head = ".version 7.0\n.target sm_75\n.address_size 64\n";
  std::string one = head + ".extern .func f();\n.visible .entry k() { call f; ret; }\n";
  std::string two = head + ".visible .func f() { ret; }\n";
  CUlinkState link = nullptr;
  ASSERT_EQ(cuLinkCreate(0, nullptr, nullptr, &link), CUDA_SUCCESS);
  for (std::string* text : {&one, &two})
    EXPECT_EQ(cuLinkAddData(link, CU_JIT_INPUT_PTX, text->data(), text->size() + 1, "x", 0, nullptr,
                            nullptr),
              CUDA_SUCCESS);
  void* image = nullptr;
  size_t size = 0;
  ASSERT_EQ(cuLinkComplete(link, &image, &size), CUDA_SUCCESS);
  CUmodule module = nullptr;
  EXPECT_EQ(cuModuleLoadData(&module, image), CUDA_SUCCESS);
  EXPECT_EQ(cuLinkDestroy(link), CUDA_SUCCESS);
  EXPECT_EQ(launch(kernel(module, "k"), 1, 1, 1, 1, 1, 1), CUDA_SUCCESS);
  EXPECT_EQ(cuModuleLoadData(&module, one.c_str()), CUDA_ERROR_INVALID_PTX);
}

TEST_F(Api, too_much_static_shared_memory_is_refused_at_load) {
  auto text = [](int bytes) {
    return ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k()\n{\n.shared .b8 s[" +
           std::to_string(bytes) +
           "];\n.reg .b32 %r<2>;\nmov.u32 %r0, s;\nst.shared.u32 [%r0], 1;\nret;\n}\n";
  };
  CUmodule module = nullptr;
  EXPECT_EQ(cuModuleLoadData(&module, text(49156).c_str()), CUDA_ERROR_INVALID_PTX);
  EXPECT_EQ(cuModuleLoadData(&module, text(49152).c_str()), CUDA_SUCCESS);
}

TEST_F(Api, libraries_are_lazy_and_shared) {
  CUlibrary library = nullptr, junk = nullptr;
  // Code that cannot run is told at its first use.
  ASSERT_EQ(cuLibraryLoadData(&junk, "no code", nullptr, nullptr, 0, nullptr, nullptr, 0),
            CUDA_SUCCESS);
  CUkernel k = nullptr;
  EXPECT_EQ(cuLibraryGetKernel(&k, junk, "empty"), CUDA_ERROR_INVALID_IMAGE);
  ASSERT_EQ(cuLibraryLoadData(&library, ptx, nullptr, nullptr, 0, nullptr, nullptr, 0),
            CUDA_SUCCESS);
  EXPECT_EQ(cuLibraryGetKernel(&k, library, "nope"), CUDA_ERROR_NOT_FOUND);
  ASSERT_EQ(cuLibraryGetKernel(&k, library, "empty"), CUDA_SUCCESS);
  EXPECT_EQ(launch(reinterpret_cast<CUfunction>(k), 1, 1, 1, 1, 1, 1), CUDA_SUCCESS);
  CUdeviceptr number = 0;
  EXPECT_EQ(cuLibraryGetGlobal(&number, nullptr, library, "number"), CUDA_SUCCESS);
  CUmodule module = nullptr;
  ASSERT_EQ(cuLibraryGetModule(&module, library), CUDA_SUCCESS);
  EXPECT_EQ(cuModuleUnload(module), CUDA_ERROR_NOT_PERMITTED);
  CUfunction f = nullptr;
  EXPECT_EQ(cuKernelGetFunction(&f, k), CUDA_SUCCESS);
  EXPECT_EQ(cuLibraryUnload(library), CUDA_SUCCESS);
  EXPECT_EQ(launch(f, 1, 1, 1, 1, 1, 1), CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(Api, a_thousand_modules_leave_nothing) {
  size_t before = 0, after = 0;
  ASSERT_EQ(cuMemGetInfo(&before, nullptr), CUDA_SUCCESS);
  for (int i = 0; i < 1000; ++i) {
    CUmodule module = load();
    ASSERT_EQ(launch(kernel(module, "empty"), 1, 1, 1, 32, 1, 1), CUDA_SUCCESS);
    ASSERT_EQ(cuModuleUnload(module), CUDA_SUCCESS);
  }
  ASSERT_EQ(cuCtxSynchronize(nullptr), CUDA_SUCCESS);
  ASSERT_EQ(cuMemGetInfo(&after, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(before, after);
}

TEST_F(Api, peer_copies_between_virtual_devices) {
  CUcontext other = nullptr;
  ASSERT_EQ(cuCtxCreate(&other, nullptr, 0, 1), CUDA_SUCCESS);
  CUdeviceptr there = 0, here = 0;
  ASSERT_EQ(cuMemAlloc(&there, 64), CUDA_SUCCESS);
  EXPECT_EQ(cuMemsetD8(there, 9, 64, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxEnablePeerAccess(context, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxEnablePeerAccess(context, 0), CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED);
  EXPECT_EQ(cuCtxDisablePeerAccess(context), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxDisablePeerAccess(context), CUDA_ERROR_PEER_ACCESS_NOT_ENABLED);
  ASSERT_EQ(cuCtxPopCurrent(nullptr), CUDA_SUCCESS);
  ASSERT_EQ(cuMemAlloc(&here, 64), CUDA_SUCCESS);
  EXPECT_EQ(cuMemcpyPeer(here, context, there, other, 64, nullptr), CUDA_SUCCESS);
  unsigned char bytes[64] = {};
  EXPECT_EQ(cuMemcpyDtoH(bytes, here, 64, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(bytes[63], 9);
  int ordinal = -1;
  EXPECT_EQ(cuPointerGetAttribute(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, there),
            CUDA_SUCCESS);
  EXPECT_EQ(ordinal, 1);
  EXPECT_EQ(cuCtxDestroy(other), CUDA_SUCCESS);
}

TEST_F(Api, per_thread_streams_are_each_threads_own) {
  unsigned long long here = 0, there = 0;
  EXPECT_EQ(cuStreamGetId(CU_STREAM_PER_THREAD, &here), CUDA_SUCCESS);
  std::thread([&] {
    EXPECT_EQ(cuCtxSetCurrent(context), CUDA_SUCCESS);
    EXPECT_EQ(cuStreamGetId(CU_STREAM_PER_THREAD, &there), CUDA_SUCCESS);
    EXPECT_EQ(cuLaunchHostFunc(CU_STREAM_PER_THREAD, [](void*) {}, nullptr), CUDA_SUCCESS);
  }).join();
  EXPECT_NE(here, there);
  EXPECT_EQ(cuCtxSynchronize(nullptr), CUDA_SUCCESS);
}

}  // namespace
}  // namespace limen::cpu
