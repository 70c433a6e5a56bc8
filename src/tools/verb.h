// The verbs of `limen`, one a file. main.cpp picks one by its name from the table in main.cpp; a
// verb gets the words after its name and returns the process's exit code. 0: done, 1: it failed, 2:
// the command line is wrong; `run` adds 126 (cannot be run) and 127 (not found), as shells do.
#pragma once
#include <string>
#include <vector>

#include "base/result.h"

namespace limen::tools {

inline constexpr int exit_failed = 1;
inline constexpr int exit_usage = 2;
inline constexpr int exit_not_runnable = 126;
inline constexpr int exit_not_found = 127;

using Words = std::vector<std::string>;

struct Verb {
  const char* name;
  const char* summary;
  int (*run)(const Words& words);
  void (*help)();
};

const std::vector<Verb>& verbs();

int run_verb(const Words& words);
void run_help();
int env_verb(const Words& words);
void env_help();

/// Prints "limen: what" and the remedy, if there is one, to standard error.
void print_error(const Error& error);

}  // namespace limen::tools
