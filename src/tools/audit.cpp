// liblimen_audit.so: an auditor for ld.so (rtld-audit(7)) that answers every search for libcuda.so
// or libcuda.so.1, whatever the path in front of it, with the libcuda.so.1 beside this file. Used
// by `limen run --route audit` for programs that name the library by an absolute path. It watches
// nothing else: it asks for no symbol bindings, so calls run at full speed. It lives in a namespace
// of its own and therefore uses the C library only. Thread rule: the answer is written once, in
// la_version, before any search.
#include <dlfcn.h>
#include <link.h>

#include <climits>
#include <cstdint>
#include <cstring>

namespace {
char answer[PATH_MAX];
}

extern "C" {

__attribute__((visibility("default"))) unsigned la_version(unsigned version) {
  Dl_info info;
  if (dladdr(reinterpret_cast<void*>(&la_version), &info) && info.dli_fname) {
    const char* slash = strrchr(info.dli_fname, '/');
    const char* name = "/libcuda.so.1";
    size_t length = slash ? static_cast<size_t>(slash - info.dli_fname) : 0;
    if (slash && length + strlen(name) < sizeof answer) {
      memcpy(answer, info.dli_fname, length);
      memcpy(answer + length, name, strlen(name) + 1);
    }
  }
  return version < LAV_CURRENT ? version : LAV_CURRENT;
}

__attribute__((visibility("default"))) char* la_objsearch(const char* name, uintptr_t* cookie,
                                                          unsigned flag) {
  (void)cookie;
  (void)flag;
  const char* slash = strrchr(name, '/');
  const char* base = slash ? slash + 1 : name;
  bool ours = strcmp(base, "libcuda.so.1") == 0 || strcmp(base, "libcuda.so") == 0;
  return ours && answer[0] ? answer : const_cast<char*>(name);
}

}  // extern "C"
