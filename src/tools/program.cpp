// See program.h. ELF files are read through bounds-checked views of the file's bytes: a damaged or
// hostile file gives an error, never a read outside the file.
#include "tools/program.h"

#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <string_view>

#include "base/machine.h"

namespace limen::tools {
namespace {

// Programs bigger than this are not searched for absolute libcuda paths: the search costs about
// 0.1 ms a megabyte and a warm start has 150 ms in all.
constexpr size_t search_limit_bytes = size_t{256} << 20;

/// A file mapped read-only for the lifetime of the object.
class MappedFile {
 public:
  MappedFile() = default;
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile() {
    if (data_) munmap(const_cast<char*>(data_), size_);
  }

  Result<void> open(const std::string& path) {
    int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
      Code code = errno == ENOENT ? Code::file_not_found : Code::not_permitted;
      return Error{code, fmt::format("cannot open {}: {}", path, std::strerror(errno)), ""};
    }
    struct stat info{};
    if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
      close(fd);
      return Error{Code::invalid_image, fmt::format("{} is not a file", path), ""};
    }
    mode_ = info.st_mode;
    size_ = static_cast<size_t>(info.st_size);
    if (size_ > 0) {
      void* view = mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, fd, 0);
      if (view == MAP_FAILED) {
        int reason = errno;
        close(fd);
        return Error{Code::operating_system,
                     fmt::format("cannot map {}: {}", path, std::strerror(reason)), ""};
      }
      data_ = static_cast<const char*>(view);
    }
    close(fd);
    return {};
  }

  std::string_view bytes() const { return {data_, data_ ? size_ : 0}; }
  mode_t mode() const { return mode_; }

 private:
  const char* data_ = nullptr;
  size_t size_ = 0;
  mode_t mode_ = 0;
};

template <typename T>
std::optional<T> read_at(std::string_view file, uint64_t offset) {
  if (offset > file.size() || sizeof(T) > file.size() - offset) return std::nullopt;
  T out;
  std::memcpy(&out, file.data() + offset, sizeof out);
  return out;
}

std::string name_of_machine(unsigned machine, unsigned word_class) {
  switch (machine) {
    case EM_386:
      return "32-bit x86";
    case EM_X86_64:
      return word_class == ELFCLASS32 ? "x32 (x86-64 with 32-bit addresses)" : "x86-64";
    case EM_AARCH64:
      return "AArch64";
    case EM_ARM:
      return "32-bit Arm";
    case EM_PPC64:
      return "64-bit POWER";
    case EM_RISCV:
      return "RISC-V";
    case EM_S390:
      return "S/390";
    default:
      return fmt::format("ELF machine number {}", machine);
  }
}

Error damaged(const std::string& path, const char* what) {
  return Error{Code::invalid_image, fmt::format("{} is a damaged ELF file: {}", path, what), ""};
}

struct Segments {
  bool interpreter = false;
  std::optional<Elf64_Phdr> dynamic;
  std::vector<Elf64_Phdr> loads;
};

Result<Segments> read_segments(std::string_view file, const Elf64_Ehdr& header,
                               const std::string& path) {
  Segments out;
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    auto segment = read_at<Elf64_Phdr>(file, header.e_phoff + uint64_t{i} * header.e_phentsize);
    if (!segment) return damaged(path, "its program headers leave the file");
    if (segment->p_type == PT_INTERP) out.interpreter = true;
    if (segment->p_type == PT_DYNAMIC) out.dynamic = *segment;
    if (segment->p_type == PT_LOAD) out.loads.push_back(*segment);
  }
  return out;
}

std::optional<uint64_t> file_offset(const Segments& segments, uint64_t address) {
  for (const Elf64_Phdr& load : segments.loads) {
    if (address >= load.p_vaddr && address - load.p_vaddr < load.p_filesz)
      return address - load.p_vaddr + load.p_offset;
  }
  return std::nullopt;
}

