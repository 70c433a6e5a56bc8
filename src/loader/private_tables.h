// The seam between the loader and the private handshake of NVIDIA's runtimes. Built with
// LIMEN_PRIVATE_TABLES=OFF, private_tables_off.cpp takes the place of private_tables.cpp.
#pragma once
#include "abi/cuda_abi.h"

namespace limen::loader {

/// Removes everything that runtimes stored for `context` and calls its destructors. Called by the
/// driver on the thread that ends the context (abi/driver_private.h).
void drop_context_storage(CUcontext context);

/// Around fork, so that a child never inherits the lock held.
void lock_private_tables();
void unlock_private_tables();

}  // namespace limen::loader
