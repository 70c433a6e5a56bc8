// Which driver table the exports call through. There is always one: before cuInit, and in the child
// after fork, it is a table that answers CUDA_ERROR_NOT_INITIALIZED (or refuses what a row's
// before_init names), so the exports check nothing.
// Invariant: active_ is never null; the tables it points at are constant and live for ever.
// Thread rule: read by any thread at any time; written under the lock of entry.cpp, or by the only
// thread of a forked child.
#pragma once
#include <atomic>

#include "abi/driver_table.h"

namespace limen::loader {

extern const DriverTable not_initialized_table;
extern const DriverTable trace_table;

namespace detail {
extern std::atomic<const DriverTable*> active_;
extern std::atomic<const DriverTable*> traced_;
}  // namespace detail

/// The table that the exports call.
inline const DriverTable* active_table() { return detail::active_.load(std::memory_order_acquire); }

/// The table below the trace table.
inline const DriverTable* traced_table() { return detail::traced_.load(std::memory_order_acquire); }

/// Makes `table` the one in force; puts the trace table above it when LIMEN_LOG=trace.
void activate(const DriverTable* table);

/// Opens the driver library and checks that it was built from the same table as this loader.
/// errors: SHARED_OBJECT_INIT_FAILED (with a message in the log), SHARED_OBJECT_SYMBOL_NOT_FOUND.
CUresult open_driver(const DriverTable** table);

/// The version that cuDriverGetVersion answers: 13000, or LIMEN_DRIVER_VERSION.
int driver_version();

/// Answers an entry of the API before 3.2, whose device pointers and sizes have 32 bits.
/// source: measured H200, driver 580.159.04: CUDA_ERROR_INVALID_CONTEXT with every context that was
/// not created by an API of that age; without cuInit, CUDA_ERROR_NOT_INITIALIZED.
CUresult refuse_old_abi(const char* symbol);

struct ProcVariant {
  int since;
  bool per_thread;
  void* function;
};
struct ProcName {
  const char* name;
  unsigned short first;
  unsigned short count;
};
extern const ProcVariant proc_variants[];
extern const ProcName proc_names[];
extern const size_t proc_name_count;

}  // namespace limen::loader
