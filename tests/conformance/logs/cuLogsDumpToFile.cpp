#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "conformance/conform.h"

namespace limen::conform {

CONFORM(cuLogsDumpToFile, writes_what_is_new) {
  CUlogIterator at = 0;
  REQUIRE(cuLogsCurrent(&at, 0));
  CUresult failed =
      cuLaunchKernel(common_kernel("trap"), 1, 1, 1, 4096, 1, 1, 0, nullptr, nullptr, nullptr);
  expect_code("a call fails", failed, CUDA_ERROR_INVALID_VALUE);
  std::string path = "/tmp/limen_conform_log_" + std::to_string(getpid());
  expect_code("dump", cuLogsDumpToFile(&at, path.c_str(), 0), CUDA_SUCCESS);
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  unlink(path.c_str());
  expect_true("has text", !text.str().empty());
  expect_true("on the launch", text.str().find("cuLaunchKernel") != std::string::npos);
  expect_code("no such folder", cuLogsDumpToFile(nullptr, "/nowhere/at/all", 0),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no path", cuLogsDumpToFile(&at, nullptr, 0), CUDA_ERROR_INVALID_VALUE);
  expect_code("flags", cuLogsDumpToFile(&at, path.c_str(), 1), CUDA_SUCCESS);
  unlink(path.c_str());
}

CONFORM_WITH(cuLogsDumpToFile, environment_names_a_file, nothing) {
  const std::string path = "/tmp/limen_conform_log_env_" + std::to_string(getpid());
  setenv("CUDA_LOG_FILE", path.c_str(), 1);
  REQUIRE(cuInit(0));
  int count = 0;
  expect_code("a call fails", cuDeviceGetAttribute(&count, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 99),
              CUDA_ERROR_INVALID_DEVICE);
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  unlink(path.c_str());
  expect_true("the file names it", text.str().find("cuDeviceGetAttribute") != std::string::npos);
}

}  // namespace limen::conform
