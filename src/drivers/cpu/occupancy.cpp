// cuOccupancy*: how many blocks of a kernel fit a multiprocessor. The arithmetic is that of a real
// multiprocessor with the limits the device reports, because programs size their grids by it.
// Thread rule: pure functions of the kernel and the device.
#include <algorithm>

#include "abi/cpu_api.h"
#include "drivers/cpu/context.h"
#include "drivers/cpu/green.h"
#include "drivers/cpu/launch.h"
#include "drivers/cpu/module/module.h"

namespace limen::cpu {

namespace {

/// Shared memory is given out in units of this size, with a reserved part a block.
/// source: CUDA C++ Programming Guide, compute capability 8.0 and later.
constexpr int64_t shared_unit_bytes = 128;

struct Question {
  KernelState* state = nullptr;
  const Device* device = nullptr;
  int64_t static_bytes = 0;
  int64_t most_dynamic = 0;     ///< what a launch may ask for now
  int64_t multiprocessors = 0;  ///< of the device or of the current green context
};

CUresult read_needs(Question* out) {
  KernelState& state = *out->state;
  auto needs = state.program->needs(state.index);
  if (!needs.ok()) return report(needs.error());
  out->static_bytes = needs->static_shared_bytes;
  out->most_dynamic = most_dynamic_shared(state, needs->static_shared_bytes, *out->device);
  return CUDA_SUCCESS;
}

CUresult prepare(CUfunction handle, Question* out) {
  Function* function;
  if (CUresult result = resolve_launchable(handle, &function)) return result;
  out->state = function->state.get();
  Context* context = function->module ? function->module->context : nullptr;
  if (context) {
    if (CUresult result = context->sticky()) return result;
  } else if (CUresult result = current_usable(&context)) {
    return result;
  }
  out->device = &context->device;
  GreenContext* green;
  if (CUresult result = current_green(&green)) return result;
  out->multiprocessors =
      green ? static_cast<int64_t>(green->set.sms.size()) : context->device.multiprocessors();
  return read_needs(out);
}

int64_t shared_of_block(const Question& question, int64_t dynamic_bytes) {
  int64_t bytes = question.static_bytes + dynamic_bytes +
                  question.device->limit(CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK);
  return (bytes + shared_unit_bytes - 1) / shared_unit_bytes * shared_unit_bytes;
}

/// The kernel's own bound of threads is the launch's matter: a multiprocessor would hold such
/// blocks. measured H200, driver 580.159.04
int blocks_that_fit(const Question& question, int64_t block_threads, int64_t dynamic_bytes) {
  const Device& device = *question.device;
  int64_t most = device.limit(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
  if (block_threads > most || dynamic_bytes > question.most_dynamic) return 0;
  int64_t warps = (block_threads + 31) / 32;
  int64_t by_threads =
      device.limit(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR) / 32 / warps;
  int64_t by_shared = device.limit(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR) /
                      shared_of_block(question, dynamic_bytes);
  int64_t by_registers = device.limit(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR) /
                         (warps * 32 * nominal_registers);
  int64_t by_blocks = device.limit(CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR);
  return static_cast<int>(std::min({by_threads, by_shared, by_registers, by_blocks}));
}

/// Blocks of the configured launch that a multiprocessor holds.
int64_t blocks_of_config(const Question& question, const CUlaunchConfig& config) {
  const uint64_t threads = uint64_t{config.blockDimX} * config.blockDimY * config.blockDimZ;
  if (threads == 0 ||
      threads > static_cast<uint64_t>(most_threads(question.state->function(), *question.device)))
    return 0;
  return blocks_that_fit(question, static_cast<int64_t>(threads), config.sharedMemBytes);
}

/// The cluster dimensions that the configuration names, or nullptr.
const uint32_t* asked_cluster(const CUlaunchConfig& config, uint32_t out[3]) {
  for (unsigned i = 0; i < config.numAttrs; ++i) {
    if (config.attrs[i].id != CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION) continue;
    out[0] = config.attrs[i].value.clusterDim.x;
    out[1] = config.attrs[i].value.clusterDim.y;
    out[2] = config.attrs[i].value.clusterDim.z;
    return out;
  }
  return nullptr;
}

}  // namespace

void cluster_dimensions(const KernelState& state, const Device& device, const uint32_t* asked,
                        uint32_t out[3]) {
  const KernelAttributes& set = state.on(device);
  const ptx::Function& kernel = state.function();
  for (size_t i = 0; i < 3; ++i) {
    if (asked)
      out[i] = asked[i];
    else if (kernel.req_cluster[0])
      out[i] = std::max(kernel.req_cluster[i], 1u);
    else if (set.required_cluster[0] > 0)
      out[i] = static_cast<uint32_t>(std::max(set.required_cluster[i].load(), 1));
    else
      out[i] = 0;
  }
}

uint32_t most_cluster_blocks(const KernelState& state, const Device& device) {
  const uint32_t most =
      state.on(device).non_portable_cluster ? engine::most_cluster_blocks : portable_cluster_blocks;
  const uint32_t rank = state.function().max_cluster_rank;
  return rank ? std::min(most, rank) : most;
}

CUresult resident_blocks(KernelState& state, const Device& device, int64_t block_threads,
                         int64_t dynamic_bytes, int* blocks) {
  Question question;
  question.state = &state;
  question.device = &device;
  if (CUresult result = read_needs(&question)) return result;
  *blocks = blocks_that_fit(question, block_threads, dynamic_bytes);
  return CUDA_SUCCESS;
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int* numBlocks, CUfunction func, int blockSize,
                                                     size_t dynamicSMemSize) {
  return cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
      numBlocks, func, blockSize, dynamicSMemSize, CU_OCCUPANCY_DEFAULT);
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* numBlocks, CUfunction func,
                                                              int blockSize, size_t dynamicSMemSize,
                                                              unsigned int flags) {
  Context* context;
  if (CUresult result = current_usable(&context)) return result;
  if (!numBlocks || blockSize <= 0 || flags > CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE)
    return CUDA_ERROR_INVALID_VALUE;
  Question question;
  if (CUresult result = prepare(func, &question)) return result;
  *numBlocks = blocks_that_fit(question, blockSize, static_cast<int64_t>(dynamicSMemSize));
  return CUDA_SUCCESS;
}

CUresult cuOccupancyMaxPotentialBlockSize(int* minGridSize, int* blockSize, CUfunction func,
                                          CUoccupancyB2DSize blockSizeToDynamicSMemSize,
                                          size_t dynamicSMemSize, int blockSizeLimit) {
  return cuOccupancyMaxPotentialBlockSizeWithFlags(minGridSize, blockSize, func,
                                                   blockSizeToDynamicSMemSize, dynamicSMemSize,
                                                   blockSizeLimit, CU_OCCUPANCY_DEFAULT);
}

CUresult cuOccupancyMaxPotentialBlockSizeWithFlags(int* minGridSize, int* blockSize,
                                                   CUfunction func,
                                                   CUoccupancyB2DSize blockSizeToDynamicSMemSize,
                                                   size_t dynamicSMemSize, int blockSizeLimit,
                                                   unsigned int flags) {
  Context* context;
  if (CUresult result = current_usable(&context)) return result;
  if (!minGridSize || !blockSize || blockSizeLimit < 0 ||
      flags > CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE)
    return CUDA_ERROR_INVALID_VALUE;
  Question question;
  if (CUresult result = prepare(func, &question)) return result;
  int limit = most_threads(question.state->function(), *question.device);
  if (blockSizeLimit) limit = std::min(limit, blockSizeLimit);
  // The largest block among those that keep most threads resident, as NVIDIA's own search does.
  int best_threads = 0, best_block = 0, best_blocks = 0;
  for (int block = (limit + 31) / 32 * 32; block > 0; block -= 32) {
    int size = std::min(block, limit);
    size_t dynamic =
        blockSizeToDynamicSMemSize ? blockSizeToDynamicSMemSize(size) : dynamicSMemSize;
    int blocks = blocks_that_fit(question, size, static_cast<int64_t>(dynamic));
    if (blocks * size <= best_threads) continue;
    best_threads = blocks * size;
    best_block = size;
    best_blocks = blocks;
  }
  *blockSize = best_block;
  *minGridSize = best_blocks * static_cast<int>(question.multiprocessors);
  return CUDA_SUCCESS;
}

CUresult cuOccupancyMaxPotentialClusterSize(int* clusterSize, CUfunction func,
                                            const CUlaunchConfig* config) {
  // Before the context, as an H200's driver.
  if (!clusterSize || !func || !config || (config->numAttrs && !config->attrs))
    return CUDA_ERROR_INVALID_VALUE;
  Context* context;
  if (CUresult result = current_usable(&context)) return result;
  Question question;
  if (CUresult result = prepare(func, &question)) return result;
  if (blocks_of_config(question, *config) == 0) return CUDA_ERROR_INVALID_VALUE;
  // Whatever fits a multiprocessor may form a cluster: they form no groups here that bound it.
  *clusterSize = static_cast<int>(most_cluster_blocks(*question.state, *question.device));
  return CUDA_SUCCESS;
}

CUresult cuOccupancyMaxActiveClusters(int* numClusters, CUfunction func,
                                      const CUlaunchConfig* config) {
  if (!numClusters || !func || !config || (config->numAttrs && !config->attrs))
    return CUDA_ERROR_INVALID_VALUE;
  Context* context;
  if (CUresult result = current_usable(&context)) return result;
  Question question;
  if (CUresult result = prepare(func, &question)) return result;
  uint32_t asked[3], cluster[3];
  const KernelState& state = *question.state;
  cluster_dimensions(state, *question.device, asked_cluster(*config, asked), cluster);
  // measured H200, driver 580.159.04: 0 clusters where neither kernel nor launch asks for any.
  if (cluster[0] == 0 && !state.function().explicit_cluster) return *numClusters = 0, CUDA_SUCCESS;
  const uint64_t size = uint64_t{cluster[0]} * cluster[1] * cluster[2];
  if (size == 0 || size > most_cluster_blocks(state, *question.device))
    return CUDA_ERROR_INVALID_CLUSTER_SIZE;
  const int64_t a_multiprocessor = blocks_of_config(question, *config);
  const int64_t clusters = a_multiprocessor * question.multiprocessors / static_cast<int64_t>(size);
  // One cluster runs even where fewer multiprocessors are shown than it has blocks.
  *numClusters = static_cast<int>(a_multiprocessor ? std::max<int64_t>(clusters, 1) : 0);
  return CUDA_SUCCESS;
}

CUresult cuOccupancyAvailableDynamicSMemPerBlock(size_t* dynamicSmemSize, CUfunction func,
                                                 int numBlocks, int blockSize) {
  Context* context;
  if (CUresult result = current_usable(&context)) return result;
  if (!dynamicSmemSize || numBlocks <= 0 || blockSize <= 0) return CUDA_ERROR_INVALID_VALUE;
  Question question;
  if (CUresult result = prepare(func, &question)) return result;
  const Device& device = *question.device;
  if (blocks_that_fit(question, blockSize, 0) < numBlocks) return CUDA_ERROR_INVALID_VALUE;
  int64_t share = device.limit(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR) /
                  numBlocks / shared_unit_bytes * shared_unit_bytes;
  // What the system reserves of each block is not taken off, so that one block fewer may fit: an
  // H200 answers so (driver 580.159.04: 14 blocks of what was asked for 16).
  share -= question.static_bytes;
  *dynamicSmemSize =
      static_cast<size_t>(std::max<int64_t>(std::min(share, question.most_dynamic), 0));
  return CUDA_SUCCESS;
}

}  // namespace limen::cpu
