// Devices: identity and attributes, and the driver calls that read them. Runs nothing, allocates no
// device memory. Invariant: answers are constant for the process. Thread rule: no locks, no state.
#include "drivers/cpu/device.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <string_view>

#include <fmt/format.h>

#include "abi/cpu_api.h"
#include "base/machine.h"
#include "drivers/cpu/context.h"
#include "drivers/cpu/driver.h"

namespace limen::cpu {

namespace {

struct FixedAttribute {
  int id, value;
};
constexpr FixedAttribute fixed_attributes[] = {
#include "drivers/cpu/device_attributes.inc"
};

std::string cpu_model() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    if (line.rfind("model name", 0) != 0) continue;
    size_t colon = line.find(": ");
    if (colon == std::string::npos) break;
    std::string model = line.substr(colon + 2);
    for (std::string_view mark : {"(R)", "(TM)", "(tm)", " CPU", " Processor"})
      for (size_t at; (at = model.find(mark)) != std::string::npos;) model.erase(at, mark.size());
    return model.substr(0, model.find(" @"));
  }
  return fmt::format("generic {}", machine_name);
}

}  // namespace

CUresult atomic_capabilities(unsigned* capabilities, const CUatomicOperation* operations,
                             unsigned count) {
  // What PTX's atom and red have for system scope; all of it works on the same memory.
  constexpr unsigned both = CU_ATOMIC_CAPABILITY_SIGNED | CU_ATOMIC_CAPABILITY_UNSIGNED;
  constexpr unsigned words = CU_ATOMIC_CAPABILITY_REDUCTION | CU_ATOMIC_CAPABILITY_SCALAR_32 |
                             CU_ATOMIC_CAPABILITY_SCALAR_64;
  constexpr unsigned whole = CU_ATOMIC_CAPABILITY_SCALAR_32 | CU_ATOMIC_CAPABILITY_SCALAR_64 |
                             CU_ATOMIC_CAPABILITY_SCALAR_128;
  for (unsigned i = 0; i < count; ++i)
    if (operations[i] < 0 || operations[i] >= CU_ATOMIC_OPERATION_MAX)
      return CUDA_ERROR_INVALID_VALUE;
  for (unsigned i = 0; i < count; ++i) {
    switch (operations[i]) {
      case CU_ATOMIC_OPERATION_INTEGER_ADD:
      case CU_ATOMIC_OPERATION_INTEGER_MIN:
      case CU_ATOMIC_OPERATION_INTEGER_MAX:
        capabilities[i] = both | words;
        break;
      case CU_ATOMIC_OPERATION_INTEGER_INCREMENT:
      case CU_ATOMIC_OPERATION_INTEGER_DECREMENT:
        capabilities[i] = CU_ATOMIC_CAPABILITY_UNSIGNED | CU_ATOMIC_CAPABILITY_REDUCTION |
                          CU_ATOMIC_CAPABILITY_SCALAR_32;
        break;
      case CU_ATOMIC_OPERATION_AND:
      case CU_ATOMIC_OPERATION_OR:
      case CU_ATOMIC_OPERATION_XOR:
        capabilities[i] = both | words;
        break;
      case CU_ATOMIC_OPERATION_EXCHANGE:
      case CU_ATOMIC_OPERATION_CAS:
        capabilities[i] = both | whole;
        break;
      case CU_ATOMIC_OPERATION_FLOAT_ADD:
        capabilities[i] = CU_ATOMIC_CAPABILITY_SIGNED | words | CU_ATOMIC_CAPABILITY_VECTOR_32x4;
        break;
      default:  // minimum and maximum of floats exist on 16-bit values only
        capabilities[i] = 0;
        break;
    }
  }
  return CUDA_SUCCESS;
}

CUuuid Device::uuid_of(unsigned number) {
  std::string seed = "limen cpu device ";
  std::ifstream id("/etc/machine-id");
  std::string machine;
  if (!(id >> machine)) {
    char host[256] = {};
    gethostname(host, sizeof host - 1);
    machine = host;
  }
  seed += machine + fmt::format(" {}", number);
  CUuuid uuid{};
  for (int half = 0; half < 2; ++half) {
    uint64_t hash = 0xcbf29ce484222325u + uint64_t(half);
    for (unsigned char c : seed) hash = (hash ^ c) * 0x100000001b3u;
    std::memcpy(uuid.bytes + 8 * half, &hash, 8);
  }
  uuid.bytes[6] = char((uuid.bytes[6] & 0x0f) | 0x40);  // RFC 4122 version 4 shape
  uuid.bytes[8] = char((uuid.bytes[8] & 0x3f) | 0x80);
  return uuid;
}

