// Programs made of sections that a user can ask for by name.
#pragma once
#include <cstdio>
#include <cstring>

#include "check.h"

struct Section {
  const char* name;
  void (*run)(Verdict&);
};

/// main's work: runs the sections that the arguments name, all where there are none.
template <size_t count>
int run_sections(const Section (&sections)[count], int arguments, char** names) {
  Verdict verdict;
  for (const Section& section : sections) {
    bool wanted = arguments == 1;
    for (int i = 1; i < arguments; ++i) wanted |= !std::strcmp(names[i], section.name);
    if (!wanted) continue;
    std::puts(section.name);
    section.run(verdict);
  }
  return verdict.finish();
}
