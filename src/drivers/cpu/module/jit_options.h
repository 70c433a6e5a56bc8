// CU_JIT_* options of a load or link call, and its two logs.
// Invariant: what the caller's buffers receive always ends in a NUL. Thread rule: one call's own.
#pragma once
#include <chrono>
#include <cstddef>
#include <string>

#include "abi/cuda_abi.h"
#include "base/result.h"

namespace limen::cpu {

class JitOptions {
 public:
  /// Reads the arrays; `values` may be null (cuBLASLt passes none).
  /// errors: CUDA_ERROR_INVALID_VALUE for an unknown option.
  CUresult read(unsigned count, CUjit_option* options, void** values);

  void error(const std::string& line) { error_log_ += error_log_.empty() ? line : "\n" + line; }
  void info(const std::string& line) { info_log_ += info_log_.empty() ? line : "\n" + line; }
  bool verbose() const { return verbose_; }
  /// Threads of a block that code may count on, or 0. `overrides`: also where the PTX says its own.
  unsigned max_threads() const { return max_threads_; }
  /// Registers that a thread is to take at most, or 0.
  unsigned max_registers() const { return max_registers_; }
  bool overrides() const { return override_; }
  /// Copies the logs into the caller's buffers and their sizes into the option values.
  void deliver() const;

 private:
  struct Buffer {
    char* text = nullptr;
    size_t bytes = 0;
    void** size_value = nullptr;  ///< where the caller finds how much was written
  };
  static void fill(const Buffer& buffer, const std::string& log);

  Buffer error_buffer_, info_buffer_;
  void** wall_time_ = nullptr;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  bool verbose_ = false, override_ = false;
  unsigned max_threads_ = 0, max_registers_ = 0;
  std::string error_log_, info_log_;
};

}  // namespace limen::cpu
