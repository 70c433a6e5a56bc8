#include "conformance/conform.h"

namespace limen::conform {

namespace {

/// The exported symbol that the query finds, of those named; or what else came of it.
std::string found(const char* name, int version, cuuint64_t flags,
                  const std::vector<const char*>& symbols) {
  void* function = foreign_memory();
  CUdriverProcAddressQueryResult status{};
  const CUresult code = cuGetProcAddress(name, &function, version, flags, &status);
  if (code) return text_of(code);
  for (const char* symbol : symbols)
    if (function == driver_symbol(symbol)) return symbol;
  return (function ? "other, status " : "null, status ") + text_of(status);
}

}  // namespace

CONFORM_WITH(cuGetProcAddress, finds_the_abi_of_the_version, nothing) {
  const std::vector<const char*> all = {"cuMemAlloc", "cuMemAlloc_v2"};
  expect("of CUDA 2.0", found("cuMemAlloc", 2000, 0, all), "cuMemAlloc");
  expect("of CUDA 3.1", found("cuMemAlloc", 3010, 0, all), "cuMemAlloc");
  expect("of CUDA 3.2", found("cuMemAlloc", 3020, 0, all), "cuMemAlloc_v2");
  expect("of CUDA 13.0", found("cuMemAlloc", 13000, 0, all), "cuMemAlloc_v2");
  expect("older than all", found("cuMemAlloc", 1000, 0, all), "null, status 2");
}

CONFORM_WITH(cuGetProcAddress, finds_per_thread_variants, nothing) {
  const std::vector<const char*> all = {"cuMemcpyHtoD_v2", "cuMemcpyHtoD_v2_ptds",
                                        "cuCtxDestroy_v2"};
  expect("default", found("cuMemcpyHtoD", 13000, CU_GET_PROC_ADDRESS_DEFAULT, all),
         "cuMemcpyHtoD_v2");
  expect("legacy", found("cuMemcpyHtoD", 13000, CU_GET_PROC_ADDRESS_LEGACY_STREAM, all),
         "cuMemcpyHtoD_v2");
  expect("per thread",
         found("cuMemcpyHtoD", 13000, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, all),
         "cuMemcpyHtoD_v2_ptds");
  expect("where there is none",
         found("cuCtxDestroy", 13000, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, all),
         "cuCtxDestroy_v2");
}

CONFORM_WITH(cuGetProcAddress, names_that_are_none, nothing) {
  expect("unknown", found("cuNoSuchFunction", 13000, 0, {}), "null, status 1");
  expect("empty", found("", 13000, 0, {}), "null, status 1");
  expect("with its suffix", found("cuMemAlloc_v2", 13000, 0, {}), "null, status 1");
  expect("other case", found("CUINIT", 13000, 0, {}), "null, status 1");
  expect("newer than the driver", found("cuInit", 99000, 0, {}), "code 1");
  expect("wrong flags", found("cuInit", 13000, 4, {}), "code 1");
}

CONFORM_WITH(cuGetProcAddress, what_is_found_can_be_called, nothing) {
  void* function = nullptr;
  expect_code("without a status", cuGetProcAddress("cuInit", &function, 13000, 0, nullptr),
              CUDA_SUCCESS);
  expect_true("found", function != nullptr);
  if (!function) return;
  expect_code("cuInit", reinterpret_cast<CUresult (*)(unsigned)>(function)(0), CUDA_SUCCESS);
  int count = 0;
  expect_code("the driver is initialised", cuDeviceGetCount(&count), CUDA_SUCCESS);
}

CONFORM_WITH(cuGetProcAddress, finds_itself, nothing) {
  expect("first ABI", found("cuGetProcAddress", 11030, 0, {"cuGetProcAddress"}),
         "cuGetProcAddress");
  expect("second ABI", found("cuGetProcAddress", 12000, 0, {"cuGetProcAddress_v2"}),
         "cuGetProcAddress_v2");
}

// The ABI of CUDA 11 has no status, and leaves the pointer where nothing is found.
CONFORM_WITH(cuGetProcAddress, first_abi, nothing) {
  using Call = CUresult (*)(const char*, void**, int, cuuint64_t);
  auto old = reinterpret_cast<Call>(driver_symbol("cuGetProcAddress"));
  void* function = foreign_memory();
  expect_code("unknown", old("cuNoSuchFunction", &function, 13000, 0), CUDA_ERROR_NOT_FOUND);
  expect_true("pointer kept", function == foreign_memory());
  expect_code("known", old("cuInit", &function, 13000, 0), CUDA_SUCCESS);
  expect_true("found", function == driver_symbol("cuInit"));
}

}  // namespace limen::conform
