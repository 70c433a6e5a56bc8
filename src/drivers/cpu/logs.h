// The error log of the cuLogs* calls: what failed and why, kept in a small ring, handed to the
// program's callbacks and to the file that CUDA_LOG_FILE names. Fed by the driver's own error and
// warning lines and by every call that fails. Thread rule: any thread; one short lock, not held
// while a callback runs.
#pragma once

namespace limen::cpu {

/// Connects the driver's log; from cuInit.
void start_error_log();

}  // namespace limen::cpu
