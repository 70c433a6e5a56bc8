// cuModule*: loading, symbols, unloading. Lazy: kernels are compiled at their first launch.
// Invariant: a module that is unloaded leaves nothing behind but what launches in flight still
// hold. Thread rule: any thread.
#include "drivers/cpu/module/module.h"

#include <algorithm>
#include <cstdio>

#include <fmt/format.h>

#include "abi/cpu_api.h"
#include "base/log.h"
#include "drivers/cpu/context.h"
#include "drivers/cpu/texture/reference.h"

namespace limen::cpu {

namespace {

CUresult load(CUmodule* out, const void* image, JitOptions& log, bool wrapped = false) {
  Context* context;
  if (CUresult result = current_usable(&context)) return result;
  if (!out) return CUDA_ERROR_INVALID_VALUE;
  context->print.flush();
  auto chosen = choose_ptx(image, context->device, wrapped);
  if (!chosen.ok()) return report_to_log(chosen.error(), log);
  auto program = make_program(std::move(*chosen), log);
  if (!program.ok()) return report_to_log(program.error(), log);
  auto instance = Instance::make(*program, *context, std::make_shared<ManagedVariables>());
  if (!instance.ok()) return report_to_log(instance.error(), log);
  Module* module = driver().modules.create();
  if (!module) return CUDA_ERROR_OUT_OF_MEMORY;
  module->context = context;
  module->instance = std::move(*instance);
  {
    std::lock_guard lock(context->mutex);
    context->modules.insert(module);
  }
  log.deliver();
  *out = reinterpret_cast<CUmodule>(module);
  return CUDA_SUCCESS;
}

}  // namespace

CUresult report_to_log(const Error& error, JitOptions& log) {
  // The words of NVIDIA's log around our message: programs and people search it for the line.
  unsigned line = 0, column = 0;
  int end = 0;
  const char* what = error.what.c_str();
  if (std::sscanf(what, "line %u, column %u: %n", &line, &column, &end) == 2 && end > 0)
    log.error(fmt::format("ptxas application ptx input, line {}; error   : {} (column {})", line,
                          what + end, column));
  else if (end = 0; std::sscanf(what, "line %u: %n", &line, &end) == 1 && end > 0)
    log.error(fmt::format("ptxas application ptx input, line {}; error   : {}", line, what + end));
  else
    log.error("error   : " + error.what);
  if (line) log.error("ptxas fatal   : Ptx assembly aborted due to errors");
  log.deliver();
  return report(error);
}

KernelState::KernelState() : attributes_(new KernelAttributes[driver().devices.size()]) {}

CUresult resolve_module(CUmodule handle, Module** module) {
  *module = driver().modules.resolve(handle);
  return *module ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

CUresult resolve_function(CUfunction handle, Function** function) {
  *function = driver().functions.resolve(handle);
  return *function ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

CUresult resolve_launchable(CUfunction handle, Function** function) {
  CUresult result = resolve_function(handle, function);
  if (result == CUDA_SUCCESS) return result;
  // No context, or one that has failed, is told before a bad handle. measured H200, driver 580.x
  Context* context;
  CUresult state = current_usable(&context);
  return state ? state : result;
}

CUresult no_such_variable(const Program& program, const char* name) {
  return program.find_kernel(name) == ptx::no_index ? CUDA_ERROR_NOT_FOUND
                                                    : CUDA_ERROR_INVALID_VALUE;
}

Function* function_of(Module& module, ptx::Index kernel) {
  std::lock_guard lock(module.mutex);
  Function*& function = module.functions[kernel];
  if (function) return function;
  function = driver().functions.create();
  if (!function) return nullptr;
  if (module.library) {
    std::lock_guard library(module.library->mutex);
    auto& state = module.library->states[kernel];
    if (!state) state = std::make_shared<KernelState>();
    function->state = state;
  } else {
    function->state = std::make_shared<KernelState>();
  }
  if (!function->state->program) {
    function->state->index = kernel;
    function->state->program =
        std::shared_ptr<Program>(module.instance, &module.instance->program());
    function->state->program->share_state(kernel, function->state);
  }
  function->module = &module;
  function->instance = module.instance;
  return function;
}

void destroy_module(Module* module) {
  if (module->instance) forget_references(*module);
  for (auto& [index, function] : module->functions)
    if (function) driver().functions.destroy(function);
  driver().modules.destroy(module);
}

CUresult cuModuleLoadData(CUmodule* module, const void* image) {
  JitOptions log;
  return load(module, image, log);
}

CUresult cuModuleLoadDataEx(CUmodule* module, const void* image, unsigned int numOptions,
                            CUjit_option* options, void** optionValues) {
  Context* context;
  if (CUresult result = current_usable(&context)) return result;
  JitOptions log;
  if (CUresult result = log.read(numOptions, options, optionValues)) return result;
  return load(module, image, log);
}

CUresult cuModuleLoadFatBinary(CUmodule* module, const void* fatCubin) {
  JitOptions log;
  return load(module, fatCubin, log, true);
}

CUresult cuModuleLoad(CUmodule* module, const char* fname) {
  Context* context;
  if (CUresult result = current_usable(&context)) return result;
  if (!module || !fname || !*fname) return CUDA_ERROR_INVALID_VALUE;
  auto bytes = read_file(fname);
  if (!bytes.ok()) return report(bytes.error());
  JitOptions log;
  return load(module, bytes->c_str(), log);
}

CUresult cuModuleUnload(CUmodule hmod) {
  Module* module;
  if (CUresult result = resolve_module(hmod, &module)) return result;
  Context* context = module->context;
  if (CUresult result = context->sticky()) return result;
  if (module->library) return CUDA_ERROR_NOT_PERMITTED;
  if (!driver().modules.retire(module)) return CUDA_ERROR_INVALID_HANDLE;
  {
    std::lock_guard lock(context->mutex);
    context->modules.erase(module);
  }
  context->print.flush();
  destroy_module(module);
  return CUDA_SUCCESS;
}

CUresult cuModuleGetLoadingMode(CUmoduleLoadingMode* mode) {
  if (!mode) return CUDA_ERROR_INVALID_VALUE;
  *mode = driver().settings.eager_loading ? CU_MODULE_EAGER_LOADING : CU_MODULE_LAZY_LOADING;
  return CUDA_SUCCESS;
}

CUresult cuModuleGetFunction(CUfunction* hfunc, CUmodule hmod, const char* name) {
  Module* module;
  if (CUresult result = resolve_module(hmod, &module)) return result;
  if (!hfunc || !name || !*name) return CUDA_ERROR_INVALID_VALUE;
  if (CUresult result = module->context->sticky()) return result;
  ptx::Index kernel = module->instance->program().find_kernel(name);
  *hfunc = nullptr;
  if (kernel == ptx::no_index) return CUDA_ERROR_NOT_FOUND;
  Function* function = function_of(*module, kernel);
  if (!function) return CUDA_ERROR_OUT_OF_MEMORY;
  // To ask for a function by name is to load it: measured H200, driver 580.159.04.
  function->state->loaded = true;
  *hfunc = reinterpret_cast<CUfunction>(function);
  return CUDA_SUCCESS;
}

CUresult cuModuleGetFunctionCount(unsigned int* count, CUmodule mod) {
  if (!count) return CUDA_ERROR_INVALID_VALUE;
  Module* module;
  if (CUresult result = resolve_module(mod, &module)) return result;
  *count = static_cast<unsigned>(module->instance->program().kernels().size());
  return CUDA_SUCCESS;
}

CUresult cuModuleEnumerateFunctions(CUfunction* functions, unsigned int numFunctions,
                                    CUmodule mod) {
  // No room is no error. measured H200, driver 580.159.04
  if (!functions) return CUDA_ERROR_INVALID_VALUE;
  Module* module;
  if (CUresult result = resolve_module(mod, &module)) return result;
  const auto& kernels = module->instance->program().kernels();
  for (size_t i = 0; i < kernels.size() && i < numFunctions; ++i)
    functions[i] = reinterpret_cast<CUfunction>(function_of(*module, kernels[i]));
  return CUDA_SUCCESS;
}

CUresult cuModuleGetGlobal(CUdeviceptr* dptr, size_t* bytes, CUmodule hmod, const char* name) {
  Module* module;
  if (CUresult result = resolve_module(hmod, &module)) return result;
  if (!name || !*name || (!dptr && !bytes)) return CUDA_ERROR_INVALID_VALUE;
  if (CUresult result = module->context->sticky()) return result;
  if (dptr) *dptr = 0;
  if (bytes) *bytes = 0;
  Program& program = module->instance->program();
  ptx::Index variable = program.find_variable(name);
  if (variable == ptx::no_index) return no_such_variable(program, name);
  if (!module->instance->address(variable)) return CUDA_ERROR_NOT_FOUND;
  if (dptr) *dptr = module->instance->address(variable);
  if (bytes) *bytes = program.module().variables[variable].bytes;
  return CUDA_SUCCESS;
}

}  // namespace limen::cpu
