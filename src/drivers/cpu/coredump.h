// Core dumps of contexts: the settings of cuCoredump*, and the file written when a kernel fails.
// The file is Limen's own, documented in docs/core_dumps.md; cuda-gdb does not read it.
// Invariant: a setting that the environment made before cuInit cannot be changed.
// Thread rule: any thread; one lock.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "abi/cuda_abi.h"
#include "engine/engine.h"

namespace limen::cpu {

struct Context;

/// A context's own settings: the global ones of its birth, and what was set since.
struct CoredumpSettings {
  std::optional<bool> on_exception, trigger_host;
  std::optional<std::string> file;
  std::optional<int> generation_flags;
};

/// After a kernel's failure, on whichever thread saw it. Does not return when the settings ask for
/// the host's core dump as well: the process aborts, as under NVIDIA's driver.
void dump_core_of(Context& context, int code, const engine::FaultInfo& fault);

/// The settings of a new context: the global ones, CU_CTX_COREDUMP_ENABLE and
/// CU_CTX_USER_COREDUMP_ENABLE.
void apply_coredump_flags(Context& context, unsigned flags);

}  // namespace limen::cpu
