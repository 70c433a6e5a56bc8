// Kernel launches: checks, parameters, the version to run, the stream. The call returns once the
// grid is queued; a first launch compiles before it returns, so that a compiler error is this
// call's. Codes for wrong launches: measured H200, driver 580.x (every bad dimension is 1).
// Invariant: a GridSpec owns or shares everything it refers to. Thread rule: any thread.
#include "drivers/cpu/launch.h"

#include <cstring>

#include <fmt/format.h>

#include "abi/cpu_api.h"
#include "base/log.h"
#include "drivers/cpu/context.h"
#include "drivers/cpu/device_runtime/device_runtime.h"
#include "drivers/cpu/graph/capture.h"
#include "drivers/cpu/green.h"
#include "drivers/cpu/launch_attribute.h"
#include "drivers/cpu/module/module.h"
#include "drivers/cpu/stream/order.h"
#include "drivers/cpu/texture/reference.h"

namespace limen::cpu {

namespace {

using Shape = LaunchShape;
using Options = LaunchOptions;

/// Index ranges below this need no 64-bit arithmetic.
constexpr uint64_t small_grid_threads = uint64_t{1} << 30;

uint64_t count(const uint32_t dimensions[3]) {
  return uint64_t{dimensions[0]} * dimensions[1] * dimensions[2];
}

}  // namespace

bool is_small(const LaunchShape& shape) {
  for (int i = 0; i < 3; ++i)
    if (uint64_t{shape.grid[i]} * shape.block[i] >= small_grid_threads) return false;
  return true;
}

CUresult check_shape(const LaunchShape& shape, const KernelState& state, const Device& device) {
  for (int i = 0; i < 3; ++i) {
    auto most_block = CUdevice_attribute(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X + i);
    auto most_grid = CUdevice_attribute(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X + i);
    if (shape.block[i] == 0 || shape.block[i] > uint32_t(device.limit(most_block)) ||
        shape.grid[i] == 0 || shape.grid[i] > uint32_t(device.limit(most_grid)))
      return CUDA_ERROR_INVALID_VALUE;
  }
  const ptx::Function& kernel = state.function();
  uint64_t threads = uint64_t{shape.block[0]} * shape.block[1] * shape.block[2];
  if (threads > uint64_t(most_threads(kernel, device))) return CUDA_ERROR_INVALID_VALUE;
  if (kernel.req_ntid[0]) {
    for (int i = 0; i < 3; ++i)
      if (shape.block[i] != std::max(kernel.req_ntid[i], 1u)) return CUDA_ERROR_INVALID_VALUE;
  }
  if (kernel.blocks_are_clusters)
    return report({Code::not_supported,
                   fmt::format("kernel {} counts its grid in clusters (.blocksareclusters), which "
                               "is not built yet",
                               kernel.name),
                   ""});
  return CUDA_SUCCESS;
}

CUresult find_cluster(const LaunchShape& shape, const KernelState& state, const Device& device,
                      const uint32_t* asked, uint32_t cluster[3], bool* is_explicit) {
  const ptx::Function& kernel = state.function();
  cluster_dimensions(state, device, asked, cluster);
  *is_explicit = cluster[0] != 0;
  auto refuse = [&](const std::string& why) {
    log::write(log::Level::warn, fmt::format("cannot launch {}: {}", kernel.name, why));
    return CUDA_ERROR_INVALID_CLUSTER_SIZE;
  };
  if (cluster[0] == 0) {
    if (kernel.explicit_cluster) return refuse("it needs cluster dimensions");
    std::fill(cluster, cluster + 3, 1u);
    return CUDA_SUCCESS;
  }
  for (int i = 0; i < 3; ++i) {
    if (kernel.req_cluster[0] && cluster[i] != std::max(kernel.req_cluster[i], 1u))
      return refuse("its cluster dimensions are fixed to others");
    if (shape.grid[i] % cluster[i] != 0)
      return refuse(
          fmt::format("the grid's dimension {} of {} blocks is no multiple of the "
                      "cluster's {}",
                      i, shape.grid[i], cluster[i]));
  }
  if (count(cluster) > most_cluster_blocks(state, device))
    return refuse(fmt::format("clusters of {} blocks, at most {} are allowed", count(cluster),
                              most_cluster_blocks(state, device)));
  return CUDA_SUCCESS;
}

void attach_context(engine::GridSpec& grid, Context& context) {
  grid.grid_id = context.next_grid_id.fetch_add(1, std::memory_order_relaxed);
  grid.sm_count = context.device.multiprocessors();
  grid.stack_bytes = context.stack_bytes.load(std::memory_order_relaxed);
  Context* owner = &context;
  grid.print = [owner](const char* text, size_t bytes) { owner->print.append(text, bytes); };
  grid.device_malloc = [owner](uint64_t bytes) { return owner->heap.allocate(bytes); };
  grid.device_free = [owner](uint64_t address) { return owner->heap.release(address); };
  grid.textures = &driver().textures;
  grid.bindings = texture_bindings();
}

namespace {

/// All blocks of a cooperative grid are resident at once: no more than fit the multiprocessors.
CUresult check_cooperative(const Shape& shape, KernelState& state, const Device& device,
                           const StreamHandle* stream) {
  int blocks = 0;
  if (CUresult result = resident_blocks(state, device, static_cast<int64_t>(count(shape.block)),
                                        shape.shared_bytes, &blocks))
    return result;
  const uint64_t most = static_cast<uint64_t>(blocks) * multiprocessors_for(device, stream);
  return count(shape.grid) <= most ? CUDA_SUCCESS : CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE;
}

CUresult check_shared(const Shape& shape, const KernelState& state, const Device& device) {
  auto needs = state.program->needs(state.index);
  if (!needs.ok()) return report(needs.error());
  int most = most_dynamic_shared(state, needs->static_shared_bytes, device);
  if (shape.shared_bytes > static_cast<uint32_t>(most)) return CUDA_ERROR_INVALID_VALUE;
  return CUDA_SUCCESS;
}

}  // namespace

CUresult pack_parameters(std::vector<uint8_t>& out, const ptx::Function& kernel, void** params,
                         void** extra) {
  if (params && extra) return CUDA_ERROR_INVALID_VALUE;
  out.resize(kernel.param_bytes);
  if (extra) {
    const void* buffer = nullptr;
    size_t bytes = 0;
    for (void** word = extra; *word != CU_LAUNCH_PARAM_END; word += 2) {
      if (word[0] == CU_LAUNCH_PARAM_BUFFER_POINTER)
        buffer = word[1];
      else if (word[0] == CU_LAUNCH_PARAM_BUFFER_SIZE)
        bytes = word[1] ? *static_cast<size_t*>(word[1]) : 0;
      else
        return CUDA_ERROR_INVALID_VALUE;
    }
    // Not even a structure's padding may follow the last one: measured H200, driver 580.159.04.
    if (bytes > out.size()) return CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
    // What is missing would be read as zeros.
    if (bytes < out.size() || (bytes && !buffer)) return CUDA_ERROR_INVALID_VALUE;
    if (bytes) std::memcpy(out.data(), buffer, bytes);
    return CUDA_SUCCESS;
  }
  if (kernel.params.empty()) return CUDA_SUCCESS;
  if (!params) return CUDA_ERROR_INVALID_VALUE;
  for (size_t i = 0; i < kernel.params.size(); ++i) {
    if (!params[i]) return CUDA_ERROR_INVALID_VALUE;
    std::memcpy(out.data() + kernel.params[i].offset, params[i], kernel.params[i].bytes);
  }
  return CUDA_SUCCESS;
}

CUresult check_launch(const LaunchShape& shape, KernelState& state, const Device& device,
                      const LaunchOptions& options, const StreamHandle* stream, LaunchForm* form) {
  if (CUresult result = check_shape(shape, state, device)) return result;
  // Too much shared memory leaves no room for a cooperative grid, and so it is told: measured H200.
  if (options.cooperative)
    if (CUresult result = check_cooperative(shape, state, device, stream)) return result;
  if (CUresult result = check_shared(shape, state, device)) return result;
  if (CUresult result =
          find_cluster(shape, state, device, options.has_cluster ? options.cluster : nullptr,
                       form->cluster, &form->explicit_cluster))
    return result;
  if (CUresult result = check_preferred_cluster(options, shape.grid, form->cluster)) return result;
  form->residency = count(form->cluster) > 1 ? jit::Residency::cluster
                    : options.cooperative    ? jit::Residency::cooperative
                                             : jit::Residency::free;
  return CUDA_SUCCESS;
}

CUresult instance_of(Function& function, Context& context, std::shared_ptr<Instance>* instance) {
  {
    std::lock_guard lock(function.mutex);
    *instance = function.instance;
  }
  if (*instance && (*instance)->owner() == context.owner) return CUDA_SUCCESS;
  if (function.module) {
    *instance = function.module->instance;
    return CUDA_SUCCESS;
  }
  auto module = module_of(*function.library, context);
  if (!module.ok()) return report(module.error());
  *instance = (*module)->instance;
  return CUDA_SUCCESS;
}

CUresult fill_grid(engine::GridSpec& grid, const LaunchShape& shape, const LaunchForm& form,
                   const LaunchOptions& options, Context& context, const KernelState& state,
                   std::shared_ptr<Instance> instance) {
  if (options.cooperative) {
    const auto threads = static_cast<uint32_t>(count(shape.block));
    const uint64_t most = engine::most_resident_blocks(grid.code->meta, threads);
    if (count(shape.grid) > most) {
      log::write(log::Level::warn,
                 fmt::format("cannot launch {}: {} blocks of {} threads cannot be resident at once "
                             "with this machine's stacks, {} can",
                             state.function().name, count(shape.grid), threads, most));
      return CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE;
    }
  }
  grid.globals = instance->addresses();
  grid.keep_alive = std::move(instance);
  std::copy(shape.grid, shape.grid + 3, grid.grid);
  std::copy(shape.block, shape.block + 3, grid.block);
  grid.dynamic_shared_bytes = shape.shared_bytes;
  grid.cooperative = options.cooperative;
  std::copy(form.cluster, form.cluster + 3, grid.cluster);
  grid.explicit_cluster = form.explicit_cluster;
  attach_context(grid, context);
  return CUDA_SUCCESS;
}

namespace {

/// The code and the instance for this launch: usually those of the last one.
CUresult find_code(Function& function, const Shape& shape, Context& context,
                   jit::Residency residency, std::shared_ptr<const engine::KernelCode>* code,
                   std::shared_ptr<Instance>* instance) {
  bool small = is_small(shape);
  {
    std::lock_guard lock(function.mutex);
    if (function.code && function.small_grid == small && function.residency == residency &&
        function.instance && function.instance->owner() == context.owner &&
        std::equal(shape.block, shape.block + 3, function.block)) {
      *code = function.code;
      *instance = function.instance;
      return CUDA_SUCCESS;
    }
  }
  if (CUresult result = instance_of(function, context, instance)) return result;
  auto version =
      function.state->program->version(function.state->index, shape.block, small, residency);
  if (!version.ok()) {
    Error error = version.error();
    error.what = fmt::format("cannot launch {}: {}", function.state->function().name, error.what);
    return report(error);
  }
  *code = std::move(*version);
  std::lock_guard lock(function.mutex);
  std::copy(shape.block, shape.block + 3, function.block);
  function.small_grid = small;
  function.residency = residency;
  function.code = *code;
  function.instance = *instance;
  return CUDA_SUCCESS;
}

/// Makes `event` complete when the grid's last block begins, or the grid is skipped.
void record_beginning(engine::GridSpec& grid, Context& context,
                      const std::shared_ptr<EventState>& event) {
  // A stream of its own waits for it: the launch's stream is busy with the grid until its end.
  auto waiting = std::make_shared<Stream>(context, Stream::Kind::non_blocking, 0);
  context.adopt(waiting);
  struct Begun {
    std::function<void()> done;
    ~Begun() {
      if (done) done();
    }
  };
  auto begun = std::make_shared<Begun>();
  waiting->deferred([begun](std::function<void()> done) {
    begun->done = std::move(done);
    return false;
  });
  waiting->record(event);
  grid.begun = std::move(begun);
}

CUresult launch_on(Function& function, const Shape& shape, const ResolvedStream& on, void** params,
                   void** extra, const Options& options) {
  if (on.capture)
    return capture_kernel(on, reinterpret_cast<CUfunction>(&function), shape, params, extra,
                          options);
  // "Passing it to a launch in a non-capturing stream will result in an error."
  // source: CUDA Driver API 13.0, CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE.
  // The code: measured H200, driver 580.159.04.
  if (options.device_updatable) return CUDA_ERROR_NOT_SUPPORTED;
  Context& context = *on.context;
  if (function.module && function.module->context != &context) return CUDA_ERROR_INVALID_HANDLE;
  LaunchForm form;
  if (CUresult result =
          check_launch(shape, *function.state, context.device, options, on.handle, &form))
    return result;
  auto grid = std::make_unique<engine::GridSpec>();
  if (CUresult result = pack_parameters(grid->params, function.state->function(), params, extra))
    return result;
  std::shared_ptr<Instance> instance;
  if (CUresult result = find_code(function, shape, context, form.residency, &grid->code, &instance))
    return result;
  grid->priority =
      priority_levels * (options.has_priority ? options.priority : on.stream->priority());
  if (instance->program().launches_grids())
    grid->children = child_grids_of_launch(context, instance, grid->priority);
  if (CUresult result =
          fill_grid(*grid, shape, form, options, context, *function.state, std::move(instance)))
    return result;
  if (on.handle) grid->partition = on.handle->partition;
  context.print.flush();
  seal_freed_memory();
  before_work(context, *on.stream);
  if (options.all_begun) record_beginning(*grid, context, options.all_begun);
  uint64_t seq = on.stream->launch(std::move(grid));
  if (options.all_over) on.stream->record(options.all_over);
  if (!driver().settings.launch_blocking) return CUDA_SUCCESS;
  on.stream->wait(seq, context.wait_policy());
  context.print.flush();
  return context.sticky();
}

CUresult launch(Function& function, const Shape& shape, CUstream stream, void** params,
                void** extra, const Options& options) {
  ResolvedStream on;
  if (CUresult result = resolve_stream(stream, &on, UnderCapture::record)) return result;
  return launch_on(function, shape, on, params, extra, options);
}

/// Launch of the calls before CUDA 4: shape and parameters were set on the function.
CUresult launch_old(CUfunction f, int width, int height, CUstream stream) {
  Function* function;
  if (CUresult result = resolve_launchable(f, &function)) return result;
  if (width <= 0 || height <= 0) return CUDA_ERROR_INVALID_VALUE;
  Shape shape{{uint32_t(width), uint32_t(height), 1}, {}, function->shared_bytes};
  std::copy(function->shape, function->shape + 3, shape.block);
  size_t bytes = function->parameters.size();
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, function->parameters.data(),
                   CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes, CU_LAUNCH_PARAM_END};
  return launch(*function, shape, stream, nullptr, bytes ? extra : nullptr, {});
}

constexpr size_t most_parameter_bytes = 32764;

CUresult set_parameter(CUfunction f, int offset, const void* bytes, size_t count) {
  Function* function;
  if (CUresult result = resolve_launchable(f, &function)) return result;
  if (offset < 0 || !bytes || size_t(offset) + count > most_parameter_bytes)
    return CUDA_ERROR_INVALID_VALUE;
  if (function->parameters.size() < size_t(offset) + count)
    function->parameters.resize(size_t(offset) + count);
  // Not memcpy: nothing at offset 0 of no parameters yet would be a null destination.
  std::copy_n(static_cast<const uint8_t*>(bytes), count, function->parameters.begin() + offset);
  return CUDA_SUCCESS;
}

}  // namespace

