// cuCoredump*: settings, the dump file, the pipe that asks for one. See coredump.h.
// source: CUDA Driver API 13.0, "Coredump Attributes Control API"; names of the environment
// variables: CUDA-GDB manual 13.0, "GPU core dump support". Thread rule: see coredump.h.
#include "drivers/cpu/coredump.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <mutex>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "abi/cpu_api.h"
#include "base/log.h"
#include "drivers/cpu/context.h"

namespace limen::cpu {

namespace {

constexpr size_t most_name_bytes = 1024;  ///< with its end

struct GlobalSettings {
  std::mutex mutex;
  bool on_exception = false, trigger_host = true, user_trigger = false;
  std::string file;  ///< empty: the usual name, which nobody is told: measured H200, 580.159.04
  std::string pipe;
  int generation_flags = CU_COREDUMP_DEFAULT_FLAGS;
  bool fixed[CU_COREDUMP_MAX] = {};  ///< by the environment
  bool watching = false;             ///< the pipe has its thread
};

std::string host_name() {
  char name[256] = {};
  gethostname(name, sizeof name - 1);
  return name;
}

/// %h, %p and %t of a name: host, process, seconds since 1970.
std::string expand(const std::string& name) {
  std::string out;
  for (size_t i = 0; i < name.size(); ++i) {
    const char kind = name[i] == '%' && i + 1 < name.size() ? name[i + 1] : 0;
    if (kind != 'h' && kind != 'p' && kind != 't') {
      out += name[i];
      continue;
    }
    ++i;
    if (kind == 'h')
      out += host_name();
    else
      out += std::to_string(kind == 'p' ? static_cast<long>(getpid()) : std::time(nullptr));
  }
  return out;
}

void read_switch(const char* name, bool* value, bool* fixed) {
  const char* text = std::getenv(name);
  if (!text) return;
  *value = std::strcmp(text, "0") != 0;
  *fixed = true;
}

void read_name(const char* name, std::string* value, bool* fixed) {
  const char* text = std::getenv(name);
  if (!text || !*text || std::strlen(text) >= most_name_bytes) return;
  *value = text;
  *fixed = true;
}

/// "skip_abort,skip_global_memory": the words of CUDA_COREDUMP_GENERATION_FLAGS.
int read_generation_flags(const char* text) {
  struct Word {
    const char* name;
    int flag;
  };
  constexpr Word words[] = {
      {"skip_nonrelocated_elf_images", CU_COREDUMP_SKIP_NONRELOCATED_ELF_IMAGES},
      {"skip_global_memory", CU_COREDUMP_SKIP_GLOBAL_MEMORY},
      {"skip_shared_memory", CU_COREDUMP_SKIP_SHARED_MEMORY},
      {"skip_local_memory", CU_COREDUMP_SKIP_LOCAL_MEMORY},
      {"skip_abort", CU_COREDUMP_SKIP_ABORT},
      {"skip_constbank_memory", CU_COREDUMP_SKIP_CONSTBANK_MEMORY}};
  int flags = CU_COREDUMP_DEFAULT_FLAGS;
  for (const Word& word : words)
    if (std::strstr(text, word.name)) flags |= word.flag;
  return flags;
}

GlobalSettings* read_environment() {
  auto* made = new GlobalSettings;
  made->pipe = fmt::format("corepipe.cuda.{}.{}", host_name(), getpid());
  bool* fixed = made->fixed;
  read_switch("CUDA_ENABLE_COREDUMP_ON_EXCEPTION", &made->on_exception,
              &fixed[CU_COREDUMP_ENABLE_ON_EXCEPTION]);
  read_switch("CUDA_ENABLE_CPU_COREDUMP_ON_EXCEPTION", &made->trigger_host,
              &fixed[CU_COREDUMP_TRIGGER_HOST]);
  read_switch("CUDA_ENABLE_USER_TRIGGERED_COREDUMP", &made->user_trigger,
              &fixed[CU_COREDUMP_ENABLE_USER_TRIGGER]);
  read_name("CUDA_COREDUMP_FILE", &made->file, &fixed[CU_COREDUMP_FILE]);
  read_name("CUDA_COREDUMP_PIPE", &made->pipe, &fixed[CU_COREDUMP_PIPE]);
  bool light = false;
  read_switch("CUDA_ENABLE_LIGHTWEIGHT_COREDUMP", &light, &fixed[CU_COREDUMP_LIGHTWEIGHT]);
  if (light) made->generation_flags |= CU_COREDUMP_LIGHTWEIGHT_FLAGS;
  if (const char* text = std::getenv("CUDA_COREDUMP_GENERATION_FLAGS")) {
    made->generation_flags |= read_generation_flags(text);
    fixed[CU_COREDUMP_GENERATION_FLAGS] = true;
  }
  return made;
}

GlobalSettings& global() {
  static GlobalSettings* made = read_environment();
  return *made;
}

/// The settings that count for a context (null: the global ones). Under the lock.
struct Effective {
  bool on_exception, trigger_host, user_trigger;
  std::string file, pipe;
  int generation_flags;
};
Effective effective(const CoredumpSettings* own) {
  GlobalSettings& all = global();
  Effective now{all.on_exception, all.trigger_host, all.user_trigger,
                all.file,         all.pipe,         all.generation_flags};
  if (!own) return now;
  // The environment wins over everybody.
  if (!all.fixed[CU_COREDUMP_ENABLE_ON_EXCEPTION])
    now.on_exception = own->on_exception.value_or(now.on_exception);
  if (!all.fixed[CU_COREDUMP_TRIGGER_HOST])
    now.trigger_host = own->trigger_host.value_or(now.trigger_host);
  if (!all.fixed[CU_COREDUMP_FILE]) now.file = own->file.value_or(now.file);
  if (!all.fixed[CU_COREDUMP_GENERATION_FLAGS])
    now.generation_flags = own->generation_flags.value_or(now.generation_flags);
  return now;
}

std::string path_of(const Effective& how) {
  return expand(how.file.empty() ? "core.cuda.%h.%p" : how.file);
}

bool is_light(int flags) {
  return (flags & CU_COREDUMP_LIGHTWEIGHT_FLAGS) == CU_COREDUMP_LIGHTWEIGHT_FLAGS;
}

/// Whether the host's core dump follows.
bool aborts(const Effective& how) {
  return how.trigger_host && !(how.generation_flags & CU_COREDUMP_SKIP_ABORT);
}

size_t size_of(CUcoredumpSettings attribute) {
  switch (attribute) {
    case CU_COREDUMP_FILE:
    case CU_COREDUMP_PIPE:
      return most_name_bytes;
    case CU_COREDUMP_GENERATION_FLAGS:
      return sizeof(int);
    default:
      return sizeof(bool);
  }
}

bool is_attribute(CUcoredumpSettings attribute) {
  return attribute >= CU_COREDUMP_ENABLE_ON_EXCEPTION && attribute < CU_COREDUMP_MAX;
}

CUresult get(CUcoredumpSettings attribute, const Effective& now, void* value, size_t* size) {
  auto put_switch = [&](bool on) {
    std::memcpy(value, &on, sizeof on);
    *size = sizeof on;
    return CUDA_SUCCESS;
  };
  auto put_name = [&](const std::string& name) {
    if (!*size) return CUDA_ERROR_INVALID_VALUE;
    // A name is cut to its room: measured H200, driver 580.159.04.
    const size_t length = std::min(name.size(), *size - 1);
    std::memcpy(value, name.c_str(), length);
    static_cast<char*>(value)[length] = 0;
    *size = length + 1;
    return CUDA_SUCCESS;
  };
  const bool name = attribute == CU_COREDUMP_FILE || attribute == CU_COREDUMP_PIPE;
  if (!name && *size < size_of(attribute)) return CUDA_ERROR_INVALID_VALUE;
  switch (attribute) {
    case CU_COREDUMP_ENABLE_ON_EXCEPTION:
      return put_switch(now.on_exception);
    case CU_COREDUMP_TRIGGER_HOST:
      return put_switch(now.trigger_host);
    case CU_COREDUMP_LIGHTWEIGHT:
      return put_switch(is_light(now.generation_flags));
    case CU_COREDUMP_ENABLE_USER_TRIGGER:
      return put_switch(now.user_trigger);
    case CU_COREDUMP_FILE:
      return put_name(now.file);
    case CU_COREDUMP_PIPE:
      return put_name(now.pipe);
    default:
      std::memcpy(value, &now.generation_flags, sizeof(int));
      *size = sizeof(int);
      return CUDA_SUCCESS;
  }
}

/// A value as given by the program. errors: 1 for a size that cannot hold it.
struct Value {
  bool on = false;
  int flags = 0;
  std::string name;
};
CUresult read_value(CUcoredumpSettings attribute, const void* value, size_t size, Value* out) {
  if (attribute == CU_COREDUMP_FILE || attribute == CU_COREDUMP_PIPE) {
    const auto* text = static_cast<const char*>(value);
    const size_t length = strnlen(text, std::min(size, most_name_bytes));
    if (!length || length >= most_name_bytes) return CUDA_ERROR_INVALID_VALUE;
    out->name.assign(text, length);
    return CUDA_SUCCESS;
  }
  if (size < size_of(attribute)) return CUDA_ERROR_INVALID_VALUE;
  if (attribute != CU_COREDUMP_GENERATION_FLAGS) {
    out->on = *static_cast<const unsigned char*>(value) != 0;
    return CUDA_SUCCESS;
  }
  std::memcpy(&out->flags, value, sizeof(int));
  constexpr int known = CU_COREDUMP_LIGHTWEIGHT_FLAGS | CU_COREDUMP_SKIP_ABORT;
  return out->flags & ~known ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

int with_light(int flags, bool on) {
  return on ? flags | CU_COREDUMP_LIGHTWEIGHT_FLAGS : flags & ~CU_COREDUMP_LIGHTWEIGHT_FLAGS;
}

std::string folder_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash + 1);
}

// ---- The file
// ------------------------------------------------------------------------------------

/// A file without a name until it is whole, where the file system has such files: who is killed
/// while writing leaves nothing.
struct DumpFile {
  const std::string path;
  int descriptor = -1;
  bool named = true;

