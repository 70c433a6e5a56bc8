// What the exports do to arguments: per-thread streams, older ABIs, tracing, answers by caller.
#include <fstream>
#include <sstream>
#include <string>

#include "library.h"

namespace limen::test {
namespace {

void start() { ASSERT_EQ(call("cuInit", 0u), CUDA_SUCCESS); }

TEST(Streams, LegacyAndPerThread) {
  in_child([] {
    start();
    CUstream none = nullptr;
    auto other = reinterpret_cast<CUstream>(0x77);
    const void* host = nullptr;
    call("cuMemcpyHtoDAsync_v2", CUdeviceptr{1} << 40, host, size_t{5} << 32, none);
    EXPECT_EQ(record().address, CUdeviceptr{1} << 40);
    EXPECT_EQ(record().bytes, size_t{5} << 32);
    EXPECT_EQ(record().stream, nullptr);
    call("cuMemcpyHtoDAsync_v2_ptsz", CUdeviceptr{1}, host, size_t{1}, none);
    EXPECT_EQ(record().stream, CU_STREAM_PER_THREAD);
    call("cuMemcpyHtoDAsync_v2_ptsz", CUdeviceptr{1}, host, size_t{1}, other);
    EXPECT_EQ(record().stream, other);
    call("cuMemcpyHtoDAsync_v2_ptsz", CUdeviceptr{1}, host, size_t{1}, CU_STREAM_LEGACY);
    EXPECT_EQ(record().stream, CU_STREAM_LEGACY);
    call("cuMemcpyHtoD_v2_ptds", CUdeviceptr{1}, host, size_t{1});
    EXPECT_EQ(record().stream, CU_STREAM_PER_THREAD);
    call("cuMemcpyHtoD_v2", CUdeviceptr{1}, host, size_t{1});
    EXPECT_EQ(record().stream, nullptr);
  });
}

TEST(Streams, InsideLaunchConfig) {
  in_child([] {
    start();
    CUlaunchConfig config{};
    const CUlaunchConfig* given = &config;
    CUfunction function = nullptr;
    void** args = nullptr;
    call("cuLaunchKernelEx_ptsz", given, function, args, args);
    EXPECT_EQ(record().stream, CU_STREAM_PER_THREAD);
    EXPECT_EQ(config.hStream, nullptr);
    call("cuLaunchKernelEx", given, function, args, args);
    EXPECT_EQ(record().stream, nullptr);
  });
}

TEST(OldAbi, Contexts) {
  in_child([] {
    start();
    CUcontext context = nullptr;
    call("cuCtxCreate_v2", &context, 8u, 0);
    EXPECT_EQ(record().params, nullptr);
    EXPECT_EQ(record().flags, 8u);
    CUexecAffinityParam affinity{};
    call("cuCtxCreate_v3", &context, &affinity, 1, 4u, 0);
    EXPECT_EQ(record().affinities, 1);
    call("cuCtxCreate_v3", &context, static_cast<CUexecAffinityParam*>(nullptr), 0, 4u, 0);
    EXPECT_EQ(record().affinities, -1);
    record().context = reinterpret_cast<CUcontext>(1);
    CUdevice device = 7;
    call("cuCtxGetDevice", &device);
    EXPECT_EQ(record().context, nullptr);
    call("cuCtxGetDevice_v2", &device, reinterpret_cast<CUcontext>(0x99));
    EXPECT_EQ(record().context, reinterpret_cast<CUcontext>(0x99));
  });
}

TEST(OldAbi, ThirtyTwoBits) {
  in_child([] {
    start();
    unsigned int address = 0;
    EXPECT_EQ(call("cuMemAlloc", &address, 16u), CUDA_ERROR_INVALID_CONTEXT);
    EXPECT_EQ(call("cuMemcpyHtoD", 16u, static_cast<const void*>(nullptr), 4u),
              CUDA_ERROR_INVALID_CONTEXT);
    unsigned int total = 0;
    EXPECT_EQ(call("cuDeviceTotalMem", &total, 0), CUDA_SUCCESS);
    EXPECT_EQ(total, 0xffffffffu);
  });
}

TEST(OldAbi, Prefetch) {
  in_child([] {
    start();
    CUstream none = nullptr;
    call("cuMemPrefetchAsync", CUdeviceptr{1}, size_t{2}, 3, none);
    EXPECT_EQ(record().location.type, CU_MEM_LOCATION_TYPE_DEVICE);
    EXPECT_EQ(record().location.id, 3);
    call("cuMemPrefetchAsync_ptsz", CUdeviceptr{1}, size_t{2}, CU_DEVICE_CPU, none);
    EXPECT_EQ(record().location.type, CU_MEM_LOCATION_TYPE_HOST);
    EXPECT_EQ(record().stream, CU_STREAM_PER_THREAD);
  });
}

TEST(OldAbi, KernelNode) {
  in_child([] {
    start();
    CUDA_KERNEL_NODE_PARAMS_v1 params{};
    params.func = reinterpret_cast<CUfunction>(0x10);
    params.blockDimZ = 3;
    params.sharedMemBytes = 4;
    record().node.ctx = reinterpret_cast<CUcontext>(0x20);
    const CUDA_KERNEL_NODE_PARAMS_v1* given = &params;
    CUgraphNode node{};
    call("cuGraphAddKernelNode", &node, CUgraph{}, static_cast<const CUgraphNode*>(nullptr),
         size_t{0}, given);
    EXPECT_EQ(record().node.func, params.func);
    EXPECT_EQ(record().node.blockDimZ, 3u);
    EXPECT_EQ(record().node.sharedMemBytes, 4u);
    EXPECT_EQ(record().node.ctx, nullptr);
  });
}

TEST(Trace, OneLineACall) {
  std::string path = ::testing::TempDir() + "limen_trace_" + std::to_string(getpid());
  in_child([&] {
    setenv("LIMEN_LOG", ("trace:" + path).c_str(), 1);
    start();
    const void* host = nullptr;
    call("cuMemcpyHtoD_v2", CUdeviceptr{1} << 40, host, size_t{7});
    int count = 0;
    call("cuDeviceGetCount", &count);
  });
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  EXPECT_NE(text.str().find("cuInit(Flags=0) = 0"), std::string::npos) << text.str();
  EXPECT_NE(
      text.str().find(
          "cuMemcpyHtoD(dstDevice=0x10000000000, srcHost=null, ByteCount=7, stream=null) = 0"),
      std::string::npos)
      << text.str();
  EXPECT_NE(text.str().find(") = 0 [*count=2]"), std::string::npos) << text.str();
  unlink(path.c_str());
}

TEST(Caller, TheProgramSeesTheDevice) {
  in_child([] {
    start();
    int value = 0;
    call("cuDeviceGetAttribute", &value, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 0);
    EXPECT_EQ(value, 75);
  });
}

TEST(Driver, VersionMayBeRaised) {
  in_child([] {
    setenv("LIMEN_DRIVER_VERSION", "13020", 1);
    int version = 0;
    call("cuDriverGetVersion", &version);
    EXPECT_EQ(version, 13020);
  });
}

}  // namespace
}  // namespace limen::test
