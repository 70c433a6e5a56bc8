// The private handshake of NVIDIA's runtimes: the tables that cuGetExportTable hands out. What they
// are and why they are answered: docs/private_tables.md. Nothing outside this file knows them.
// Invariant: addresses, device ids and answers are constant for the life of the process, because
// the integrity answer is a digest over them. Thread rule: any thread; all tables are constant but
// for the zeroed tool buffers.
#include <pthread.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstring>
#include <vector>

#include "base/log.h"
#include "loader/context_storage.h"
#include "loader/dispatch.h"
#include "loader/loader_api.h"
#include "loader/md2.h"
#include "loader/private_tables.h"

namespace limen::loader {
namespace {

using Word = const void*;

enum class Table {
  cudart_interface,
  tools_tls,
  tools_hooks,
  storage,
  context_checks,
  integrity,
  tools_context,
  tools_module
};
constexpr const char* table_names[] = {
    "CUDART_INTERFACE", "TOOLS_TLS", "TOOLS_HOOKS",   "CLS",
    "CTX_CHECKS",       "INTEGRITY", "TOOLS_CONTEXT", "TOOLS_MODULE"};

/// Stands in every slot whose meaning is not known: says which one was called, once.
template <Table table, int slot>
CUresult unknown_slot() {
  static constinit std::atomic<bool> said{false};
  if (!said.exchange(true)) {
    log::warn("slot %d of the private table %s was called and is not known", slot,
              table_names[static_cast<int>(table)]);
  }
  return CUDA_ERROR_NOT_SUPPORTED;
}

template <typename Function>
Word word(Function* function) {
  return reinterpret_cast<Word>(function);
}

/// A table of `size` words: word 0 its size in bytes, every other slot unknown until it is set.
template <Table table, size_t size>
std::array<Word, size> make_table() {
  std::array<Word, size> words{};
  [&]<size_t... i>(std::index_sequence<i...>) {
    ((words[i] = word(&unknown_slot<table, static_cast<int>(i)>)), ...);
  }(std::make_index_sequence<size>());
  words[0] = reinterpret_cast<Word>(size * sizeof(Word));
  return words;
}

// --- CUDART_INTERFACE ---

CUresult load_wrapper(CUmodule* module, const void* wrapper) {
  return active_table()->cuModuleLoadFatBinary(module, wrapper);
}
CUresult primary_context(CUcontext* context, CUdevice device) {
  return active_table()->internal.primary_context_handle(context, device);
}
CUresult load_wrapper_with_options(CUmodule* module, const void* wrapper, void*, void*, unsigned) {
  return load_wrapper(module, wrapper);
}
void no_operation(size_t) {}
CUresult load_fatbin(const void* fatbin, CUmodule* module, void*, void*, unsigned) {
  return load_wrapper(module, fatbin);
}
CUresult preload_compilers() { return CUDA_SUCCESS; }

const auto& cudart_interface() {
  static const auto* const words = [] {
    auto* table = new auto(make_table<Table::cudart_interface, 13>());
    (*table)[1] = word(load_wrapper);
    (*table)[2] = word(primary_context);
    (*table)[6] = word(load_wrapper_with_options);
    (*table)[7] = word(no_operation);
    (*table)[8] = word(load_fatbin);
    (*table)[12] = word(preload_compilers);
    return table;
  }();
  return *words;
}

// --- TOOLS_TLS, TOOLS_HOOKS ---

CUcontext current_context() { return active_table()->internal.current_context(); }

CUresult tls_current_context(CUcontext* context) {
  if (!context) return CUDA_ERROR_INVALID_VALUE;
  *context = current_context();
  return CUDA_SUCCESS;
}

// All zero means that no tool is attached. The counts are those of driver 580.159.04.
constinit uint64_t hooks_a[1024] = {};
constinit uint64_t hooks_b[14] = {};

void tools_hooks_a(void** buffer, size_t* count) {
  *buffer = hooks_a;
  *count = std::size(hooks_a);
}
void tools_hooks_b(void** buffer, size_t* count) {
  *buffer = hooks_b;
  *count = std::size(hooks_b);
}

const auto& tools_tls() {
  static const auto* const words = [] {
    auto* table = new auto(make_table<Table::tools_tls, 3>());
    (*table)[2] = word(tls_current_context);
    return table;
  }();
  return *words;
}

const auto& tools_hooks() {
  static const auto* const words = [] {
    auto* table = new auto(make_table<Table::tools_hooks, 7>());
    (*table)[2] = word(tools_hooks_a);
    (*table)[6] = word(tools_hooks_b);
    return table;
  }();
  return *words;
}

// --- CLS: context-local storage ---

CUresult cls_put(CUcontext context, void* key, void* value, StorageDestructor destructor) {
  if (!context) context = current_context();
  if (!context) return CUDA_ERROR_INVALID_CONTEXT;
  return storage_put(context, key, value, destructor);
}
CUresult cls_delete(CUcontext context, void* key) {
  if (!context) context = current_context();
  if (!context) return CUDA_ERROR_INVALID_CONTEXT;
  return storage_delete(context, key);
}
CUresult cls_get(void** value, CUcontext context, void* key) {
  if (!context) context = current_context();
  if (!context) return CUDA_ERROR_INVALID_CONTEXT;
  return storage_get(value, context, key);
}

const std::array<Word, 4>& storage_table() {
  static const auto* const words =
      new std::array<Word, 4>{word(cls_put), word(cls_delete), word(cls_get), nullptr};
  return *words;
}

// --- CTX_CHECKS ---

CUresult check_context(CUcontext, unsigned* answer, void*) {
  if (answer) *answer = 0;
  return CUDA_SUCCESS;
}
unsigned check_process() { return 0; }

const auto& context_checks() {
  static const auto* const words = [] {
    auto* table = new auto(make_table<Table::context_checks, 15>());
    (*table)[2] = word(check_context);
    (*table)[3] = word(check_process);
    return table;
  }();
  return *words;
}

// --- INTEGRITY ---

const std::array<Word, 3>& integrity();

void append(std::vector<uint8_t>& message, const void* data, size_t size) {
  const auto* bytes = static_cast<const uint8_t*>(data);
  message.insert(message.end(), bytes, bytes + size);
}
void append_u32(std::vector<uint8_t>& message, uint32_t value) {
  append(message, &value, sizeof value);  // little-endian, as every host of this library
}
void append_u64(std::vector<uint8_t>& message, uint64_t value) {
  append(message, &value, sizeof value);
}

CUresult append_devices(std::vector<uint8_t>& message) {
  const DriverTable* driver = active_table();
  int count = 0;
  if (CUresult result = driver->cuDeviceGetCount(&count); result != CUDA_SUCCESS) return result;
  for (int i = 0; i < count; ++i) {
    CUdevice device = 0;
    CUuuid id{};
    if (CUresult result = driver->cuDeviceGet(&device, i); result != CUDA_SUCCESS) return result;
    if (CUresult result = driver->cuDeviceGetUuid(&id, device); result != CUDA_SUCCESS) {
      return result;
    }
    append(message, &id, sizeof id);
    for (CUdevice_attribute attribute :
         {CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID, CU_DEVICE_ATTRIBUTE_PCI_BUS_ID,
          CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID}) {
      int value = 0;
      CUresult result = driver->cuDeviceGetAttribute(&value, attribute, device);
      if (result != CUDA_SUCCESS) return result;
      append_u32(message, static_cast<uint32_t>(value));
    }
  }
  return CUDA_SUCCESS;
}

CUresult integrity_answer(unsigned version, uint64_t unix_seconds, uint8_t* out) {
  constexpr uint8_t key[16] = {0x14, 0x6a, 0xdd, 0xae, 0x53, 0xa9, 0xa7, 0x52,
                               0xaa, 0x08, 0x41, 0x36, 0x0b, 0xf5, 0x5a, 0x9f};
  if (!out) return CUDA_ERROR_INVALID_VALUE;
  std::vector<uint8_t> message;
  append_u32(message, static_cast<uint32_t>(driver_version()));
  append_u32(message, version);
  append_u32(message, static_cast<uint32_t>(getpid()));
  append_u32(message, static_cast<uint32_t>(pthread_self()));
  append_u64(message, reinterpret_cast<uintptr_t>(cudart_interface().data()));
  append_u64(message, reinterpret_cast<uintptr_t>(integrity().data()));
  append_u64(message, reinterpret_cast<uintptr_t>(integrity()[1]));
  append_u64(message, unix_seconds);
  if (CUresult result = append_devices(message); result != CUDA_SUCCESS) return result;
  Md2Digest digest = hmac_md2(key, message);
  std::memcpy(out, digest.data(), digest.size());
  return CUDA_SUCCESS;
}

const std::array<Word, 3>& integrity() {
  static const auto* const words = [] {
    auto* table = new auto(make_table<Table::integrity, 3>());
    (*table)[1] = word(integrity_answer);
    return table;
  }();
  return *words;
}

// --- TOOLS_CONTEXT, TOOLS_MODULE ---

CUresult context_id(CUcontext context, uint32_t* id) {
  if (!id) return CUDA_ERROR_INVALID_VALUE;
  *id = 0;  // the answer for a null context
  if (!context) return CUDA_SUCCESS;
  unsigned long long wide = 0;
  CUresult result = active_table()->cuCtxGetId(context, &wide);
  if (result == CUDA_SUCCESS) *id = static_cast<uint32_t>(wide);
  return result;
}
CUresult stream_id(CUcontext, CUstream stream, uint64_t* id) {
  if (!id) return CUDA_ERROR_INVALID_VALUE;
  unsigned long long wide = 0;
  CUresult result = active_table()->cuStreamGetId(stream, &wide);
  if (result == CUDA_SUCCESS) *id = wide;
  return result;
}
CUresult stream_object(CUcontext, CUstream stream, void** object) {
  if (!object) return CUDA_ERROR_INVALID_VALUE;
  *object = stream ? stream : CU_STREAM_LEGACY;
  return CUDA_SUCCESS;
}

using FunctionCallback = void (*)(void* user, CUfunction function);

int each_function(CUcontext, CUmodule module, FunctionCallback callback, void* user) {
  const DriverTable* driver = active_table();
  unsigned int count = 0;
  if (driver->cuModuleGetFunctionCount(&count, module) != CUDA_SUCCESS || count == 0) return 0;
  std::vector<CUfunction> functions(count);
  if (driver->cuModuleEnumerateFunctions(functions.data(), count, module) != CUDA_SUCCESS) return 0;
  if (callback) {
    for (CUfunction function : functions) callback(user, function);
  }
  return static_cast<int>(count);
}

const auto& tools_context() {
  static const auto* const words = [] {
    auto* table = new auto(make_table<Table::tools_context, 93>());
    (*table)[4] = word(context_id);
    (*table)[39] = word(stream_id);
    (*table)[51] = word(stream_object);
    return table;
  }();
  return *words;
}

const auto& tools_module() {
  static const auto* const words = [] {
    auto* table = new auto(make_table<Table::tools_module, 99>());
    (*table)[7] = word(each_function);
    return table;
  }();
  return *words;
}

// --- The directory ---

struct KnownTable {
  unsigned char id[16];
  const void* (*words)();
};

constexpr KnownTable known_tables[] = {
    {{0x6b, 0xd5, 0xfb, 0x6c, 0x5b, 0xf4, 0xe7, 0x4a, 0x89, 0x87, 0xd9, 0x39, 0x12, 0xfd, 0x9d,
      0xf9},
     [] { return static_cast<const void*>(cudart_interface().data()); }},
    {{0x42, 0xd8, 0x5a, 0x81, 0x23, 0xf6, 0xcb, 0x47, 0x82, 0x98, 0xf6, 0xe7, 0x8a, 0x3a, 0xec,
      0xdc},
     [] { return static_cast<const void*>(tools_tls().data()); }},
    {{0xa0, 0x94, 0x79, 0x8c, 0x2e, 0x74, 0x2e, 0x74, 0x93, 0xf2, 0x08, 0x00, 0x20, 0x0c, 0x0a,
      0x66},
     [] { return static_cast<const void*>(tools_hooks().data()); }},
    {{0xc6, 0x93, 0x33, 0x6e, 0x11, 0x21, 0xdf, 0x11, 0xa8, 0xc3, 0x68, 0xf3, 0x55, 0xd8, 0x95,
      0x93},
     [] { return static_cast<const void*>(storage_table().data()); }},
    {{0x26, 0x3e, 0x88, 0x60, 0x7c, 0xd2, 0x61, 0x43, 0x92, 0xf6, 0xbb, 0xd5, 0x00, 0x6d, 0xfa,
      0x7e},
     [] { return static_cast<const void*>(context_checks().data()); }},
    {{0xd4, 0x08, 0x20, 0x55, 0xbd, 0xe6, 0x70, 0x4b, 0x8d, 0x34, 0xba, 0x12, 0x3c, 0x66, 0xe1,
      0xf2},
     [] { return static_cast<const void*>(integrity().data()); }},
    {{0x21, 0x31, 0x8c, 0x60, 0x97, 0x14, 0x32, 0x48, 0x8c, 0xa6, 0x41, 0xff, 0x73, 0x24, 0xc8,
      0xf2},
     [] { return static_cast<const void*>(tools_context().data()); }},
    {{0x6e, 0x16, 0x3f, 0xbe, 0xb9, 0x58, 0x44, 0x4d, 0x83, 0x5c, 0xe1, 0x82, 0xaf, 0xf1, 0x99,
      0x1e},
     [] { return static_cast<const void*>(tools_module().data()); }},
};

}  // namespace

void drop_context_storage(CUcontext context) { storage_drop(context); }
void lock_private_tables() { storage_lock(); }
void unlock_private_tables() { storage_unlock(); }

CUresult cuGetExportTable(const void** table, const CUuuid* id) {
  if (!table || !id) return CUDA_ERROR_INVALID_VALUE;
  const auto* bytes = reinterpret_cast<const unsigned char*>(id->bytes);
  for (const KnownTable& known : known_tables) {
    if (std::memcmp(known.id, bytes, sizeof known.id) != 0) continue;
    *table = known.words();
    log::trace("cuGetExportTable(%02x%02x%02x%02x...) = 0", bytes[0], bytes[1], bytes[2], bytes[3]);
    return CUDA_SUCCESS;
  }
  log::info("cuGetExportTable: unknown table %02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x...",
            bytes[0], bytes[1], bytes[2], bytes[3], bytes[4], bytes[5], bytes[6], bytes[7],
            bytes[8], bytes[9]);
  *table = nullptr;
  return CUDA_ERROR_INVALID_VALUE;
}

}  // namespace limen::loader