  explicit DumpFile(std::string where) : path(std::move(where)) {
    struct stat status {};
    // A device or a pipe of the user's is written to as it is.
    if (::stat(path.c_str(), &status) != 0 || S_ISREG(status.st_mode)) {
      descriptor = ::open(folder_of(path).c_str(), O_WRONLY | O_TMPFILE | O_CLOEXEC, 0600);
      named = descriptor < 0;
    }
    if (named) descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  }
  ~DumpFile() {
    if (descriptor >= 0) close(descriptor);
  }
  DumpFile(const DumpFile&) = delete;
  DumpFile& operator=(const DumpFile&) = delete;

  /// Gives the whole file its name; an older dump of that name goes.
  bool finish() {
    const std::string self = fmt::format("/proc/self/fd/{}", descriptor);
    while (!named) {
      if (linkat(AT_FDCWD, self.c_str(), AT_FDCWD, path.c_str(), AT_SYMLINK_FOLLOW) == 0)
        named = true;
      else if (errno != EEXIST || unlink(path.c_str()) != 0)
        return false;
    }
    return true;
  }
  /// Writes what can be read; memory that is unmapped meanwhile stays a hole.
  bool put(uint64_t offset, const void* bytes, uint64_t count) const {
    constexpr uint64_t piece_bytes = 1 << 20;
    for (uint64_t done = 0; done < count;) {
      const uint64_t piece = std::min(piece_bytes, count - done);
      ssize_t written = pwrite(descriptor, static_cast<const char*>(bytes) + done, piece,
                               static_cast<off_t>(offset + done));
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) return false;
      done += static_cast<uint64_t>(written);
    }
    return true;
  }
};

