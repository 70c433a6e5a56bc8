// Which PTX a device gets, and words for what an image holds. The rule is NVIDIA's: PTX runs on its
// own and on later architectures; with suffix "a" only on its own, with "f" on its family.
// source: PTX ISA 9.0, .target; CUDA C++ Programming Guide 13.0, "Family-Specific Features".
#include <algorithm>
#include <tuple>

#include "compiler/fatbin/fatbin.h"
#include "compiler/fatbin/parse.h"

namespace limen::fatbin {
namespace {

std::string join(const std::vector<std::string>& words, const char* last) {
  std::string text;
  for (size_t i = 0; i < words.size(); ++i)
    text += (i == 0 ? "" : i + 1 == words.size() ? last : ", ") + words[i];
  return text;
}

/// Names of all architectures of one kind in ascending order, each once.
std::vector<std::string> architectures(const std::vector<Entry>& entries, Kind kind,
                                       const char* prefix) {
  std::vector<std::pair<uint32_t, char>> found;
  for (const Entry& entry : entries)
    if (entry.kind == kind) found.emplace_back(entry.sm, entry.suffix);
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  std::vector<std::string> names;
  for (auto [sm, suffix] : found)
    names.push_back(fmt::format("{}{}{}", prefix, sm, suffix ? std::string(1, suffix) : ""));
  return names;
}

std::string describe(const std::vector<Entry>& entries) {
  if (entries.empty()) return "no code at all";
  std::vector<std::string> parts;
  auto machine = architectures(entries, Kind::cubin, "sm_");
  auto ptx = architectures(entries, Kind::ptx, "compute_");
  auto lto = architectures(entries, Kind::lto, "lto_");
  if (!machine.empty()) parts.push_back(join(machine, " and ") + " machine code");
  if (!lto.empty()) parts.push_back(join(lto, " and ") + " LTO-IR");
  for (const Entry& entry : entries)
    if (entry.kind == Kind::other)
      parts.push_back(fmt::format("an entry of unknown kind {}", entry.kind_number));
  parts.push_back(ptx.empty() ? "no PTX" : "PTX for " + join(ptx, " and "));
  return join(parts, ", ");
}

}  // namespace

std::string describe_architectures(const Image& image) { return describe(image.entries()); }

bool ptx_runs_on(uint32_t sm, char suffix, uint32_t device_sm) {
  if (suffix == 'a') return sm == device_sm;
  if (suffix == 'f') return sm / 10 == device_sm / 10 && sm <= device_sm;
  return sm <= device_sm;
}

Result<Choice> choose_ptx(const Image& image, uint32_t sm) {
  const auto& entries = image.entries();
  constexpr uint32_t none = UINT32_MAX;
  std::vector<uint32_t> best(image.containers(), none);
  // Among equals plain PTX wins over "a" and "f": it asks for fewer special instructions.
  auto rank = [&](uint32_t i) { return std::make_pair(entries[i].sm, entries[i].suffix == 0); };
  for (uint32_t i = 0; i < entries.size(); ++i) {
    const Entry& entry = entries[i];
    if (entry.kind != Kind::ptx || !ptx_runs_on(entry.sm, entry.suffix, sm)) continue;
    uint32_t& slot = best[entry.container];
    if (slot == none || rank(i) > rank(slot)) slot = i;
  }
  Choice choice;
  if (!best.empty() && best[0] != none) {
    choice.entries.push_back(best[0]);
    return choice;
  }
  for (uint32_t container = 0; container < best.size(); ++container) {
    if (best[container] != none) {
      choice.entries.push_back(best[container]);
      continue;
    }
    std::vector<Entry> own;
    for (const Entry& entry : entries)
      if (entry.container == container) own.push_back(entry);
    if (container != 0)
      choice.left_out.push_back(fmt::format("part {}: {}", container, describe(own)));
  }
  if (choice.entries.empty())
    return Error{
        Code::no_binary_for_gpu,
        fmt::format("no PTX that runs on sm_{}: the image holds {}", sm,
                    describe_architectures(image)),
        "build the program with -gencode arch=compute_75,code=compute_75 or another PTX target "
        "this device accepts"};
  return choice;
}

}  // namespace limen::fatbin
