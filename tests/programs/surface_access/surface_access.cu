// Surfaces: every element width and vector written and read back through 1D, 2D, 3D and layered
// arrays, the three boundary modes, sust.p and sured by PTX, suq, and a write that a texture of the
// same array sees in the next kernel. A trap out of bounds ends the last kernel.
#include <cstring>
#include <vector>

#include "check.h"

template <typename T>
__device__ T value_of(int i) {
  T v;
  auto* bytes = reinterpret_cast<unsigned char*>(&v);
  for (int k = 0; k < int(sizeof(T)); ++k) bytes[k] = static_cast<unsigned char>(i * 31 + k * 7);
  return v;
}

template <typename T>
__global__ void write_2d(cudaSurfaceObject_t s, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
  if (x < width && y < height) surf2Dwrite(value_of<T>(y * width + x), s, x * int(sizeof(T)), y);
}

template <typename T>
__global__ void copy_2d(cudaSurfaceObject_t from, cudaSurfaceObject_t to, int width) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
  if (x >= width) return;
  T v = surf2Dread<T>(from, x * int(sizeof(T)), y);
  surf2Dwrite(v, to, (width - 1 - x) * int(sizeof(T)), y);
}

struct Target {
  cudaArray_t array;
  cudaSurfaceObject_t surface;
};

template <typename T>
static Target make(int w, int h, int d, unsigned flags = 0) {
  Target t;
  cudaChannelFormatDesc desc = cudaCreateChannelDesc<T>();
  CHECK(cudaMalloc3DArray(&t.array, &desc, make_cudaExtent(w, h, d),
                          cudaArraySurfaceLoadStore | flags));
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = t.array;
  CHECK(cudaCreateSurfaceObject(&t.surface, &resource));
  return t;
}

static void drop(Target& t) {
  CHECK(cudaDestroySurfaceObject(t.surface));
  CHECK(cudaFreeArray(t.array));
}