const char* name_of(MemoryKind kind) {
  switch (kind) {
    case MemoryKind::device:
      return "device";
    case MemoryKind::managed:
      return "managed";
    case MemoryKind::pool:
    case MemoryKind::idle:
      return "pool";
    case MemoryKind::module:
      return "module";
    case MemoryKind::heap:
      return "heap";
    case MemoryKind::array:
      return "array";
    default:
      return "other";
  }
}

std::string describe(Context& context, int code, const engine::FaultInfo* fault) {
  std::string text = "Limen core dump 1\n";
  text += fmt::format("time {}\nprocess {}\ndevice {} {}\ncontext {}\n", std::time(nullptr),
                      getpid(), context.device.ordinal(), context.device.name(), context.owner);
  if (!fault) return text + "reason asked for by the pipe\n";
  text += fmt::format("reason error {}\nmessage {}\n", code, fault->message);
  text += fmt::format("block {} {} {}\n", fault->ctaid[0], fault->ctaid[1], fault->ctaid[2]);
  if (fault->thread_known)
    text += fmt::format("thread {} {} {}\n", fault->thread[0], fault->thread[1], fault->thread[2]);
  if (fault->line) text += fmt::format("line {}\n", fault->line);
  text += fmt::format("address {:#x}\n", fault->address);
  return text;
}

