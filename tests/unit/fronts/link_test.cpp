// Linking as nvJitLink does: what is taken, what is refused with which code, what comes out.
#include "fronts/nvjitlink/link.h"

#include <gtest/gtest.h>

#include "compiler/fatbin/linked.h"
#include "compiler/fatbin/ptx_version.h"

namespace limen::fronts::nvjitlink {
namespace {

const std::string head = ".version 8.0\n.target sm_80\n.address_size 64\n";
const std::string caller = head +
                           ".extern .func (.param .b32 r) f(.param .b32 a);\n"
                           ".visible .entry k(.param .u64 p) { .reg .b32 %r<3>; .reg .b64 %d<3>;\n"
                           "ld.param.u64 %d1,[p]; { .param .b32 a; .param .b32 r; mov.b32 %r1, 5;\n"
                           "st.param.b32 [a],%r1; call.uni (r), f, (a); ld.param.b32 %r2,[r]; }\n"
                           "st.global.b32 [%d1],%r2; ret; }\n";
const std::string callee = head +
                           ".visible .func (.param .b32 r) f(.param .b32 a) { .reg .b32 %r<3>;\n"
                           "ld.param.b32 %r1,[a]; add.s32 %r1,%r1,1; st.param.b32 [r],%r1; ret; }\n";

/// Stands for NVIDIA's library: gives one text, remembers what it was handed.
class Fake final : public Optimizer {
 public:
  int add(int type, const void* data, size_t size, const char*) override {
    types.push_back(type);
    bytes.emplace_back(static_cast<const char*>(data), size);
    return code;
  }
  int complete(std::string& text) override {
    text = result;
    return code;
  }
  std::string error_log() override { return "from the optimizer\n"; }