std::string_view text_at(std::string_view file, uint64_t offset) {
  if (offset >= file.size()) return {};
  std::string_view rest = file.substr(offset);
  size_t end = rest.find('\0');
  return end == std::string_view::npos ? std::string_view{} : rest.substr(0, end);
}

/// Splits a DT_RPATH and fills in $ORIGIN, as ld.so does for a program without raised rights.
std::vector<std::string> expand_path_list(std::string_view list, const std::string& program) {
  std::string resolved = program;
  if (char* real = realpath(program.c_str(), nullptr)) {
    resolved = real;
    free(real);
  }
  std::string origin = resolved.substr(0, resolved.rfind('/'));
  std::vector<std::string> out;
  while (!list.empty()) {
    size_t end = list.find(':');
    std::string entry(list.substr(0, end));
    for (const char* token : {"${ORIGIN}", "$ORIGIN"}) {
      for (size_t at; (at = entry.find(token)) != std::string::npos;)
        entry.replace(at, std::strlen(token), origin);
    }
    if (!entry.empty()) out.push_back(entry);
    list = end == std::string_view::npos ? std::string_view{} : list.substr(end + 1);
  }
  return out;
}

Result<void> read_dynamic(std::string_view file, const Segments& segments, Program& out) {
  uint64_t strings = 0;
  std::vector<uint64_t> needed;
  std::optional<uint64_t> rpath, runpath;
  uint64_t at = segments.dynamic->p_offset;
  uint64_t end = at + segments.dynamic->p_filesz;
  for (; at < end; at += sizeof(Elf64_Dyn)) {
    auto entry = read_at<Elf64_Dyn>(file, at);
    if (!entry) return damaged(out.path, "its dynamic section leaves the file");
    if (entry->d_tag == DT_NULL) break;
    if (entry->d_tag == DT_STRTAB) strings = entry->d_un.d_ptr;
    if (entry->d_tag == DT_NEEDED) needed.push_back(entry->d_un.d_val);
    if (entry->d_tag == DT_RPATH) rpath = entry->d_un.d_val;
    if (entry->d_tag == DT_RUNPATH) runpath = entry->d_un.d_val;
  }
  auto base = file_offset(segments, strings);
  if (!base) return damaged(out.path, "its string table is outside the file");
  for (uint64_t name : needed) out.needed.emplace_back(text_at(file, *base + name));
  if (rpath && !runpath) out.rpath = expand_path_list(text_at(file, *base + *rpath), out.path);
  return {};
}

/// An absolute path that ends in libcuda.so or libcuda.so.1 and stands alone in the file.
std::string find_libcuda_path(std::string_view file) {
  constexpr std::string_view name = "/libcuda.so";
  if (file.size() > search_limit_bytes) return "";
  for (size_t at = 0; (at = file.find(name, at)) != std::string_view::npos; at += name.size()) {
    size_t begin = file.rfind('\0', at);
    begin = begin == std::string_view::npos ? 0 : begin + 1;
    std::string_view text = text_at(file, begin);
    std::string_view tail = file.substr(at + name.size(), 2);
    bool whole = text.size() == at - begin + name.size() ||
                 (tail == ".1" && text.size() == at - begin + name.size() + 2);
    if (whole && text[0] == '/') return std::string(text);
  }
  return "";
}

Result<void> inspect_elf(std::string_view file, Program& out) {
  auto word_class = static_cast<unsigned char>(file[EI_CLASS]);
  auto machine = read_at<uint16_t>(file, offsetof(Elf64_Ehdr, e_machine));
  if (!machine) return damaged(out.path, "it ends inside its header");
  out.machine = name_of_machine(*machine, word_class);
  if (*machine != elf_machine || word_class != ELFCLASS64) {
    out.kind = ProgramKind::foreign;
    return {};
  }
  auto header = read_at<Elf64_Ehdr>(file, 0);
  if (!header) return damaged(out.path, "it ends inside its header");
  LIMEN_TRY(Segments segments, read_segments(file, *header, out.path));
  out.kind = segments.interpreter ? ProgramKind::dynamic : ProgramKind::fixed;
  if (segments.dynamic && segments.interpreter) LIMEN_CHECK(read_dynamic(file, segments, out));
  if (segments.interpreter) out.libcuda_path = find_libcuda_path(file);
  return {};
}