CUresult cuLaunchKernel(CUfunction f, unsigned int gridDimX, unsigned int gridDimY,
                        unsigned int gridDimZ, unsigned int blockDimX, unsigned int blockDimY,
                        unsigned int blockDimZ, unsigned int sharedMemBytes, CUstream hStream,
                        void** kernelParams, void** extra) {
  Function* function;
  if (CUresult result = resolve_launchable(f, &function)) return result;
  Shape shape{{gridDimX, gridDimY, gridDimZ}, {blockDimX, blockDimY, blockDimZ}, sharedMemBytes};
  return launch(*function, shape, hStream, kernelParams, extra, {});
}

CUresult cuLaunchCooperativeKernel(CUfunction f, unsigned int gridDimX, unsigned int gridDimY,
                                   unsigned int gridDimZ, unsigned int blockDimX,
                                   unsigned int blockDimY, unsigned int blockDimZ,
                                   unsigned int sharedMemBytes, CUstream hStream,
                                   void** kernelParams) {
  Function* function;
  if (CUresult result = resolve_launchable(f, &function)) return result;
  Shape shape{{gridDimX, gridDimY, gridDimZ}, {blockDimX, blockDimY, blockDimZ}, sharedMemBytes};
  Options options;
  options.cooperative = true;
  return launch(*function, shape, hStream, kernelParams, nullptr, options);
}

