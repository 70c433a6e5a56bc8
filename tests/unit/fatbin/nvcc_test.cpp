// Real fat binaries: nvcc builds shared libraries without a CUDA runtime, in every compression mode
// and for several sets of targets. This program exports the runtime's registration functions, so
// opening such a library hands us the very pointer that the runtime would pass to
// cuLibraryLoadData. Skipped where nvcc is not installed.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <set>

#include "compiler/fatbin/fatbin.h"
#include "conformance/fat_binary.h"

namespace {
std::vector<const void*> registered;
}

extern "C" {
#define TEST_EXPORT __attribute__((visibility("default"))) void*
TEST_EXPORT __cudaRegisterFatBinary(const void* wrapper) {
  registered.push_back(wrapper);
  static void* handle;
  return &handle;
}
TEST_EXPORT __cudaRegisterFatBinaryEnd(void**) { return nullptr; }
TEST_EXPORT __cudaUnregisterFatBinary(void**) { return nullptr; }
TEST_EXPORT __cudaRegisterFunction(...) { return nullptr; }
TEST_EXPORT __cudaRegisterVar(...) { return nullptr; }
TEST_EXPORT __cudaInitModule(void**) { return nullptr; }
}

namespace limen::fatbin {
namespace {

const char* const first_source = R"(
__device__ int counter;
__global__ void first(float* p, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i] = p[i] * 2.f + atomicAdd(&counter, 1);
}
void launch_first(float* p) { first<<<1, 32>>>(p, 0); }
)";
const char* const second_source = R"(
__device__ int other(int x) { return x + 1; }
__global__ void second(int* p) { *p = other(*p); }
void launch_second(int* p) { second<<<1, 32>>>(p); }
)";

class Nvcc : public ::testing::Test {
 protected:
  void SetUp() override {
    if (std::system("command -v nvcc >/dev/null 2>&1") != 0)
      GTEST_SKIP() << "nvcc is not installed";
    char name[] = "/tmp/limen-fatbin-test-XXXXXX";
    folder_ = mkdtemp(name);
    std::ofstream(folder_ + "/first.cu") << first_source;
    std::ofstream(folder_ + "/second.cu") << second_source;
  }
  void TearDown() override {
    if (!folder_.empty() && std::system(("rm -rf '" + folder_ + "'").c_str()) != 0) ADD_FAILURE();
  }

  void run(const std::string& command) {
    ASSERT_EQ(std::system(
                  ("cd '" + folder_ + "' && { " + command + "; } >log 2>&1 || { cat log; exit 1; }")
                      .c_str()),
              0)
        << command;
  }

  /// Builds a library and opens it; the pointers it registers are in `registered`. Without a CUDA
  /// runtime nvcc does not link device code by itself, so that step is asked for.
  void build(const std::string& options, const std::string& sources = "first.cu") {
    library_ = folder_ + "/lib" + std::to_string(count_++) + ".so";
    const std::string pic = " -Xcompiler -fPIC ", shared = "nvcc -shared -cudart none";
    if (options.find("-rdc=true") == std::string::npos)
      run(shared + pic + options + " " + sources + " -o " + library_);
    else
      run("rm -f *.o && nvcc -c" + pic + options + " " + sources + " && nvcc -dlink" + pic +
          options + " -o linked.o *.o && " + shared + " *.o -lcudadevrt -o " + library_);
    if (HasFatalFailure()) return;
    registered.clear();
    void* handle =
        dlopen(library_.c_str(), RTLD_LAZY | RTLD_LOCAL);  // stays open: images borrow from it
    ASSERT_NE(handle, nullptr) << dlerror();
    ASSERT_FALSE(registered.empty());
  }

  Image registered_image() {
    auto image = parse_pointer(registered.back());
    EXPECT_TRUE(image.ok()) << image.error().what;
    return image.value();
  }

  std::string folder_, library_;
  int count_ = 0;
};

/// Text of the PTX chosen for sm_120, all parts together.
std::string chosen_text(const Image& image) {
  auto choice = choose_ptx(image, 120);
  EXPECT_TRUE(choice.ok()) << choice.error().what;
  std::string all;
  for (uint32_t index : choice->entries) {
    auto text = image.ptx_text(image.entries()[index]);
    EXPECT_TRUE(text.ok()) << text.error().what;
    all += text.value();
  }
  return all;
}

const Entry* find(const Image& image, Kind kind) {
  for (const Entry& entry : image.entries())
    if (entry.kind == kind) return &entry;
  return nullptr;
}

