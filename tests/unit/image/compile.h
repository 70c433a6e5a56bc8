// Compiles small sources to objects while the tests run, so that no binary is committed and each
// compiler's own relocations are met. Every compiler is asked for once.
#pragma once
#include <stdlib.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace limen::test {

inline std::string make_folder() {
  char name[] = "/tmp/limen-image-test-XXXXXX";
  return mkdtemp(name) ? name : "";
}

inline void remove_folder(const std::string& folder) {
  if (folder.rfind("/tmp/limen-", 0) == 0 && system(("rm -rf '" + folder + "'").c_str()) != 0)
    std::fprintf(stderr, "%s stays behind\n", folder.c_str());
}

inline bool have(const std::string& program) {
  return system(("command -v '" + program + "' >/dev/null 2>&1").c_str()) == 0;
}

/// Compilers to try: the build's own, and clang, whose code is LLVM's.
inline std::vector<std::string> compilers() {
  std::vector<std::string> found{LIMEN_TEST_CXX};
#if defined(__x86_64__)
  const std::string target;
#else
  const std::string target = " --target=aarch64-linux-gnu";  // it may be a cross compiler
#endif
  if (have("clang++-19")) found.push_back("clang++-19" + target);
  return found;
}

inline std::vector<uint8_t> read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// The object, or nothing if the compiler refuses. `suffix`: ".cpp" or ".s".
inline std::vector<uint8_t> compile(const std::string& source, const std::string& options,
                                    const std::string& suffix = ".cpp",
                                    const std::string& compiler = LIMEN_TEST_CXX) {
  std::string folder = make_folder();
  std::ofstream(folder + "/a" + suffix) << source;
  std::string command =
      compiler + " -c -w " + options + " -o " + folder + "/a.o " + folder + "/a" + suffix;
  std::vector<uint8_t> object;
  if (system(command.c_str()) == 0) object = read_file(folder + "/a.o");
  remove_folder(folder);
  return object;
}

}  // namespace limen::test
