// An nvcc for the CPU device: where a program asks NVIDIA's for machine code in a file (-cubin), that
// nvcc makes PTX, and the ptxas beside this program checks it and writes the file. Everything else,
// builds and device links among it, is NVIDIA's nvcc called as it is. Exit codes: nvcc's or ptxas's;
// 1 where there is no nvcc. Thread rule: one thread. Design: docs/design/runtime_compilation.md
#include <fmt/format.h>
#include <glob.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include "base/config.h"
#include "fronts/nvcc/options.h"

namespace limen::fronts::nvcc {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

int fatal(const std::string& text) {
  fmt::print(stderr, "nvcc fatal   : {}\n", text);
  return 1;
}

std::string own_file() {
  char self[PATH_MAX];
  const ssize_t length = readlink("/proc/self/exe", self, sizeof self);
  return {self, static_cast<size_t>(std::max<ssize_t>(length, 0))};
}

bool is_other_program(const std::string& path) {
  struct stat own{}, other{};
  if (access(path.c_str(), X_OK) != 0 || stat(path.c_str(), &other) != 0) return false;
  return S_ISREG(other.st_mode) && (stat("/proc/self/exe", &own) != 0 ||
                                    own.st_dev != other.st_dev || own.st_ino != other.st_ino);
}

/// NVIDIA's nvcc: LIMEN_NVCC, else of PATH, else where toolkits are installed; empty if there is none.
std::string find_nvcc() {
  if (!config().nvcc.empty()) return config().nvcc;
  const char* path = std::getenv("PATH");
  std::istringstream folders(path ? path : "");
  for (std::string folder; std::getline(folders, folder, ':');)
    if (const std::string file = folder + "/nvcc"; is_other_program(file)) return file;
  for (const char* pattern :
       {"/usr/local/cuda/bin/nvcc", "/usr/local/cuda-*/bin/nvcc", "/opt/cuda/bin/nvcc"}) {
    glob_t matches{};
    std::string found;
    if (glob(pattern, 0, nullptr, &matches) == 0)
      for (size_t i = 0; i < matches.gl_pathc && found.empty(); ++i)
        if (is_other_program(matches.gl_pathv[i])) found = matches.gl_pathv[i];
    globfree(&matches);
    if (!found.empty()) return found;
  }
  return "";
}

[[noreturn]] void become(const std::string& program, const Words& words) {
  std::vector<char*> arguments = {const_cast<char*>(program.c_str())};
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  execv(program.c_str(), arguments.data());
  _exit(fatal(fmt::format("cannot start {}: {}", program, std::strerror(errno))));
}

/// The exit code of a program that is waited for.
int run_program(const std::string& program, const Words& words) {
  const pid_t child = fork();
  if (child == 0) become(program, words);
  if (child < 0) return fatal(fmt::format("cannot start {}: {}", program, std::strerror(errno)));
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return fatal(fmt::format("lost {}: {}", program, std::strerror(errno)));
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/// A folder that goes away with everything in it.
class Scratch {
 public:
  Scratch() {
    std::string pattern = (fs::temp_directory_path() / "limen-nvcc-XXXXXX").string();
    if (mkdtemp(pattern.data())) path_ = pattern;
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
  }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

int assemble(const fs::path& ptx, const std::string& output, const Options& options) {
  std::ifstream file(ptx, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  Words words = options.ptxas;
  words.push_back("-arch=" + target_of(text));
  for (const char* word : {"-o", output.c_str(), ptx.c_str()}) words.emplace_back(word);
  return run_program(fs::path(own_file()).parent_path() / "ptxas", words);
}

int compile(const std::string& nvcc, const Options& options) {
  const Scratch scratch;
  if (scratch.path().empty()) return fatal("cannot make a temporary folder");
  Words words = options.words;
  const fs::path one = scratch.path() / "one.ptx";
  for (const std::string& word : options.output.empty() ? Words{"-odir", scratch.path().string()}
                                                        : Words{"-o", one.string()})
    words.push_back(word);
  if (const int code = run_program(nvcc, words)) return code;
  // Nothing is there after --dryrun and its like; whatever else makes no PTX is nvcc's own error.
  for (const fs::directory_entry& entry : fs::directory_iterator(scratch.path())) {
    if (entry.path().extension() != ".ptx") continue;
    const fs::path beside = fs::path(options.folder) / entry.path().stem();
    const std::string output = options.output.empty() ? beside.string() + ".cubin" : options.output;
    if (const int code = assemble(entry.path(), output, options)) return code;
  }
  return 0;
}

int run(const Words& words) {
  const std::string nvcc = find_nvcc();
  if (nvcc.empty()) return fatal("no nvcc of NVIDIA's found: put it into PATH or set LIMEN_NVCC");
  const Options options = ask_for_ptx(words);
  if (!options.machine_code) become(nvcc, words);
  return compile(nvcc, options);
}

}  // namespace
}  // namespace limen::fronts::nvcc

int main(int count, char** words) { return limen::fronts::nvcc::run({words + 1, words + count}); }