/// Memory follows the text, each block at the offset that its line names.
bool write_dump(Context& context, int code, const engine::FaultInfo* fault, const Effective& how,
                const std::string& path) {
  DumpFile file(path);
  if (file.descriptor < 0) {
    log::error("the core dump %s cannot be written: %s", path.c_str(), std::strerror(errno));
    return false;
  }
  std::string text = describe(context, code, fault);
  const bool with_memory = !(how.generation_flags & CU_COREDUMP_SKIP_GLOBAL_MEMORY);
  const auto blocks = context.device.memory().list(context.owner, MemoryKind::none);
  constexpr uint64_t line_bytes = 128, align = 4096;
  uint64_t offset = (text.size() + line_bytes * (blocks.size() + 1) + align - 1) / align * align;
  for (const Allocation& block : blocks) {
    text +=
        fmt::format("memory {:#x} bytes {} kind {} ", block.base, block.bytes, name_of(block.kind));
    text += with_memory ? fmt::format("offset {}\n", offset) : std::string("left out\n");
    if (!with_memory) continue;
    file.put(offset, reinterpret_cast<const void*>(block.base), block.bytes);
    offset += (block.bytes + align - 1) / align * align;
  }
  text += "end\n";
  if (file.put(0, text.data(), text.size()) && file.finish()) return true;
  log::error("the core dump %s is not whole: %s", path.c_str(), std::strerror(errno));
  return false;
}

/// Waits at the pipe for somebody who writes to it.
void watch_pipe(const std::string& path) {
  const int pipe = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (pipe < 0) return log::error("the core dump pipe %s cannot be opened", path.c_str());
  for (char bytes[256]; ::read(pipe, bytes, sizeof bytes) > 0;) {
    bool ends_host = false;
    for (Context* context : active_contexts()) {
      Effective how;
      {
        std::lock_guard lock(global().mutex);
        how = effective(&context->coredump);
      }
      write_dump(*context, 0, nullptr, how, path_of(how));
      ends_host |= aborts(how);
    }
    if (ends_host) std::abort();  // as after a failure: measured H200, driver 580.159.04
  }
}

std::string pipe_prefix() { return fmt::format("corepipe.cuda.{}.", host_name()); }

/// Removes pipes of usual names beside ours whose processes were killed.
void remove_dead_pipes(const std::string& folder) {
  DIR* list = opendir(folder.c_str());
  if (!list) return;
  const std::string prefix = pipe_prefix();
  while (dirent* item = readdir(list)) {
    const std::string_view name = item->d_name;
    int process = 0;
    if (!name.starts_with(prefix)) continue;
    const char* end = name.data() + name.size();
    auto read = std::from_chars(name.data() + prefix.size(), end, process);
    if (read.ec != std::errc() || read.ptr != end || process <= 0) continue;
    if (kill(process, 0) == 0 || errno != ESRCH) continue;
    const std::string path = folder + "/" + std::string(name);
    struct stat status {};
    if (lstat(path.c_str(), &status) != 0 || !S_ISFIFO(status.st_mode)) continue;
    // Perhaps its process lives where we cannot see it: then somebody reads.
    const int writer = ::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW);
    if (writer >= 0)
      close(writer);
    else if (errno == ENXIO)
      unlink(path.c_str());
  }
  closedir(list);
}

/// Takes the pipe that this process made away when it ends.
void remove_pipe_at_exit(const std::string& path) {
  struct Made {
    std::string path;
    pid_t process;
  };
  static const Made* made;
  made = new Made{path, getpid()};
  std::atexit([] {
    if (made->process == getpid()) unlink(made->path.c_str());  // not in a child of fork
  });
}

