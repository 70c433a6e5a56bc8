// The entries of CUDA_VISIBLE_DEVICES: numbers in any base of C, or the beginning of a UUID.
// Thread rule: see the header.
#include "drivers/cpu/device_select.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <optional>
#include <string>

namespace limen::cpu {

namespace {

std::string text_of(const CUuuid& uuid) {
  constexpr char digits[] = "0123456789abcdef";
  std::string text = "GPU-";
  for (size_t i = 0; i < sizeof uuid.bytes; ++i) {
    const auto byte = static_cast<unsigned char>(uuid.bytes[i]);
    text += digits[byte / 16];
    text += digits[byte % 16];
    if (i == 3 || i == 5 || i == 7 || i == 9) text += '-';
  }
  return text;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front())))
    text.remove_prefix(1);
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())))
    text.remove_suffix(1);
  return text;
}

/// The only device whose UUID begins so.
std::optional<unsigned> find_uuid(std::string_view entry, const std::vector<CUuuid>& uuids) {
  std::optional<unsigned> found;
  for (unsigned i = 0; i < uuids.size(); ++i) {
    const std::string whole = text_of(uuids[i]);
    const bool matches = entry.size() <= whole.size() &&
                         std::equal(entry.begin(), entry.end(), whole.begin(), [](char a, char b) {
                           return std::tolower(static_cast<unsigned char>(a)) ==
                                  std::tolower(static_cast<unsigned char>(b));
                         });
    if (!matches) continue;
    if (found) return {};
    found = i;
  }
  return found;
}

/// `rest`: what follows the number in its entry; anything there ends the list after it.
std::optional<unsigned> read_number(const std::string& entry, size_t count, bool* rest) {
  char* end = nullptr;
  const long number = std::strtol(entry.c_str(), &end, 0);
  if (end == entry.c_str() || number < 0 || static_cast<size_t>(number) >= count) return {};
  *rest = *end != 0;
  return static_cast<unsigned>(number);
}

}  // namespace

Selection select_devices(std::string_view value, const std::vector<CUuuid>& uuids) {
  constexpr std::string_view prefix = "GPU-";
  Selection chosen;
  for (bool last = false; !last;) {
    const size_t comma = value.find(',');
    const std::string entry(trimmed(value.substr(0, comma)));
    last = comma == std::string_view::npos;
    if (!last) value.remove_prefix(comma + 1);
    bool rest = false;
    std::optional<unsigned> device;
    if (entry.size() > prefix.size() && entry.compare(0, prefix.size(), prefix) == 0)
      device = find_uuid(entry, uuids);
    else
      device = read_number(entry, uuids.size(), &rest);
    if (!device) break;
    if (std::find(chosen.devices.begin(), chosen.devices.end(), *device) != chosen.devices.end())
      return {CUDA_ERROR_INVALID_DEVICE, {}};
    chosen.devices.push_back(*device);
    last |= rest;
  }
  return chosen;
}

}  // namespace limen::cpu
