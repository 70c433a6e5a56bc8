// The common form of an archive: magic, then a header of 60 characters before each member, members
// at even offsets. source: ar(5). Thread rule: see the header.
#include "compiler/fatbin/archive.h"

#include <cstdlib>
#include <string>

namespace limen::fatbin {

namespace {

constexpr std::string_view magic = "!<arch>\n";

}  // namespace

bool is_archive(std::string_view file) { return file.substr(0, magic.size()) == magic; }

Result<std::vector<Member>> archive_members(std::string_view file) {
  constexpr size_t head_bytes = 60, name_digits = 16, size_at = 48, size_digits = 10;
  std::vector<Member> members;
  if (!is_archive(file)) return Error{Code::invalid_image, "the library is no archive", ""};
  for (size_t at = magic.size(); at + head_bytes <= file.size();) {
    const std::string digits(file.substr(at + size_at, size_digits));
    const size_t size = std::strtoul(digits.c_str(), nullptr, 10);
    if (size > file.size() - at - head_bytes)
      return Error{Code::invalid_image,
                   "the archive's member at " + std::to_string(at) + " leaves the archive of " +
                       std::to_string(file.size()) + " bytes",
                   ""};
    std::string_view name = file.substr(at, name_digits);
    name = name.substr(0, name.find_last_not_of(' ') + 1);
    if (name != "/" && name != "//" && name != "/SYM64/")
      members.push_back({name, file.substr(at + head_bytes, size)});
    at += head_bytes + size + size % 2;
  }
  return members;
}

bool is_device_runtime(std::string_view file) {
  auto members = archive_members(file);
  return members.ok() && members->size() == 1 &&
         file.find("cuda_device_runtime.o") != std::string_view::npos;
}

}  // namespace limen::fatbin