/// Under the lock.
void start_pipe() {
  GlobalSettings& all = global();
  if (all.watching) return;
  const std::string path = expand(all.pipe);
  remove_dead_pipes(folder_of(path));
  if (mkfifo(path.c_str(), 0600) == 0) {
    remove_pipe_at_exit(path);
  } else if (errno != EEXIST) {
    log::error("the core dump pipe %s cannot be made: %s", path.c_str(), std::strerror(errno));
    return;
  }
  all.watching = true;
  sigset_t every, before;
  sigfillset(&every);
  pthread_sigmask(SIG_BLOCK, &every, &before);
  std::thread([path] { watch_pipe(path); }).detach();
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

CUresult set_own(CoredumpSettings& own, CUcoredumpSettings attribute, const Value& value) {
  switch (attribute) {
    case CU_COREDUMP_ENABLE_ON_EXCEPTION:
      own.on_exception = value.on;
      return CUDA_SUCCESS;
    case CU_COREDUMP_TRIGGER_HOST:
      own.trigger_host = value.on;
      return CUDA_SUCCESS;
    case CU_COREDUMP_LIGHTWEIGHT:
      own.generation_flags = with_light(effective(&own).generation_flags, value.on);
      return CUDA_SUCCESS;
    case CU_COREDUMP_FILE:
      own.file = value.name;
      return CUDA_SUCCESS;
    case CU_COREDUMP_GENERATION_FLAGS:
      own.generation_flags = value.flags;
      return CUDA_SUCCESS;
    default:
      return CUDA_ERROR_INVALID_VALUE;  // the pipe is the process's
  }
}

CUresult set_global(CUcoredumpSettings attribute, const Value& value) {
  GlobalSettings& all = global();
  switch (attribute) {
    case CU_COREDUMP_ENABLE_ON_EXCEPTION:
      all.on_exception = value.on;
      return CUDA_SUCCESS;
    case CU_COREDUMP_TRIGGER_HOST:
      all.trigger_host = value.on;
      return CUDA_SUCCESS;
    case CU_COREDUMP_LIGHTWEIGHT:
      all.generation_flags = with_light(all.generation_flags, value.on);
      return CUDA_SUCCESS;
    case CU_COREDUMP_ENABLE_USER_TRIGGER:
      all.user_trigger = value.on;
      if (value.on) start_pipe();
      return CUDA_SUCCESS;
    case CU_COREDUMP_FILE:
      all.file = value.name;
      return CUDA_SUCCESS;
    case CU_COREDUMP_PIPE:
      // source: cuCoredumpSetAttributeGlobal: not after the trigger was enabled. measured H200
      if (all.user_trigger) return CUDA_ERROR_NOT_SUPPORTED;
      all.pipe = value.name;
      return CUDA_SUCCESS;
    default:
      all.generation_flags = value.flags;
      return CUDA_SUCCESS;
  }
}

/// What get and set share: the size alone is asked for with a null value.
CUresult check_call(CUcoredumpSettings attribute, const void* value, size_t* size, bool* done) {
  *done = false;
  if (!is_attribute(attribute) || !size) return CUDA_ERROR_INVALID_VALUE;
  if (value) return CUDA_SUCCESS;
  *size = size_of(attribute);
  *done = true;
  return CUDA_SUCCESS;
}

}  // namespace

void dump_core_of(Context& context, int code, const engine::FaultInfo& fault) {
  Effective how;
  {
    std::lock_guard lock(global().mutex);
    how = effective(&context.coredump);
  }
  if (!how.on_exception) return;
  const std::string path = path_of(how);
  if (write_dump(context, code, &fault, how, path))
    log::error("core dump of context %u written to %s", context.owner, path.c_str());
  if (aborts(how)) std::abort();
}

void apply_coredump_flags(Context& context, unsigned flags) {
  GlobalSettings& all = global();
  std::lock_guard lock(all.mutex);
  // A context keeps what was set when it was made: measured H200, driver 580.159.04.
  context.coredump = {all.on_exception, all.trigger_host, all.file, all.generation_flags};
  if (flags & (CU_CTX_COREDUMP_ENABLE | CU_CTX_USER_COREDUMP_ENABLE))
    context.coredump.on_exception = true;
  if (flags & CU_CTX_USER_COREDUMP_ENABLE || all.user_trigger) start_pipe();
}

CUresult cuCoredumpGetAttribute(CUcoredumpSettings attrib, void* value, size_t* size) {
  bool done;
  if (CUresult result = check_call(attrib, value, size, &done)) return result;
  Context* context;
  if (CUresult result = current(&context)) return result;
  if (done) return CUDA_SUCCESS;
  std::lock_guard lock(global().mutex);
  return get(attrib, effective(&context->coredump), value, size);
}

CUresult cuCoredumpGetAttributeGlobal(CUcoredumpSettings attrib, void* value, size_t* size) {
  bool done;
  if (CUresult result = check_call(attrib, value, size, &done); result || done) return result;
  std::lock_guard lock(global().mutex);
  return get(attrib, effective(nullptr), value, size);
}

CUresult cuCoredumpSetAttribute(CUcoredumpSettings attrib, void* value, size_t* size) {
  bool done;
  if (CUresult result = check_call(attrib, value, size, &done)) return result;
  Context* context;
  if (CUresult result = current(&context)) return result;
  if (done) return CUDA_SUCCESS;
  Value read;
  if (CUresult result = read_value(attrib, value, *size, &read)) return result;
  std::lock_guard lock(global().mutex);
  if (global().fixed[attrib]) return CUDA_ERROR_INVALID_VALUE;
  return set_own(context->coredump, attrib, read);
}

CUresult cuCoredumpSetAttributeGlobal(CUcoredumpSettings attrib, void* value, size_t* size) {
  bool done;
  if (CUresult result = check_call(attrib, value, size, &done); result || done) return result;
  Value read;
  if (CUresult result = read_value(attrib, value, *size, &read)) return result;
  std::lock_guard lock(global().mutex);
  if (global().fixed[attrib]) return CUDA_ERROR_INVALID_VALUE;
  return set_global(attrib, read);
}

}  // namespace limen::cpu
