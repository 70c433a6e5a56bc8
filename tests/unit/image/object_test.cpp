// load_object runs what compilers emit, refuses by name what it must, keeps writable and executable
// memory apart and gives memory back.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <memory>
#include <thread>

#include "base/machine.h"
#include "compile.h"
#include "compiler/image/image.h"
#include "compiler/image/slab.h"

namespace limen::image {
namespace {

using test::compile;

// Uses every kind of section and reference that a kernel may: constants, data, zeroed data,
// pointers to each, calls in and out, a jump table, floating-point constants.
const char* const everything = R"(
extern "C" {
void* memcpy(void*, const void*, unsigned long);
void* memset(void*, int, unsigned long);
int counter = 40;
int zeroed[1000];
extern const int table[8] = {1, 2, 3, 5, 8, 13, 21, 34};
extern const int* const pointers[3] = {&table[4], &counter, &zeroed[999]};
int twice(int x);
extern int (*const functions[2])(int) = {twice, twice};
struct Big { char bytes[4000]; };
Big big_a, big_b;
__attribute__((noinline)) int twice(int x) { return 2 * x; }
__attribute__((noinline)) int choose(int x) {
  switch (x) { case 0: return 11; case 1: return 7; case 2: return counter; case 3: return 9;
               case 4: return twice(x); case 5: return 77; case 6: return 5; default: return -1; }
}
int limen_kernel(int x, char* out) {
  counter += x;
  zeroed[999] += x;
  memset(big_a.bytes, x, sizeof big_a);
  big_b = big_a;
  memcpy(out, big_b.bytes + 3000, 1000);
  double scaled = x * 2.5;
  return functions[1](*pointers[0] + *pointers[1] + *pointers[2]) + choose(x) + (int)scaled;
}
}
)";

using Kernel = int (*)(int, char*);

Kernel entry_of(const std::shared_ptr<Code>& code) {
  return reinterpret_cast<Kernel>(const_cast<void*>(code->entry()));
}

int expected(int x, int& counter, int& last) {
  counter += x;
  last += x;
  const int choices[] = {11, 7, counter, 9, 2 * x, 77, 5};
  return 2 * (8 + counter + last) + (x >= 0 && x < 7 ? choices[x] : -1) + static_cast<int>(x * 2.5);
}

struct Variant {
  std::string compiler, options;
};

std::vector<Variant> variants() {
  std::vector<Variant> all;
  for (const std::string& compiler : test::compilers())
    for (const char* options :
         {"-O2 -fPIC", "-O2 -fPIC -fvisibility=hidden", "-O2 -fPIE", "-O0 -fPIC",
#if defined(__x86_64__)
          "-O3 -fPIC -mavx2", "-O2 -fPIC -mcmodel=medium", "-O2 -fPIC -mcmodel=large",
          "-O2 -fno-pic -mcmodel=large",
#endif
          "-O2 -fPIC -ffunction-sections -fdata-sections", "-O1 -g -fPIC", "-O2 -fPIC -fno-plt"})
      all.push_back({compiler, options});
  return all;
}

TEST(Object, RunsWhatCompilersEmit) {
  for (const Variant& variant : variants()) {
    SCOPED_TRACE(variant.compiler + " " + variant.options);
    auto object = compile(everything, variant.options, ".cpp", variant.compiler);
    ASSERT_FALSE(object.empty());
    auto code = load_object(object, "everything");
    ASSERT_TRUE(code.ok()) << code.error().what;
    int counter = 40, last = 0;
    for (int x : {3, 0, 1, 2, 4, 5, 6, 7, -5}) {
      std::vector<char> out(1000);
      EXPECT_EQ(entry_of(*code)(x, out.data()), expected(x, counter, last)) << x;
      EXPECT_EQ(out, std::vector<char>(1000, static_cast<char>(x)));
    }
    EXPECT_GE((*code)->entry(), (*code)->begin());
    EXPECT_LT((*code)->entry(), (*code)->end());
  }
}

TEST(Object, EachLoadHasItsOwnData) {
  auto object = compile(everything, "-O2 -fPIC");
  auto first = load_object(object, "one"), second = load_object(object, "two");
  ASSERT_TRUE(first.ok() && second.ok());
  std::vector<char> out(1000);
  int counter = 40, last = 0;
  entry_of (*first)(100, out.data());
  EXPECT_EQ(entry_of(*second)(3, out.data()), expected(3, counter, last));
}

// Permissions of the mapping that holds `address`, such as "r-xp".
std::string permissions(const void* address) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    uint64_t begin = 0, end = 0;
    char flags[5] = {};
    if (std::sscanf(line.c_str(), "%lx-%lx %4s", &begin, &end, flags) != 3) continue;
    auto at = reinterpret_cast<uint64_t>(address);
    if (at >= begin && at < end) return flags;
  }
  return "";
}