CUresult cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction f, void** kernelParams,
                          void** extra) {
  if (!config) return CUDA_ERROR_INVALID_VALUE;
  Function* function;
  if (CUresult result = resolve_launchable(f, &function)) return result;
  ResolvedStream on;
  if (CUresult result = resolve_stream(config->hStream, &on, UnderCapture::record)) return result;
  Options options;
  if (CUresult result = read_launch_attributes(*config, *on.context, &options)) return result;
  Shape shape{{config->gridDimX, config->gridDimY, config->gridDimZ},
              {config->blockDimX, config->blockDimY, config->blockDimZ},
              config->sharedMemBytes};
  return launch_on(*function, shape, on, kernelParams, extra, options);
}

namespace {

/// One launch of several devices' cooperative launch, its stream and kernel found.
struct DeviceLaunch {
  Function* function = nullptr;
  ResolvedStream on;
};

bool is_same_launch(const CUDA_LAUNCH_PARAMS& a, const CUDA_LAUNCH_PARAMS& b) {
  return a.gridDimX == b.gridDimX && a.gridDimY == b.gridDimY && a.gridDimZ == b.gridDimZ &&
         a.blockDimX == b.blockDimX && a.blockDimY == b.blockDimY && a.blockDimZ == b.blockDimZ &&
         a.sharedMemBytes == b.sharedMemBytes;
}

/// source: CUDA Driver API 13.0, cuLaunchCooperativeKernelMultiDevice: streams with handles, each
/// of another device; equal shapes; the same code.
CUresult find_device_launches(const CUDA_LAUNCH_PARAMS* list, unsigned count,
                              std::vector<DeviceLaunch>* out) {
  for (unsigned i = 0; i < count; ++i) {
    DeviceLaunch one;
    if (CUresult result = resolve_launchable(list[i].function, &one.function)) return result;
    if (reinterpret_cast<uintptr_t>(list[i].hStream) <= 2) return CUDA_ERROR_INVALID_HANDLE;
    if (CUresult result = resolve_stream(list[i].hStream, &one.on)) return result;
    if (!is_same_launch(list[0], list[i])) return CUDA_ERROR_INVALID_VALUE;
    for (const DeviceLaunch& other : *out) {
      if (&other.on.context->device == &one.on.context->device) return CUDA_ERROR_INVALID_VALUE;
      if (other.function->state->function().name != one.function->state->function().name)
        return CUDA_ERROR_INVALID_VALUE;
    }
    out->push_back(one);
  }
  return CUDA_SUCCESS;
}

/// Makes each stream wait for what all the others hold now.
void meet(const std::vector<DeviceLaunch>& launches) {
  std::vector<StreamPoint> tails;
  for (const DeviceLaunch& one : launches) tails.push_back(one.on.stream->tail());
  for (const DeviceLaunch& one : launches)
    for (const StreamPoint& tail : tails) one.on.stream->wait_for(tail);
}

}  // namespace

