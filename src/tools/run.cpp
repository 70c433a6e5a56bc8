// `limen run`: makes a program find Limen's libcuda.so.1 and becomes that program. The process is
// replaced (execv), so exit code, signals, standard streams and process id are the program's own.
// Nothing on the system is changed: all it does is set environment variables. docs/run.md says
// which and why.
#include "base/machine.h"
#include "tools/options.h"
#include "tools/program.h"
#include "tools/verb.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>

namespace limen::tools {
namespace {

// Linux itself follows at most four "#!" lines of one another.
constexpr int script_depth_max = 4;

struct Libraries {
  std::string folder;  ///< holds libcuda.so.1
  std::string libcuda;
  std::string audit;
  std::string ptxas;
};

/// Finds the libraries beside this executable: ../lib in a build tree, ../lib/limen installed.
Result<Libraries> find_libraries() {
  char self[PATH_MAX];
  ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
  if (length < 0)
    return Error{Code::operating_system,
                 fmt::format("cannot read /proc/self/exe: {}", std::strerror(errno)), ""};
  std::string bin(self, static_cast<size_t>(length));
  bin.resize(bin.rfind('/'));
  std::string root = bin.substr(0, bin.rfind('/'));
  for (const char* place : {"/lib/limen", "/lib"}) {
    Libraries out;
    out.folder = root + place;
    out.libcuda = out.folder + "/libcuda.so.1";
    out.audit = out.folder + "/liblimen_audit.so";
    out.ptxas = out.folder + "/limen-fronts/ptxas";
    if (access(out.libcuda.c_str(), R_OK) == 0) return out;
  }
  return Error{Code::file_not_found,
               fmt::format("libcuda.so.1 is neither in {0}/lib/limen nor in {0}/lib", root),
               "build Limen (make), or run the limen of a whole installation"};
}

/// The program file whose loader search matters: the command itself, or a script's interpreter.
Result<Program> resolve(const std::string& path, const std::string& search_path) {
  LIMEN_TRY(Program program, inspect_program(path));
  for (int depth = 0; program.kind == ProgramKind::script; ++depth) {
    if (depth == script_depth_max)
      return Error{
          Code::invalid_image,
          fmt::format("{} leads through more than {} \"#!\" lines", path, script_depth_max), ""};
    std::string next = program.interpreter;
    bool env = next == "/usr/bin/env" || next == "/bin/env";
    std::string named = program.interpreter_argument;
    if (env && named.rfind("-S", 0) == 0) {
      named.erase(0, 2);
      named.erase(0, named.find_first_not_of(" \t"));
    }
    named = named.substr(0, named.find_first_of(" \t"));
    // Anything but a plain name (VAR=value, other options) is left to env itself.
    if (env && !named.empty() && named[0] != '-' && named.find('=') == std::string::npos) {
      LIMEN_TRY(next, find_program(named, search_path));
    }
    if (access(next.c_str(), X_OK) != 0)
      return Error{Code::file_not_found,
                   fmt::format("{} asks for the interpreter {}: {}", program.path, next,
                               std::strerror(errno)),
                   ""};
    LIMEN_TRY(program, inspect_program(next));
  }
  return program;
}

void put_first(const char* variable, const std::string& value, char separator) {
  const char* old = std::getenv(variable);
  std::string text = value;
  if (old && *old) text += separator + std::string(old);
  setenv(variable, text.c_str(), 1);
}

void tell(const std::string& text) { fmt::print(stderr, "limen: note: {}\n", text); }

Route choose_route(const RunOptions& options, const Program& program) {
  if (options.route != Route::automatic) return options.route;
  // An absolute path in the program's text is only a possibility, but one that nothing else covers.
  if (!program.libcuda_path.empty() || is_interpreter(program)) return Route::audit;
  for (const char* compiler :
       {"libnvrtc.so.13", "libnvrtc.so.12", "libnvJitLink.so.13", "libnvJitLink.so.12"})
    if (!find_in_rpath(program, compiler).empty()) return Route::audit;
  if (!find_in_rpath(program, "libcuda.so.1").empty()) return Route::preload;
  return Route::path;
}

Result<void> set_environment(const RunOptions& options, const Program& program,
                             const Libraries& libraries) {
  for (const auto& [name, value] : options.variables) setenv(name.c_str(), value.c_str(), 1);
  put_first("LD_LIBRARY_PATH", libraries.folder, ':');
  // Triton's own variables; a program or user that set them knows better.
  if (access(libraries.ptxas.c_str(), X_OK) == 0)
    for (const char* variable : {"TRITON_PTXAS_PATH", "TRITON_PTXAS_BLACKWELL_PATH"})
      setenv(variable, libraries.ptxas.c_str(), 0);
  Route route = choose_route(options, program);
  if (route == Route::preload) put_first("LD_PRELOAD", libraries.libcuda, ':');
  if (route == Route::audit) {
    if (access(libraries.audit.c_str(), R_OK) != 0)
      return Error{Code::file_not_found, fmt::format("{} is missing", libraries.audit),
                   "build Limen (make), or use --route preload"};
    put_first("LD_AUDIT", libraries.audit, ':');
  }
  return {};
}

int exit_code_of(const Error& error) {
  return error.code == Code::file_not_found ? exit_not_found : exit_not_runnable;
}

[[noreturn]] void become(const std::string& path, const std::vector<std::string>& command) {
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  execv(path.c_str(), arguments.data());
  int reason = errno;
  if (reason == ENOEXEC) {
    // A script without a "#!" line; shells run it themselves, so do we.
    std::vector<char*> shell = {const_cast<char*>("sh"), const_cast<char*>(path.c_str())};
    shell.insert(shell.end(), arguments.begin() + 1, arguments.end());
    execv("/bin/sh", shell.data());
  }
  print_error({Code::operating_system,
               fmt::format("cannot start {}: {}", path, std::strerror(reason)), ""});
  _exit(reason == ENOENT ? exit_not_found : exit_not_runnable);
}

}  // namespace

int run_verb(const Words& words) {
  auto options = parse_run_options(words);
  if (!options) {
    print_error(options.error());
    return exit_usage;
  }
  if (options->help) {
    run_help();
    return 0;
  }
  const char* search = std::getenv("PATH");
  std::string search_path = search ? search : "/usr/local/bin:/usr/bin:/bin";
  auto path = find_program(options->command[0], search_path);
  if (!path) {
    print_error(path.error());
    return exit_code_of(path.error());
  }
  auto program = resolve(*path, search_path);
  // An unreadable program can still be executable; then only the search path is set.
  if (!program && program.code() != Code::not_permitted) {
    print_error(program.error());
    return exit_code_of(program.error());
  }
  Program target = program ? std::move(program.value()) : Program{};
  if (target.kind == ProgramKind::foreign) {
    print_error({Code::invalid_image,
                 fmt::format("{} is a program for {}; Limen runs {} programs", target.path,
                             target.machine, machine_name),
                 ""});
    return exit_not_runnable;
  }
  auto libraries = find_libraries();
  if (!libraries) {
    print_error(libraries.error());
    return exit_failed;
  }
  if (target.kind == ProgramKind::fixed)
    tell(
        fmt::format("{} is statically linked: it cannot load libcuda.so.1; only dynamic programs "
                    "that it starts will find Limen",
                    target.path));
  if (target.raised_rights)
    tell(
        fmt::format("{} is set-user-id or set-group-id: the system ignores LD_LIBRARY_PATH for it "
                    "and it will not find Limen",
                    target.path));
  if (auto done = set_environment(*options, target, *libraries); !done) {
    print_error(done.error());
    return exit_failed;
  }
  std::fflush(nullptr);
  become(*path, options->command);
}

void run_help() {
  fmt::print(
      "usage: limen run [options] [--] program [arguments]\n\n"
      "Runs a program so that it finds Limen's libcuda.so.1. Its exit code is the program's; 126\n"
      "says that it cannot be run, 127 that it was not found, 2 that an option is wrong.\n\n");
  for (const OptionRow& row : run_option_rows())
    fmt::print("  {:<20} {}{}\n", fmt::format("{} {}", row.name, row.value), row.meaning,
               *row.variable ? fmt::format(" [{}]", row.variable) : "");
  fmt::print("\nThe variable in brackets does the same without `limen run`.\n");
}

}  // namespace limen::tools
