// Copies and memsets of every direction and shape: 1-D, 2-D with pitch, 3-D, device to device,
// overlapping streams, from pageable and pinned memory, write-combined and registered, zero bytes,
// cudaMemcpyDefault, symbol copies, and the values of cudaMemGetInfo.
#include <cstring>
#include <vector>

#include "check.h"

__global__ void increment(int* v, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) ++v[i];
}

static void shapes(Verdict& verdict) {
  // 2-D: a window of a pitched array goes out and in.
  const int width = 37, height = 21;
  std::vector<int> in(width * height), out(width * height, -1);
  for (int i = 0; i < width * height; ++i) in[i] = i;
  int* d;
  size_t pitch;
  CHECK(cudaMallocPitch(&d, &pitch, width * sizeof(int), height));
  verdict.expect(pitch >= width * sizeof(int) && pitch % 32 == 0, "pitch", (long long)pitch);
  CHECK(cudaMemcpy2D(d, pitch, in.data(), width * sizeof(int), width * sizeof(int), height,
                     cudaMemcpyHostToDevice));
  CHECK(cudaMemset2D(reinterpret_cast<char*>(d) + 2 * pitch + 4 * sizeof(int), pitch, 0,
                     5 * sizeof(int), 3));
  CHECK(cudaMemcpy2D(out.data(), width * sizeof(int), d, pitch, width * sizeof(int), height,
                     cudaMemcpyDeviceToHost));
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      bool cleared = y >= 2 && y < 5 && x >= 4 && x < 9;
      verdict.equal(out[y * width + x], cleared ? 0 : y * width + x, "2-D", y * width + x);
    }
  }
  CHECK(cudaFree(d));
  // 3-D.
  cudaExtent extent = make_cudaExtent(10 * sizeof(int), 7, 5);
  cudaPitchedPtr cube;
  CHECK(cudaMalloc3D(&cube, extent));
  CHECK(cudaMemset3D(cube, 0xff, extent));
  std::vector<int> box(350), back(350, 5);
  for (int i = 0; i < 350; ++i) box[i] = i * 3;
  cudaMemcpy3DParms parameters = {};
  parameters.srcPtr = make_cudaPitchedPtr(box.data(), 10 * sizeof(int), 10, 7);
  parameters.dstPtr = cube;
  parameters.extent = make_cudaExtent(8 * sizeof(int), 6, 4);
  parameters.kind = cudaMemcpyHostToDevice;
  CHECK(cudaMemcpy3D(&parameters));
  parameters.srcPtr = cube;
  parameters.dstPtr = make_cudaPitchedPtr(back.data(), 10 * sizeof(int), 10, 7);
  parameters.extent = extent;
  parameters.kind = cudaMemcpyDeviceToHost;
  CHECK(cudaMemcpy3D(&parameters));
  for (int i = 0; i < 350; ++i) {
    int x = i % 10, y = i / 10 % 7, z = i / 70;
    verdict.equal(back[i], x < 8 && y < 6 && z < 4 ? i * 3 : -1, "3-D", i);
  }
  CHECK(cudaFree(cube.ptr));
}

int main() {
  Verdict verdict;
  const int n = 1 << 16, bytes = n * sizeof(int);
  int *a, *b, *pinned, *combined;
  CHECK(cudaMalloc(&a, bytes));
  CHECK(cudaMalloc(&b, bytes));
  CHECK(cudaMallocHost(&pinned, bytes));
  CHECK(cudaHostAlloc(&combined, bytes, cudaHostAllocWriteCombined | cudaHostAllocPortable));
  std::vector<int> pageable(n), got(n);
  for (int i = 0; i < n; ++i) pageable[i] = pinned[i] = combined[i] = i * 7;
  cudaStream_t stream;
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  int* const sources[] = {pageable.data(), pinned, combined};
  for (int* source : sources) {
    CHECK(cudaMemsetAsync(a, 0, bytes, stream));
    CHECK(cudaMemcpyAsync(a, source, bytes, cudaMemcpyHostToDevice, stream));
    increment<<<n / 256, 256, 0, stream>>>(a, n);
    CHECK(cudaMemcpyAsync(b, a, bytes, cudaMemcpyDeviceToDevice, stream));
    CHECK(cudaMemcpyAsync(got.data(), b, bytes, cudaMemcpyDeviceToHost, stream));
    CHECK(cudaStreamSynchronize(stream));
    for (int i = 0; i < n; ++i) verdict.equal(got[i], i * 7 + 1, "round trip", i);
  }
  // The source of a pageable asynchronous copy may change as soon as the call returns.
  CHECK(cudaMemcpyAsync(a, pageable.data(), bytes, cudaMemcpyHostToDevice, stream));
  std::memset(pageable.data(), 0, bytes);
  CHECK(cudaMemcpyAsync(got.data(), a, bytes, cudaMemcpyDefault, stream));
  CHECK(cudaStreamSynchronize(stream));
  verdict.equal(got[n - 1], (n - 1) * 7, "a pageable source is staged");
  // Parts, at odd offsets.
  CHECK(cudaMemset(a, 0x11, bytes));
  CHECK(cudaMemcpy(reinterpret_cast<char*>(a) + 3, pinned, 10, cudaMemcpyHostToDevice));
  CHECK(cudaMemset(reinterpret_cast<char*>(a) + 21, 0x22, 1));
  unsigned char raw[24];
  CHECK(cudaMemcpy(raw, a, sizeof raw, cudaMemcpyDeviceToHost));
  for (int i = 0; i < 24; ++i) {
    int want = i >= 3 && i < 13 ? reinterpret_cast<unsigned char*>(pinned)[i - 3]
               : i == 21        ? 0x22
                                : 0x11;
    verdict.equal<int>(raw[i], want, "bytes", i);
  }
  CHECK(cudaMemcpy(a, pinned, 0, cudaMemcpyHostToDevice));
  CHECK(cudaMemset(a, 0, 0));
  // Registered memory is mapped: the kernel writes it in place.
  std::vector<int> registered(5000, 3);
  CHECK(cudaHostRegister(registered.data(), 5000 * sizeof(int), cudaHostRegisterMapped));
  int* mapped;
  CHECK(cudaHostGetDevicePointer(&mapped, registered.data(), 0));
  increment<<<20, 256>>>(mapped, 5000);
  CHECK(cudaDeviceSynchronize());
  for (int i = 0; i < 5000; ++i) verdict.equal(registered[i], 4, "registered", i);
  CHECK(cudaHostUnregister(registered.data()));
  cudaPointerAttributes attributes;
  CHECK(cudaPointerGetAttributes(&attributes, a + 5));
  verdict.equal<int>(attributes.type, cudaMemoryTypeDevice, "device pointer");
  CHECK(cudaPointerGetAttributes(&attributes, pinned));
  verdict.equal<int>(attributes.type, cudaMemoryTypeHost, "pinned pointer");
  CHECK(cudaPointerGetAttributes(&attributes, got.data()));
  verdict.equal<int>(attributes.type, cudaMemoryTypeUnregistered, "pageable pointer");
  size_t before, after, total;
  CHECK(cudaMemGetInfo(&before, &total));
  void* big;
  CHECK(cudaMalloc(&big, 64 << 20));
  CHECK(cudaMemGetInfo(&after, &total));
  verdict.expect(before - after >= (64u << 20) && before <= total, "cudaMemGetInfo");
  CHECK(cudaFree(big));
  shapes(verdict);
  return verdict.finish();
}
