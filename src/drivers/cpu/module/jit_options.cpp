// Options that steer NVIDIA's code generator (cache mode, ...) have no meaning for ours and are
// accepted; a limit of registers bounds what is told of them. Unknown options are refused, and so are
// symbols at host addresses, which code would miss. Thread rule: see the header.
#include "drivers/cpu/module/jit_options.h"

#include "base/log.h"

#include <algorithm>
#include <cstring>

namespace limen::cpu {

CUresult JitOptions::read(unsigned count, CUjit_option* options, void** values) {
  // Each option may stand there more than once, but nobody has hundreds: a wild count is refused
  // before the list is read.
  constexpr unsigned most_options = 1024;
  if (count > most_options || (count && !options)) return CUDA_ERROR_INVALID_VALUE;
  for (unsigned i = 0; i < count; ++i) {
    if (options[i] < 0 || options[i] >= CU_JIT_NUM_OPTIONS) return CUDA_ERROR_INVALID_VALUE;
    if (!values) continue;
    auto number = reinterpret_cast<uintptr_t>(values[i]);
    switch (options[i]) {
      case CU_JIT_ERROR_LOG_BUFFER:
        error_buffer_.text = static_cast<char*>(values[i]);
        break;
      case CU_JIT_INFO_LOG_BUFFER:
        info_buffer_.text = static_cast<char*>(values[i]);
        break;
      case CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES:
        error_buffer_.bytes = static_cast<unsigned>(number);
        error_buffer_.size_value = &values[i];
        break;
      case CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES:
        info_buffer_.bytes = static_cast<unsigned>(number);
        info_buffer_.size_value = &values[i];
        break;
      case CU_JIT_WALL_TIME:
        wall_time_ = &values[i];
        break;
      case CU_JIT_LOG_VERBOSE:
        verbose_ = number != 0;
        break;
      case CU_JIT_MAX_THREADS_PER_BLOCK:
        max_threads_ = static_cast<unsigned>(number);
        break;
      case CU_JIT_MAX_REGISTERS:
        max_registers_ = static_cast<unsigned>(number);
        break;
      case CU_JIT_OVERRIDE_DIRECTIVE_VALUES:
        override_ = number != 0;
        break;
      case CU_JIT_GLOBAL_SYMBOL_COUNT:
        if (!number) break;
        log::write(log::Level::error, "CU_JIT_GLOBAL_SYMBOL_NAMES: variables at host addresses are "
                                      "not built yet");
        return CUDA_ERROR_NOT_SUPPORTED;
      default:
        break;
    }
  }
  return CUDA_SUCCESS;
}

void JitOptions::fill(const Buffer& buffer, const std::string& log) {
  if (!buffer.size_value) return;
  size_t written = 0;
  if (buffer.text && buffer.bytes) {
    written = std::min(log.size(), buffer.bytes - 1);
    std::memcpy(buffer.text, log.data(), written);
    buffer.text[written] = 0;
  }
  *buffer.size_value = reinterpret_cast<void*>(written);
}

void JitOptions::deliver() const {
  fill(error_buffer_, error_log_);
  fill(info_buffer_, info_log_);
  if (wall_time_) {
    const std::chrono::duration<float, std::milli> spent = std::chrono::steady_clock::now() - start_;
    const float milliseconds = spent.count();
    std::memcpy(wall_time_, &milliseconds, sizeof milliseconds);
  }
}

}  // namespace limen::cpu
