// Every exported function of the CPU driver with all arguments zero, without and with a current
// context: it must not crash, and must answer the code that a real driver was measured to answer.
// Functions that are not built answer 801 and are skipped. Differences that are known stand in
// null_arguments_known.txt; a new one fails. Each call runs in a process of its own.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>

#include "abi/cuda_abi.h"

namespace limen::test {
namespace {

using AnyCall = CUresult (*)(long, long, long, long, long, long, long, long, long, long, long, long,
                             long, long);
constexpr int crashed = -1;

CUresult zero_call(void* library, const char* name) {
  auto* function = reinterpret_cast<AnyCall>(dlsym(library, name));
  return function(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
}

void make_primary_current(void* library) {
  CUcontext context = nullptr;
  auto* retain = reinterpret_cast<CUresult (*)(CUcontext*, CUdevice)>(
      dlsym(library, "cuDevicePrimaryCtxRetain"));
  auto* set = reinterpret_cast<CUresult (*)(CUcontext)>(dlsym(library, "cuCtxSetCurrent"));
  if (retain(&context, 0) != CUDA_SUCCESS || set(context) != CUDA_SUCCESS) _exit(2);
}

int code_of(const char* name, bool with_context) {
  void* shared =
      mmap(nullptr, sizeof(int), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  int& code = *static_cast<int*>(shared);
  code = crashed;
  pid_t child = fork();
  if (child == 0) {
    alarm(20);
    void* library = dlopen(LIBCUDA, RTLD_NOW | RTLD_LOCAL);
    if (!library || zero_call(library, "cuInit") != CUDA_SUCCESS) _exit(2);
    if (with_context) make_primary_current(library);
    code = zero_call(library, name);
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  int result = WIFEXITED(status) && WEXITSTATUS(status) == 0 ? code : crashed;
  munmap(shared, sizeof(int));
  return result;
}

std::set<std::string> known_differences() {
  std::ifstream file(KNOWN);
  std::set<std::string> names;
  for (std::string line; std::getline(file, line);) {
    if (!line.empty() && line[0] != '#') names.insert(line.substr(0, line.find(' ')));
  }
  return names;
}

TEST(NullArguments, AsTheRealDriver) {
  setenv("LIMEN_LOG", "off", 1);
  const std::set<std::string> skipped = {"cuInit"};  // it is how each call starts
  std::set<std::string> known = known_differences();
  std::set<std::string> differing;
  std::ifstream golden(GOLDEN);
  int compared = 0;
  for (std::string line; std::getline(golden, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream words(line);
    std::string name, expected[2];
    words >> name >> expected[0] >> expected[1];
    if (skipped.contains(name)) continue;
    for (int with_context = 0; with_context < 2; ++with_context) {
      int code = code_of(name.c_str(), with_context != 0);
      EXPECT_NE(code, crashed) << name << (with_context ? " with" : " without") << " context";
      if (code == CUDA_ERROR_NOT_SUPPORTED || expected[with_context] == "crash") continue;
      ++compared;
      if (std::to_string(code) == expected[with_context]) continue;
      differing.insert(name);
      EXPECT_TRUE(known.contains(name))
          << name << (with_context ? " with" : " without") << " context answers " << code
          << ", a real driver " << expected[with_context];
    }
  }
  EXPECT_GT(compared, 300);
  for (const std::string& name : known) {
    if (!differing.contains(name)) std::printf("note: %s no longer differs\n", name.c_str());
  }
}

}  // namespace
}  // namespace limen::test