CUresult cuLaunchCooperativeKernelMultiDevice(CUDA_LAUNCH_PARAMS* launchParamsList,
                                              unsigned int numDevices, unsigned int flags) {
  constexpr unsigned known = CUDA_COOPERATIVE_LAUNCH_MULTI_DEVICE_NO_PRE_LAUNCH_SYNC |
                             CUDA_COOPERATIVE_LAUNCH_MULTI_DEVICE_NO_POST_LAUNCH_SYNC;
  if (!launchParamsList || !numDevices || numDevices > driver().devices.size() || (flags & ~known))
    return CUDA_ERROR_INVALID_VALUE;
  std::vector<DeviceLaunch> launches;
  if (CUresult result = find_device_launches(launchParamsList, numDevices, &launches))
    return result;
  if (!(flags & CUDA_COOPERATIVE_LAUNCH_MULTI_DEVICE_NO_PRE_LAUNCH_SYNC)) meet(launches);
  Options options;
  options.cooperative = true;
  for (unsigned i = 0; i < numDevices; ++i) {
    const CUDA_LAUNCH_PARAMS& one = launchParamsList[i];
    Shape shape{{one.gridDimX, one.gridDimY, one.gridDimZ},
                {one.blockDimX, one.blockDimY, one.blockDimZ},
                one.sharedMemBytes};
    if (CUresult result = launch_on(*launches[i].function, shape, launches[i].on, one.kernelParams,
                                    nullptr, options))
      return result;
  }
  if (!(flags & CUDA_COOPERATIVE_LAUNCH_MULTI_DEVICE_NO_POST_LAUNCH_SYNC)) meet(launches);
  return CUDA_SUCCESS;
}

