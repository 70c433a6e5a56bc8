// The surface: every symbol of CUDA 13.0 is there, cuGetProcAddress answers as the real driver did,
// error texts, and what calls answer before cuInit and after fork.
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "library.h"

namespace limen::test {
namespace {

using Status = CUdriverProcAddressQueryResult;

std::vector<std::string> lines(const char* path) {
  std::ifstream file(path);
  std::vector<std::string> out;
  for (std::string line; std::getline(file, line);) {
    if (!line.empty() && line[0] != '#') out.push_back(line);
  }
  return out;
}

TEST(Exports, EverySymbolOfCuda13) {
  std::vector<std::string> names = lines(EXPORTS_LIST);
  ASSERT_EQ(names.size(), 637u);
  for (const std::string& name : names) {
    EXPECT_NE(dlsym(library(), name.c_str()), nullptr) << name;
  }
}

TEST(Exports, NothingElseLeaks) {
  EXPECT_EQ(dlsym(library(), "limen_driver_table"), nullptr);
  Dl_info info{};
  ASSERT_NE(dladdr(dlsym(library(), "cuInit"), &info), 0);
}

TEST(ProcAddress, AsTheRealDriver) {
  in_child([] {
    int checked = 0;
    for (const std::string& line : lines(PROC_ADDRESS_GOLDEN)) {
      std::istringstream words(line);
      std::string name, pair, expected;
      unsigned long long flags = 0;
      words >> name >> flags;
      int previous = 0;
      while (words >> pair) {
        int version = std::stoi(pair);
        void* found = nullptr;
        Status status{};
        // One version below: what came before, or nothing.
        ASSERT_EQ(call("cuGetProcAddress_v2", name.c_str(), &found, version - 1,
                       static_cast<cuuint64_t>(flags), &status),
                  CUDA_SUCCESS);
        void* before = expected.empty() ? nullptr : dlsym(library(), expected.c_str());
        EXPECT_EQ(found, before) << name << " " << flags << " @" << version - 1;
        EXPECT_EQ(status, previous ? CU_GET_PROC_ADDRESS_SUCCESS
                                   : CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT)
            << line;
        expected = pair.substr(pair.find(':') + 1);
        ASSERT_EQ(call("cuGetProcAddress_v2", name.c_str(), &found, version,
                       static_cast<cuuint64_t>(flags), &status),
                  CUDA_SUCCESS);
        EXPECT_EQ(found, dlsym(library(), expected.c_str()))
            << name << " " << flags << " @" << version;
        EXPECT_EQ(status, CU_GET_PROC_ADDRESS_SUCCESS);
        previous = version;
        ++checked;
      }
    }
    EXPECT_GT(checked, 900);
  });
}

TEST(ProcAddress, Refusals) {
  in_child([] {
    void* const untouched = reinterpret_cast<void*>(0x55);
    void* found = untouched;
    Status status{};
    cuuint64_t none = 0;
    EXPECT_EQ(call("cuGetProcAddress_v2", "", &found, 13000, none, &status), CUDA_SUCCESS);
    EXPECT_EQ(found, nullptr);
    EXPECT_EQ(status, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
    EXPECT_EQ(call("cuGetProcAddress_v2", "cuMemAlloc_v2", &found, 13000, none, &status),
              CUDA_SUCCESS);
    EXPECT_EQ(found, nullptr);
    Status* no_status = nullptr;
    EXPECT_EQ(call("cuGetProcAddress_v2", "foo", &found, 13000, none, no_status), CUDA_SUCCESS);
    found = untouched;
    EXPECT_EQ(call("cuGetProcAddress", "foo", &found, 13000, none), CUDA_ERROR_NOT_FOUND);
    EXPECT_EQ(call("cuGetProcAddress", "cuLaunchKernel", &found, 2000, none), CUDA_ERROR_NOT_FOUND);
    EXPECT_EQ(call("cuGetProcAddress_v2", "cuInit", &found, 13010, none, &status),
              CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(call("cuGetProcAddress_v2", "cuInit", &found, 13000, cuuint64_t{4}, &status),
              CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(found, untouched);
    const char* no_name = nullptr;
    EXPECT_EQ(call("cuGetProcAddress_v2", no_name, &found, 13000, none, &status),
              CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(call("cuGetProcAddress_v2", "cuMemAlloc", &found, -1, none, &status), CUDA_SUCCESS);
    EXPECT_EQ(found, dlsym(library(), "cuMemAlloc_v2"));
  });
}

TEST(ErrorTexts, KnownAndUnknown) {
  in_child([] {
    const char* text = nullptr;
    EXPECT_EQ(call("cuGetErrorName", 222, &text), CUDA_SUCCESS);
    EXPECT_STREQ(text, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION");
    EXPECT_EQ(call("cuGetErrorString", 0, &text), CUDA_SUCCESS);
    EXPECT_STREQ(text, "no error");
    EXPECT_EQ(call("cuGetErrorString", 719, &text), CUDA_SUCCESS);
    EXPECT_STREQ(text, "unspecified launch failure");
    EXPECT_EQ(call("cuGetErrorString", 35, &text), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(text, nullptr);
    const char** nowhere = nullptr;
    EXPECT_EQ(call("cuGetErrorString", 1, nowhere), CUDA_ERROR_INVALID_VALUE);
  });
}

TEST(BeforeInit, EveryFunctionAnswersNotInitializedOrRefusesAsTheRealDriver) {
  const std::set<std::string> loader = {
      "cuInit",           "cuDriverGetVersion",  "cuGetErrorName",  "cuGetErrorString",
      "cuGetProcAddress", "cuGetProcAddress_v2", "cuGetExportTable"};
  std::map<std::string, int> early;
  for (const std::string& line : lines(BEFORE_INIT_GOLDEN)) {
    const size_t blank = line.find(' ');
    early[line.substr(0, blank)] = std::stoi(line.substr(blank));
  }
  ASSERT_GT(early.size(), 40u);
  // The first ABI hands count and stream to the second; what it answers was not measured.
  early["cuMemcpyBatchAsync"] = early["cuMemcpyBatchAsync_ptsz"] = CUDA_ERROR_INVALID_VALUE;
  in_child([&] {
    for (const std::string& name : lines(EXPORTS_LIST)) {
      if (loader.contains(name)) continue;
      EXPECT_EQ(call(name.c_str(), 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L),
                early.contains(name) ? early[name] : int{CUDA_ERROR_NOT_INITIALIZED})
          << name;
    }
    int version = 0;
    EXPECT_EQ(call("cuDriverGetVersion", &version), CUDA_SUCCESS);
    EXPECT_EQ(version, 13000);
  });
}

TEST(Init, FlagsAndRepetition) {
  in_child([] {
    EXPECT_EQ(call("cuInit", 1u), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(call("cuDeviceGetCount", static_cast<int*>(nullptr)), CUDA_ERROR_NOT_INITIALIZED);
    record().init_result = CUDA_ERROR_NO_DEVICE;
    EXPECT_EQ(call("cuInit", 0u), CUDA_ERROR_NO_DEVICE);
    record().init_result = CUDA_SUCCESS;
    EXPECT_EQ(call("cuInit", 0u), CUDA_SUCCESS);
    EXPECT_EQ(call("cuInit", 0u), CUDA_SUCCESS);
    EXPECT_EQ(record().init_calls, 2);
    EXPECT_EQ(call("cuInit", 1u), CUDA_ERROR_INVALID_VALUE);
  });
}

TEST(Init, ChildAfterForkAnswersNotInitialized) {
  in_child([] {
    ASSERT_EQ(call("cuInit", 0u), CUDA_SUCCESS);
    in_child([] {
      int count = 0;
      EXPECT_EQ(call("cuDeviceGetCount", &count), CUDA_ERROR_NOT_INITIALIZED);
      EXPECT_EQ(call("cuInit", 0u), CUDA_ERROR_NOT_INITIALIZED);
      EXPECT_EQ(call("cuMemAlloc", 0L, 0u), CUDA_ERROR_NOT_INITIALIZED);
    });
    int count = 0;
    EXPECT_EQ(call("cuDeviceGetCount", &count), CUDA_SUCCESS);
  });
}

TEST(Init, ChildForkedBeforeInitMayInit) {
  in_child([] {
    in_child([] { EXPECT_EQ(call("cuInit", 0u), CUDA_SUCCESS); });
    EXPECT_EQ(call("cuInit", 0u), CUDA_SUCCESS);
  });
}

TEST(Init, MissingDriverLibrary) {
  in_child([] {
    setenv("LIMEN_DRIVER", "/nonexistent/liblimen_cpu.so", 1);
    EXPECT_EQ(call("cuInit", 0u), CUDA_ERROR_SHARED_OBJECT_INIT_FAILED);
    EXPECT_EQ(call("cuMemFree_v2", CUdeviceptr{0}), CUDA_ERROR_NOT_INITIALIZED);
  });
}

}  // namespace
}  // namespace limen::test
