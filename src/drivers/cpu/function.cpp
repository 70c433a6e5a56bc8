// Attributes of kernels: cuFunc* and cuKernel*. Numbers come from the PTX: static shared and local
// memory, limits asked for. Registers are an estimate (compiler/ptx/register_count.h) that limits
// nothing. Thread rule: any thread; attributes are atomics.
#include "abi/cpu_api.h"
#include "compiler/ptx/register_count.h"
#include "drivers/cpu/context.h"
#include "drivers/cpu/launch.h"
#include "drivers/cpu/module/module.h"

namespace limen::cpu {

namespace {

CUresult resolve_kernel(CUkernel handle, Function** kernel) {
  return resolve_function(reinterpret_cast<CUfunction>(handle), kernel);
}

int constant_bytes(const ptx::Module& module) {
  uint64_t bytes = 0;
  for (const ptx::Variable& variable : module.variables)
    if (variable.space == ptx::Space::constant) bytes += variable.bytes;
  return static_cast<int>(bytes);
}

CUresult count_registers(int* value, KernelState& state, const Device& device) {
  auto estimate = state.program->registers(state.index);
  if (!estimate.ok()) return report(estimate.error());
  const int available = device.limit(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR);
  *value = static_cast<int>(
      ptx::limit_registers(state.function(), *estimate, static_cast<uint32_t>(available)));
  return CUDA_SUCCESS;
}

uint64_t threads_of(const std::array<uint32_t, 3>& limit) {
  return uint64_t{limit[0]} * std::max(limit[1], 1u) * std::max(limit[2], 1u);
}

/// .reqntid is not seen here: measured H200, driver 580.159.04.
int told_threads(const ptx::Function& function, const Device& device) {
  const int most = device.limit(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
  if (!function.max_ntid[0]) return most;
  return static_cast<int>(std::min(threads_of(function.max_ntid), static_cast<uint64_t>(most)));
}

}  // namespace

CUresult get_function_attribute(int* value, CUfunction_attribute attribute, KernelState& state,
                                const Device& device) {
  auto needs = state.program->needs(state.index);
  if (!needs.ok()) return report(needs.error());
  const ptx::Module& module = state.program->module();
  switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
      *value = told_threads(state.function(), device);
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
      *value = static_cast<int>(needs->static_shared_bytes);
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
      *value = constant_bytes(module);
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
      *value = static_cast<int>(needs->local_bytes);
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_NUM_REGS:
      return count_registers(value, state, device);
    case CU_FUNC_ATTRIBUTE_PTX_VERSION:
      *value = static_cast<int>(module.target_sm);
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
      *value = static_cast<int>(device.capability());
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_CACHE_MODE_CA:
      *value = 0;
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
      *value = most_dynamic_shared(state, needs->static_shared_bytes, device);
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
      *value = state.on(device).carveout;
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET:
      *value = state.function().explicit_cluster;
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH: {
      uint32_t cluster[3];
      cluster_dimensions(state, device, nullptr, cluster);
      *value = static_cast<int>(cluster[attribute - CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH]);
      return CUDA_SUCCESS;
    }
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
      *value = state.on(device).non_portable_cluster;
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
      *value = state.on(device).cluster_policy;
      return CUDA_SUCCESS;
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}

namespace {

CUresult set_attribute(CUfunction_attribute attribute, int value, Function& function,
                       const Device& device) {
  KernelState& state = *function.state;
  KernelAttributes& set = state.on(device);
  switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES: {
      auto needs = state.program->needs(state.index);
      if (!needs.ok()) return report(needs.error());
      int most = device.limit(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN) -
                 static_cast<int>(needs->static_shared_bytes);
      if (value < 0 || value > most) return CUDA_ERROR_INVALID_VALUE;
      set.max_dynamic_shared_bytes = value;
      return CUDA_SUCCESS;
    }
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
      if (value < -1 || value > 100) return CUDA_ERROR_INVALID_VALUE;
      set.carveout = value;  // a hint: caches and shared memory are not shared here
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH: {
      const auto i = static_cast<size_t>(attribute - CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH);
      if (state.function().req_cluster[0]) return CUDA_ERROR_NOT_PERMITTED;
      if (value < 0) return CUDA_ERROR_INVALID_VALUE;
      set.required_cluster[i] = value;
      return CUDA_SUCCESS;
    }
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
      if (value < 0 || value > 1) return CUDA_ERROR_INVALID_VALUE;
      set.non_portable_cluster = value;
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
      if (value < 0 || value > static_cast<int>(CU_CLUSTER_SCHEDULING_POLICY_LOAD_BALANCING))
        return CUDA_ERROR_INVALID_VALUE;
      set.cluster_policy = value;
      return CUDA_SUCCESS;
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}

CUresult param_info(Function& function, size_t index, size_t* offset, size_t* size) {
  if (!offset) return CUDA_ERROR_INVALID_VALUE;
  const auto& params = function.state->function().params;
  if (index >= params.size()) return CUDA_ERROR_INVALID_VALUE;
  *offset = params[index].offset;
  if (size) *size = params[index].bytes;
  return CUDA_SUCCESS;
}

bool is_cache_config(CUfunc_cache config) {
  return config >= CU_FUNC_CACHE_PREFER_NONE && config <= CU_FUNC_CACHE_PREFER_EQUAL;
}

}  // namespace

CUresult device_of(const Function& function, const Device** device) {
  if (function.module) {
    *device = &function.module->context->device;
    return function.module->context->sticky();
  }
  Context* context;
  if (CUresult result = current_usable(&context)) return result;
  *device = &context->device;
  return CUDA_SUCCESS;
}

int most_threads(const ptx::Function& function, const Device& device) {
  int most = device.limit(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
  for (const auto& limit : {function.max_ntid, function.req_ntid}) {
    if (!limit[0]) continue;
    most = static_cast<int>(std::min(threads_of(limit), static_cast<uint64_t>(most)));
  }
  return most;
}

int most_dynamic_shared(const KernelState& state, uint32_t static_bytes, const Device& device) {
  int set = state.on(device).max_dynamic_shared_bytes;
  if (set >= 0) return set;
  return std::max(device.limit(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK) -
                      static_cast<int>(static_bytes),
                  0);
}

CUresult cuFuncGetAttribute(int* pi, CUfunction_attribute attrib, CUfunction hfunc) {
  if (!pi) return CUDA_ERROR_INVALID_VALUE;
  Function* function;
  if (CUresult result = resolve_function(hfunc, &function)) return result;
  const Device* device;
  if (CUresult result = device_of(*function, &device)) return result;
  return get_function_attribute(pi, attrib, *function->state, *device);
}

CUresult cuFuncSetAttribute(CUfunction hfunc, CUfunction_attribute attrib, int value) {
  Function* function;
  if (CUresult result = resolve_function(hfunc, &function)) return result;
  const Device* device;
  if (CUresult result = device_of(*function, &device)) return result;
  return set_attribute(attrib, value, *function, *device);
}

CUresult cuFuncSetCacheConfig(CUfunction hfunc, CUfunc_cache config) {
  Function* function;
  if (CUresult result = resolve_function(hfunc, &function)) return result;
  return is_cache_config(config) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuFuncSetSharedMemConfig(CUfunction hfunc, CUsharedconfig config) {
  Function* function;
  if (CUresult result = resolve_function(hfunc, &function)) return result;
  bool known = config >= CU_SHARED_MEM_CONFIG_DEFAULT_BANK_SIZE &&
               config <= CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE;
  return known ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuFuncGetModule(CUmodule* hmod, CUfunction hfunc) {
  if (!hmod || !hfunc) return CUDA_ERROR_INVALID_VALUE;
  Function* function;
  if (CUresult result = resolve_function(hfunc, &function)) return result;
  if (function->module) {
    *hmod = reinterpret_cast<CUmodule>(function->module);
    return CUDA_SUCCESS;
  }
  Context* context;
  if (CUresult result = current_usable(&context)) return result;
  auto module = module_of(*function->library, *context);
  if (!module.ok()) return report(module.error());
  *hmod = reinterpret_cast<CUmodule>(*module);
  return CUDA_SUCCESS;
}

// No function is a wrong value here, not a wrong handle. source: cuda-python's
// test_cuFuncGetName_failure and test_cuKernelGetName_failure.
CUresult cuFuncGetName(const char** name, CUfunction hfunc) {
  if (!name || !hfunc) return CUDA_ERROR_INVALID_VALUE;
  Function* function;
  if (CUresult result = resolve_function(hfunc, &function)) return result;
  *name = function->state->function().name.c_str();
  return CUDA_SUCCESS;
}

CUresult cuFuncGetParamInfo(CUfunction func, size_t paramIndex, size_t* paramOffset,
                            size_t* paramSize) {
  if (!paramOffset || !func) return CUDA_ERROR_INVALID_VALUE;
  Function* function;
  if (CUresult result = resolve_function(func, &function)) return result;
  return param_info(*function, paramIndex, paramOffset, paramSize);
}

CUresult cuFuncIsLoaded(CUfunctionLoadingState* state, CUfunction hfunc) {
  if (!state) return CUDA_ERROR_INVALID_VALUE;
  Function* function;
  if (CUresult result = resolve_function(hfunc, &function)) return result;
  std::lock_guard lock(function->mutex);
  const bool loaded = function->code || function->state->loaded || driver().settings.eager_loading;
  *state = loaded ? CU_FUNCTION_LOADING_STATE_LOADED : CU_FUNCTION_LOADING_STATE_UNLOADED;
  return CUDA_SUCCESS;
}

// Reads and checks the kernel. Machine code is made for a block shape, so at the first launch.
CUresult cuFuncLoad(CUfunction hfunc) {
  Function* function;
  if (CUresult result = resolve_function(hfunc, &function)) return result;
  auto needs = function->state->program->needs(function->state->index);
  if (!needs.ok()) return report(needs.error());
  function->state->loaded = true;
  return CUDA_SUCCESS;
}

CUresult cuKernelGetAttribute(int* pi, CUfunction_attribute attrib, CUkernel handle, CUdevice dev) {
  Device* device = driver().device(dev);
  if (!device) return CUDA_ERROR_INVALID_DEVICE;
  Function* kernel;
  if (CUresult result = resolve_kernel(handle, &kernel)) return result;
  if (!pi) return CUDA_ERROR_INVALID_VALUE;
  return get_function_attribute(pi, attrib, *kernel->state, *device);
}

CUresult cuKernelSetAttribute(CUfunction_attribute attrib, int val, CUkernel handle, CUdevice dev) {
  Device* device = driver().device(dev);
  if (!device) return CUDA_ERROR_INVALID_DEVICE;
  Function* kernel;
  if (CUresult result = resolve_kernel(handle, &kernel)) return result;
  return set_attribute(attrib, val, *kernel, *device);
}

CUresult cuKernelSetCacheConfig(CUkernel handle, CUfunc_cache config, CUdevice dev) {
  if (!driver().device(dev)) return CUDA_ERROR_INVALID_DEVICE;
  Function* kernel;
  if (CUresult result = resolve_kernel(handle, &kernel)) return result;
  return is_cache_config(config) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuKernelGetName(const char** name, CUkernel handle) {
  return cuFuncGetName(name, reinterpret_cast<CUfunction>(handle));
}

CUresult cuKernelGetParamInfo(CUkernel handle, size_t paramIndex, size_t* paramOffset,
                              size_t* paramSize) {
  // Unlike a function's, a kernel's parameters are told in a context only. measured H200, driver
  // 580.159.04
  if (!paramOffset || !handle) return CUDA_ERROR_INVALID_VALUE;
  Context* context;
  if (CUresult result = current_usable(&context)) return result;
  return cuFuncGetParamInfo(reinterpret_cast<CUfunction>(handle), paramIndex, paramOffset,
                            paramSize);
}

}  // namespace limen::cpu