Device::Device(int ordinal, unsigned number, const Settings& settings, uint32_t workers,
               Allocator* memory)
    : ordinal_(ordinal),
      capability_(settings.capability),
      name_(fmt::format("Limen CPU ({})", cpu_model())),
      uuid_(uuid_of(number)),
      memory_(memory) {
  for (FixedAttribute fixed : fixed_attributes) attributes_[fixed.id] = fixed.value;
  // At least 8: programs divide by and size grids with this number.
  uint32_t sms = settings.sms ? settings.sms : std::max(workers, 8u);
  attributes_[CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT] = static_cast<int>(sms);
  attributes_[CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR] = static_cast<int>(capability_ / 10);
  attributes_[CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR] = static_cast<int>(capability_ % 10);
  if (capability_ < 90) attributes_[CU_DEVICE_ATTRIBUTE_TENSOR_MAP_ACCESS_SUPPORTED] = 0;
  attributes_[CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID] = static_cast<int>(number / 32);
  attributes_[CU_DEVICE_ATTRIBUTE_PCI_BUS_ID] = 0xf0;
  attributes_[CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID] = static_cast<int>(number % 32);
}

bool Device::attribute(int attribute, int* value) const {
  if (attribute <= 0 || attribute >= attribute_count) return false;
  *value = attributes_[attribute];
  return true;
}

std::string Device::pci_bus_id() const {
  return fmt::format("{:04x}:{:02x}:{:02x}.0", limit(CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID),
                     limit(CU_DEVICE_ATTRIBUTE_PCI_BUS_ID),
                     limit(CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID));
}

CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  if (!device) return CUDA_ERROR_INVALID_VALUE;
  if (!driver().device(ordinal)) return CUDA_ERROR_INVALID_DEVICE;
  *device = ordinal;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetCount(int* count) {
  if (!count) return CUDA_ERROR_INVALID_VALUE;
  *count = static_cast<int>(driver().devices.size());
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetName(char* name, int len, CUdevice dev) {
  Device* device = driver().device(dev);
  if (!device) return CUDA_ERROR_INVALID_DEVICE;
  if (!name || len <= 0) return CUDA_ERROR_INVALID_VALUE;
  std::strncpy(name, device->name().c_str(), static_cast<size_t>(len) - 1);
  name[len - 1] = 0;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetUuid(CUuuid* uuid, CUdevice dev) {
  Device* device = driver().device(dev);
  if (!uuid) return CUDA_ERROR_INVALID_VALUE;
  if (!device) return CUDA_ERROR_INVALID_DEVICE;
  *uuid = device->uuid();
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetLuid(char* luid, unsigned int* deviceNodeMask, CUdevice dev) {
  if (!luid || !deviceNodeMask) return CUDA_ERROR_INVALID_VALUE;
  if (!driver().device(dev)) return CUDA_ERROR_INVALID_DEVICE;
  return CUDA_ERROR_NOT_SUPPORTED;  // Windows only
}

CUresult cuDeviceTotalMem(size_t* bytes, CUdevice dev) {
  Device* device = driver().device(dev);
  if (!bytes) return CUDA_ERROR_INVALID_VALUE;
  if (!device) return CUDA_ERROR_INVALID_DEVICE;
  *bytes = device->memory().limit_bytes();
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetAttribute(int* pi, CUdevice_attribute attrib, CUdevice dev) {
  Device* device = driver().device(dev);
  if (!pi) return CUDA_ERROR_INVALID_VALUE;
  if (!device) return CUDA_ERROR_INVALID_DEVICE;
  return device->attribute(attrib, pi) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuDeviceComputeCapability(int* major, int* minor, CUdevice dev) {
  Device* device = driver().device(dev);
  if (!major || !minor) return CUDA_ERROR_INVALID_VALUE;
  if (!device) return CUDA_ERROR_INVALID_DEVICE;
  *major = static_cast<int>(device->capability() / 10);
  *minor = static_cast<int>(device->capability() % 10);
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetProperties(CUdevprop* prop, CUdevice dev) {
  Device* device = driver().device(dev);
  if (!prop) return CUDA_ERROR_INVALID_VALUE;
  if (!device) return CUDA_ERROR_INVALID_DEVICE;
  prop->maxThreadsPerBlock = device->limit(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
  prop->maxThreadsDim[0] = device->limit(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X);
  prop->maxThreadsDim[1] = device->limit(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y);
  prop->maxThreadsDim[2] = device->limit(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z);
  prop->maxGridSize[0] = device->limit(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X);
  prop->maxGridSize[1] = device->limit(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y);
  prop->maxGridSize[2] = device->limit(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z);
  prop->sharedMemPerBlock = device->limit(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK);
  prop->totalConstantMemory = device->limit(CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY);
  prop->SIMDWidth = device->limit(CU_DEVICE_ATTRIBUTE_WARP_SIZE);
  prop->memPitch = device->limit(CU_DEVICE_ATTRIBUTE_MAX_PITCH);
  prop->regsPerBlock = device->limit(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK);
  prop->clockRate = device->limit(CU_DEVICE_ATTRIBUTE_CLOCK_RATE);
  prop->textureAlign = device->limit(CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT);
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetPCIBusId(char* pciBusId, int len, CUdevice dev) {
  Device* device = driver().device(dev);
  if (!pciBusId) return CUDA_ERROR_INVALID_VALUE;
  if (!device) return CUDA_ERROR_INVALID_DEVICE;
  std::string id = device->pci_bus_id();
  if (len <= static_cast<int>(id.size())) return CUDA_ERROR_INVALID_VALUE;
  std::memcpy(pciBusId, id.c_str(), id.size() + 1);
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetByPCIBusId(CUdevice* dev, const char* pciBusId) {
  if (!dev || !pciBusId) return CUDA_ERROR_INVALID_VALUE;
  unsigned domain = 0, bus = 0, slot = 0, function = 0;
  if (std::sscanf(pciBusId, "%x:%x:%x.%x", &domain, &bus, &slot, &function) < 3) {
    domain = 0;
    if (std::sscanf(pciBusId, "%x:%x.%x", &bus, &slot, &function) < 2)
      return CUDA_ERROR_INVALID_VALUE;
  }
  for (Device* device : driver().devices) {
    if (unsigned(device->limit(CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID)) != domain ||
        unsigned(device->limit(CU_DEVICE_ATTRIBUTE_PCI_BUS_ID)) != bus ||
        unsigned(device->limit(CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID)) != slot)
      continue;
    *dev = device->ordinal();
    return CUDA_SUCCESS;
  }
  return CUDA_ERROR_INVALID_DEVICE;
}

CUresult cuDeviceGetExecAffinitySupport(int* pi, CUexecAffinityType type, CUdevice dev) {
  if (!pi) return CUDA_ERROR_INVALID_VALUE;
  if (!driver().device(dev)) return CUDA_ERROR_INVALID_DEVICE;
  (void)type;  // none is supported, known or not: measured H200, driver 580.159.04
  *pi = 0;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetHostAtomicCapabilities(unsigned int* capabilities,
                                           const CUatomicOperation* operations, unsigned int count,
                                           CUdevice dev) {
  if (!capabilities || !operations || !count) return CUDA_ERROR_INVALID_VALUE;
  if (!driver().device(dev)) return CUDA_ERROR_INVALID_DEVICE;
  return atomic_capabilities(capabilities, operations, count);
}

CUresult cuDeviceGetNvSciSyncAttributes(void* nvSciSyncAttrList, CUdevice dev, int flags) {
  if (!nvSciSyncAttrList) return CUDA_ERROR_INVALID_HANDLE;
  if (!driver().device(dev)) return CUDA_ERROR_INVALID_DEVICE;
  constexpr int known = CUDA_NVSCISYNC_ATTR_SIGNAL | CUDA_NVSCISYNC_ATTR_WAIT;
  if (!(flags & known) || (flags & ~known)) return CUDA_ERROR_INVALID_VALUE;
  // NvSci is a library of Drive and Jetson systems; what the list is cannot be known here.
  return CUDA_ERROR_NOT_SUPPORTED;
}

CUresult cuFlushGPUDirectRDMAWrites(CUflushGPUDirectRDMAWritesTarget target,
                                    CUflushGPUDirectRDMAWritesScope scope) {
  Context* context;
  if (CUresult result = current_usable(&context)) return result;
  if (target != CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TARGET_CURRENT_CTX ||
      (scope != CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TO_OWNER &&
       scope != CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TO_ALL_DEVICES))
    return CUDA_ERROR_INVALID_VALUE;
  // CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_FLUSH_WRITES_OPTIONS is 0: no other device writes here.
  return report({Code::not_supported, "no device here takes writes of other devices (RDMA)", ""});
}

CUresult cuDeviceGetTexture1DLinearMaxWidth(size_t* maxWidthInElements, CUarray_format format,
                                            unsigned int numChannels, CUdevice dev) {
  Device* device = driver().device(dev);
  constexpr CUarray_format no_format{};
  if (!maxWidthInElements || format == no_format || numChannels == 0 || numChannels == 3 ||
      numChannels > 4)
    return CUDA_ERROR_INVALID_VALUE;
  if (!device) return CUDA_ERROR_INVALID_DEVICE;
  *maxWidthInElements = size_t(device->limit(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LINEAR_WIDTH));
  return CUDA_SUCCESS;
}

}  // namespace limen::cpu
