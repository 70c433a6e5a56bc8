// The GDB JIT interface: the debugger puts a breakpoint on __jit_debug_register_code and reads the
// list behind __jit_debug_descriptor, both found by name, so these two symbols are exported
// although everything else is hidden. Each entry is a copy of the object with its sections'
// addresses filled in; the debugger applies the relocations of debug information itself. The perf
// map is text: begin, size, name of each function, in hexadecimal. Lock: registry_mutex guards list
// and file. Never fails loudly: a debugging aid must not stop a run. source: GDB manual, "JIT
// Compilation Interface"; linux tools/perf/Documentation/jit-interface.txt.
#include "compiler/image/debug.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <mutex>

extern "C" {

struct jit_code_entry {
  jit_code_entry* next_entry;
  jit_code_entry* prev_entry;
  const char* symfile_addr;
  uint64_t symfile_size;
};

struct jit_descriptor {
  uint32_t version;
  uint32_t action_flag;  // 0 nothing, 1 register, 2 unregister
  jit_code_entry* relevant_entry;
  jit_code_entry* first_entry;
};

// Protected: exported for the debugger, yet never taken from another library of the process (LLVM
// defines the same names).
__attribute__((visibility("protected"), used)) jit_descriptor __jit_debug_descriptor = {
    1, 0, nullptr, nullptr};

__attribute__((visibility("protected"), used, noinline)) void __jit_debug_register_code() {
  asm volatile("" ::: "memory");  // keeps calls and body apart from the optimiser
}

}  // extern "C"

namespace limen::image {
namespace {

std::mutex& registry_mutex() {
  static auto* one = new std::mutex;  // leaked: code may be unloaded after static destructors
  return *one;
}

bool is_set(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0' && std::strcmp(value, "0") != 0;
}

struct GdbEntry {
  jit_code_entry entry{};
  std::vector<char> file;

  explicit GdbEntry(std::vector<char> bytes) : file(std::move(bytes)) {
    entry.symfile_addr = file.data();
    entry.symfile_size = file.size();
    std::lock_guard lock(registry_mutex());
    entry.next_entry = __jit_debug_descriptor.first_entry;
    if (entry.next_entry) entry.next_entry->prev_entry = &entry;
    __jit_debug_descriptor.first_entry = &entry;
    tell(1);
  }
  ~GdbEntry() {
    std::lock_guard lock(registry_mutex());
    if (entry.prev_entry)
      entry.prev_entry->next_entry = entry.next_entry;
    else
      __jit_debug_descriptor.first_entry = entry.next_entry;
    if (entry.next_entry) entry.next_entry->prev_entry = entry.prev_entry;
    tell(2);
  }
  void tell(uint32_t action) {
    __jit_debug_descriptor.action_flag = action;
    __jit_debug_descriptor.relevant_entry = &entry;
    __jit_debug_register_code();
    __jit_debug_descriptor.action_flag = 0;
  }
};

/// The object with each loaded section's address in its header.
std::vector<char> with_addresses(const Object& object) {
  std::vector<char> file(object.file, object.file + object.file_bytes);
  Elf64_Ehdr header;
  std::memcpy(&header, file.data(), sizeof header);
  for (size_t i = 0; i < object.sections.size(); ++i) {
    const Section& section = object.sections[i];
    if (section.place == Place::none) continue;
    Elf64_Shdr raw = section.header;
    raw.sh_addr = object.address(section.offset);
    std::memcpy(file.data() + header.e_shoff + i * sizeof raw, &raw, sizeof raw);
  }
  return file;
}

void write_perf_map(const Object& object) {
  std::string lines;
  for (const Symbol& symbol : object.symbols) {
    if (ELF64_ST_TYPE(symbol.raw.st_info) != STT_FUNC ||
        symbol.raw.st_shndx >= object.sections.size())
      continue;
    const Section& section = object.sections[symbol.raw.st_shndx];
    if (section.place != Place::code) continue;
    bool entry = symbol.name == "limen_kernel";
    lines += fmt::format("{:x} {:x} {}{}{}\n", object.address(section.offset + symbol.raw.st_value),
                         symbol.raw.st_size, object.kernel, entry ? "" : "/",
                         entry ? std::string_view() : symbol.name);
  }
  std::lock_guard lock(registry_mutex());
  // O_NOFOLLOW and the owner test: /tmp is everybody's, and the name can be guessed.
  std::string path = fmt::format("/tmp/perf-{}.map", getpid());
  int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0) return;
  struct stat info{};
  if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_uid == geteuid()) {
    ssize_t written = write(fd, lines.data(), lines.size());
    static_cast<void>(written);
  }
  close(fd);
}

}  // namespace

DebugRegistration register_debug(const Object& object) {
  static const bool gdb = is_set("LIMEN_GDB"), perf = is_set("LIMEN_PERF");
  if (perf) write_perf_map(object);
  if (!gdb) return nullptr;
  return std::make_shared<GdbEntry>(with_addresses(object));
}

}  // namespace limen::image
