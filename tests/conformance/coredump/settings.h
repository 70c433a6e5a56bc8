// What the cases of core dump settings share.
#pragma once
#include <unistd.h>

#include <utility>

#include "conformance/conform.h"

namespace limen::conform {

inline std::string dump_path(const char* what) {
  return "/tmp/limen_conform_" + std::string(what) + "_" + std::to_string(getpid());
}

template <typename Set>
CUresult set_switch(Set set, CUcoredumpSettings attribute, bool on) {
  size_t size = sizeof on;
  return set(attribute, &on, &size);
}

template <typename Set>
CUresult set_name(Set set, CUcoredumpSettings attribute, const std::string& name) {
  std::vector<char> text(name.begin(), name.end());
  text.push_back(0);
  size_t size = text.size();
  return set(attribute, text.data(), &size);
}

template <typename Get>
bool get_switch(Get get, CUcoredumpSettings attribute) {
  bool on = false;
  size_t size = sizeof on;
  REQUIRE(get(attribute, &on, &size));
  return on;
}

template <typename Get>
std::string get_name(Get get, CUcoredumpSettings attribute) {
  char text[1024] = {};
  size_t size = sizeof text;
  REQUIRE(get(attribute, text, &size));
  return text;
}

/// The name with HOST and PID where this machine's name and this process stand.
inline std::string without_machine(std::string name) {
  char host[256] = {};
  gethostname(host, sizeof host - 1);
  for (auto [part, word] :
       {std::pair{std::string(host), "HOST"}, std::pair{std::to_string(getpid()), "PID"}})
    if (size_t at = name.find(part); at != std::string::npos) name.replace(at, part.size(), word);
  return name;
}

}  // namespace limen::conform
