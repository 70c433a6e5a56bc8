// LIMEN_GDB and LIMEN_PERF: loaded code appears in the debugger's list and in perf's map, and
// leaves the list again. Where gdb is installed, gdb itself must find a kernel by name.
#include <dlfcn.h>
#include <elf.h>
#include <gtest/gtest.h>

#include <cstring>

#include "compile.h"
#include "compiler/image/image.h"

namespace limen::image {
namespace {

struct ListEntry {
  ListEntry *next, *previous;
  const char* file;
  uint64_t bytes;
};
struct Descriptor {
  uint32_t version, action;
  ListEntry *relevant, *first;
};

const char* const source = R"(
extern "C" __attribute__((noinline)) int kernel_part(int x) { asm volatile(""); return x + 1; }
extern "C" int limen_kernel(int x) { return kernel_part(x) * 2; }
)";

Descriptor* descriptor() {
  return static_cast<Descriptor*>(dlsym(RTLD_DEFAULT, "__jit_debug_descriptor"));
}

std::vector<uint8_t> object() { return test::compile(source, "-g -O1 -fPIC -fvisibility=hidden"); }

TEST(Debug, SymbolsAreExported) {
  ASSERT_NE(descriptor(), nullptr);
  EXPECT_NE(dlsym(RTLD_DEFAULT, "__jit_debug_register_code"), nullptr);
  EXPECT_EQ(descriptor()->version, 1u);
}

TEST(Debug, LoadedObjectsAreListed) {
  ASSERT_EQ(descriptor()->first, nullptr);
  auto one = load_object(object(), "one");
  auto two = load_object(object(), "two");
  ASSERT_TRUE(one.ok() && two.ok());
  ListEntry* first = descriptor()->first;
  ASSERT_NE(first, nullptr);
  ASSERT_NE(first->next, nullptr);
  EXPECT_EQ(first->next->previous, first);
  EXPECT_EQ(first->next->next, nullptr);
  // The text section of the listed file is at the address of the code.
  Elf64_Ehdr header;
  std::memcpy(&header, first->file, sizeof header);
  bool found = false;
  for (unsigned i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr section;
    std::memcpy(&section, first->file + header.e_shoff + i * sizeof section, sizeof section);
    found |= section.sh_addr == reinterpret_cast<uint64_t>((*two)->begin());
  }
  EXPECT_TRUE(found);
  one->reset();
  EXPECT_EQ(first->next, nullptr);
  two->reset();
  EXPECT_EQ(descriptor()->first, nullptr);
}

TEST(Debug, PerfMapNamesTheKernel) {
  auto code = load_object(object(), "my_kernel");
  ASSERT_TRUE(code.ok());
  std::string path = "/tmp/perf-" + std::to_string(getpid()) + ".map";
  auto bytes = test::read_file(path);
  std::string text(bytes.begin(), bytes.end());
  unlink(path.c_str());
  char line[64];
  std::snprintf(line, sizeof line, "%lx ", reinterpret_cast<uint64_t>((*code)->entry()));
  size_t at = text.find(line);
  ASSERT_NE(at, std::string::npos) << text;
  EXPECT_NE(text.find(" my_kernel\n", at), std::string::npos) << text;
  EXPECT_NE(text.find(" my_kernel/kernel_part\n"), std::string::npos) << text;
}

// Run by gdb below.
int run_for_gdb() {
  auto code = load_object(object(), "for_gdb");
  if (!code.ok()) return 1;
  return reinterpret_cast<int (*)(int)>(const_cast<void*>((*code)->entry()))(20) == 42 ? 0 : 1;
}

TEST(Debug, GdbStopsInAKernel) {
  if (!test::have("gdb")) GTEST_SKIP() << "gdb is not installed";
  char self[4096] = {};
  ASSERT_GT(readlink("/proc/self/exe", self, sizeof self - 1), 0);
  std::string command =
      std::string(
          "gdb -nx -q -batch -ex 'set breakpoint pending on' "
          "-ex 'break kernel_part' -ex run -ex bt -ex 'info args' -ex kill --args ") +
      self + " --for-gdb 2>&1 </dev/null";
  FILE* pipe = popen(command.c_str(), "r");
  ASSERT_NE(pipe, nullptr);
  std::string text;
  for (char part[512]; std::fgets(part, sizeof part, pipe);) text += part;
  pclose(pipe);
  if (text.find("ptrace") != std::string::npos) GTEST_SKIP() << "ptrace is not allowed here";
  EXPECT_NE(text.find("kernel_part (x=20)"), std::string::npos) << text;
  EXPECT_NE(text.find("limen_kernel (x="), std::string::npos) << text;
}

}  // namespace
}  // namespace limen::image

int main(int argc, char** argv) {
  setenv("LIMEN_GDB", "1", 1);
  if (argc > 1 && std::strcmp(argv[1], "--for-gdb") == 0) return limen::image::run_for_gdb();
  setenv("LIMEN_PERF", "1", 1);
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
