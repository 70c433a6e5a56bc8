// Virtual memory, pools and exports from many threads at once, against one device: every thread
// finds its own values, nothing is left over, stale handles are refused. Two devices, 1 GiB each.
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

#include "abi/cpu_api.h"

namespace limen::cpu {
namespace {

constexpr size_t granule = size_t{2} << 20;
constexpr int thread_count = 16;

class MemoryThreads : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    setenv("LIMEN_DEVICES", "2", 1);
    setenv("LIMEN_MEMORY", "1G", 1);
    setenv("LIMEN_LOG", "off", 1);
    ASSERT_EQ(cuInit(0), CUDA_SUCCESS);
    ASSERT_EQ(cuDevicePrimaryCtxRetain(&context, 0), CUDA_SUCCESS);
    ASSERT_EQ(cuCtxSetCurrent(context), CUDA_SUCCESS);
  }
  /// Runs `work(thread, random)` in all threads.
  template <typename Work>
  static void in_threads(const Work& work) {
    std::vector<std::thread> threads;
    for (int t = 0; t < thread_count; ++t)
      threads.emplace_back([&, t] {
        EXPECT_EQ(cuCtxSetCurrent(context), CUDA_SUCCESS);
        std::mt19937 random(static_cast<unsigned>(t));
        work(t, random);
      });
    for (std::thread& thread : threads) thread.join();
  }
  static size_t free_bytes() {
    size_t free = 0, total = 0;
    EXPECT_EQ(cuMemGetInfo(&free, &total), CUDA_SUCCESS);
    return free;
  }
  static CUcontext context;
};
CUcontext MemoryThreads::context = nullptr;

CUmemAllocationProp properties() {
  CUmemAllocationProp prop{};
  prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  prop.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  prop.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  return prop;
}

