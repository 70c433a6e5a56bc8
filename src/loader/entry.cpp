// Start of the library: cuInit, the version, the error texts, and what fork leaves behind. This is
// the one place that decides whether the API may be used.
// Invariant: the state only moves not ready -> ready -> forked; a failed cuInit may be repeated.
// Thread rule: lock_ guards the transitions; fork takes it, so that a child never inherits it held.
// Nothing here is destroyed: NVIDIA's runtimes call us after our static destructors would have run.
#include <pthread.h>

#include <cstdlib>
#include <cstring>
#include <mutex>

#include "base/config.h"
#include "base/log.h"
#include "base/result.h"
#include "loader/dispatch.h"
#include "loader/loader_api.h"
#include "loader/private_tables.h"

namespace limen::loader {

namespace detail {
constinit std::atomic<const DriverTable*> active_{&not_initialized_table};
constinit std::atomic<const DriverTable*> traced_{&not_initialized_table};
}  // namespace detail

namespace {

enum class State { not_ready, ready, forked };

constinit std::mutex lock_;
constinit std::atomic<State> state_{State::not_ready};
constinit bool fork_handlers_ = false;

struct ErrorRow {
  int code;
  const char* name;
  const char* text;
};
constexpr ErrorRow error_rows[] = {
#include "loader/error_table.inc"
};

static_assert(static_cast<int>(Code::launch_failed) == CUDA_ERROR_LAUNCH_FAILED &&
                  static_cast<int>(Code::not_supported) == CUDA_ERROR_NOT_SUPPORTED &&
                  static_cast<int>(Code::invalid_handle) == CUDA_ERROR_INVALID_HANDLE &&
                  static_cast<int>(Code::unknown) == CUDA_ERROR_UNKNOWN,
              "limen::Code carries the values of CUresult");

const ErrorRow* find_error(int code) {
  for (const ErrorRow& row : error_rows) {
    if (row.code == code) return &row;
  }
  return nullptr;
}

void before_fork() {
  lock_.lock();
  lock_private_tables();
}
void after_fork_in_parent() {
  unlock_private_tables();
  lock_.unlock();
}
void after_fork_in_child() {
  unlock_private_tables();
  if (state_.load() == State::ready) {
    state_.store(State::forked);
    activate(&not_initialized_table);
  }
  lock_.unlock();
}

CUresult initialize() {
  State state = state_.load(std::memory_order_acquire);
  if (state == State::ready) return CUDA_SUCCESS;
  if (state == State::forked) return CUDA_ERROR_NOT_INITIALIZED;
  std::lock_guard guard(lock_);
  if (state_.load() == State::ready) return CUDA_SUCCESS;
  if (!fork_handlers_) {
    if (pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child) != 0) {
      return CUDA_ERROR_OUT_OF_MEMORY;
    }
    fork_handlers_ = true;
  }
  const DriverTable* table = nullptr;
  if (CUresult result = open_driver(&table); result != CUDA_SUCCESS) return result;
  table->internal.set_context_end_hook(&drop_context_storage);
  if (CUresult result = table->cuInit(0); result != CUDA_SUCCESS) return result;
  activate(table);
  state_.store(State::ready, std::memory_order_release);
  return CUDA_SUCCESS;
}

/// Calls before cuInit are traced, too: a program that fails there is the one to look at.
__attribute__((constructor)) void trace_from_the_start() {
  const char* setting = secure_getenv("LIMEN_LOG");
  if (setting && std::strncmp(setting, "trace", 5) == 0) activate(&not_initialized_table);
}

}  // namespace

void activate(const DriverTable* table) {
  detail::traced_.store(table, std::memory_order_release);
  bool trace = log::enabled(log::Level::trace);
  detail::active_.store(trace ? &trace_table : table, std::memory_order_release);
}

int driver_version() { return static_cast<int>(config().driver_version); }

CUresult cuInit(unsigned int flags) {
  CUresult result = flags != 0 ? CUDA_ERROR_INVALID_VALUE : initialize();
  log::trace("cuInit(Flags=%u) = %d", flags, result);
  return result;
}

CUresult cuDriverGetVersion(int* version) {
  if (!version) return CUDA_ERROR_INVALID_VALUE;
  *version = driver_version();
  return CUDA_SUCCESS;
}

CUresult cuGetErrorName(CUresult error, const char** text) {
  if (!text) return CUDA_ERROR_INVALID_VALUE;
  const ErrorRow* row = find_error(error);
  *text = row ? row->name : nullptr;
  return row ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGetErrorString(CUresult error, const char** text) {
  if (!text) return CUDA_ERROR_INVALID_VALUE;
  const ErrorRow* row = find_error(error);
  *text = row ? row->text : nullptr;
  return row ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

}  // namespace limen::loader
