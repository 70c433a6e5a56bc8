// DiskCache: round trips, damage of every kind, foreign files, eviction by last use, and several
// processes at once.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <atomic>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <thread>

#include "compile.h"
#include "compiler/image/image.h"

namespace limen::image {
namespace {

namespace fs = std::filesystem;
constexpr uint64_t plenty = uint64_t{1} << 30;

class Cache : public ::testing::Test {
 protected:
  void SetUp() override { folder_ = test::make_folder(); }
  void TearDown() override { test::remove_folder(folder_); }

  std::vector<fs::path> files() const {
    std::vector<fs::path> found;
    for (const auto& item : fs::recursive_directory_iterator(folder_))
      if (item.is_regular_file()) found.push_back(item.path());
    return found;
  }
  uint64_t bytes() const {
    uint64_t total = 0;
    for (const auto& path : files()) total += fs::file_size(path);
    return total;
  }

  std::string folder_;
};

CacheEntry entry_for(unsigned seed, size_t bytes = 5000) {
  std::mt19937 random(seed);
  CacheEntry entry;
  entry.meta.abi_version = kernel::kernel_abi_version;
  entry.meta.width = seed;
  entry.notes = "notes of " + std::to_string(seed);
  entry.object.resize(bytes);
  for (auto& byte : entry.object) byte = static_cast<uint8_t>(random());
  return entry;
}

bool same(const CacheEntry& a, const CacheEntry& b) {
  return std::memcmp(&a.meta, &b.meta, sizeof a.meta) == 0 && a.notes == b.notes &&
         a.object == b.object;
}

TEST_F(Cache, GivesBackWhatWasStored) {
  DiskCache cache(folder_ + "/deep/er", plenty);
  EXPECT_FALSE(cache.find("key").has_value());
  cache.store("key", entry_for(1));
  cache.store(std::string("other\0key", 9), entry_for(2, 0));
  ASSERT_TRUE(cache.find("key").has_value());
  EXPECT_TRUE(same(*cache.find("key"), entry_for(1)));
  EXPECT_TRUE(same(*cache.find(std::string("other\0key", 9)), entry_for(2, 0)));
  EXPECT_FALSE(cache.find("other").has_value());
  cache.store("key", entry_for(3));
  EXPECT_TRUE(same(*DiskCache(folder_ + "/deep/er/", plenty).find("key"), entry_for(3)));
}

TEST_F(Cache, AnyDamageIsAMissAndIsReplaced) {
  DiskCache cache(folder_, plenty);
  cache.store("key", entry_for(1, 100));
  ASSERT_EQ(files().size(), 1u);
  fs::path path = files()[0];
  const std::vector<uint8_t> good = test::read_file(path);
  auto write = [&](const std::vector<uint8_t>& bytes) {
    std::ofstream(path, std::ios::binary | std::ios::trunc)
        .write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
  };
  for (size_t at = 0; at < good.size(); ++at) {
    auto bad = good;
    bad[at] ^= static_cast<uint8_t>(1 + at % 255);
    write(bad);
    EXPECT_FALSE(cache.find("key").has_value()) << "byte " << at;
  }
  for (size_t size = 0; size < good.size(); ++size) {
    write({good.begin(), good.begin() + static_cast<ptrdiff_t>(size)});
    EXPECT_FALSE(cache.find("key").has_value()) << "size " << size;
  }
  auto longer = good;
  longer.push_back(0);
  write(longer);
  EXPECT_FALSE(cache.find("key").has_value());
  cache.store("key", entry_for(2));
  EXPECT_TRUE(same(*cache.find("key"), entry_for(2)));
}

TEST_F(Cache, ForeignFilesAreNotTrusted) {
  DiskCache cache(folder_, plenty);
  cache.store("key", entry_for(1));
  fs::path path = files()[0];
  // Another key's entry under this name.
  DiskCache other(folder_ + "/other", plenty);
  other.store("another", entry_for(2));
  fs::path foreign;
  for (const auto& item : fs::recursive_directory_iterator(folder_ + "/other"))
    if (item.is_regular_file()) foreign = item.path();
  fs::copy_file(foreign, path, fs::copy_options::overwrite_existing);
  EXPECT_FALSE(cache.find("key").has_value());
  // Writable by others, a symbolic link, a folder.
  cache.store("key", entry_for(1));
  ASSERT_TRUE(cache.find("key").has_value());
  chmod(path.c_str(), 0620);
  EXPECT_FALSE(cache.find("key").has_value());
  chmod(path.c_str(), 0600);
  fs::rename(path, folder_ + "/moved");
  fs::create_symlink(folder_ + "/moved", path);
  EXPECT_FALSE(cache.find("key").has_value());
  fs::remove(path);
  fs::create_directory(path);
  EXPECT_FALSE(cache.find("key").has_value());
  cache.store("key", entry_for(1));  // cannot replace a folder; must not fail loudly either
  EXPECT_FALSE(cache.find("key").has_value());
}

TEST_F(Cache, ImpossiblePlacesAreNoCache) {
  std::ofstream(folder_ + "/file") << "x";
  for (const std::string& place : {folder_ + "/file/below", std::string("/proc/limen-cache"),
                                   std::string(""), std::string("/dev/null")}) {
    DiskCache cache(place, plenty);
    cache.store("key", entry_for(1));
    EXPECT_FALSE(cache.find("key").has_value()) << place;
  }
  DiskCache off(folder_ + "/off", 0);
  off.store("key", entry_for(1));
  EXPECT_FALSE(off.find("key").has_value());
  EXPECT_FALSE(fs::exists(folder_ + "/off"));
}

/// Makes a file look unused since 1970.
void age(const fs::path& path) {
  timespec times[2] = {{1, 0}, {1, 0}};
  utimensat(AT_FDCWD, path.c_str(), times, 0);
}

TEST_F(Cache, StaysBoundedAndDropsWhatWasNotUsed) {
  constexpr uint64_t bound = 1 << 20;
  DiskCache cache(folder_, bound);
  std::ofstream(folder_ + "/mine.txt") << "not a cache file";
  cache.store("used", entry_for(1000, 8000));
  fs::path used = files()[0].extension() == ".kernel" ? files()[0] : files()[1];
  cache.store("unused", entry_for(1001, 8000));
  for (const auto& path : files()) age(path);
  for (unsigned i = 0; i < 1000; ++i) {
    // Its use gives the entry a new time, however old it looked.
    if (i % 20 == 0) {
      age(used);
      ASSERT_TRUE(cache.find("used").has_value()) << i;
    }
    cache.store("key" + std::to_string(i), entry_for(i, 8000));
    // One process looks after an eighth of the bound at the latest.
    ASSERT_LE(bytes(), bound + bound / 8 + 20000) << i;
  }
  EXPECT_FALSE(cache.find("unused").has_value());
  EXPECT_TRUE(cache.find("key999").has_value());
  EXPECT_TRUE(fs::exists(folder_ + "/mine.txt"));
  cache.store("huge", entry_for(1, bound / 2));
  EXPECT_FALSE(cache.find("huge").has_value());
}

TEST_F(Cache, LeftoverTemporariesGo) {
  DiskCache cache(folder_, 1 << 16);
  cache.store("key", entry_for(1));
  fs::path old_one = files()[0].parent_path() / "tmp-1-0-0",
           new_one = files()[0].parent_path() / "tmp-2-0-0";
  std::ofstream(old_one) << "x";
  std::ofstream(new_one) << "x";
  age(old_one);
  for (unsigned i = 0; i < 20; ++i) cache.store("k" + std::to_string(i), entry_for(i));
  EXPECT_FALSE(fs::exists(old_one));
  EXPECT_TRUE(fs::exists(new_one));
}

// One writer process: every find must be absent or exactly right. Returns the exit status.
int hammer(const std::string& folder, unsigned seed) {
  DiskCache cache(folder, 1 << 19);
  std::atomic<int> wrong{0}, hits{0};
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 2; ++t)
    threads.emplace_back([&, t] {
      std::mt19937 random(seed * 10 + t);
      for (int round = 0; round < 400; ++round) {
        unsigned key = random() % 60;
        if (auto found = cache.find("key" + std::to_string(key))) {
          ++hits;
          if (!same(*found, entry_for(key, 9000))) ++wrong;
        } else {
          cache.store("key" + std::to_string(key), entry_for(key, 9000));
        }
      }
    });
  for (auto& thread : threads) thread.join();
  return wrong ? 1 : hits ? 0 : 2;
}

TEST_F(Cache, ProcessesShareIt) {
  std::vector<pid_t> children;
  for (unsigned i = 0; i < 4; ++i) {
    pid_t child = fork();
    if (child == 0) _exit(hammer(folder_, i));
    children.push_back(child);
  }
  for (pid_t child : children) {
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 0);
  }
  for (const auto& path : files())
    EXPECT_EQ(path.filename().string().rfind("tmp-", 0), std::string::npos);
}

}  // namespace
}  // namespace limen::image
