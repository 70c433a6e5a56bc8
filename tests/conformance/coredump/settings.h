// What the cases of core dump settings share.
#pragma once
#include <unistd.h>

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

}  // namespace limen::conform
