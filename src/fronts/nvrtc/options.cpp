// The option is spelled --gpu-architecture or -arch, with its value behind "=" or in the next word;
// other spellings NVRTC refuses (measured on 13.0). Thread rule: see the header.
#include "fronts/nvrtc/options.h"

#include <string_view>

namespace limen::fronts::nvrtc {

namespace {

constexpr std::string_view machine = "sm_", virtual_machine = "compute_";

bool replace_architecture(std::string& word, size_t at) {
  if (word.compare(at, machine.size(), machine) != 0) return false;
  word.replace(at, machine.size(), virtual_machine);
  return true;
}

}  // namespace

Options ask_for_ptx(int count, const char* const* options) {
  Options out;
  for (int i = 0; options && i < count; ++i) out.words.emplace_back(options[i] ? options[i] : "");
  for (const std::string& word : out.words)
    for (const char* intermediate : {"-dlto", "--dlink-time-opt", "-optix-ir", "--optix-ir"})
      if (word == intermediate) return out;
  for (size_t i = 0; i < out.words.size(); ++i)
    for (const std::string_view name : {"--gpu-architecture", "-arch"}) {
      std::string& word = out.words[i];
      if (word == name && i + 1 < out.words.size())
        out.machine_code |= replace_architecture(out.words[i + 1], 0);
      if (word.compare(0, name.size(), name) == 0 && word[name.size()] == '=')
        out.machine_code |= replace_architecture(word, name.size() + 1);
    }
  return out;
}

}  // namespace limen::fronts::nvrtc
