// The command line of nvcc, as far as the front reads it: whether machine code in a file of its own is
// asked for, and the same request for PTX. Thread rule: pure functions.
#pragma once
#include <string>
#include <vector>

namespace limen::fronts::nvcc {

struct Options {
  bool machine_code = false;       ///< -cubin without a device link; else nvcc runs as it was called
  std::vector<std::string> words;  ///< the request for PTX, without output file and folder
  std::string output;              ///< of -o; empty: a file an input
  std::string folder = ".";        ///< of -odir
  std::vector<std::string> ptxas;  ///< what nvcc would hand on to ptxas
};

Options ask_for_ptx(const std::vector<std::string>& words);

/// "sm_90a" of PTX text; empty if it has no target.
std::string target_of(const std::string& ptx);

}  // namespace limen::fronts::nvcc
