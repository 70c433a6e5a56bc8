// Program: parsed PTX and the compiled versions of its kernels. Belongs to no context: contexts
// share it through instances (globals.h). Compiles on demand, through the disk cache, and opens the
// compiler only when the cache has no answer.
// Invariant: the ptx::Module changes only under compile_mutex_ (bodies are parsed on demand).
// Thread rule: any thread; versions are found under one short lock a kernel.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "compiler/jit/compile.h"
#include "compiler/ptx/ir.h"
#include "engine/engine.h"

namespace limen::cpu {

struct KernelState;

/// What a kernel's body says about its needs; read from the PTX, not from compiled code.
struct KernelNeeds {
  uint32_t static_shared_bytes = 0;
  uint32_t local_bytes = 0;
  bool device_runtime = false;  ///< it, or what it calls, calls that (functions on graphs aside)
};

class Program {
 public:
  /// `texts`: the PTX it was made from, for the cache key; `module`: all of it, linked.
  Program(std::unique_ptr<ptx::Module> module, std::string content_hash);
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  const ptx::Module& module() const { return *module_; }
  /// Index of a kernel or of any function with a body; ptx::no_index if there is none.
  ptx::Index find_kernel(const std::string& name) const;
  ptx::Index find_variable(const std::string& name) const;
  const std::vector<ptx::Index>& kernels() const { return kernels_; }

  /// The compiled version for these block dimensions. Compiles when needed.
  /// errors: the compiler's (invalid_ptx, not_supported ...), jit_compiler_not_found.
  Result<std::shared_ptr<const engine::KernelCode>> version(ptx::Index kernel,
                                                            const uint32_t block[3],
                                                            bool small_grid,
                                                            jit::Residency residency);
  /// The version if it is compiled already, else nullptr. Never takes long.
  std::shared_ptr<const engine::KernelCode> known_version(ptx::Index kernel,
                                                          const uint32_t block[3], bool small_grid,
                                                          jit::Residency residency) {
    return find(*versions_[kernel], block, small_grid, residency);
  }
  /// What needs() answered before; false: it was not asked.
  bool known_needs(ptx::Index kernel, KernelNeeds* out);
  /// Do its kernels call the device runtime?
  bool launches_grids() const { return launches_grids_; }
  bool is_kernel(ptx::Index function) const {
    return function < versions_.size() && versions_[function];
  }
  /// What all handles of the kernel share. Launches made by kernels find it here.
  std::shared_ptr<KernelState> state_of(ptx::Index kernel);
  void share_state(ptx::Index kernel, const std::shared_ptr<KernelState>& state);
  /// Parses every body and checks it, `also` by the caller: what loading PTX text does. With `forget`
  /// bodies are not kept (those of linked modules cannot be read again).
  Result<void> verify_all(bool forget,
                          const std::function<Result<void>(const ptx::Function&)>& also);
  /// errors: invalid_ptx when the body cannot be parsed.
  Result<KernelNeeds> needs(ptx::Index kernel);
  /// Registers that a thread of the kernel and of what it calls would take on a GPU: an estimate,
  /// without the limits that the kernel states. errors: as needs().
  Result<uint32_t> registers(ptx::Index kernel);

 private:
  struct Version {
    uint32_t block[3];
    bool small_grid;
    jit::Residency residency;
    std::shared_ptr<const engine::KernelCode> code;
  };
  /// What one body names and declares, callees apart.
  struct BodyNeeds {
    std::vector<std::pair<uint32_t, uint64_t>> shared, local;  ///< alignment and bytes, in order
    std::vector<ptx::Index> variables, functions;              ///< each once, as first named
  };
  struct Versions {
    std::mutex mutex;
    std::vector<Version> list;
    bool needs_known = false;
    KernelNeeds needs;
    uint32_t registers = 0;  ///< 0: was not asked
    std::weak_ptr<KernelState> state;
  };
  /// Beyond this many block shapes a kernel gets one version for all of them.
  static constexpr size_t most_shapes = 8;

  Result<const BodyNeeds*> body_needs(ptx::Index function);
  Result<std::vector<ptx::Index>> called_functions(ptx::Index kernel);
  std::shared_ptr<const engine::KernelCode> find(Versions& versions, const uint32_t block[3],
                                                 bool small_grid, jit::Residency residency);
  Result<std::shared_ptr<const engine::KernelCode>> build(ptx::Index kernel,
                                                          const jit::Specialization& spec);

  std::unique_ptr<ptx::Module> module_;
  std::string content_hash_;
  std::vector<ptx::Index> kernels_;
  std::vector<std::unique_ptr<Versions>> versions_;     ///< by function index
  std::vector<std::unique_ptr<BodyNeeds>> body_needs_;  ///< by function index, made when asked for
  std::mutex compile_mutex_;
  bool launches_grids_ = false;
};

}  // namespace limen::cpu
