// See the header. Own files are told by device and inode, since any of a dozen names leads to them.
#include "fronts/real_library.h"

#include <dlfcn.h>
#include <glob.h>
#include <link.h>
#include <sys/stat.h>

#include <fstream>
#include <sstream>
#include <vector>

#include "base/log.h"

namespace limen::fronts {

namespace {

constexpr int depth_max = 8;  // of include lines in ld.so.conf

using Folders = std::vector<std::string>;

bool is_front(const std::string& path) {
  Dl_info own;
  struct stat a{}, b{};
  return dladdr(reinterpret_cast<void*>(&real_function), &own) && own.dli_fname &&
         stat(own.dli_fname, &a) == 0 && stat(path.c_str(), &b) == 0 && a.st_dev == b.st_dev &&
         a.st_ino == b.st_ino;
}

Folders match(const std::string& pattern) {
  Folders found;
  glob_t matches{};
  if (glob(pattern.c_str(), 0, nullptr, &matches) == 0)
    found.assign(matches.gl_pathv, matches.gl_pathv + matches.gl_pathc);
  globfree(&matches);
  return found;
}

/// Appends the folders where the dynamic linker would look on behalf of `handle`.
void add_search_path(void* handle, Folders& folders) {
  Dl_serinfo size{};
  if (dlinfo(handle, RTLD_DI_SERINFOSIZE, &size) != 0) return;
  std::vector<char> memory(size.dls_size);
  auto* info = reinterpret_cast<Dl_serinfo*>(memory.data());
  *info = size;
  if (dlinfo(handle, RTLD_DI_SERINFO, info) != 0) return;
  for (unsigned i = 0; i < info->dls_cnt; ++i) folders.emplace_back(info->dls_serpath[i].dls_name);
}

int collect_name(dl_phdr_info* info, size_t, void* names) {
  if (info->dlpi_name && *info->dlpi_name)
    static_cast<Folders*>(names)->emplace_back(info->dlpi_name);
  return 0;
}

void add_loaded(Folders& folders) {
  Folders names;
  dl_iterate_phdr(collect_name, &names);
  if (void* program = dlopen(nullptr, RTLD_LAZY)) {
    add_search_path(program, folders);
    dlclose(program);
  }
  for (const std::string& name : names)
    if (void* handle = dlopen(name.c_str(), RTLD_LAZY | RTLD_NOLOAD)) {
      add_search_path(handle, folders);
      dlclose(handle);
    }
}

/// The folders that ldconfig puts into the system's cache. source: ldconfig(8).
void add_configured(const std::string& file, Folders& folders, int depth) {
  std::ifstream lines(file);
  for (std::string line; depth < depth_max && std::getline(lines, line);) {
    std::istringstream words(line.substr(0, line.find('#')));
    std::string word;
    if (!(words >> word)) continue;
    if (word != "include") {
      folders.push_back(word);
      continue;
    }
    while (words >> word)
      for (const std::string& path : match(word[0] == '/' ? word : "/etc/" + word))
        add_configured(path, folders, depth + 1);
  }
}

Folders all_folders() {
  Folders folders;
  add_loaded(folders);
  add_configured("/etc/ld.so.conf", folders, 0);
  for (const char* place : {"/usr/local/cuda/lib64", "/usr/local/cuda-*/lib64", "/opt/cuda/lib64"})
    for (const std::string& folder : match(place)) folders.push_back(folder);
  return folders;
}

/// NVRTC opens its builtins by a bare name, which the linker finds only if they are loaded or in a
/// folder it knows.
void open_companion(const std::string& path) {
  if (!*identity.companion) return;
  const std::string folder = path.substr(0, path.rfind('/') + 1);
  for (const std::string& file : match(folder + identity.companion)) dlopen(file.c_str(), RTLD_NOW);
}

void* open_file(const std::string& path) {
  if (is_front(path)) return nullptr;
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  const char* reason = handle ? nullptr : dlerror();
  if (!handle) {
    log::warn("%s: %s", path.c_str(), reason ? reason : "cannot be opened");
    return nullptr;
  }
  open_companion(path);
  log::info("%s.so.%d: calls go on to %s", identity.stem, identity.major, path.c_str());
  return handle;
}

std::string path_of(void* handle) {
  link_map* map = nullptr;
  return dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 ? map->l_name : "";
}

/// The auditor answers this name with the path that the program asked for; see src/tools/audit.cpp.
void* open_asked(const std::string& name) {
  void* handle = dlopen(("limen-real:" + name).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    dlerror();
    return nullptr;
  }
  open_companion(path_of(handle));
  log::info("%s: calls go on to %s, as the program asked", name.c_str(), path_of(handle).c_str());
  return handle;
}

void* search() {
  if (const std::string& path = config().*identity.file; !path.empty()) return open_file(path);
  Folders folders;
  for (int major : {identity.major, identity.other_major}) {
    const std::string name = std::string(identity.stem) + ".so." + std::to_string(major);
    if (void* handle = open_asked(name)) return handle;
    if (folders.empty()) folders = all_folders();
    for (const std::string& folder : folders) {
      const std::string path = folder + "/" + name;
      struct stat info{};
      if (stat(path.c_str(), &info) != 0) continue;
      if (void* handle = open_file(path)) return handle;
    }
  }
  return nullptr;
}

void* real_library() {
  static void* const handle = search();
  return handle;
}

}  // namespace

bool has_real_library() { return real_library() != nullptr; }

std::string missing_text() {
  return std::string("NVIDIA's ") + identity.stem + ".so." + std::to_string(identity.major) +
         " was not found: install " + identity.packages + ", or name its file in " +
         identity.variable;
}

void* real_function(const char* name) {
  void* library = real_library();
  if (!library) {
    log::error("%s: %s", name, missing_text().c_str());
    return nullptr;
  }
  void* function = dlsym(library, name);
  if (!function) log::error("%s: not in %s", name, path_of(library).c_str());
  return function;
}

}  // namespace limen::fronts
