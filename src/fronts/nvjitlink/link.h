// One link: takes PTX in every wrapping that nvJitLink knows, checks it as NVIDIA's library does when
// it is added, and puts it together where that one makes machine code. LTO-IR goes to NVIDIA's
// library, which is asked for PTX instead of machine code.
// Invariant: whatever is handed out loads with cuModuleLoadData of the CPU device. Thread rule: one
// thread a link, as nvJitLink has it.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "compiler/fatbin/fatbin.h"
#include "compiler/ptx/ir.h"
#include "fronts/nvjitlink/nvjitlink_abi.h"
#include "fronts/nvjitlink/options.h"

namespace limen::fronts::nvjitlink {

/// NVIDIA's library, as far as link time optimisation needs it.
class Optimizer {
 public:
  virtual ~Optimizer() = default;
  virtual int add(int type, const void* data, size_t size, const char* name) = 0;
  /// PTX of all that was added.
  virtual int complete(std::string& text) = 0;
  virtual std::string error_log() = 0;
};

class Link {
 public:
  /// `optimizer` may be null: there is no library, `why` says so.
  Link(Options options, Optimizer* optimizer, std::string why);

  int add(int type, const void* data, size_t size, const char* name);
  int complete();

  /// What takes the place of machine code; empty before complete(). Ends in a NUL if it is one text.
  const std::string& image() const { return image_; }
  /// PTX of a link with -lto -ptx, with its NUL.
  const std::string& linked_ptx() const { return linked_ptx_; }
  const Options& options() const { return options_; }
  const std::string& error_log() const { return errors_; }
  const std::string& info_log() const { return infos_; }

 private:
  struct Text {
    std::string name, text;
  };

  int refuse(int code, const std::string& line);
  int wrong_type(const char* type, const std::string& name);
  int add_ptx(std::string text, const std::string& name);
  int add_image(const fatbin::Image& image, const void* data, size_t size, const std::string& name);
  int add_object(std::string_view file, const std::string& name);
  int add_library(std::string_view file, const std::string& name);
  int add_lto(int type, const void* data, size_t size, const std::string& name);
  int complete_lto();
  int check_references(const ptx::Module& whole);

  Options options_;
  Optimizer* optimizer_;
  std::string why_;
  bool has_lto_ = false;
  std::vector<Text> texts_;
  std::string image_, linked_ptx_, errors_, infos_;
};

}  // namespace limen::fronts::nvjitlink
