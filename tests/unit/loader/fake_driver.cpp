// A driver library for the loader's tests: every function notes that it was called and succeeds;
// the few that the tests look into record their arguments. The test reads the record through
// `limen_fake_record`. Not a model of any device.
#include <cstring>

#include "abi/driver_table.h"
#include "fake_driver.h"

using limen::DriverTable;
using limen::FakeRecord;

namespace {

FakeRecord record;
limen::ContextEndHook end_hook = nullptr;

CUcontext fake_context() { return reinterpret_cast<CUcontext>(0x1000); }

CUresult any() {
  ++record.other_calls;
  return CUDA_SUCCESS;
}

CUresult init(unsigned int) {
  ++record.init_calls;
  return record.init_result;
}

CUresult copy_h2d(CUdeviceptr dst, const void*, size_t bytes, CUstream stream) {
  record.address = dst;
  record.bytes = bytes;
  record.stream = stream;
  return CUDA_SUCCESS;
}

CUresult copy_h2d_async(CUdeviceptr dst, const void*, size_t bytes, CUstream stream) {
  return copy_h2d(dst, nullptr, bytes, stream);
}

CUresult launch_ex(const CUlaunchConfig* config, CUfunction, void**, void**) {
  record.stream = config->hStream;
  return CUDA_SUCCESS;
}

CUresult ctx_create(CUcontext* context, CUctxCreateParams* params, unsigned int flags, CUdevice) {
  record.params = params;
  record.affinities = params ? params->numExecAffinityParams : -1;
  record.flags = flags;
  *context = fake_context();
  return CUDA_SUCCESS;
}

CUresult ctx_get_device(CUdevice* device, CUcontext context) {
  record.context = context;
  *device = 0;
  return CUDA_SUCCESS;
}

CUresult prefetch(CUdeviceptr, size_t, CUmemLocation location, unsigned int, CUstream stream) {
  record.location = location;
  record.stream = stream;
  return CUDA_SUCCESS;
}

CUresult total_mem(size_t* bytes, CUdevice) {
  *bytes = size_t{8} << 30;
  return CUDA_SUCCESS;
}

CUresult add_kernel_node(CUgraphNode*, CUgraph, const CUgraphNode*, size_t,
                         const CUDA_KERNEL_NODE_PARAMS* params) {
  record.node = *params;
  return CUDA_SUCCESS;
}

CUresult device_count(int* count) {
  *count = 2;
  return CUDA_SUCCESS;
}
CUresult device_get(CUdevice* device, int ordinal) {
  *device = ordinal;
  return CUDA_SUCCESS;
}
CUresult device_uuid(CUuuid* id, CUdevice device) {
  std::memset(id, 0x40 + device, sizeof *id);
  return CUDA_SUCCESS;
}
CUresult device_attribute(int* value, CUdevice_attribute attribute, CUdevice device) {
  *value = 100 * device + attribute;
  return CUDA_SUCCESS;
}

CUcontext current() { return record.current; }
CUresult primary(CUcontext* context, CUdevice) {
  *context = fake_context();
  return CUDA_SUCCESS;
}
void set_hook(limen::ContextEndHook hook) { end_hook = hook; }

void end_context(CUcontext context) {
  if (end_hook) end_hook(context);
}

DriverTable make_table() {
  DriverTable table{};
  auto* first = reinterpret_cast<CUresult (**)()>(&table.internal + 1);
  auto* last = reinterpret_cast<CUresult (**)()>(&table + 1);
  for (auto* slot = first; slot != last; ++slot) *slot = any;
  table.size_bytes = sizeof table;
  table.hash = limen::driver_table_hash;
  table.internal = {current, primary, set_hook};
  table.cuInit = init;
  table.cuMemcpyHtoD = copy_h2d;
  table.cuMemcpyHtoDAsync = copy_h2d_async;
  table.cuLaunchKernelEx = launch_ex;
  table.cuCtxCreate = ctx_create;
  table.cuCtxGetDevice = ctx_get_device;
  table.cuMemPrefetchAsync = prefetch;
  table.cuDeviceTotalMem = total_mem;
  table.cuGraphAddKernelNode = add_kernel_node;
  table.cuDeviceGetCount = device_count;
  table.cuDeviceGet = device_get;
  table.cuDeviceGetUuid = device_uuid;
  table.cuDeviceGetAttribute = device_attribute;
  return table;
}

}  // namespace

extern "C" const DriverTable limen_driver_table = make_table();

extern "C" __attribute__((visibility("default"))) FakeRecord* limen_fake_record() {
  record.end_context = end_context;
  return &record;
}
