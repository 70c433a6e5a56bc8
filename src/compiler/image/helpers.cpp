// memcpy, memmove and memset for generated code. They are copied into the object's own code range
// instead of reaching libc through stubs: a wild pointer then faults inside the kernel's code,
// where the engine's fault handler claims it, and an object depends on nothing outside itself.
// Invariant: the code refers to no address outside itself and keeps no state; the stack stays as it
// is. The code stands in helper_code_x86_64.cpp and helper_code_aarch64.cpp.
#include "compiler/image/helpers.h"

extern "C" {
extern const uint8_t limen_helper_move_begin[], limen_helper_move_end[];
extern const uint8_t limen_helper_set_begin[], limen_helper_set_end[];
}

namespace limen::image {

const Helper* find_helper(std::string_view name) {
  static const Helper helpers[] = {
      {"memcpy", limen_helper_move_begin,
       static_cast<size_t>(limen_helper_move_end - limen_helper_move_begin)},
      {"memmove", limen_helper_move_begin,
       static_cast<size_t>(limen_helper_move_end - limen_helper_move_begin)},
      {"memset", limen_helper_set_begin,
       static_cast<size_t>(limen_helper_set_end - limen_helper_set_begin)},
  };
  for (const Helper& helper : helpers)
    if (helper.name == name) return &helper;
  return nullptr;
}

std::string_view helper_names() { return "memcpy, memmove, memset"; }

}  // namespace limen::image