TEST_F(Nvcc, EveryCompressionMode) {
  struct Case {
    const char* options;
    Compression cubin, ptx;
  };
  for (const Case& c : {Case{"", Compression::none, Compression::zstd},
                        Case{"--compress-mode=default", Compression::none, Compression::zstd},
                        Case{"--compress-mode=balance", Compression::none, Compression::zstd},
                        Case{"-Xfatbin -compress-all", Compression::zstd, Compression::zstd},
                        Case{"--compress-mode=size", Compression::zstd, Compression::zstd},
                        Case{"--compress-mode=speed", Compression::none, Compression::lz4},
                        Case{"--compress-mode=none", Compression::none, Compression::none},
                        Case{"--no-compress", Compression::none, Compression::none}}) {
    SCOPED_TRACE(c.options);
    build(c.options);
    if (HasFatalFailure()) return;
    Image image = registered_image();
    EXPECT_EQ(image.form(), Form::wrapper_v1);
    ASSERT_NE(find(image, Kind::cubin), nullptr);
    ASSERT_NE(find(image, Kind::ptx), nullptr);
    EXPECT_EQ(find(image, Kind::cubin)->compression, c.cubin);
    EXPECT_EQ(find(image, Kind::ptx)->compression, c.ptx);
    std::string text = chosen_text(image);
    EXPECT_NE(text.find(".entry _Z5firstPfi"), std::string::npos);
    EXPECT_NE(text.find(".target sm_75"), std::string::npos);
    // The machine code decompresses as well, and is a cubin of the architecture the entry states.
    auto cubin = image.payload(*find(image, Kind::cubin));
    ASSERT_TRUE(cubin.ok()) << cubin.error().what;
    auto alone = parse_memory(cubin->data(), cubin->size());
    ASSERT_TRUE(alone.ok()) << alone.error().what;
    EXPECT_EQ(alone->entries()[0].sm, 75u);
  }
}

TEST_F(Nvcc, TargetSets) {
  struct Case {
    const char* options;
    const char* words;
    const char* target;  // of the PTX chosen for sm_120, or null
  };
  for (const Case& c :
       {Case{"-gencode arch=compute_80,code=[sm_80,compute_80]",
             "sm_80 machine code, PTX for compute_80", "sm_80"},
        Case{"-arch=compute_90 -code=compute_90", "PTX for compute_90", "sm_90"},
        Case{"-gencode arch=compute_80,code=sm_80 -gencode arch=compute_90a,code=sm_90a",
             "sm_80 and sm_90a machine code, no PTX", nullptr},
        Case{"-gencode arch=compute_75,code=compute_75 -gencode arch=compute_90,code=compute_90 "
             "-gencode arch=compute_121,code=compute_121",
             "PTX for compute_75, compute_90 and compute_121", "sm_90"},
        Case{"-gencode arch=compute_100f,code=[sm_100,compute_100f] "
             "-gencode arch=compute_120f,code=compute_120f",
             "sm_100f machine code, PTX for compute_100f and compute_120f", "sm_120f"},
        Case{"-arch=all-major", nullptr, "sm_120"}}) {
    SCOPED_TRACE(c.options);
    build(c.options);
    if (HasFatalFailure()) return;
    Image image = registered_image();
    if (c.words) {
      EXPECT_EQ(describe_architectures(image), c.words);
    }
    if (c.target) {
      EXPECT_NE(chosen_text(image).find(std::string(".target ") + c.target + "\n"),
                std::string::npos);
    } else {
      EXPECT_EQ(choose_ptx(image, 120).code(), Code::no_binary_for_gpu);
    }
    for (const Entry& entry : image.entries()) EXPECT_TRUE(image.payload(entry).ok());
  }
}

TEST_F(Nvcc, DebugAndLineInfo) {
  for (const char* options : {"-G", "-lineinfo", "-G -rdc=true"}) {
    SCOPED_TRACE(options);
    build(options);
    if (HasFatalFailure()) return;
    Image image = registered_image();
    bool debug = std::string(options).find("-G") == 0, named = false;
    for (const Entry& entry : image.entries()) {
      EXPECT_TRUE(entry.kind != Kind::ptx || entry.debug == debug);
      named |= entry.source_name.find("first.cu") != std::string::npos;
    }
    EXPECT_TRUE(named);
    EXPECT_NE(chosen_text(image).find(".entry _Z5firstPfi"), std::string::npos);
  }
}

TEST_F(Nvcc, SeparateCompilation) {
  for (const char* options :
       {"-rdc=true", "-rdc=true --compress-mode=speed", "-rdc=true --no-compress"}) {
    SCOPED_TRACE(options);
    build(options, "first.cu second.cu");
    if (HasFatalFailure()) return;
    Image image = registered_image();
    EXPECT_EQ(image.form(), Form::wrapper_v2);
    EXPECT_EQ(image.containers(), 3u);
    auto choice = choose_ptx(image, 120);
    ASSERT_TRUE(choice.ok()) << choice.error().what;
    EXPECT_EQ(choice->entries.size(), 2u);
    for (uint32_t index : choice->entries) EXPECT_TRUE(image.entries()[index].relocatable);
    std::string text = chosen_text(image);
    EXPECT_NE(text.find(".entry _Z5firstPfi"), std::string::npos);
    EXPECT_NE(text.find(".entry _Z6secondPi"), std::string::npos);
  }
  // PTX only: the driver links at load; cudadevrt comes along and has no PTX for this device.
  build("-rdc=true -gencode arch=compute_75,code=compute_75", "first.cu second.cu");
  if (HasFatalFailure()) return;
  Image image = registered_image();
  EXPECT_EQ(image.form(), Form::wrapper_v2);
  auto choice = choose_ptx(image, 120);
  ASSERT_TRUE(choice.ok()) << choice.error().what;
  EXPECT_EQ(choice->entries.size(), 2u);
  EXPECT_EQ(choice->left_out.size(), image.containers() - 3);
  // Machine code only: refused, and the message says what there is.
  build("-rdc=true -gencode arch=compute_80,code=sm_80", "first.cu second.cu");
  if (HasFatalFailure()) return;
  auto none = choose_ptx(registered_image(), 120);
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.code(), Code::no_binary_for_gpu);
  EXPECT_NE(none.error().what.find("sm_80 machine code, no PTX"), std::string::npos)
      << none.error().what;
}

