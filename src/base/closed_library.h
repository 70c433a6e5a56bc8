// Which code belongs to NVIDIA's closed libraries (libcublas, libcudnn, ...). They carry PTX only for
// chips newer than those they were built for, so where the user allows it (LIMEN_LIBRARY_CC) they are
// told a newer chip than the program is, and their PTX for it is taken. Thread rule: any thread.
#pragma once
#include "base/config.h"

namespace limen {

/// Does the address lie in one of them? Code or data; any address may be asked about.
bool is_in_closed_library(const void* address);

/// The capability, 130 for 13.0, in force for code or data at `address`: that of LIMEN_LIBRARY_CC in
/// a closed library, if it is newer, else `own`.
uint32_t capability_for(const void* address, uint32_t own);

}  // namespace limen
