// The driver as limen-test sees it: the few public functions it needs, found in libcuda.so.1 at run
// time, so that one binary runs on NVIDIA's driver and on Limen. Thread rule: one thread.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace limen::golden {

/// One run of a kernel whose parameters are (u64 input, u64 output[, u32 count]).
struct Run {
  std::string kernel;
  unsigned blocks = 1;
  unsigned block_x = 1, block_y = 1;  ///< threads
  uint32_t count = 0;
  const void* input = nullptr;
  size_t input_bytes = 0;
  size_t output_bytes = 0;
  uint8_t fill = 0;     ///< what the output holds before
  int jit_level = 4;    ///< of the driver's compiler, 0 to 4
};

/// A context on device 0, with modules and launches that never leave it in a failed state: after a
/// fault the context is made anew.
class Driver {
 public:
  /// errors: file_not_found (no libcuda.so.1), or what the driver answers.
  static Result<Driver> open();

  const std::string& device_name() const { return device_name_; }
  /// NVIDIA's own version where there is one, and the CUDA version that the driver answers.
  const std::string& version() const { return version_; }

  /// Threads of a block, 128 unless set. With 1 every operand is the same for a whole warp, which
  /// is another code path in Limen.
  void set_block_threads(unsigned threads) { block_threads_ = threads; }

  /// Loads `ptx`, runs its kernel `name` once over `tuples` threads and reads `output_bytes` back.
  /// errors: what the driver answers, with its own words where it has some.
  Result<std::vector<uint8_t>> run(const std::string& ptx, const std::string& name,
                                   const std::vector<uint8_t>& input, size_t output_bytes,
                                   unsigned tuples);
  /// The same with a shape of its own.
  Result<std::vector<uint8_t>> run(const std::string& ptx, const Run& launch);

 private:
  struct Functions;
  Driver() = default;
  Result<void> find_functions(void* library);
  Result<void> begin();
  void begin_again();
  std::string error_text(const char* what, int code, const std::string& log);

  Functions* api_ = nullptr;  ///< lives for ever, as the library does
  int device_ = 0;
  std::string device_name_;
  std::string version_;
  std::string log_path_;  ///< where Limen writes why a kernel is refused; empty elsewhere
  size_t log_read_ = 0;
  unsigned block_threads_ = 128;
};

}  // namespace limen::golden