CUresult cuFuncSetBlockShape(CUfunction hfunc, int x, int y, int z) {
  Function* function;
  if (CUresult result = resolve_launchable(hfunc, &function)) return result;
  if (x <= 0 || y <= 0 || z <= 0) return CUDA_ERROR_INVALID_VALUE;
  const Device* device;
  if (CUresult result = device_of(*function, &device)) return result;
  const uint64_t threads = uint64_t(x) * uint64_t(y) * uint64_t(z);
  if (x > device->limit(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X) ||
      y > device->limit(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y) ||
      z > device->limit(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z) ||
      threads > uint64_t(device->limit(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK)))
    return CUDA_ERROR_INVALID_VALUE;
  function->shape[0] = x, function->shape[1] = y, function->shape[2] = z;
  return CUDA_SUCCESS;
}

CUresult cuFuncSetSharedSize(CUfunction hfunc, unsigned int bytes) {
  Function* function;
  if (CUresult result = resolve_launchable(hfunc, &function)) return result;
  const Device* device;
  if (CUresult result = device_of(*function, &device)) return result;
  if (CUresult result = check_shared({{}, {}, bytes}, *function->state, *device)) return result;
  function->shared_bytes = bytes;
  return CUDA_SUCCESS;
}

CUresult cuParamSetSize(CUfunction hfunc, unsigned int numbytes) {
  Function* function;
  if (CUresult result = resolve_launchable(hfunc, &function)) return result;
  if (numbytes > most_parameter_bytes) return CUDA_ERROR_INVALID_VALUE;
  function->parameters.resize(numbytes);
  return CUDA_SUCCESS;
}

