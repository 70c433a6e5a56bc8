// Members of a Unix archive (.a), as nvcc's -lib and ar make them. Thread rule: pure functions.
#pragma once
#include <string_view>
#include <vector>

#include "base/result.h"

namespace limen::fatbin {

struct Member {
  std::string_view name;  ///< as in its header, "name/" or "/12" for a long one
  std::string_view bytes;
};

bool is_archive(std::string_view file);

/// The members other than the symbol index and the table of long names; they point into `file`.
/// errors: invalid_image.
Result<std::vector<Member>> archive_members(std::string_view file);

/// Is this libcudadevrt.a, an archive of one object? Limen has a device runtime of its own, so there
/// is nothing to take from it.
bool is_device_runtime(std::string_view file);

}  // namespace limen::fatbin