  std::vector<int> types;
  std::vector<std::string> bytes;
  std::string result;
  int code = success;
};

Options options(bool lto = false) {
  Options out;
  out.sm = 80;
  out.lto = lto;
  return out;
}

int add(Link& link, int type, const std::string& text, const char* name = "in") {
  return link.add(type, text.data(), text.size(), name);
}

TEST(Link, TwoTextsBecomeOneBlockThatLoads) {
  Link link(options(), nullptr, "");
  ASSERT_EQ(add(link, ptx, caller), success);
  ASSERT_EQ(add(link, ptx, callee), success);
  ASSERT_EQ(link.complete(), success) << link.error_log();
  ASSERT_TRUE(fatbin::is_linked(link.image().data()));
  EXPECT_EQ(fatbin::unpack_linked(link.image().data()), (std::vector<std::string>{caller, callee}));
}

TEST(Link, OneTextComesOutAsItIsAndEndsInNul) {
  Link link(options(), nullptr, "");
  ASSERT_EQ(add(link, ptx, callee), success);
  ASSERT_EQ(link.complete(), success);
  EXPECT_EQ(link.image(), callee + '\0');
}

TEST(Link, ALimitOfRegistersIsWrittenIntoTheKernels) {
  Options limited = options();
  limited.most_registers = 57;
  Link link(limited, nullptr, "");
  ASSERT_EQ(add(link, ptx, callee), success);
  ASSERT_EQ(add(link, ptx, caller), success);
  ASSERT_EQ(link.complete(), success) << link.error_log();
  const auto texts = fatbin::unpack_linked(link.image().data());
  ASSERT_EQ(texts.size(), 2u);
  EXPECT_EQ(texts[0], callee);  // no kernel in it
  EXPECT_NE(texts[1].find(".maxnreg 57"), std::string::npos) << texts[1];
}

TEST(Link, MachineCodeMadeByAFrontIsPtx) {
  Link first(options(), nullptr, "");
  ASSERT_EQ(add(first, cubin, callee + '\0'), success);
  ASSERT_EQ(add(first, any, caller), success);
  ASSERT_EQ(first.complete(), success);
  Link second(options(), nullptr, "");
  ASSERT_EQ(add(second, cubin, first.image()), success);
  ASSERT_EQ(second.complete(), success);
  EXPECT_EQ(second.image(), first.image());
}

TEST(Link, AMissingFunctionIsNamed) {
  Link link(options(), nullptr, "");
  ASSERT_EQ(add(link, ptx, caller), success);
  EXPECT_EQ(link.complete(), internal);
  EXPECT_NE(link.error_log().find("Undefined reference to 'f' in 'k'"), std::string::npos);
  EXPECT_TRUE(link.image().empty());
}

// Codes measured on NVIDIA's nvJitLink 13.0.
TEST(Link, WrongInputsHaveTheCodesOfNvidiasLibrary) {
  Link link(options(), nullptr, "");
  EXPECT_EQ(add(link, ptx, "garbage", "g.ptx"), incorrect_input_type);
  EXPECT_NE(link.error_log().find("does not match type NVJITLINK_INPUT_PTX"), std::string::npos);
  EXPECT_EQ(add(link, fatbin, callee), incorrect_input_type);
  std::string wrong = callee;
  wrong.replace(wrong.find("add.s32"), 7, "addd.s3");
  EXPECT_EQ(add(link, ptx, wrong, "w.ptx"), ptx_compile);
  EXPECT_NE(link.error_log().find("JIT the PTX (w.ptx)"), std::string::npos);
  Options older = options();
  older.sm = 75;
  Link old(older, nullptr, "");
  EXPECT_EQ(add(old, ptx, callee), ptx_compile);
  EXPECT_EQ(link.add(ptx, nullptr, 0, "n"), null_input);
}

/// An archive of one object, as ar writes it.
std::string archive(const std::string& long_name, const std::string& object) {
  auto member = [](std::string name, std::string bytes) {
    std::string size = std::to_string(bytes.size());
    name.resize(48, ' ');
    size.resize(10, ' ');
    if (bytes.size() % 2) bytes += '\n';
    return name + size + "`\n" + bytes;
  };
  return "!<arch>\n" + member("//", long_name + "/\n") + member("/0", object);
}

// Numba links it to every kernel of a cooperative grid.
TEST(Link, NvidiasDeviceRuntimeIsNotNeeded) {
  Link link(options(), nullptr, "");
  ASSERT_EQ(add(link, ptx, callee), success);
  EXPECT_EQ(add(link, library, archive("cuda_device_runtime.o", "machine code")), success);
  EXPECT_EQ(link.complete(), success);
  EXPECT_EQ(link.image(), callee + '\0');
  EXPECT_NE(add(link, library, archive("mine.o", "machine code")), success);
  EXPECT_NE(add(link, library, "no archive"), success);
}

TEST(Link, TwoDefinitionsAreAnError) {
  Link link(options(), nullptr, "");
  ASSERT_EQ(add(link, ptx, callee), success);
  ASSERT_EQ(add(link, ptx, callee), success);
  EXPECT_NE(link.complete(), success);
  EXPECT_NE(link.error_log().find("'f'"), std::string::npos);
}

TEST(Link, LtoIrGoesToNvidiasLibraryAndItsPtxComesOut) {
  Fake fake;
  fake.result = caller;
  Link link(options(true), &fake, "");
  ASSERT_EQ(add(link, ltoir, "lto bytes"), success);
  ASSERT_EQ(add(link, ptx, callee), success);
  ASSERT_EQ(link.complete(), success) << link.error_log();
  EXPECT_EQ(fake.types, std::vector<int>{ltoir});
  EXPECT_EQ(fake.bytes, std::vector<std::string>{"lto bytes"});
  EXPECT_EQ(fatbin::unpack_linked(link.image().data()).size(), 2u);
}

TEST(Link, LtoIrWithoutNvidiasLibrarySaysWhatToInstall) {
  Link link(options(true), nullptr, "install it");
  EXPECT_EQ(add(link, ltoir, "lto bytes"), internal);
  EXPECT_NE(link.error_log().find("install it"), std::string::npos);
  Link plain(options(), nullptr, "");
  EXPECT_EQ(add(plain, ltoir, "lto bytes"), lto_not_enabled);
}

TEST(Link, AnOptimizersFaultAndItsLogArePassedOn) {
  Fake fake;
  fake.code = 5;
  Link link(options(true), &fake, "");
  EXPECT_EQ(add(link, ltoir, "lto bytes"), 5);
  EXPECT_EQ(link.error_log(), "from the optimizer\n");
}

TEST(PtxVersion, OnlyANewerOneIsLoweredInPlace) {
  std::string text = "// made\n.version 9.2\n.target sm_80\n";
  EXPECT_TRUE(fatbin::lower_ptx_version(text.data(), text.size(), 9, 0));
  EXPECT_EQ(text, "// made\n.version 9.0\n.target sm_80\n");
  EXPECT_FALSE(fatbin::lower_ptx_version(text.data(), text.size(), 9, 0));
  std::string longer = ".version 10.1\n";
  EXPECT_TRUE(fatbin::lower_ptx_version(longer.data(), longer.size(), 9, 0));
  EXPECT_EQ(longer, ".version 9.0 \n");
  std::string none = "no ptx";
  EXPECT_FALSE(fatbin::lower_ptx_version(none.data(), none.size(), 9, 0));
}

}  // namespace
}  // namespace limen::fronts::nvjitlink
