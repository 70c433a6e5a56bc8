// Names: each with one dash or two; a value behind "=" or in the next word. source: nvcc 13.0 --help,
// and --dryrun for what goes on to ptxas.
#include "fronts/nvcc/options.h"

#include <optional>
#include <string_view>

namespace limen::fronts::nvcc {

namespace {

using Words = std::vector<std::string>;

bool is_flag(std::string_view word, std::string_view full, std::string_view brief) {
  return (word.substr(0, 2) == "--" && word.substr(2) == full) ||
         (word.substr(0, 1) == "-" && word.substr(1) == brief);
}

/// The value of an option that starts at words[i], which then is its last word.
std::optional<std::string> value_of(const Words& words, size_t& i, std::string_view full,
                                    std::string_view brief) {
  const std::string_view word = words[i];
  const size_t equals = word.find('=');
  if (!is_flag(word.substr(0, equals), full, brief)) return std::nullopt;
  if (equals != std::string_view::npos) return std::string(word.substr(equals + 1));
  if (i + 1 == words.size()) return std::nullopt;
  return words[++i];
}

void add_parts(const std::string& list, Words& parts) {
  for (size_t begin = 0; begin <= list.size();) {
    const size_t end = std::min(list.find(',', begin), list.size());
    if (end > begin) parts.push_back(list.substr(begin, end - begin));
    begin = end + 1;
  }
}

}  // namespace

Options ask_for_ptx(const Words& words) {
  Options out;
  bool links = false;
  for (size_t i = 0; i < words.size(); ++i) {
    if (is_flag(words[i], "cubin", "cubin")) {
      out.machine_code = true;
      out.words.emplace_back("--ptx");
      continue;
    }
    links |= is_flag(words[i], "device-link", "dlink");
    const size_t first = i;
    if (auto output = value_of(words, i, "output-file", "o")) {
      out.output = *output;
    } else if (auto folder = value_of(words, i, "output-directory", "odir")) {
      out.folder = *folder;
    } else if (auto list = value_of(words, i, "ptxas-options", "Xptxas")) {
      add_parts(*list, out.ptxas);
    } else {
      if (auto count = value_of(words, i, "maxrregcount", "maxrregcount"))
        out.ptxas.push_back("-maxrregcount=" + *count);
      if (auto yes = value_of(words, i, "relocatable-device-code", "rdc"); yes == "true")
        out.ptxas.emplace_back("--compile-only");
      if (is_flag(words[i], "device-c", "dc")) out.ptxas.emplace_back("--compile-only");
      out.words.insert(out.words.end(), words.begin() + static_cast<ptrdiff_t>(first),
                       words.begin() + static_cast<ptrdiff_t>(i) + 1);
    }
  }
  out.machine_code &= !links;
  return out;
}

std::string target_of(const std::string& ptx) {
  constexpr std::string_view name = ".target ";
  size_t begin = ptx.find(name);
  // The directive stands at the start of its line; a comment may name it as well.
  while (begin != std::string::npos && begin != 0 && ptx[begin - 1] != '\n')
    begin = ptx.find(name, begin + 1);
  if (begin == std::string::npos) return "";
  begin += name.size();
  return ptx.substr(begin, ptx.find_first_of(", \t\r\n", begin) - begin);
}

}  // namespace limen::fronts::nvcc