TEST_F(Nvcc, ScanFindsWhatIsRegistered) {
  build("-rdc=true", "first.cu second.cu");
  if (HasFatalFailure()) return;
  auto found = scan_elf_file(library_);
  ASSERT_TRUE(found.ok()) << found.error().what;
  std::multiset<std::string> sections;
  std::string text;
  for (const Found& one : *found) {
    sections.insert(one.section);
    for (const Entry& entry : one.image.entries())
      if (entry.kind == Kind::ptx) text += one.image.ptx_text(entry).value();
  }
  EXPECT_EQ(sections.count("__nv_relfatbin"), 2u);
  EXPECT_GE(sections.count(".nv_fatbin"), 1u);
  EXPECT_NE(text.find(".entry _Z5firstPfi"), std::string::npos);
  EXPECT_NE(text.find(".entry _Z6secondPi"), std::string::npos);
  // Without section headers, the magic is searched for.
  std::ifstream in(library_, std::ios::binary);
  std::vector<uint8_t> file{std::istreambuf_iterator<char>(in), {}};
  std::fill(file.begin() + 40, file.begin() + 48, uint8_t{0});  // e_shoff
  auto searched = scan_elf_bytes(file);
  ASSERT_TRUE(searched.ok());
  EXPECT_EQ(searched->size(), found->size());
  EXPECT_EQ(scan_elf_file(folder_).code(), Code::invalid_image);
  EXPECT_EQ(scan_elf_file(folder_ + "/none").code(), Code::file_not_found);
  EXPECT_EQ(scan_elf_file(folder_ + "/first.cu").code(), Code::invalid_image);
}

TEST_F(Nvcc, BareOutputs) {
  for (const char* options : {"-cubin -arch=sm_80", "-cubin -arch=sm_90a", "-cubin -arch=sm_120",
                              "-ptx -arch=sm_90", "-fatbin", "-dc -fatbin"}) {
    SCOPED_TRACE(options);
    std::string out = folder_ + "/out";
    ASSERT_EQ(
        std::system(("cd '" + folder_ + "' && nvcc " + options + " first.cu -o " + out).c_str()),
        0);
    std::ifstream in(out, std::ios::binary);
    std::string bytes{std::istreambuf_iterator<char>(in), {}};
    auto image = parse_memory(bytes.data(), bytes.size());
    auto pointed = parse_pointer(bytes.c_str());
    ASSERT_TRUE(image.ok() && pointed.ok());
    EXPECT_EQ(describe_architectures(*image), describe_architectures(*pointed));
    ASSERT_EQ(image->entries().size(), pointed->entries().size());
    for (size_t i = 0; i < image->entries().size(); ++i)
      EXPECT_EQ(image->payload(image->entries()[i]).value(),
                pointed->payload(pointed->entries()[i]).value());
    if (image->form() == Form::cubin) {
      EXPECT_EQ(image->entries()[0].size_bytes, bytes.size());
    }
  }
}

// NVIDIA's driver crashes on containers that nvcc would not write, so the conformance suite's is
// compared. The text has no space that nvcc drops; its length leaves one to eight bytes of padding.
TEST_F(Nvcc, OneTextIsWrittenAsNvccWritesIt) {
  for (std::string name = "kernel"; name.size() < 14; name += "x") {
    SCOPED_TRACE(name);
    const std::string text =
        ".version 7.1\n.target sm_75\n.address_size 64\n.visible .entry " + name +
        "() { ret; }\n";
    std::ofstream(folder_ + "/plain.ptx") << text;
    run("nvcc --no-compress -fatbin -gencode arch=compute_75,code=compute_75 plain.ptx -o plain");
    if (HasFatalFailure()) return;
    std::ifstream in(folder_ + "/plain", std::ios::binary);
    const std::string theirs{std::istreambuf_iterator<char>(in), {}};
    const std::vector<uint64_t> ours = conform::fat_binary(text.c_str(), 75);
    EXPECT_EQ(theirs, std::string(reinterpret_cast<const char*>(ours.data()), ours.size() * 8));
  }
}

}  // namespace
}  // namespace limen::fatbin