void inspect_script(std::string_view file, Program& out) {
  out.kind = ProgramKind::script;
  std::string_view line = file.substr(
      2, file.find('\n') == std::string_view::npos ? std::string_view::npos : file.find('\n') - 2);
  auto trim = [](std::string_view text) {
    size_t begin = text.find_first_not_of(" \t\r");
    if (begin == std::string_view::npos) return std::string_view{};
    return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
  };
  line = trim(line);
  size_t split = line.find_first_of(" \t");
  out.interpreter = std::string(line.substr(0, split));
  if (split != std::string_view::npos) out.interpreter_argument = trim(line.substr(split));
}

bool is_executable_file(const std::string& path) {
  struct stat info{};
  return stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) && access(path.c_str(), X_OK) == 0;
}

}  // namespace

Result<std::string> find_program(const std::string& name, const std::string& search_path) {
  if (name.empty()) return Error{Code::file_not_found, "the program's name is empty", ""};
  struct stat info{};
  if (name.find('/') != std::string::npos) {
    if (stat(name.c_str(), &info) != 0)
      return Error{Code::file_not_found, fmt::format("{}: {}", name, std::strerror(errno)), ""};
    if (S_ISDIR(info.st_mode))
      return Error{Code::not_permitted, fmt::format("{} is a directory", name), ""};
    if (!is_executable_file(name))
      return Error{Code::not_permitted, fmt::format("{} is not executable", name),
                   fmt::format("make it so: chmod +x {}", name)};
    return name;
  }
  std::string found_but_closed;
  for (size_t at = 0; at <= search_path.size();) {
    size_t end = std::min(search_path.find(':', at), search_path.size());
    std::string folder = search_path.substr(at, end - at);
    std::string path = folder.empty() ? "./" + name : folder + "/" + name;
    if (is_executable_file(path)) return path;
    if (stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode)) found_but_closed = path;
    at = end + 1;
  }
  if (!found_but_closed.empty())
    return Error{Code::not_permitted, fmt::format("{} is not executable", found_but_closed), ""};
  std::string remedy;
  if (is_executable_file("./" + name))
    remedy = fmt::format("write ./{0} to run the one here", name);
  return Error{Code::file_not_found, fmt::format("{} is in no directory of PATH", name), remedy};
}

Result<Program> inspect_program(const std::string& path) {
  MappedFile file;
  LIMEN_CHECK(file.open(path));
  Program out;
  out.path = path;
  out.raised_rights = (file.mode() & (S_ISUID | S_ISGID)) != 0;
  std::string_view bytes = file.bytes();
  if (bytes.substr(0, 2) == "#!") {
    inspect_script(bytes, out);
  } else if (bytes.size() > EI_NIDENT && bytes.substr(0, SELFMAG) == ELFMAG) {
    LIMEN_CHECK(inspect_elf(bytes, out));
  }
  return out;
}

std::string find_in_rpath(const Program& program, const char* library) {
  for (const std::string& folder : program.rpath) {
    std::string path = folder + "/" + library;
    if (access(path.c_str(), F_OK) == 0) return path;
  }
  return "";
}

bool is_interpreter(const Program& program) {
  const std::string name = program.path.substr(program.path.rfind('/') + 1);
  for (const char* known : {"python", "pypy", "julia", "java", "node"})
    if (name.rfind(known, 0) == 0) return true;
  for (const std::string& library : program.needed)
    if (library.rfind("libpython", 0) == 0) return true;
  return false;
}

}  // namespace limen::tools
