// liblimen_audit.so: an auditor for ld.so (rtld-audit(7)) that leads searches for the driver and for
// NVIDIA's run-time compilers to Limen's, whatever path stands in front of the name. Used by
// `limen run` for programs that look beyond the search path, as Python's wheels do. It asks for no
// symbol bindings, so calls run at full speed.
// A library has to reach NVIDIA's own compiler behind our front: searches that Limen's libraries
// start are not led anywhere, and the name "limen-real:NAME" is answered with the path under which
// a program last asked for NAME.
// It needs no C library, which would come a second time into a namespace of its own: ld.so is all
// there is. Thread rule: ld.so holds its lock around every call.
#include <link.h>

#include <cstddef>
#include <cstdint>

#if defined(__x86_64__)
#include "tools/access_x86_64.h"
#elif defined(__aarch64__)
#include "tools/access_aarch64.h"
#endif

#define LIMEN_EXPORT extern "C" __attribute__((visibility("default")))

namespace {

constexpr size_t path_bytes = 4096;
constexpr uintptr_t ours = 1;  // the cookie of a library in our folder; others keep ld.so's
const char self_name[] = "/liblimen_audit.so";
const char real_prefix[] = "limen-real:";

/// A library that we stand in for. `asked`: NVIDIA's, as a program named it.
struct Stand {
  const char* name;
  bool is_driver;
  char path[path_bytes];
  char asked[path_bytes];
};

Stand stands[] = {{"libcuda.so.1", true, {}, {}},       {"libcuda.so", true, {}, {}},
                  {"libnvrtc.so.13", false, {}, {}},    {"libnvrtc.so.12", false, {}, {}},
                  {"libnvJitLink.so.13", false, {}, {}}, {"libnvJitLink.so.12", false, {}, {}}};
char folder[path_bytes];
size_t folder_length;

size_t length_of(const char* text) {
  size_t length = 0;
  while (text[length]) ++length;
  return length;
}

bool starts_with(const char* text, const char* prefix, size_t length) {
  for (size_t i = 0; i < length; ++i)
    if (text[i] != prefix[i]) return false;
  return true;
}

bool is_same(const char* a, const char* b) {
  const size_t length = length_of(b);
  return length_of(a) == length && starts_with(a, b, length);
}

void copy(char* to, const char* from, size_t length) {
  for (size_t i = 0; i < length; ++i) to[i] = from[i];
  to[length] = 0;
}

const char* base_of(const char* path) {
  const char* base = path;
  for (; *path; ++path)
    if (*path == '/') base = path + 1;
  return base;
}

bool is_readable(const char* path) { return access_for_reading(path) == 0; }

bool is_in_folder(const char* path) {
  return folder_length && length_of(path) > folder_length &&
         starts_with(path, folder, folder_length) && path[folder_length] == '/' &&
         base_of(path) == path + folder_length + 1;
}

Stand* find_stand(const char* base) {
  for (Stand& stand : stands)
    if (is_same(base, stand.name)) return &stand;
  return nullptr;
}

/// Remembers our folder: the path of this file stands in LD_AUDIT, whole, since `limen run` wrote it.
void read_folder(const char* list) {
  const size_t tail = sizeof self_name - 1;
  for (const char* end = list;; ++end) {
    if (*end && *end != ':') continue;
    const size_t length = static_cast<size_t>(end - list);
    if (length > tail && length < path_bytes - 64 &&
        starts_with(end - tail, self_name, tail)) {
      folder_length = length - tail;
      copy(folder, list, folder_length);
      return;
    }
    if (!*end) return;
    list = end + 1;
  }
}

/// ld.so hands constructors the program's arguments and environment.
__attribute__((constructor)) void begin(int, char**, char** environment) {
  const char name[] = "LD_AUDIT=";
  for (; environment && *environment; ++environment)
    if (starts_with(*environment, name, sizeof name - 1)) read_folder(*environment + sizeof name - 1);
  if (!folder_length) return;
  for (Stand& stand : stands) {
    const char* file = stand.is_driver ? "libcuda.so.1" : stand.name;
    copy(stand.path, folder, folder_length);
    stand.path[folder_length] = '/';
    copy(stand.path + folder_length + 1, file, length_of(file));
    if (!is_readable(stand.path)) stand.path[0] = 0;
  }
}

/// The answer to a search for one of our names; `name` itself: not ours to answer.
const char* answer(Stand& stand, const char* name, unsigned flag) {
  if (!stand.path[0]) return name;
  if (stand.is_driver) return stand.path;
  // A bare name would end in our folder in any case, unless a DT_RPATH comes first. Only a whole
  // name may be changed: in place of a candidate of its search, ld.so would keep the old name for
  // our library, and NVIDIA's could never be opened beside it.
  if (base_of(name) == name) return stand.path;
  if (flag != LA_SER_ORIG || is_in_folder(name)) return name;
  // Where NVIDIA's is not, the program shall see what it would see without us.
  if (!is_readable(name)) return name;
  const size_t length = length_of(name);
  if (length >= path_bytes) return name;
  copy(stand.asked, name, length);
  return stand.path;
}

}  // namespace

LIMEN_EXPORT unsigned la_version(unsigned version) {
  return version < LAV_CURRENT ? version : LAV_CURRENT;
}

LIMEN_EXPORT unsigned la_objopen(link_map* map, Lmid_t, uintptr_t* cookie) {
  if (map->l_name && is_in_folder(map->l_name)) *cookie = ours;
  return 0;
}

LIMEN_EXPORT char* la_objsearch(const char* name, uintptr_t* cookie, unsigned flag) {
  const size_t prefix = sizeof real_prefix - 1;
  if (cookie && *cookie == ours) {
    if (!starts_with(name, real_prefix, prefix)) return const_cast<char*>(name);
    Stand* stand = find_stand(name + prefix);
    return stand && stand->asked[0] ? stand->asked : const_cast<char*>(name);
  }
  Stand* stand = find_stand(base_of(name));
  return const_cast<char*>(stand ? answer(*stand, name, flag) : name);
}
