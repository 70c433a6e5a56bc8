// The .version line at the head of PTX text, for those that hand text on without parsing it. Thread
// rule: pure functions.
#pragma once
#include <cstddef>
#include <cstdint>

namespace limen::fatbin {

/// Lowers a newer .version in place to `major`.`minor`, without a change of the text's size.
/// Returns whether it did. Sound because whoever reads the text checks each instruction: what is
/// really new is refused there, by its name.
bool lower_ptx_version(char* text, size_t size_bytes, uint32_t major, uint32_t minor);

}  // namespace limen::fatbin
