// What `limen run` has to know of a program file before it hands the process over: is it ours to
// run, how does it look for libcuda.so.1, and will that search find Limen's. Reads files only; it
// starts nothing and changes nothing. Every field comes from the file, none is guessed.
#pragma once
#include <string>
#include <vector>

#include "base/result.h"

namespace limen::tools {

enum class ProgramKind {
  dynamic,  ///< an ELF program of this machine with a program interpreter: ld.so will search libraries
  fixed,    ///< an ELF program of this machine that is statically linked: it searches nothing itself
  foreign,  ///< an ELF program for another machine or word size
  script,   ///< starts with "#!"
  unknown,  ///< anything else; the kernel decides
};

struct Program {
  std::string path;
  ProgramKind kind = ProgramKind::unknown;
  std::string machine;               ///< for messages: "AArch64", "32-bit x86"
  std::string interpreter;           ///< script: the path after "#!"
  std::string interpreter_argument;  ///< script: the rest of that line, may be empty
  std::vector<std::string> needed;   ///< DT_NEEDED
  std::vector<std::string> rpath;    ///< DT_RPATH, expanded; empty when DT_RUNPATH overrides it
  std::string libcuda_path;          ///< an absolute path to a libcuda.so the file mentions
  bool raised_rights = false;        ///< set-user-id or set-group-id: ld.so ignores our paths
};

/// Finds `name` as a shell would: a name with '/' as it is, any other along `search_path`
/// (colon-separated; an empty entry is the current directory).
/// errors: file_not_found (nothing of that name), not_permitted (found, but not executable).
Result<std::string> find_program(const std::string& name, const std::string& search_path);

/// Reads the headers of the file at `path`.
/// errors: file_not_found, not_permitted (unreadable), invalid_image (a damaged ELF file).
Result<Program> inspect_program(const std::string& path);

/// The first directory of the program's DT_RPATH that holds a library of that name; empty when none
/// does. ld.so asks DT_RPATH before LD_LIBRARY_PATH, so such a file would win over Limen's.
std::string find_in_rpath(const Program& program, const char* library);

/// Is it an interpreter whose programs load libraries by paths of their own (Python's wheels do)?
bool is_interpreter(const Program& program);

}  // namespace limen::tools
