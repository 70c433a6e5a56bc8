// NVIDIA's own library behind a front: found once, at the first call, by dlopen. The front stands in
// its place under the same name, so the search must not end at the front itself. What is asked in
// turn: the variable of identity.variable; the path that the program itself asked for (known where
// `limen run` used its auditor); the search paths of every library loaded; the system's; the
// toolkit's usual folders; the same with the neighbouring major version. Invariant: the answer does
// not change, and nothing is ever unloaded. Thread rule: any thread.
#pragma once
#include <string>

#include "base/config.h"

namespace limen::fronts {

/// Which library this front stands for; defined once in each of the shared libraries.
struct Identity {
  const char* stem;      ///< "libnvrtc"
  int major;             ///< 13: the front is libnvrtc.so.13
  int other_major;       ///< taken where that of `major` is not installed
  const char* companion; ///< a library beside it that it opens by a bare name, or ""
  const char* variable;  ///< names the file to take
  std::string Config::*file;  ///< its value
  const char* packages;  ///< what to install
};
extern const Identity identity;

/// The exported function of NVIDIA's library; null if the library or the function is not there,
/// which is then in the log.
void* real_function(const char* name);

/// Is NVIDIA's library there? Not in the log.
bool has_real_library();

/// Why there is no library, and what to install.
std::string missing_text();

}  // namespace limen::fronts
