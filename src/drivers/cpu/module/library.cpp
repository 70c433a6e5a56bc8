// cuLibrary* and cuKernel*: code that belongs to no context. Loading only looks at the container;
// the PTX is unpacked and parsed when a symbol is first asked for. Invariant: a library has at most
// one module in a context. Thread rule: any thread; Library::mutex is taken after Module::mutex and
// never held while an instance is made.
#include <algorithm>
#include <shared_mutex>
#include <unordered_set>

#include "abi/cpu_api.h"
#include "base/closed_library.h"
#include "base/log.h"
#include "drivers/cpu/context.h"
#include "drivers/cpu/module/module.h"

namespace limen::cpu {

namespace {

/// All live libraries, so that a context that ends can tell them.
struct LibraryBook {
  std::mutex mutex;
  std::unordered_set<Library*> libraries;
};
LibraryBook& book() {
  static auto* made = new LibraryBook;
  return *made;
}

/// Libraries choose their PTX for the first device: all devices of this driver are alike.
const Device& any_device() { return *driver().devices.front(); }

struct LoadOptions {
  bool preserved = false;  ///< the image stays where it is until the library is unloaded
};

CUresult read_options(unsigned count, CUlibraryOption* options, void** values, LoadOptions* out) {
  constexpr unsigned most_options = 1024;  // a wild count is refused before the list is read
  if (count > most_options || (count && !options)) return CUDA_ERROR_INVALID_VALUE;
  for (unsigned i = 0; i < count; ++i) {
    if (options[i] < 0 || options[i] >= CU_LIBRARY_NUM_OPTIONS) return CUDA_ERROR_INVALID_VALUE;
    // cuBLASLt gives the option without values.
    if (options[i] == CU_LIBRARY_BINARY_IS_PRESERVED) out->preserved = !values || values[i];
  }
  return CUDA_SUCCESS;
}

/// Looks at the container; fills in the image, the chosen PTX, or the program.
Result<void> open_library(Library& library, const void* code, const LoadOptions& options,
                          JitOptions& log) {
  bool eager = driver().settings.eager_loading;
  auto image = fatbin::parse_pointer(code);
  if (image.ok() && image->form() != fatbin::Form::ptx_text && options.preserved && !eager) {
    // Whether there is anything to run is known without unpacking it.
    library.capability = capability_for(code, any_device().capability());
    auto choice = fatbin::choose_ptx(*image, library.capability);
    if (!choice.ok() && is_in_closed_library(code)) return closed_library_error(choice.error());
    if (!choice.ok()) return choice.take_error();
    library.image = std::make_unique<fatbin::Image>(std::move(*image));
    return {};
  }
  LIMEN_TRY(ChosenPtx chosen, choose_ptx(code, any_device(), true));
  if (!chosen.user_text && !eager) {
    library.chosen = std::make_unique<ChosenPtx>(std::move(chosen));
    return {};
  }
  LIMEN_TRY(std::shared_ptr<Program> program, make_program(std::move(chosen), log));
  library.program = std::move(program);
  return {};
}

/// Code that cannot run is not this call's error: each use of the library answers it, as on
/// NVIDIA's driver with lazy loading (measured H200, driver 580.x).
CUresult load_library(CUlibrary* out, const void* code, const LoadOptions& options,
                      JitOptions& log) {
  Library* library = driver().libraries.create();
  if (!library) return CUDA_ERROR_OUT_OF_MEMORY;
  auto opened = open_library(*library, code, options, log);
  if (!opened.ok()) {
    CUresult result = report_to_log(opened.error(), log);
    if (driver().settings.eager_loading) {
      driver().libraries.destroy(library);
      return result;
    }
    library->failure = opened.take_error();
  }
  std::lock_guard lock(book().mutex);
  book().libraries.insert(library);
  log.deliver();
  *out = reinterpret_cast<CUlibrary>(library);
  return CUDA_SUCCESS;
}

CUresult resolve_kernel(CUkernel handle, Function** kernel) {
  return resolve_function(reinterpret_cast<CUfunction>(handle), kernel);
}

/// The CUkernel object of a library's kernel.
Function* kernel_of(Library& library, ptx::Index index) {
  std::lock_guard lock(library.mutex);
  Function*& kernel = library.kernels[index];
  if (kernel) return kernel;
  kernel = driver().functions.create();
  if (!kernel) return nullptr;
  auto& state = library.states[index];
  if (!state) state = std::make_shared<KernelState>();
  if (!state->program) {
    state->program = library.program;
    state->index = index;
    library.program->share_state(index, state);
  }
  kernel->state = state;
  kernel->library = &library;
  return kernel;
}

CUresult find_global(CUdeviceptr* dptr, size_t* bytes, CUlibrary handle, const char* name,
                     bool managed) {
  if (!name || (!dptr && !bytes)) return CUDA_ERROR_INVALID_VALUE;
  Library* library;
  if (CUresult result = resolve_library(handle, &library)) return result;
  Context* context;
  if (CUresult result = current_usable(&context)) return result;
  auto program = program_of(*library);
  if (!program.ok()) return report(program.error());
  if (dptr) *dptr = 0;
  if (bytes) *bytes = 0;
  ptx::Index variable = (*program)->find_variable(name);
  if (variable == ptx::no_index) return no_such_variable(**program, name);
  const ptx::Variable& found = (*program)->module().variables[variable];
  if (managed && !found.managed) return CUDA_ERROR_NOT_FOUND;
  auto module = module_of(*library, *context);
  if (!module.ok()) return report(module.error());
  uint64_t address = (*module)->instance->address(variable);
  if (!address) return CUDA_ERROR_NOT_FOUND;
  if (dptr) *dptr = address;
  if (bytes) *bytes = found.bytes;
  return CUDA_SUCCESS;
}

}  // namespace

CUresult resolve_library(CUlibrary handle, Library** library) {
  *library = driver().libraries.resolve(handle);
  return *library ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

Result<std::shared_ptr<Program>> program_of(Library& library) {
  std::lock_guard lock(library.mutex);
  if (library.failure) return *library.failure;
  if (library.program) return library.program;
  if (library.image) {
    LIMEN_TRY(ChosenPtx chosen, cpu::choose_ptx(*library.image, library.capability));
    library.chosen = std::make_unique<ChosenPtx>(std::move(chosen));
    library.image.reset();
  }
  if (!library.chosen)
    return Error{Code::invalid_image, "the library's code could not be read", ""};
  JitOptions log;
  auto program = make_program(std::move(*library.chosen), log);
  library.chosen.reset();
  if (program.ok())
    library.program = *program;
  else
    library.failure = std::make_unique<Error>(program.error());
  return program;
}

Result<Module*> module_of(Library& library, Context& context) {
  {
    std::lock_guard lock(library.mutex);
    auto found = library.modules.find(context.owner);
    if (found != library.modules.end()) return found->second;
  }
  LIMEN_TRY(std::shared_ptr<Program> program, program_of(library));
  LIMEN_TRY(std::shared_ptr<Instance> instance, Instance::make(program, context, library.managed));
  std::lock_guard lock(library.mutex);
  Module*& module = library.modules[context.owner];
  if (module) return module;  // another thread was first
  module = driver().modules.create();
  if (!module) return Error{Code::out_of_memory, "too many modules", ""};
  module->context = &context;
  module->library = &library;
  module->instance = std::move(instance);
  std::lock_guard list(context.mutex);
  context.modules.insert(module);
  return module;
}

void forget_library_instances(Context& context) {
  std::lock_guard lock(book().mutex);
  for (Library* library : book().libraries) {
    std::lock_guard inside(library->mutex);
    library->modules.erase(context.owner);
  }
}

CUresult cuLibraryLoadData(CUlibrary* library, const void* code, CUjit_option* jitOptions,
                           void** jitOptionsValues, unsigned int numJitOptions,
                           CUlibraryOption* libraryOptions, void** libraryOptionValues,
                           unsigned int numLibraryOptions) {
  if (!library || !code) return CUDA_ERROR_INVALID_VALUE;
  JitOptions log;
  if (CUresult result = log.read(numJitOptions, jitOptions, jitOptionsValues)) return result;
  LoadOptions options;
  if (CUresult result =
          read_options(numLibraryOptions, libraryOptions, libraryOptionValues, &options))
    return result;
  return load_library(library, code, options, log);
}

CUresult cuLibraryLoadFromFile(CUlibrary* library, const char* fileName, CUjit_option* jitOptions,
                               void** jitOptionsValues, unsigned int numJitOptions,
                               CUlibraryOption* libraryOptions, void** libraryOptionValues,
                               unsigned int numLibraryOptions) {
  if (!library || !fileName) return CUDA_ERROR_INVALID_VALUE;
  JitOptions log;
  if (CUresult result = log.read(numJitOptions, jitOptions, jitOptionsValues)) return result;
  LoadOptions options;
  if (CUresult result =
          read_options(numLibraryOptions, libraryOptions, libraryOptionValues, &options))
    return result;
  auto bytes = read_file(fileName);
  if (!bytes.ok()) return report(bytes.error());
  return load_library(library, bytes->c_str(), LoadOptions{}, log);
}

CUresult cuLibraryUnload(CUlibrary handle) {
  Library* library;
  if (CUresult result = resolve_library(handle, &library)) return result;
  if (!driver().libraries.retire(library)) return CUDA_ERROR_INVALID_HANDLE;
  // NVIDIA's runtime unloads from its exit handler, when kernels may still be running.
  if (process_is_exiting()) return CUDA_SUCCESS;
  {
    std::lock_guard lock(book().mutex);
    book().libraries.erase(library);
  }
  std::unordered_map<uint32_t, Module*> modules;
  {
    std::lock_guard lock(library->mutex);
    modules.swap(library->modules);
  }
  for (auto& [owner, module] : modules) {
    {
      std::lock_guard lock(module->context->mutex);
      module->context->modules.erase(module);
    }
    destroy_module(module);
  }
  for (auto& [index, kernel] : library->kernels)
    if (kernel) driver().functions.destroy(kernel);
  driver().libraries.destroy(library);
  return CUDA_SUCCESS;
}

CUresult cuLibraryGetKernel(CUkernel* pKernel, CUlibrary handle, const char* name) {
  if (!pKernel || !name) return CUDA_ERROR_INVALID_VALUE;
  Library* library;
  if (CUresult result = resolve_library(handle, &library)) return result;
  auto program = program_of(*library);
  if (!program.ok()) return report(program.error());
  ptx::Index index = (*program)->find_kernel(name);
  if (index == ptx::no_index) return CUDA_ERROR_NOT_FOUND;
  Function* kernel = kernel_of(*library, index);
  if (!kernel) return CUDA_ERROR_OUT_OF_MEMORY;
  *pKernel = reinterpret_cast<CUkernel>(kernel);
  return CUDA_SUCCESS;
}

CUresult cuLibraryGetKernelCount(unsigned int* count, CUlibrary handle) {
  if (!count) return CUDA_ERROR_INVALID_VALUE;
  Library* library;
  if (CUresult result = resolve_library(handle, &library)) return result;
  auto program = program_of(*library);
  if (!program.ok()) return report(program.error());
  *count = static_cast<unsigned>((*program)->kernels().size());
  return CUDA_SUCCESS;
}

CUresult cuLibraryEnumerateKernels(CUkernel* kernels, unsigned int numKernels, CUlibrary handle) {
  // No room is no error. measured H200, driver 580.159.04
  if (!kernels) return CUDA_ERROR_INVALID_VALUE;
  Library* library;
  if (CUresult result = resolve_library(handle, &library)) return result;
  auto program = program_of(*library);
  if (!program.ok()) return report(program.error());
  const auto& list = (*program)->kernels();
  for (size_t i = 0; i < list.size() && i < numKernels; ++i)
    kernels[i] = reinterpret_cast<CUkernel>(kernel_of(*library, list[i]));
  return CUDA_SUCCESS;
}

CUresult cuLibraryGetModule(CUmodule* pMod, CUlibrary handle) {
  if (!pMod) return CUDA_ERROR_INVALID_VALUE;
  Library* library;
  if (CUresult result = resolve_library(handle, &library)) return result;
  Context* context;
  if (CUresult result = current_usable(&context)) return result;
  auto module = module_of(*library, *context);
  if (!module.ok()) return report(module.error());
  *pMod = reinterpret_cast<CUmodule>(*module);
  return CUDA_SUCCESS;
}

CUresult cuLibraryGetGlobal(CUdeviceptr* dptr, size_t* bytes, CUlibrary library, const char* name) {
  return find_global(dptr, bytes, library, name, false);
}

CUresult cuLibraryGetManaged(CUdeviceptr* dptr, size_t* bytes, CUlibrary handle, const char* name) {
  // Managed variables need no current context; the primary one of the first device lends its
  // memory.
  Context* context;
  if (current(&context) == CUDA_SUCCESS) return find_global(dptr, bytes, handle, name, true);
  if (!name || (!dptr && !bytes)) return CUDA_ERROR_INVALID_VALUE;
  Library* library;
  if (CUresult result = resolve_library(handle, &library)) return result;
  auto program = program_of(*library);
  if (!program.ok()) return report(program.error());
  ptx::Index variable = (*program)->find_variable(name);
  if (variable == ptx::no_index || !(*program)->module().variables[variable].managed)
    return CUDA_ERROR_NOT_FOUND;
  auto made = library->managed->make(**program, *any_device().primary());
  if (!made.ok()) return report(made.error());
  if (dptr) *dptr = library->managed->address(variable);
  if (bytes) *bytes = (*program)->module().variables[variable].bytes;
  return CUDA_SUCCESS;
}

// No device here has CU_DEVICE_ATTRIBUTE_UNIFIED_FUNCTION_POINTERS: a kernel's code is made when
// its first launch is known, so no address could be both the host's and the device's. An H200 has
// none either, and answers the same for every name.
CUresult cuLibraryGetUnifiedFunction(void** fptr, CUlibrary handle, const char* symbol) {
  if (!fptr || !symbol) return CUDA_ERROR_INVALID_VALUE;
  Library* library;
  if (CUresult result = resolve_library(handle, &library)) return result;
  auto program = program_of(*library);
  return program.ok() ? CUDA_ERROR_INVALID_VALUE : report(program.error());
}

CUresult cuKernelGetFunction(CUfunction* pFunc, CUkernel handle) {
  if (!pFunc) return CUDA_ERROR_INVALID_VALUE;
  Function* kernel;
  if (CUresult result = resolve_kernel(handle, &kernel)) return result;
  Context* context;
  if (CUresult result = current_usable(&context)) return result;
  if (!kernel->library) {
    *pFunc = reinterpret_cast<CUfunction>(kernel);
    return CUDA_SUCCESS;
  }
  auto module = module_of(*kernel->library, *context);
  if (!module.ok()) return report(module.error());
  Function* function = function_of(**module, kernel->state->index);
  if (!function) return CUDA_ERROR_OUT_OF_MEMORY;
  *pFunc = reinterpret_cast<CUfunction>(function);
  return CUDA_SUCCESS;
}

CUresult cuKernelGetLibrary(CUlibrary* pLib, CUkernel handle) {
  if (!pLib) return CUDA_ERROR_INVALID_VALUE;
  Function* kernel;
  if (CUresult result = resolve_kernel(handle, &kernel)) return result;
  Library* library = kernel->library ? kernel->library : kernel->module->library;
  if (!library) return CUDA_ERROR_INVALID_HANDLE;
  *pLib = reinterpret_cast<CUlibrary>(library);
  return CUDA_SUCCESS;
}

}  // namespace limen::cpu
