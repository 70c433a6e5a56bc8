// A segment that grows in place, as a framework's caching allocator does it: one large reservation,
// mapped piece by piece; kernels and copies run over the pieces' borders; pieces in the middle are
// unmapped and mapped anew; hundreds of pieces need no descriptor each.
#include <cuda.h>
#include <sys/resource.h>

#include <vector>

#include "check.h"

/// The driver's functions through the runtime, so that the program needs no -lcuda.
template <typename Function>
static Function* find(const char* name) {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult status;
  CHECK(cudaGetDriverEntryPointByVersion(name, &found, 12000, cudaEnableDefault, &status));
  if (!found) std::printf("no %s\n", name);
  return reinterpret_cast<Function*>(found);
}
#define DRIVER(name) static auto* name##_ = find<decltype(name)>(#name)
#define DRIVER_CHECK(call)                                              \
  do {                                                                  \
    const int code_ = (call);                                           \
    if (code_) {                                                        \
      std::printf("%d: %s: %d\nFAILED\n", __LINE__, #call, code_);      \
      std::exit(1);                                                     \
    }                                                                   \
  } while (0)

__global__ void iota(unsigned* v, size_t count) {
  for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
    v[i] = unsigned(i);
}

__global__ void reverse(const unsigned* from, unsigned* to, size_t count) {
  for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
    to[i] = from[count - 1 - i];
}

struct Segment {
  size_t piece, most;
  CUdeviceptr base = 0;
  CUmemAllocationProp prop{};
  std::vector<CUmemGenericAllocationHandle> pieces;

  explicit Segment(size_t most_pieces) : most(most_pieces) {
    DRIVER(cuMemGetAllocationGranularity);
    DRIVER(cuMemAddressReserve);
    prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    prop.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    DRIVER_CHECK(
        cuMemGetAllocationGranularity_(&piece, &prop, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED));
    DRIVER_CHECK(cuMemAddressReserve_(&base, piece * most, 0, 0, 0));
  }
  void map(size_t index) {
    DRIVER(cuMemCreate);
    DRIVER(cuMemMap);
    DRIVER(cuMemSetAccess);
    if (pieces.size() <= index) pieces.resize(index + 1);
    DRIVER_CHECK(cuMemCreate_(&pieces[index], piece, &prop, 0));
    DRIVER_CHECK(cuMemMap_(base + index * piece, piece, 0, pieces[index], 0));
    CUmemAccessDesc desc{};
    desc.location = prop.location;
    desc.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    DRIVER_CHECK(cuMemSetAccess_(base + index * piece, piece, &desc, 1));
  }
  void unmap(size_t index) {
    DRIVER(cuMemUnmap);
    DRIVER(cuMemRelease);
    DRIVER_CHECK(cuMemUnmap_(base + index * piece, piece));
    DRIVER_CHECK(cuMemRelease_(pieces[index]));
  }
  void end() {
    DRIVER(cuMemAddressFree);
    DRIVER_CHECK(cuMemAddressFree_(base, piece * most));
  }
};

static void compare(Verdict& verdict, const unsigned* device, size_t count, bool reversed) {
  std::vector<unsigned> got(count);
  CHECK(cudaMemcpy(got.data(), device, count * 4, cudaMemcpyDeviceToHost));
  for (size_t i = 0; i < count; ++i)
    verdict.equal(got[i], unsigned(reversed ? count - 1 - i : i), "value", (long long)i);
}

int main() {
  Verdict verdict;
  CHECK(cudaFree(nullptr));
  size_t before = 0, after = 0, total = 0;
  CHECK(cudaMemGetInfo(&before, &total));
  // Few descriptors: a piece must not hold one.
  rlimit limit{64, 64};
  setrlimit(RLIMIT_NOFILE, &limit);
  Segment one(400), two(8);
  for (size_t i = 0; i < 4; ++i) one.map(i), two.map(i);
  const size_t count = 4 * one.piece / 4;
  auto* v = reinterpret_cast<unsigned*>(one.base);
  auto* w = reinterpret_cast<unsigned*>(two.base);
  iota<<<32, 256>>>(v, count);
  reverse<<<32, 256>>>(v, w, count);
  CHECK(cudaGetLastError());
  compare(verdict, v, count, false);
  compare(verdict, w, count, true);
  // The segment grows; what was there stays.
  for (size_t i = 4; i < 200; ++i) one.map(i);
  CHECK(cudaMemcpy(v + count, w, count * 4, cudaMemcpyDeviceToDevice));
  compare(verdict, v, count, false);
  compare(verdict, v + count, count, true);
  // A piece in the middle goes and comes back: new memory, the neighbours untouched.
  one.unmap(2);
  verdict.expect(cudaMemset(reinterpret_cast<void*>(one.base + 2 * one.piece - 4), 0, 8) ==
                     cudaErrorInvalidValue,
                 "a copy into the hole");
  cudaGetLastError();
  one.map(2);
  CHECK(cudaMemset(reinterpret_cast<void*>(one.base + 2 * one.piece), 7, one.piece));
  unsigned border[2];
  CHECK(cudaMemcpy(border, v + 2 * one.piece / 4 - 1, 8, cudaMemcpyDeviceToHost));
  verdict.equal(border[0], unsigned(2 * one.piece / 4 - 1), "before the new piece");
  verdict.equal(border[1], 0x07070707u, "in the new piece");
  cudaPointerAttributes attributes{};
  CHECK(cudaPointerGetAttributes(&attributes, v + count));
  verdict.equal(int(attributes.type), int(cudaMemoryTypeDevice), "type");
  for (size_t i = 0; i < 200; ++i) one.unmap(i);
  for (size_t i = 0; i < 4; ++i) two.unmap(i);
  one.end();
  two.end();
  CHECK(cudaMemGetInfo(&after, &total));
  verdict.equal(after, before, "free memory");
  return verdict.finish();
}
