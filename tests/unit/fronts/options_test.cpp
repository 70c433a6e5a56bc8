// What the four command lines mean, in every spelling that NVIDIA's compilers take.
#include <gtest/gtest.h>

#include "fronts/nvcc/options.h"
#include "fronts/nvjitlink/nvjitlink_abi.h"
#include "fronts/nvjitlink/options.h"
#include "fronts/nvrtc/options.h"
#include "fronts/ptxas/options.h"

namespace limen::fronts {
namespace {

using Words = std::vector<std::string>;

nvrtc::Options ask(const Words& words) {
  std::vector<const char*> pointers;
  for (const std::string& word : words) pointers.push_back(word.c_str());
  return nvrtc::ask_for_ptx(static_cast<int>(pointers.size()), pointers.data());
}

TEST(NvrtcOptions, EverySpellingOfMachineCodeBecomesPtx) {
  for (const Words& words :
       {Words{"-arch=sm_90a", "-DX"}, Words{"--gpu-architecture=sm_90a", "-DX"}}) {
    const nvrtc::Options out = ask(words);
    EXPECT_TRUE(out.machine_code);
    EXPECT_EQ(out.words[0], words[0].substr(0, words[0].find('=')) + "=compute_90a");
    EXPECT_EQ(out.words[1], "-DX");
  }
  for (const char* name : {"-arch", "--gpu-architecture"}) {
    const nvrtc::Options out = ask({name, "sm_120"});
    EXPECT_TRUE(out.machine_code);
    EXPECT_EQ(out.words, (Words{name, "compute_120"}));
  }
}

TEST(NvrtcOptions, OtherRequestsStayAsTheyAre) {
  for (const Words& words :
       {Words{"-arch=compute_80"}, Words{"-arch=sm_80", "-dlto"}, Words{"-arch"}, Words{},
        Words{"-DARCH=sm_80"}, Words{"-architecture=sm_80"},
        Words{"-dlto", "--gpu-architecture", "sm_80"}}) {
    const nvrtc::Options out = ask(words);
    EXPECT_FALSE(out.machine_code);
    EXPECT_EQ(out.words, words);
  }
}

int read_link(const Words& words, nvjitlink::Options& out) {
  std::vector<const char*> pointers;
  for (const std::string& word : words) pointers.push_back(word.c_str());
  return nvjitlink::read_options(static_cast<uint32_t>(pointers.size()), pointers.data(), out);
}

// Codes measured on NVIDIA's nvJitLink 13.0.
TEST(NvjitlinkOptions, WrongOptionsHaveTheCodesOfNvidiasLibrary) {
  nvjitlink::Options out;
  EXPECT_EQ(read_link({}, out), nvjitlink::missing_arch);
  EXPECT_EQ(read_link({"-foo", "-arch=sm_80"}, out), nvjitlink::unrecognized_option);
  EXPECT_EQ(read_link({"-arch=compute_80"}, out), nvjitlink::incompatible_options);
  EXPECT_EQ(read_link({"-arch=sm_80", "-ptx"}, out), nvjitlink::incompatible_options);
  EXPECT_EQ(read_link({"-arch=sm_8x"}, out), nvjitlink::unrecognized_arch);
  for (const char* no_number :
       {"-arch=sm_XX", "-arch=compute_XX", "-arch=sm_0", "-arch=", "-arch=90"})
    EXPECT_EQ(read_link({no_number}, out), nvjitlink::unrecognized_option) << no_number;
  for (const char* too_old : {"-arch=sm_37", "-arch=sm_10", "-arch=sm_1000"})
    EXPECT_EQ(read_link({too_old}, out), nvjitlink::unsupported_arch) << too_old;
}

TEST(NvjitlinkOptions, ArchitectureAndKindAreRead) {
  nvjitlink::Options out;
  ASSERT_EQ(read_link({"-arch=sm_90a", "-lto", "-O3", "-maxrregcount=32"}, out),
            nvjitlink::success);
  EXPECT_EQ(out.sm, 90u);
  EXPECT_EQ(out.suffix, 'a');
  EXPECT_EQ(out.most_registers, 32u);
  EXPECT_TRUE(out.lto);
  EXPECT_FALSE(out.ptx);
  nvjitlink::Options ptx;
  ASSERT_EQ(read_link({"-arch=compute_80", "-lto", "-ptx"}, ptx), nvjitlink::success);
  EXPECT_TRUE(ptx.ptx);
}

TEST(PtxasOptions, TritonsAndXlasCommandLines) {
  auto triton = ptxas::read_options(
      {"-lineinfo", "-v", "--fmad=false", "--gpu-name=sm_90a", "a.ptx", "-o", "a.ptx.o"});
  ASSERT_TRUE(triton.ok());
  EXPECT_TRUE(triton->verbose);
  EXPECT_EQ(triton->sm, 90u);
  EXPECT_EQ(triton->suffix, 'a');
  EXPECT_EQ(triton->inputs, Words{"a.ptx"});
  EXPECT_EQ(triton->output, "a.ptx.o");
  auto xla = ptxas::read_options(
      {"in.ptx", "-o", "out", "-arch=sm_80", "--warn-on-spills", "-O3", "-c", "-m64"});
  ASSERT_TRUE(xla.ok());
  EXPECT_TRUE(xla->compile_only);
  EXPECT_EQ(xla->sm, 80u);
  EXPECT_FALSE(xla->parse_only);
}

TEST(PtxasOptions, VirtualArchitecturesOnlyCheck) {
  auto out = ptxas::read_options({"-arch", "compute_80", "a.ptx"});
  ASSERT_TRUE(out.ok());
  EXPECT_TRUE(out->parse_only);
}

// Triton 3.9 writes one that ptxas's help does not name.
TEST(PtxasOptions, UnknownOptionsWithAValueAreToldAndPassedOver) {
  auto out = ptxas::read_options({"--regAllocOptLevel=2", "a.ptx"});
  ASSERT_TRUE(out.ok());
  EXPECT_EQ(out->unknown, Words{"--regAllocOptLevel=2"});
  EXPECT_EQ(out->inputs, Words{"a.ptx"});
}

TEST(PtxasOptions, WrongWordsAreNamed) {
  auto unknown = ptxas::read_options({"--frob", "a.ptx"});
  ASSERT_FALSE(unknown.ok());
  EXPECT_EQ(unknown.error().what, "Unknown option '-frob'");
  EXPECT_FALSE(ptxas::read_options({"-arch=sm_x", "a.ptx"}).ok());
  EXPECT_FALSE(ptxas::read_options({"a.ptx", "-o"}).ok());
}

// The first as CuPy writes it.
TEST(NvccOptions, MachineCodeInAFileBecomesPtx) {
  const nvcc::Options cupy = nvcc::ask_for_ptx(
      {"-gencode=arch=compute_120,code=sm_120", "--cubin", "-DX=1", "-ftz=true", "/t/a.cu"});
  EXPECT_TRUE(cupy.machine_code);
  EXPECT_EQ(cupy.words, (Words{"-gencode=arch=compute_120,code=sm_120", "--ptx", "-DX=1",
                               "-ftz=true", "/t/a.cu"}));
  EXPECT_EQ(cupy.output, "");
  EXPECT_EQ(cupy.folder, ".");
  EXPECT_TRUE(cupy.ptxas.empty());
  const nvcc::Options more = nvcc::ask_for_ptx(
      {"-cubin", "-o", "x", "--output-directory=d", "-Xptxas", "-v,-O2", "--ptxas-options=-w",
       "-maxrregcount", "32", "-rdc=true", "a.cu"});
  EXPECT_TRUE(more.machine_code);
  EXPECT_EQ(more.words, (Words{"--ptx", "-maxrregcount", "32", "-rdc=true", "a.cu"}));
  EXPECT_EQ(more.output, "x");
  EXPECT_EQ(more.folder, "d");
  EXPECT_EQ(more.ptxas, (Words{"-v", "-O2", "-w", "-maxrregcount=32", "--compile-only"}));
}

TEST(NvccOptions, BuildsAndDeviceLinksAreNvidias) {
  for (const Words& words : {Words{"a.cu"}, Words{"-ptx", "a.cu"}, Words{"-fatbin", "a.cu"},
                             Words{"-cubin", "-dlink", "a.o"}, Words{"--cubin", "--device-link", "a.o"}})
    EXPECT_FALSE(nvcc::ask_for_ptx(words).machine_code) << words[0];
}

TEST(NvccOptions, TheTargetIsTheDirective) {
  EXPECT_EQ(nvcc::target_of("// no .target sm_1\n.version 9.0\n.target sm_90a, debug\n"), "sm_90a");
  EXPECT_EQ(nvcc::target_of(".version 9.0\n"), "");
}

}  // namespace
}  // namespace limen::fronts