CUresult cuParamSeti(CUfunction hfunc, int offset, unsigned int value) {
  return set_parameter(hfunc, offset, &value, sizeof value);
}

CUresult cuParamSetf(CUfunction hfunc, int offset, float value) {
  return set_parameter(hfunc, offset, &value, sizeof value);
}

CUresult cuParamSetv(CUfunction hfunc, int offset, void* ptr, unsigned int numbytes) {
  return set_parameter(hfunc, offset, ptr, numbytes);
}

CUresult cuParamSetTexRef(CUfunction hfunc, int texunit, CUtexref hTexRef) {
  Function* function;
  if (CUresult result = resolve_launchable(hfunc, &function)) return result;
  (void)texunit;  // every number passes: measured H200, driver 580.159.04
  // A reference is bound to its module, and so to this kernel: there is nothing left to add.
  return driver().texture_references.resolve(hTexRef) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

CUresult cuLaunch(CUfunction f) { return launch_old(f, 1, 1, nullptr); }

CUresult cuLaunchGrid(CUfunction f, int grid_width, int grid_height) {
  return launch_old(f, grid_width, grid_height, nullptr);
}

CUresult cuLaunchGridAsync(CUfunction f, int grid_width, int grid_height, CUstream hStream) {
  return launch_old(f, grid_width, grid_height, hStream);
}

}  // namespace limen::cpu
