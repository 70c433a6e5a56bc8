#include "conformance/unified/managed.h"
#include "conformance/vmm/vmm.h"

namespace limen::conform {

template <typename T>
static T attribute(CUpointer_attribute which, CUdeviceptr address) {
  T value{};
  expect_code("attribute " + std::to_string(which), cuPointerGetAttribute(&value, which, address),
              CUDA_SUCCESS);
  return value;
}

CONFORM(cuPointerGetAttribute, of_device_memory) {
  Buffer buffer(5000);
  CUcontext context = nullptr;
  REQUIRE(cuCtxGetCurrent(&context));
  const CUdeviceptr inside = buffer.at(100);
  expect_true("context", attribute<CUcontext>(CU_POINTER_ATTRIBUTE_CONTEXT, inside) == context);
  expect("type", attribute<unsigned>(CU_POINTER_ATTRIBUTE_MEMORY_TYPE, inside),
         unsigned(CU_MEMORYTYPE_DEVICE));
  expect_true("device pointer",
              attribute<CUdeviceptr>(CU_POINTER_ATTRIBUTE_DEVICE_POINTER, inside) == inside);
  expect("managed", attribute<unsigned>(CU_POINTER_ATTRIBUTE_IS_MANAGED, inside), 0u);
  expect("device", attribute<int>(CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, inside), 0);
  expect_true("start",
              attribute<CUdeviceptr>(CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, inside) == buffer.at());
  expect("size", attribute<size_t>(CU_POINTER_ATTRIBUTE_RANGE_SIZE, inside), size_t{5000});
  expect("mapped", attribute<unsigned>(CU_POINTER_ATTRIBUTE_MAPPED, inside), 1u);
  expect("can be exported",
         attribute<unsigned>(CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE, inside), 1u);
  void* host = nullptr;
  expect_code("no host pointer",
              cuPointerGetAttribute(&host, CU_POINTER_ATTRIBUTE_HOST_POINTER, inside),
              CUDA_ERROR_INVALID_VALUE);
}

CONFORM(cuPointerGetAttribute, blocks_have_numbers) {
  Buffer one(64), two(64);
  uint64_t first = 0, second = 0;
  expect_code("one", cuPointerGetAttribute(&first, CU_POINTER_ATTRIBUTE_BUFFER_ID, one.at(60)),
              CUDA_SUCCESS);
  expect_code("two", cuPointerGetAttribute(&second, CU_POINTER_ATTRIBUTE_BUFFER_ID, two),
              CUDA_SUCCESS);
  expect_true("one each", first && second && first != second);
}

CONFORM(cuPointerGetAttribute, of_pinned_and_managed_memory) {
  void* host = nullptr;
  REQUIRE(cuMemAllocHost(&host, 64));
  const auto pinned = reinterpret_cast<CUdeviceptr>(host);
  Managed managed;
  expect("pinned: host", attribute<unsigned>(CU_POINTER_ATTRIBUTE_MEMORY_TYPE, pinned),
         unsigned(CU_MEMORYTYPE_HOST));
  expect_true("pinned: host pointer",
              attribute<void*>(CU_POINTER_ATTRIBUTE_HOST_POINTER, pinned) == host);
  unsigned value = 0;
  REQUIRE(cuPointerGetAttribute(&value, CU_POINTER_ATTRIBUTE_IS_MANAGED, managed.address));
  expect("managed", value, 1u);
  REQUIRE(cuPointerGetAttribute(&value, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, managed.address));
  expect("managed: device", value, unsigned(CU_MEMORYTYPE_DEVICE));
}

CONFORM(cuPointerGetAttribute, of_mapped_memory) {
  Mapped range(2, true);
  const CUdeviceptr inside = range.address + 12345;
  expect("type", attribute<unsigned>(CU_POINTER_ATTRIBUTE_MEMORY_TYPE, inside),
         unsigned(CU_MEMORYTYPE_DEVICE));
  expect("device", attribute<int>(CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, inside), 0);
  expect("handle types", attribute<uint64_t>(CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES, inside),
         unsigned(CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
  expect_true("mapping", attribute<CUdeviceptr>(CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR, inside) ==
                             range.address);
  expect("mapping size", attribute<size_t>(CU_POINTER_ATTRIBUTE_MAPPING_SIZE, inside), range.bytes);
  expect("access", attribute<unsigned>(CU_POINTER_ATTRIBUTE_ACCESS_FLAGS, inside),
         unsigned(CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READWRITE));
  expect("not for cuIpc*",
         attribute<unsigned>(CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE, inside), 0u);
}

CONFORM(cuPointerGetAttribute, of_foreign_memory) {
  unsigned type = 0;
  expect_code("no pointer of ours",
              cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                    reinterpret_cast<CUdeviceptr>(foreign_memory())),
              CUDA_ERROR_INVALID_VALUE);
  Buffer buffer(64);
  expect_code("no result", cuPointerGetAttribute(nullptr, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, buffer),
              CUDA_ERROR_INVALID_VALUE);
  expect_code("no attribute",
              cuPointerGetAttribute(&type, static_cast<CUpointer_attribute>(999), buffer),
              CUDA_ERROR_INVALID_VALUE);
}

}  // namespace limen::conform
