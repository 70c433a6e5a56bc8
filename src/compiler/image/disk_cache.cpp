// The disk cache of compiled kernels: one file a key, DIR/HH/REST.kernel with HHREST = content_hash
// of the key. Readers trust nothing: magic, sizes, the full key and a checksum of everything must
// agree, else the entry counts as absent and the next store replaces it. Writers fill a file without
// a name (where there are none, a temporary one) and name it when it is whole, so that a reader of
// another process sees a whole entry or none, and who is killed leaves nothing. There are no
// locks between processes: two that compile the same kernel both store it. Code is executed from
// here, so only files of our own user that nobody else may write are read. Invariant: no failure of
// the file system is more than a cache miss. Threads: any. Design page: docs/design/jit_cache.md.
#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <ctime>

#include "base/log.h"
#include "compiler/image/content_hash.h"
#include "compiler/image/image.h"

namespace limen::image {
namespace {

constexpr char file_magic[8] = {'L', 'I', 'M', 'E', 'N', 'K', 'C', '\n'};
constexpr uint32_t format_version = 1;
constexpr uint64_t max_text_bytes = 1 << 20;  // of key and of notes
constexpr time_t touch_after_s = 60;          // a hit renews an entry's time at most this often
constexpr time_t stale_temporary_s = 3600;
constexpr std::string_view entry_suffix = ".kernel", temporary_prefix = "tmp-";
constexpr size_t hash_digits = 32, folder_digits = 2;

struct FileHeader {
  char magic[8];
  uint32_t version;
  uint32_t meta_bytes;
  uint32_t key_bytes;
  uint32_t notes_bytes;
  uint64_t object_bytes;
  Digest checksum;  ///< of this header with a zero checksum, and of all that follows
};
static_assert(sizeof(FileHeader) == 48 && std::is_trivially_copyable_v<FileHeader>);

class File {
 public:
  explicit File(int fd) : fd_(fd) {}
  ~File() {
    if (fd_ >= 0) close(fd_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  int fd() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }

 private:
  int fd_;
};

struct Location {
  std::string folder, path;
};

Location locate(const std::string& directory, const std::string& key) {
  std::string name = content_hash(key.data(), key.size());
  std::string folder = directory + "/" + name.substr(0, folder_digits);
  return {folder, folder + "/" + name.substr(folder_digits) + std::string(entry_suffix)};
}

void complain_once(const std::string& directory, const char* what, int why) {
  static std::atomic<bool> said{false};
  if (!said.exchange(true))
    log::info("cache of compiled kernels in %s: %s: %s; kernels are compiled anew in each process",
              directory.c_str(), what, std::strerror(why));
}

bool read_all(int fd, void* to, size_t size) {
  auto* at = static_cast<uint8_t*>(to);
  while (size > 0) {
    ssize_t got = read(fd, at, size);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    at += got;
    size -= static_cast<size_t>(got);
  }
  return true;
}

bool write_all(int fd, const void* from, size_t size) {
  const auto* at = static_cast<const uint8_t*>(from);
  while (size > 0) {
    ssize_t put = write(fd, at, size);
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return false;
    at += put;
    size -= static_cast<size_t>(put);
  }
  return true;
}

Digest checksum_of(FileHeader header, const void* body, size_t size) {
  header.checksum = Digest{};
  ContentHasher hasher;
  hasher.add(&header, sizeof header);
  hasher.add(body, size);
  return hasher.finish();
}

/// Makes a folder and what lies above it; true if it is there in the end.
bool make_folders(const std::string& path) {
  if (mkdir(path.c_str(), 0700) == 0 || errno == EEXIST) return true;
  size_t slash = path.find_last_of('/');
  if (errno != ENOENT || slash == std::string::npos || slash == 0) return false;
  if (!make_folders(path.substr(0, slash))) return false;
  return mkdir(path.c_str(), 0700) == 0 || errno == EEXIST;
}

std::string pack(const std::string& key, const CacheEntry& entry) {
  FileHeader header{};
  std::memcpy(header.magic, file_magic, sizeof header.magic);
  header.version = format_version;
  header.meta_bytes = sizeof entry.meta;
  header.key_bytes = static_cast<uint32_t>(key.size());
  header.notes_bytes = static_cast<uint32_t>(entry.notes.size());
  header.object_bytes = entry.object.size();
  std::string body;
  body.reserve(sizeof entry.meta + key.size() + entry.notes.size() + entry.object.size());
  body.append(reinterpret_cast<const char*>(&entry.meta), sizeof entry.meta);
  body += key;
  body += entry.notes;
  body.append(reinterpret_cast<const char*>(entry.object.data()), entry.object.size());
  header.checksum = checksum_of(header, body.data(), body.size());
  return std::string(reinterpret_cast<const char*>(&header), sizeof header) + body;
}

/// The entry in a file's bytes, if they are whole and for this key.
std::optional<CacheEntry> unpack(const std::string& key, const std::string& file) {
  FileHeader header;
  if (file.size() < sizeof header) return {};
  std::memcpy(&header, file.data(), sizeof header);
  const char* body = file.data() + sizeof header;
  uint64_t size = file.size() - sizeof header;
  CacheEntry entry;
  if (std::memcmp(header.magic, file_magic, sizeof header.magic) != 0 ||
      header.version != format_version || header.meta_bytes != sizeof entry.meta ||
      header.key_bytes != key.size() || header.notes_bytes > max_text_bytes)
    return {};
  uint64_t before_object = sizeof entry.meta + key.size() + header.notes_bytes;
  if (size < before_object || header.object_bytes != size - before_object) return {};
  if (checksum_of(header, body, size) != header.checksum) return {};
  if (std::memcmp(body + sizeof entry.meta, key.data(), key.size()) != 0) return {};
  std::memcpy(&entry.meta, body, sizeof entry.meta);
  entry.notes.assign(body + sizeof entry.meta + key.size(), header.notes_bytes);
  const auto* object = reinterpret_cast<const uint8_t*>(body) + before_object;
  entry.object.assign(object, object + header.object_bytes);
  return entry;
}

/// A file that has no name until it is whole: who is killed while writing leaves nothing. False
/// where the file system has no such files.
bool write_nameless(const Location& at, const std::string& bytes) {
  File file(open(at.folder.c_str(), O_WRONLY | O_TMPFILE | O_CLOEXEC, 0600));
  if (!file || !write_all(file.fd(), bytes.data(), bytes.size())) return false;
  const std::string self = fmt::format("/proc/self/fd/{}", file.fd());
  // What has the name was no good, or another process was faster: then its entry goes as well as
  // ours. Readers see a whole entry, or none for a moment.
  for (int tries = 0; tries < 3; ++tries) {
    if (linkat(AT_FDCWD, self.c_str(), AT_FDCWD, at.path.c_str(), AT_SYMLINK_FOLLOW) == 0)
      return true;
    if (errno != EEXIST) return false;
    if (unlink(at.path.c_str()) != 0 && errno != ENOENT) return false;
  }
  return true;  // others store the same entry all the time
}

bool write_temporary(const Location& at, const std::string& bytes) {
  static std::atomic<uint32_t> counter{0};
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);  // with the process id: unique even between containers
  std::string temporary = fmt::format("{}/{}{}-{}-{:x}", at.folder, temporary_prefix, getpid(),
                                      counter.fetch_add(1), now.tv_sec * 1000000000 + now.tv_nsec);
  bool good;
  {
    File file(open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!file) return false;
    good = write_all(file.fd(), bytes.data(), bytes.size());
  }
  if (good && rename(temporary.c_str(), at.path.c_str()) == 0) return true;
  int why = errno;
  unlink(temporary.c_str());
  errno = why;
  return false;
}

bool is_hex(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

struct Kept {
  std::string path;
  timespec used;
  uint64_t bytes;
};

/// Lists one folder's entries and removes temporary files that a killed process left behind. Names
/// that are not ours are left alone: somebody may have pointed us at a folder of his own.
void list_folder(const std::string& folder, std::vector<Kept>& kept) {
  DIR* dir = opendir(folder.c_str());
  if (dir == nullptr) return;
  time_t now = time(nullptr);
  while (dirent* item = readdir(dir)) {
    std::string_view name = item->d_name;
    bool temporary = name.substr(0, temporary_prefix.size()) == temporary_prefix;
    bool entry = name.size() == hash_digits - folder_digits + entry_suffix.size() &&
                 name.substr(hash_digits - folder_digits) == entry_suffix &&
                 is_hex(name.substr(0, hash_digits - folder_digits));
    if (!temporary && !entry) continue;
    std::string path = folder + "/" + std::string(name);
    struct stat info{};
    if (lstat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) continue;
    if (temporary) {
      if (now - info.st_mtim.tv_sec > stale_temporary_s) unlink(path.c_str());
      continue;
    }
    kept.push_back({path, info.st_mtim, static_cast<uint64_t>(info.st_blocks) * 512});
  }
  closedir(dir);
}

/// Trims the cache to three quarters of its bound when it is above it, longest unused first.
void evict(const std::string& directory, uint64_t max_bytes) {
  std::vector<Kept> kept;
  DIR* dir = opendir(directory.c_str());
  if (dir == nullptr) return;
  while (dirent* item = readdir(dir)) {
    std::string_view name = item->d_name;
    if (name.size() == folder_digits && is_hex(name))
      list_folder(directory + "/" + std::string(name), kept);
  }
  closedir(dir);
  uint64_t total = 0;
  for (const Kept& one : kept) total += one.bytes;
  if (total <= max_bytes) return;
  std::sort(kept.begin(), kept.end(), [](const Kept& a, const Kept& b) {
    return std::make_pair(a.used.tv_sec, a.used.tv_nsec) <
           std::make_pair(b.used.tv_sec, b.used.tv_nsec);
  });
  for (const Kept& one : kept) {
    if (total <= max_bytes / 4 * 3) break;
    if (unlink(one.path.c_str()) == 0 || errno == ENOENT) total -= one.bytes;
  }
}

/// Looking through the whole cache is rare: when this process has stored an eighth of the bound
/// since its last look, and for one key in sixteen, so that many short processes bound it as well.
bool is_time_to_evict(const std::string& path, uint64_t stored_bytes, uint64_t max_bytes) {
  static std::atomic<uint64_t> since_last{0};
  char digit = path[path.size() - entry_suffix.size() - 1];
  if ((since_last += stored_bytes) <= max_bytes / 8 && digit != '0') return false;
  since_last = 0;
  return true;
}

}  // namespace

DiskCache::DiskCache(std::string directory, uint64_t max_bytes)
    : directory_(std::move(directory)), max_bytes_(max_bytes) {
  while (directory_.size() > 1 && directory_.back() == '/') directory_.pop_back();
}

std::optional<CacheEntry> DiskCache::find(const std::string& key) const {
  if (directory_.empty() || max_bytes_ == 0) return {};
  File file(
      open(locate(directory_, key).path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat info{};
  if (!file || fstat(file.fd(), &info) != 0) return {};
  if (!S_ISREG(info.st_mode) || info.st_uid != geteuid() || (info.st_mode & (S_IWGRP | S_IWOTH)) ||
      info.st_size < static_cast<off_t>(sizeof(FileHeader)) ||
      static_cast<uint64_t>(info.st_size) > max_bytes_)
    return {};
  std::string bytes(static_cast<size_t>(info.st_size), '\0');
  if (!read_all(file.fd(), bytes.data(), bytes.size())) return {};
  std::optional<CacheEntry> entry = unpack(key, bytes);
  if (entry && time(nullptr) - info.st_mtim.tv_sec > touch_after_s) {
    timespec times[2] = {{0, UTIME_OMIT}, {0, UTIME_NOW}};
    futimens(file.fd(), times);  // a read-only cache keeps its old times: eviction is not ours then
  }
  return entry;
}

void DiskCache::store(const std::string& key, const CacheEntry& entry) const {
  if (directory_.empty() || max_bytes_ == 0) return;
  if (key.size() > max_text_bytes || entry.notes.size() > max_text_bytes) return;
  std::string bytes = pack(key, entry);
  // An entry of a quarter of the bound would push out nearly everything else.
  if (bytes.size() > max_bytes_ / 4) return;
  Location at = locate(directory_, key);
  if (!make_folders(at.folder)) return complain_once(directory_, "cannot be made", errno);
  if (!write_nameless(at, bytes) && !write_temporary(at, bytes))
    return complain_once(directory_, "cannot be written", errno);
  if (is_time_to_evict(at.path, bytes.size(), max_bytes_)) evict(directory_, max_bytes_);
}

}  // namespace limen::image
