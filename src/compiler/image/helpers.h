// The external functions that generated code may call, as position-independent machine code that is
// copied beside each object that needs it. This is the one list of allowed external symbols.
// Private to this room.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace limen::image {

struct Helper {
  std::string_view name;
  const uint8_t* code;
  size_t bytes;
};

/// The helper of that name, or nullptr.
const Helper* find_helper(std::string_view name);

/// Names of all helpers, for messages.
std::string_view helper_names();

}  // namespace limen::image
