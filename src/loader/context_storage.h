// Context-local storage: values that a runtime keeps for (context, key), with a destructor that
// runs when the context ends. `get` runs before every runtime call, so it has a cache in the
// thread. Invariant: a cached value is valid while the generation it was read in is the current
// one. Thread rule: any thread. lock_ guards the list and is never held while a destructor runs.
#pragma once
#include "abi/cuda_abi.h"

namespace limen::loader {

using StorageDestructor = void (*)(CUcontext context, void* key, void* value);

/// errors: INVALID_HANDLE if the key has a value already.
CUresult storage_put(CUcontext context, void* key, void* value, StorageDestructor destructor);

/// errors: INVALID_HANDLE if the key has no value. No destructor runs.
CUresult storage_delete(CUcontext context, void* key);

/// errors: INVALID_HANDLE if the key has no value.
CUresult storage_get(void** value, CUcontext context, void* key);

/// Removes all values of `context` and calls their destructors.
void storage_drop(CUcontext context);

/// Around fork.
void storage_lock();
void storage_unlock();

}  // namespace limen::loader