TEST_F(MemoryThreads, mappings_come_and_go) {
  const size_t before = free_bytes();
  in_threads([](int t, std::mt19937& random) {
    const CUmemAllocationProp prop = properties();
    for (int round = 0; round < 60; ++round) {
      const size_t bytes = granule * (1 + random() % 3);
      CUdeviceptr address = 0;
      CUmemGenericAllocationHandle handle = 0, same = 0;
      ASSERT_EQ(cuMemAddressReserve(&address, 4 * granule, 0, 0, 0), CUDA_SUCCESS);
      ASSERT_EQ(cuMemCreate(&handle, bytes, &prop, 0), CUDA_SUCCESS);
      ASSERT_EQ(cuMemMap(address, bytes, 0, handle, 0), CUDA_SUCCESS);
      CUmemAccessDesc desc{{CU_MEM_LOCATION_TYPE_DEVICE, 0}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
      ASSERT_EQ(cuMemSetAccess(address, bytes, &desc, 1), CUDA_SUCCESS);
      const auto value = static_cast<uint32_t>(t * 1000 + round);
      ASSERT_EQ(cuMemsetD32Async(address, value, bytes / 4, CUstream(2)), CUDA_SUCCESS);
      if (random() % 4 == 0) {
        int descriptor = -1;
        ASSERT_EQ(cuMemExportToShareableHandle(&descriptor, handle,
                                               CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0),
                  CUDA_SUCCESS);
        close(descriptor);
      }
      ASSERT_EQ(cuMemRetainAllocationHandle(&same, reinterpret_cast<void*>(address + 5)),
                CUDA_SUCCESS);
      EXPECT_EQ(same, handle);
      uint32_t got[2] = {};
      ASSERT_EQ(cuMemcpyDtoH(&got[0], address, 4, CUstream(2)), CUDA_SUCCESS);
      ASSERT_EQ(cuMemcpyDtoH(&got[1], address + bytes - 4, 4, CUstream(2)), CUDA_SUCCESS);
      EXPECT_EQ(got[0], value);
      EXPECT_EQ(got[1], value);
      ASSERT_EQ(cuMemRelease(handle), CUDA_SUCCESS);
      ASSERT_EQ(cuMemRelease(handle), CUDA_SUCCESS);
      ASSERT_EQ(cuMemUnmap(address, bytes), CUDA_SUCCESS);
      EXPECT_EQ(cuMemRelease(handle), CUDA_ERROR_INVALID_VALUE);
      ASSERT_EQ(cuMemAddressFree(address, 4 * granule), CUDA_SUCCESS);
    }
  });
  EXPECT_EQ(free_bytes(), before);
}

TEST_F(MemoryThreads, pools_share_a_device) {
  const size_t before = free_bytes();
  CUmemPoolProps props{};
  props.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  props.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  CUmemoryPool shared[2];
  ASSERT_EQ(cuMemPoolCreate(&shared[0], &props), CUDA_SUCCESS);
  props.handleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  ASSERT_EQ(cuMemPoolCreate(&shared[1], &props), CUDA_SUCCESS);
  in_threads([&](int t, std::mt19937& random) {
    CUstream stream = nullptr;
    ASSERT_EQ(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
    for (int round = 0; round < 100; ++round) {
      CUmemoryPool pool = shared[random() % 2], own = nullptr;
      if (random() % 8 == 0) {
        ASSERT_EQ(cuMemPoolCreate(&own, &props), CUDA_SUCCESS);
        pool = own;
      }
      const size_t words = 1 + random() % 50000;
      CUdeviceptr address = 0;
      ASSERT_EQ(cuMemAllocFromPoolAsync(&address, words * 4, pool, stream), CUDA_SUCCESS);
      const auto value = static_cast<uint32_t>(t * 1000 + round);
      ASSERT_EQ(cuMemsetD32Async(address, value, words, stream), CUDA_SUCCESS);
      uint32_t got = 0;
      ASSERT_EQ(cuMemcpyDtoHAsync(&got, address + (words - 1) * 4, 4, stream), CUDA_SUCCESS);
      ASSERT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
      EXPECT_EQ(got, value);
      const bool end_first = random() % 2;  // the block then outlives its pool
      if (own && end_first) {
        ASSERT_EQ(cuMemPoolDestroy(own), CUDA_SUCCESS);
      }
      ASSERT_EQ(cuMemFreeAsync(address, stream), CUDA_SUCCESS);
      if (own && !end_first) {
        ASSERT_EQ(cuMemPoolDestroy(own), CUDA_SUCCESS);
      }
    }
    ASSERT_EQ(cuStreamDestroy(stream), CUDA_SUCCESS);
  });
  ASSERT_EQ(cuCtxSynchronize(nullptr), CUDA_SUCCESS);
  for (CUmemoryPool pool : shared) EXPECT_EQ(cuMemPoolDestroy(pool), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxSynchronize(nullptr), CUDA_SUCCESS);
  EXPECT_EQ(free_bytes(), before);
}

TEST_F(MemoryThreads, exports_while_others_allocate_and_write) {
  const size_t before = free_bytes();
  in_threads([](int t, std::mt19937& random) {
    for (int round = 0; round < 60; ++round) {
      const size_t words = 64 + random() % (1 << (6 + random() % 13));
      CUdeviceptr address = 0;
      ASSERT_EQ(cuMemAlloc(&address, words * 4), CUDA_SUCCESS);
      const auto value = static_cast<uint32_t>(t * 1000 + round);
      ASSERT_EQ(cuMemsetD32(address, value, words, CUstream(2)), CUDA_SUCCESS);
      CUipcMemHandle handle;
      if (random() % 3 == 0) {
        ASSERT_EQ(cuIpcGetMemHandle(&handle, address), CUDA_SUCCESS);
      }
      uint32_t got = 0;
      ASSERT_EQ(cuMemcpyDtoH(&got, address + words * 2 / 4 * 4, 4, CUstream(2)), CUDA_SUCCESS);
      EXPECT_EQ(got, value);
      ASSERT_EQ(cuMemFree(address), CUDA_SUCCESS);
    }
  });
  EXPECT_EQ(free_bytes(), before);
}

TEST_F(MemoryThreads, handles_of_others_are_refused_not_followed) {
  // Released, freed and destroyed handles of one thread, used by another meanwhile.
  std::atomic<CUmemGenericAllocationHandle> handle{0};
  std::atomic<CUmemoryPool> pool{nullptr};
  std::atomic<bool> stop{false};
  std::thread maker([&] {
    EXPECT_EQ(cuCtxSetCurrent(context), CUDA_SUCCESS);
    const CUmemAllocationProp prop = properties();
    CUmemPoolProps props{};
    props.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    props.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
    for (int round = 0; round < 2000; ++round) {
      CUmemGenericAllocationHandle made = 0;
      CUmemoryPool made_pool = nullptr;
      EXPECT_EQ(cuMemCreate(&made, granule, &prop, 0), CUDA_SUCCESS);
      EXPECT_EQ(cuMemPoolCreate(&made_pool, &props), CUDA_SUCCESS);
      handle = made, pool = made_pool;
      EXPECT_EQ(cuMemRelease(made), CUDA_SUCCESS);
      EXPECT_EQ(cuMemPoolDestroy(made_pool), CUDA_SUCCESS);
    }
    stop = true;
  });
  while (!stop) {
    CUmemAllocationProp prop;
    uint64_t value;
    cuMemGetAllocationPropertiesFromHandle(&prop, handle);
    cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &value);
  }
  maker.join();
}

}  // namespace
}  // namespace limen::cpu
