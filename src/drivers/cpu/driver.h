// The CPU driver's root: settings, worker pool, devices, address space and the arenas behind
// handles. Made once by cuInit and never destroyed: NVIDIA's runtime still calls us from its exit
// handler, after static destructors. Invariant: immutable once made, apart from the objects' own
// state. Thread rule: driver() is valid after cuInit and free of locks.
#pragma once
#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "abi/cpu_api.h"
#include "base/result.h"
#include "drivers/cpu/handle.h"
#include "drivers/cpu/memory/address_space.h"
#include "drivers/cpu/memory/ageing.h"
#include "drivers/cpu/memory/allocator.h"
#include "drivers/cpu/memory/virtual_space.h"
#include "engine/engine.h"
#include "engine/texture.h"

namespace limen::cpu {

class Device;
struct Context;
struct StreamHandle;
struct EventHandle;
struct Module;
struct Library;
struct Function;
struct LinkState;
struct MemPool;
struct Array;
struct MipmappedArray;
struct TextureReference;
struct Condition;
struct Graph;
struct GraphExec;
struct GraphNode;
struct UserObject;
struct PhysicalMemory;
struct ExternalMemory;
struct AsyncCallback;
struct GreenContext;

/// What the environment asks for (spec/config.toml has a sentence on each variable).
struct Settings {
  uint32_t devices = 1;
  uint32_t capability = 120;   ///< 10 * major + minor
  uint32_t sms = 0;            ///< multiprocessors shown; 0: as many as workers, at least 8
  uint32_t threads = 0;        ///< workers; 0: one a usable core
  uint64_t memory_bytes = 0;   ///< of each device; 0: half of the machine's, shared out
  int strategy = -1;           ///< a kernel::Strategy, or -1
  uint32_t width = 0;          ///< lanes of a vector; 0: the compiler chooses
  bool exact_nan = false;      ///< of several f64 NaNs the device's
  std::string target;          ///< what code is made for: "host" or a named target
  bool no_op_kernels = false;  ///< control runs: kernels do nothing
  bool launch_blocking = false;
  bool eager_loading = false;
  bool choose_devices = false;  ///< CUDA_VISIBLE_DEVICES is set
  std::string visible_devices;
  std::string dump_dir;
  std::string cache_dir;  ///< empty: no disk cache
  uint64_t cache_bytes = 0;
};

/// Reads the settings. errors: invalid_value for a malformed variable, named.
Result<Settings> read_settings();

struct Driver {
  Settings settings;
  engine::Pool* pool = nullptr;
  AddressSpace space;  ///< partition i: device i; then pinned host memory; then virtual_space
  VirtualSpace virtual_space;
  std::vector<Device*> devices;
  Allocator* host = nullptr;  ///< pinned memory
  Ageing ageing;              ///< of the devices' freed memory
  ContextEndHook context_end_hook = nullptr;

  Arena<Context> contexts;
  Arena<GreenContext> greens;
  Arena<StreamHandle> streams;
  Arena<EventHandle> events;
  Arena<Module> modules;
  Arena<Library> libraries;
  Arena<Function> functions;  ///< CUfunction and CUkernel are one kind of handle
  Arena<LinkState> links;
  Arena<MemPool> pools;
  Arena<Array> arrays;
  Arena<MipmappedArray> mipmapped_arrays;
  Arena<PhysicalMemory> allocations;
  Arena<ExternalMemory> external_memories;
  Arena<AsyncCallback> async_callbacks;
  Arena<TextureReference> texture_references;  ///< also surface references
  Arena<Graph> graphs;
  Arena<GraphNode> graph_nodes;
  Arena<GraphExec> graph_execs;
  Arena<UserObject> user_objects;
  Arena<Condition> conditions;
  std::atomic<uint32_t> captures{0};  ///< stream captures under way
  engine::TextureTable textures;  ///< what kernels may sample

  /// Device of a CUdevice number, or nullptr.
  Device* device(CUdevice ordinal) const {
    return ordinal >= 0 && static_cast<size_t>(ordinal) < devices.size() ? devices[ordinal]
                                                                         : nullptr;
  }
  /// The allocator whose partition holds the address, or nullptr.
  Allocator* allocator_of(uint64_t address) const;
};

/// The driver; cuInit has succeeded.
Driver& driver();
/// Set while the process is going down: nothing waits for kernels any more.
bool process_is_exiting();

/// Logs the error with its remedy and gives its code as a CUresult.
CUresult report(const Error& error);

}  // namespace limen::cpu