TEST(Object, NothingIsWritableAndExecutable) {
  auto object = compile(
      "static int data = 1; extern \"C\" const int table[2] = {1, 2};"
      "extern \"C\" const void* limen_kernel(int x) { data += x; return x ? (void*)&data : "
      "(void*)table; }",
      "-O1 -fPIC -fvisibility=hidden");
  auto code = load_object(object, "pages");
  ASSERT_TRUE(code.ok()) << code.error().what;
  auto kernel = reinterpret_cast<const void* (*)(int)>(const_cast<void*>((*code)->entry()));
  EXPECT_EQ(permissions((*code)->begin()), "r-xp");
  EXPECT_EQ(permissions(kernel(0)), "r--p");
  EXPECT_EQ(permissions(kernel(1)), "rw-p");
}

std::string refusal(const std::vector<uint8_t>& object) {
  auto code = load_object(object, "kernel_name");
  if (code.ok()) return "loaded";
  EXPECT_EQ(code.error().code, limen::Code::invalid_image);
  EXPECT_NE(code.error().what.find("kernel_name"), std::string::npos) << code.error().what;
  return code.error().what;
}

void expect_refusal(const std::vector<uint8_t>& object, const std::string& words) {
  ASSERT_FALSE(object.empty()) << "not compiled: " << words;
  std::string what = refusal(object);
  EXPECT_NE(what.find(words), std::string::npos) << what;
}

TEST(Object, RefusesByName) {
  expect_refusal(
      compile("extern \"C\" double sin(double); extern \"C\" double limen_kernel(double x) "
              "{ return sin(x); }",
              "-O2 -fPIC"),
      "external symbol sin ");
  expect_refusal(compile("extern \"C\" void not_the_kernel() {}", "-O2 -fPIC"),
                 "no symbol limen_kernel");
  expect_refusal(
      compile("thread_local int x; extern \"C\" int limen_kernel() { return x++; }", "-O2 -fPIC"),
      ".tbss");
  expect_refusal(
      compile("int f(); int x = f(); int f() { return x; } extern \"C\" int limen_kernel() "
              "{ return x; }",
              "-O0 -fPIC"),
      ".init_array");
  expect_refusal(compile("extern \"C\" int limen_kernel; int limen_kernel = 3;", "-fPIC"),
                 "does not lie in code");
#if defined(__x86_64__)
  expect_refusal(
      compile(".text\n.globl limen_kernel\nlimen_kernel: movl $limen_kernel, %eax\nret\n", "",
              ".s"),
      "R_X86_64_32 at .text+0x1 against ");
  expect_refusal(compile(".text\n.globl limen_kernel\nlimen_kernel: ret\n.byte limen_kernel-.\n"
                         ".section .text.x,\"ax\"\n.byte limen_kernel-.\n",
                         "", ".s"),
                 "relocation type 15 at .text.x+0x0");
#else
  expect_refusal(
      compile(".text\n.globl limen_kernel\nlimen_kernel: ret\n.word limen_kernel\n", "", ".s"),
      "R_AARCH64_ABS32 at .text+0x4 against ");
  expect_refusal(compile(".text\n.globl limen_kernel\nlimen_kernel: ret\n"
                         ".section .text.x,\"ax\"\n.hword limen_kernel-.\n",
                         "", ".s"),
                 "relocation type 262 at .text.x+0x0");
  expect_refusal(compile(".text\n.globl limen_kernel\nlimen_kernel: ldr x0, [x0, :lo12:odd]\nret\n"
                         ".data\n.balign 8\n.byte 0\nodd: .quad 0\n",
                         "", ".s"),
                 "does not fit");
#endif
  expect_refusal(compile(".text\n.globl limen_kernel\nlimen_kernel: ret\n"
                         ".section .mystery,\"aw\"\n.byte 1\n",
                         "", ".s"),
                 "section .mystery");
  expect_refusal(compile(".text\n.globl limen_kernel\nlimen_kernel: ret\n"
                         ".section .text.w,\"awx\",@progbits\nret\n",
                         "", ".s"),
                 "section .text.w of type 0x1 with flags 0x7");
  expect_refusal(compile(".text\n.globl limen_kernel\nlimen_kernel: ret\n.comm shared,8,8\n.data\n"
                         ".quad shared\n",
                         "", ".s"),
                 "symbol shared lies in section 0xfff2");
  EXPECT_NE(refusal({}).find("0 bytes"), std::string::npos);
  expect_refusal(std::vector<uint8_t>(64, 7), "no 64-bit little-endian elf file");
  expect_refusal(test::read_file("/proc/self/exe"), fmt::format("expected 1 and {} (relocatable, {})", elf_machine, machine_name));
}

