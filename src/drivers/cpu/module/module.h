// The objects behind CUmodule, CUlibrary, CUfunction, CUkernel and CUlinkState.
// A library belongs to no context: it makes one module a context on demand. A CUkernel and a
// CUfunction are both a Function; what they share (attributes, compiled versions) is a KernelState.
// Invariant: a Function's state outlives every launch of it. Thread rule: as noted at the members.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "abi/cuda_abi.h"
#include "drivers/cpu/module/globals.h"
#include "drivers/cpu/module/load.h"
#include "drivers/cpu/module/program.h"

namespace limen::cpu {

struct Context;
struct Library;
struct Module;

/// What a program set on a kernel, for one device.
struct KernelAttributes {
  std::atomic<int> max_dynamic_shared_bytes{-1};  ///< -1: 48 KiB less the static part
  std::atomic<int> carveout{-1};
  std::atomic<int> required_cluster[3] = {0, 0, 0};  ///< set by the program; 0: by the PTX
  std::atomic<int> non_portable_cluster{0};          ///< clusters of more than 8 blocks allowed
  std::atomic<int> cluster_policy{0};                ///< a preference
};

/// What all handles of one kernel share.
struct KernelState {
  KernelState();

  std::shared_ptr<Program> program;
  ptx::Index index = 0;
  std::atomic<bool> loaded{false};  ///< by cuFuncLoad or by name

  KernelAttributes& on(const Device& device) const {
    return attributes_[static_cast<size_t>(device.ordinal())];
  }
  const ptx::Function& function() const { return program->module().functions[index]; }

 private:
  std::unique_ptr<KernelAttributes[]> attributes_;  ///< by device
};

struct Function {
  std::shared_ptr<KernelState> state;
  Module* module = nullptr;    ///< a CUfunction: bound to a context
  Library* library = nullptr;  ///< a CUkernel: the launch finds the context

  /// The latest launch's findings; guarded by `mutex`.
  std::mutex mutex;
  uint32_t block[3] = {0, 0, 0};
  bool small_grid = false;
  jit::Residency residency = jit::Residency::free;
  std::shared_ptr<const engine::KernelCode> code;
  std::shared_ptr<Instance> instance;

  // Of the pre-CUDA-4 launch calls.
  int shape[3] = {1, 1, 1};
  unsigned shared_bytes = 0;
  std::vector<uint8_t> parameters;
};

struct Module {
  Context* context = nullptr;
  Library* library = nullptr;  ///< the module of a library: not unloaded by cuModuleUnload
  std::shared_ptr<Instance> instance;
  std::mutex mutex;
  std::unordered_map<ptx::Index, Function*> functions;  ///< made on demand; guarded by mutex
};

struct Library {
  std::mutex mutex;                      ///< guards everything below
  std::unique_ptr<fatbin::Image> image;  ///< until the program is made
  uint32_t capability = 0;               ///< up to which the image's PTX is taken
  std::unique_ptr<ChosenPtx> chosen;     ///< the same, already decompressed
  std::shared_ptr<Program> program;
  std::unique_ptr<Error> failure;  ///< what every use of it answers
  std::shared_ptr<ManagedVariables> managed = std::make_shared<ManagedVariables>();
  std::unordered_map<ptx::Index, std::shared_ptr<KernelState>> states;
  std::unordered_map<ptx::Index, Function*> kernels;
  std::unordered_map<uint32_t, Module*> modules;  ///< by context owner
};

/// Inputs of a link and, once complete, its image.
struct LinkState {
  Context* context = nullptr;
  JitOptions log;
  std::vector<std::string> texts;
  std::set<std::string> defined;  ///< names that no other part may define
  std::string image;
  bool complete = false;
};

/// errors: 400 for what is no live module, function or library.
CUresult resolve_module(CUmodule handle, Module** module);
CUresult resolve_function(CUfunction handle, Function** function);
CUresult resolve_launchable(CUfunction handle, Function** function);
CUresult resolve_library(CUlibrary handle, Library** library);

/// What a look for a variable answers where there is none: a kernel's name is another error than an
/// unknown one. measured H200, driver 580.159.04
CUresult no_such_variable(const Program& program, const char* name);

/// The library's program, parsed now if it was not.
Result<std::shared_ptr<Program>> program_of(Library& library);
/// The library's module in a context, made now if there was none.
Result<Module*> module_of(Library& library, Context& context);
/// The module's function object for a kernel.
Function* function_of(Module& module, ptx::Index kernel);

/// Ends a module whose context ends or that is unloaded.
void destroy_module(Module* module);
/// Libraries forget their modules in a context that ends; the modules themselves are ended by it.
void forget_library_instances(Context& context);

/// Logs the error, puts it into the JIT log and gives its CUresult.
CUresult report_to_log(const Error& error, JitOptions& log);

}  // namespace limen::cpu
