// What is read of a program file: found along PATH, never past the file's end. The whole path from
// file to running program is tests/cli.
#include "tools/program.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

namespace limen::tools {
namespace {

namespace fs = std::filesystem;

class ProgramFile : public testing::Test {
 protected:
  ProgramFile() {
    char name[] = "/tmp/limen-tools-XXXXXX";
    folder_ = mkdtemp(name);
  }
  ~ProgramFile() override { fs::remove_all(folder_); }

  std::string write(const std::string& name, const std::string& bytes, mode_t mode = 0755) {
    std::string path = folder_ + "/" + name;
    std::ofstream(path, std::ios::binary) << bytes;
    chmod(path.c_str(), mode);
    return path;
  }

  std::string folder_;
};

std::string own_bytes() {
  std::ifstream self("/proc/self/exe", std::ios::binary);
  return {std::istreambuf_iterator<char>(self), {}};
}

TEST_F(ProgramFile, PathIsSearchedInOrder) {
  std::string path = write("tool", "#!/bin/sh\n");
  EXPECT_EQ(find_program("tool", "/no/such:" + folder_ + ":/bin").value(), path);
  EXPECT_EQ(find_program("tool", "/no/such").code(), Code::file_not_found);
  EXPECT_EQ(find_program("", folder_).code(), Code::file_not_found);
  write("closed", "data", 0644);
  EXPECT_EQ(find_program("closed", folder_).code(), Code::not_permitted);
}

TEST_F(ProgramFile, ScriptsNameTheirInterpreter) {
  auto program = inspect_program(write("a", "#! /usr/bin/env  python3 -I \nimport x\n"));
  ASSERT_TRUE(program.ok());
  EXPECT_EQ(program->kind, ProgramKind::script);
  EXPECT_EQ(program->interpreter, "/usr/bin/env");
  EXPECT_EQ(program->interpreter_argument, "python3 -I");
  program = inspect_program(write("b", "#!/bin/sh"));
  ASSERT_TRUE(program.ok());
  EXPECT_EQ(program->interpreter, "/bin/sh");
}

TEST_F(ProgramFile, ThisTestIsADynamicProgram) {
  auto program = inspect_program("/proc/self/exe");
  ASSERT_TRUE(program.ok()) << program.error().what;
  EXPECT_EQ(program->kind, ProgramKind::dynamic);
  bool has_libc = false;
  for (const std::string& name : program->needed) has_libc |= name == "libc.so.6";
  EXPECT_TRUE(has_libc);
}

TEST_F(ProgramFile, EveryTruncationIsAnAnswerOrAnError) {
  std::string whole = own_bytes();
  for (size_t size = 0; size < 4096; size += 7) {
    auto program = inspect_program(write("cut", whole.substr(0, size)));
    if (!program) {
      EXPECT_EQ(program.code(), Code::invalid_image) << size;
    }
  }
}

TEST_F(ProgramFile, DamagedHeadersAreAnAnswerOrAnError) {
  std::string whole = own_bytes().substr(0, 1 << 16);
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    std::string bytes = whole;
    for (int i = 0; i < 8; ++i) bytes[18 + random() % 1024] = static_cast<char>(random());
    auto program = inspect_program(write("bent", bytes));
    if (!program) {
      EXPECT_EQ(program.code(), Code::invalid_image) << round;
    }
  }
}

TEST_F(ProgramFile, FoldersAndMissingFilesAreErrors) {
  EXPECT_EQ(inspect_program(folder_).code(), Code::invalid_image);
  EXPECT_EQ(inspect_program(folder_ + "/none").code(), Code::file_not_found);
}

}  // namespace
}  // namespace limen::tools