TEST(Object, UnloadingGivesMemoryBack) {
  auto object = compile(everything, "-O2 -fPIC");
  const size_t before = slab_bytes_in_use();
  size_t one = 0;
  for (int round = 0; round < 1000; ++round) {
    auto code = load_object(object, "everything");
    ASSERT_TRUE(code.ok()) << code.error().what;
    if (round == 0) one = slab_bytes_in_use() - before;
    ASSERT_EQ(slab_bytes_in_use() - before, one) << round;
  }
  EXPECT_EQ(slab_bytes_in_use(), before);
  // Freed in an order that leaves holes: all of it must come back and be found again.
  std::vector<std::shared_ptr<Code>> live;
  for (int i = 0; i < 500; ++i) live.push_back(load_object(object, "everything").value());
  EXPECT_EQ(slab_bytes_in_use() - before, 500 * one);
  for (size_t i = 0; i < live.size(); i += 2) live[i].reset();
  for (size_t i = 0; i < live.size(); i += 2) live[i] = load_object(object, "everything").value();
  EXPECT_EQ(slab_bytes_in_use() - before, 500 * one);
  live.clear();
  EXPECT_EQ(slab_bytes_in_use(), before);
}

TEST(Object, ThreadsLoadAndRunAtOnce) {
  auto object = compile(everything, "-O2 -fPIC");
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int round = 0; round < 100; ++round) {
        auto code = load_object(object, "everything");
        std::vector<char> out(1000);
        int counter = 40, last = 0;
        if (!code.ok() || entry_of(*code)(round, out.data()) != expected(round, counter, last))
          ADD_FAILURE() << round;
      }
    });
  for (auto& thread : threads) thread.join();
}

TEST(Slab, BlocksAreZeroAndBounded) {
  EXPECT_EQ(take_block(0).code(), limen::Code::out_of_memory);
  EXPECT_EQ(take_block(size_t{1} << 40).code(), limen::Code::out_of_memory);
  for (int round = 0; round < 3; ++round) {
    auto block = take_block(10000);
    ASSERT_TRUE(block.ok());
    EXPECT_EQ(block->size() % page_size(), 0u);
    for (size_t i = 0; i < block->size(); ++i) ASSERT_EQ(block->data()[i], 0);
    std::memset(block->data(), 0xcc, block->size());
  }
}

}  // namespace
}  // namespace limen::image