template <typename T>
static void two_dimensions(Verdict& verdict, const char* name) {
  const int width = 45, height = 6;
  Target a = make<T>(width, height, 0), b = make<T>(width, height, 0);
  write_2d<T><<<dim3(2, height), 32>>>(a.surface, width, height);
  copy_2d<T><<<dim3(2, height), 32>>>(a.surface, b.surface, width);
  std::vector<T> got(width * height), back(width * height);
  CHECK(cudaMemcpy2DFromArray(got.data(), width * sizeof(T), a.array, 0, 0, width * sizeof(T),
                              height, cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy2DFromArray(back.data(), width * sizeof(T), b.array, 0, 0, width * sizeof(T),
                              height, cudaMemcpyDeviceToHost));
  bool right = true;
  for (int i = 0; i < width * height; ++i) {
    unsigned char want[16];
    for (int k = 0; k < int(sizeof(T)); ++k) want[k] = static_cast<unsigned char>(i * 31 + k * 7);
    const int mirrored = i / width * width + (width - 1 - i % width);
    right &= !std::memcmp(&got[i], want, sizeof(T)) && !std::memcmp(&back[mirrored], want, sizeof(T));
  }
  verdict.expect(right, name);
  drop(a);
  drop(b);
}

__global__ void fill_other_shapes(cudaSurfaceObject_t line, cudaSurfaceObject_t volume,
                                  cudaSurfaceObject_t layers, cudaSurfaceObject_t lines) {
  int x = threadIdx.x, y = blockIdx.x, z = blockIdx.y;
  if (y == 0 && z == 0) surf1Dwrite(x * 3, line, x * 4);
  surf3Dwrite(x + 100 * y + 10000 * z, volume, x * 4, y, z);
  surf2DLayeredwrite(-(x + 100 * y + 10000 * z), layers, x * 4, y, z);
  if (y == 0) surf1DLayeredwrite(x ^ z, lines, x * 4, z);
}

static void other_shapes(Verdict& verdict) {
  const int w = 32, h = 5, d = 3;
  Target line = make<int>(w, 0, 0), volume = make<int>(w, h, d);
  Target layers = make<int>(w, h, d, cudaArrayLayered), lines = make<int>(w, 0, d, cudaArrayLayered);
  fill_other_shapes<<<dim3(h, d), w>>>(line.surface, volume.surface, layers.surface, lines.surface);
  auto read = [&](cudaArray_t array, int height, int depth) {
    std::vector<int> out(w * height * depth);
    cudaMemcpy3DParms copy = {};
    copy.srcArray = array;
    copy.dstPtr = make_cudaPitchedPtr(out.data(), w * 4, w, height);
    copy.extent = make_cudaExtent(w, height, depth);
    copy.kind = cudaMemcpyDeviceToHost;
    CHECK(cudaMemcpy3D(&copy));
    return out;
  };
  const std::vector<int> a = read(line.array, 1, 1), b = read(volume.array, h, d),
                         c = read(layers.array, h, d), e = read(lines.array, 1, d);
  bool right = true;
  for (int z = 0; z < d; ++z)
    for (int y = 0; y < h; ++y)
      for (int x = 0; x < w; ++x) {
        const int at = (z * h + y) * w + x, want = x + 100 * y + 10000 * z;
        right &= b[at] == want && c[at] == -want && a[x] == x * 3 && e[z * w + x] == (x ^ z);
      }
  verdict.expect(right, "1D, 3D and layered surfaces");
  drop(line), drop(volume), drop(layers), drop(lines);
}

__global__ void boundaries(cudaSurfaceObject_t s, int* out) {
  int x = int(threadIdx.x) - 4;
  out[threadIdx.x] = surf2Dread<int>(s, x * 4, 1, cudaBoundaryModeClamp);
  out[threadIdx.x + 32] = surf2Dread<int>(s, x * 4, 1, cudaBoundaryModeZero);
  if (x < 0) surf2Dwrite(-1, s, x * 4, 1, cudaBoundaryModeZero);
}

__global__ void fetch(cudaTextureObject_t t, int* out) {
  out[threadIdx.x] = tex2D<int>(t, threadIdx.x + 0.5f, 1.5f);
}

static void modes(Verdict& verdict) {
  const int width = 16, height = 3;
  Target s = make<int>(width, height, 0);
  std::vector<int> image(width * height);
  for (int i = 0; i < width * height; ++i) image[i] = i * i + 1;
  CHECK(cudaMemcpy2DToArray(s.array, 0, 0, image.data(), width * 4, width * 4, height,
                            cudaMemcpyHostToDevice));
  int* d;
  CHECK(cudaMalloc(&d, 64 * sizeof(int)));
  boundaries<<<1, 32>>>(s.surface, d);
  std::vector<int> got(64);
  CHECK(cudaMemcpy(got.data(), d, 64 * sizeof(int), cudaMemcpyDeviceToHost));
  bool right = true;
  for (int i = 0; i < 32; ++i) {
    const int x = i - 4, near = x < 0 ? 0 : x >= width ? width - 1 : x;
    right &= got[i] == image[width + near];
    right &= got[i + 32] == (x == near ? image[width + x] : 0);
  }
  verdict.expect(right, "clamp and zero");
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = s.array;
  cudaTextureDesc how = {};
  cudaTextureObject_t t;
  CHECK(cudaCreateTextureObject(&t, &resource, &how, nullptr));
  write_2d<int><<<dim3(1, height), 32>>>(s.surface, width, height);
  fetch<<<1, width>>>(t, d);
  CHECK(cudaMemcpy(got.data(), d, width * sizeof(int), cudaMemcpyDeviceToHost));
  right = true;
  for (int x = 0; x < width; ++x) {
    unsigned char bytes[4];
    for (int k = 0; k < 4; ++k) bytes[k] = static_cast<unsigned char>((width + x) * 31 + k * 7);
    right &= !std::memcmp(&got[x], bytes, 4);
  }
  verdict.expect(right, "a texture sees what a surface wrote");
  CHECK(cudaDestroyTextureObject(t));
  drop(s);
}

__global__ void formatted(cudaSurfaceObject_t floats, cudaSurfaceObject_t ints,
                          cudaSurfaceObject_t counts, int* sizes) {
  int x = threadIdx.x;
  float value = x * 0.25f;
  asm volatile("sust.p.2d.v2.b32.trap [%0, {%1, %2}], {%3, %4};" ::"l"(floats), "r"(x), "r"(1),
               "r"(__float_as_int(value)), "r"(__float_as_int(-value))
               : "memory");
  asm volatile("sust.p.1d.b32.trap [%0, {%1}], %2;" ::"l"(ints), "r"(x), "r"(x * 40 - 600) : "memory");
  // All lanes into eight counters.
  asm volatile("sured.b.add.1d.u32.trap [%0, {%1}], %2;" ::"l"(counts), "r"(x % 8 * 4), "r"(x)
               : "memory");
  asm volatile("sured.b.max.1d.s32.trap [%0, {%1}], %2;" ::"l"(counts), "r"(32), "r"(x - 40)
               : "memory");
  asm volatile("sured.b.or.1d.b32.trap [%0, {%1}], %2;" ::"l"(counts), "r"(36), "r"(1 << x)
               : "memory");
  asm volatile("sured.p.min.1d.b32.clamp [%0, {%1}], %2;" ::"l"(counts), "r"(10), "r"(x + 5)
               : "memory");
  if (x == 0) {
    asm volatile("suq.width.b32 %0, [%1];" : "=r"(sizes[0]) : "l"(floats));
    asm volatile("suq.height.b32 %0, [%1];" : "=r"(sizes[1]) : "l"(floats));
  }
}

static void by_ptx(Verdict& verdict) {
  Target floats = make<float2>(32, 3, 0), ints = make<char1>(32, 0, 0), counts = make<int1>(16, 0, 0);
  std::vector<int> start(16, 0), got_counts(16);
  start[8] = -1000, start[10] = 77;
  CHECK(cudaMemcpy2DToArray(counts.array, 0, 0, start.data(), 64, 64, 1, cudaMemcpyHostToDevice));
  int* sizes;
  CHECK(cudaMallocManaged(&sizes, 2 * sizeof(int)));
  formatted<<<1, 32>>>(floats.surface, ints.surface, counts.surface, sizes);
  CHECK(cudaDeviceSynchronize());
  std::vector<float2> f(32);
  std::vector<signed char> c(32);
  CHECK(cudaMemcpy2DFromArray(f.data(), 256, floats.array, 0, 1, 256, 1, cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy2DFromArray(c.data(), 32, ints.array, 0, 0, 32, 1, cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy2DFromArray(got_counts.data(), 64, counts.array, 0, 0, 64, 1,
                              cudaMemcpyDeviceToHost));
  bool right = sizes[0] == 32 && sizes[1] == 3;
  for (int x = 0; x < 32; ++x) {
    const int clamped = x * 40 - 600 < -128 ? -128 : x * 40 - 600 > 127 ? 127 : x * 40 - 600;
    right &= f[x].x == x * 0.25f && f[x].y == -x * 0.25f && c[x] == clamped;
  }
  verdict.expect(right, "sust.p and suq");
  right = got_counts[8] == -9 && unsigned(got_counts[9]) == 0xffffffffu && got_counts[10] == 5;
  for (int i = 0; i < 8; ++i) right &= got_counts[i] == 4 * i + 48;
  verdict.expect(right, "sured");
  CHECK(cudaFree(sizes));
  drop(floats), drop(ints), drop(counts);
}

__global__ void leave(cudaSurfaceObject_t s) { surf2Dwrite(1, s, int(threadIdx.x) * 4, 3); }

int main() {
  Verdict verdict;
  two_dimensions<unsigned char>(verdict, "8 bit");
  two_dimensions<uchar2>(verdict, "2 x 8 bit");
  two_dimensions<uchar4>(verdict, "4 x 8 bit");
  two_dimensions<short>(verdict, "16 bit");
  two_dimensions<short4>(verdict, "4 x 16 bit");
  two_dimensions<int>(verdict, "32 bit");
  two_dimensions<int2>(verdict, "2 x 32 bit");
  two_dimensions<float4>(verdict, "4 x 32 bit");
  other_shapes(verdict);
  modes(verdict);
  by_ptx(verdict);
  Target s = make<int>(8, 3, 0);
  leave<<<1, 8>>>(s.surface);
  verdict.expect(cudaDeviceSynchronize() != cudaSuccess, "a write out of bounds traps");
  return verdict.finish();
}
