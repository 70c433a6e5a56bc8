// Texture objects against a host reference: point fetches exactly, linear ones within the weights'
// 8 bits, over 1D, 2D and 3D arrays, pitched and linear memory, every address mode, normalized and
// other coordinates, and integer, normalized and half formats of 1, 2 and 4 channels.
#include <cuda_fp16.h>

#include <cmath>
#include <cstring>
#include <vector>

#include "check.h"

struct Shape {
  int dims, n[3];
};

struct Mode {
  cudaTextureAddressMode address;
  bool normalized, linear;
};

// -- host reference -------------------------------------------------------------------------------

static const float border_value = 7.5f;

static int place(long i, int n, const Mode& m) {
  if (i >= 0 && i < n) return int(i);
  cudaTextureAddressMode a = m.address;
  if (!m.normalized && (a == cudaAddressModeWrap || a == cudaAddressModeMirror))
    a = cudaAddressModeClamp;
  if (a == cudaAddressModeWrap) return int(((i % n) + n) % n);
  if (a == cudaAddressModeMirror) {
    long r = ((i % (2 * n)) + 2 * n) % (2 * n);
    return int(r < n ? r : 2 * n - 1 - r);
  }
  if (a == cudaAddressModeBorder) return -1;
  return i < 0 ? 0 : n - 1;
}

static double texel(const std::vector<float>& image, const Shape& s, const Mode& m,
                    const long* at) {
  long index = 0;
  for (int d = s.dims - 1; d >= 0; --d) {
    int p = place(at[d], s.n[d], m);
    if (p < 0) return border_value;
    index = index * s.n[d] + p;
  }
  return image[size_t(index)];
}

static double expected(const std::vector<float>& image, const Shape& s, const Mode& m,
                       const float* x) {
  double base[3], frac[3] = {0, 0, 0};
  long at[3];
  for (int d = 0; d < s.dims; ++d) {
    // Normalized coordinates have 21 bits of fraction, as on an H200.
    double u = m.normalized ? std::floor(double(x[d]) * 0x1p21) * 0x1p-21 * s.n[d] : double(x[d]);
    if (m.linear) u -= 0.5;
    base[d] = std::floor(u);
    frac[d] = u - base[d];
  }
  double sum = 0;
  for (int corner = 0; corner < (m.linear ? 1 << s.dims : 1); ++corner) {
    double weight = 1;
    for (int d = 0; d < s.dims; ++d) {
      int next = corner >> d & 1;
      at[d] = long(base[d]) + next;
      if (m.linear) weight *= next ? frac[d] : 1 - frac[d];
    }
    if (weight != 0) sum += weight * texel(image, s, m, at);
  }
  // A line is the upper edge of a plane: half of a filtered fetch is border.
  if (s.dims == 1 && m.linear && m.address == cudaAddressModeBorder) return (sum + border_value) / 2;
  return sum;
}

// -- device ---------------------------------------------------------------------------------------

__global__ void fetch(cudaTextureObject_t t, int dims, const float* x, float* out, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  float a = x[i * 3], b = x[i * 3 + 1], c = x[i * 3 + 2];
  if (dims == 1)
    out[i] = tex1D<float>(t, a);
  else if (dims == 2)
    out[i] = tex2D<float>(t, a, b);
  else
    out[i] = tex3D<float>(t, a, b, c);
}

template <typename T>
__global__ void fetch_as(cudaTextureObject_t t, T* out, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
  if (x < width) out[y * width + x] = tex2D<T>(t, x + 0.5f, y + 0.5f);
}

template <typename T>
__global__ void fetch_linear(cudaTextureObject_t t, T* out, int first, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) out[i] = tex1Dfetch<T>(t, first + i);
}

__global__ void gather(cudaTextureObject_t t, float4* out, int width) {
  int x = threadIdx.x;
  if (x < width) out[x] = tex2Dgather<float4>(t, x + 0.75f, 2.25f, 0);
}

// -- tests ----------------------------------------------------------------------------------------

static std::vector<float> coordinates(const Shape& s, bool normalized) {
  std::vector<float> out;
  const float steps[] = {-2.25f, -1.0f, -0.375f, 0.0f, 0.125f, 0.5f, 0.625f, 1.0f,
                         1.75f,  2.5f,  3.0f,    4.5f, 6.875f, 7.5f, 8.0f,   9.25f};
  for (float a : steps)
    for (float b : steps)
      for (float c : {0.25f, 1.5f, 3.875f}) {
        const float x[3] = {a, b, c};
        for (int d = 0; d < 3; ++d)
          out.push_back(normalized ? x[d] / float(s.n[d] ? s.n[d] : 1) : x[d]);
        if (s.dims < 3) break;
      }
  return out;
}

static void sweep(Verdict& verdict, const Shape& s) {
  long texels = 1;
  for (int d = 0; d < s.dims; ++d) texels *= s.n[d];
  std::vector<float> image(texels);
  for (long i = 0; i < texels; ++i) image[i] = float((i * 37) % 101) - 50.0f;
  cudaArray_t array;
  cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  cudaExtent extent = make_cudaExtent(s.n[0], s.dims > 1 ? s.n[1] : 0, s.dims > 2 ? s.n[2] : 0);
  CHECK(cudaMalloc3DArray(&array, &format, extent));
  cudaMemcpy3DParms copy = {};
  copy.srcPtr =
      make_cudaPitchedPtr(image.data(), s.n[0] * sizeof(float), s.n[0], s.dims > 1 ? s.n[1] : 1);
  copy.dstArray = array;
  copy.extent = make_cudaExtent(s.n[0], s.dims > 1 ? s.n[1] : 1, s.dims > 2 ? s.n[2] : 1);
  copy.kind = cudaMemcpyHostToDevice;
  CHECK(cudaMemcpy3D(&copy));
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  for (auto address :
       {cudaAddressModeWrap, cudaAddressModeClamp, cudaAddressModeMirror, cudaAddressModeBorder})
    for (bool normalized : {false, true})
      for (bool linear : {false, true}) {
        const Mode mode = {address, normalized, linear};
        cudaTextureDesc how = {};
        for (auto& a : how.addressMode) a = address;
        how.filterMode = linear ? cudaFilterModeLinear : cudaFilterModePoint;
        how.normalizedCoords = normalized;
        how.borderColor[0] = border_value;
        cudaTextureObject_t t;
        CHECK(cudaCreateTextureObject(&t, &resource, &how, nullptr));
        std::vector<float> x = coordinates(s, normalized);
        const int count = int(x.size() / 3);
        std::vector<float> got(count);
        float *dx, *dout;
        CHECK(cudaMalloc(&dx, x.size() * sizeof(float)));
        CHECK(cudaMalloc(&dout, count * sizeof(float)));
        CHECK(cudaMemcpy(dx, x.data(), x.size() * sizeof(float), cudaMemcpyHostToDevice));
        fetch<<<(count + 63) / 64, 64>>>(t, s.dims, dx, dout, count);
        CHECK(cudaMemcpy(got.data(), dout, count * sizeof(float), cudaMemcpyDeviceToHost));
        int wrong = 0;
        for (int i = 0; i < count; ++i) {
          // All coordinates are exact in 1/8 texels, but for the division by n.
          double want = expected(image, s, mode, &x[i * 3]);
          double slack = linear ? 100.0 * s.dims / 256 : 0;
          if (!(std::fabs(got[i] - want) <= slack) && ++wrong < 3)
            std::printf("dims %d address %d normalized %d linear %d at %g %g %g: %g, not %g\n",
                        s.dims, int(address), normalized, linear, x[i * 3], x[i * 3 + 1],
                        x[i * 3 + 2], got[i], want);
        }
        verdict.expect(wrong == 0, "a sweep of coordinates");
        CHECK(cudaFree(dx));
        CHECK(cudaFree(dout));
        CHECK(cudaDestroyTextureObject(t));
      }
  CHECK(cudaFreeArray(array));
}

/// 13 x 5 texels of T, read back as Out; `want` maps a channel.
template <typename T, typename Out, int channels, typename Want>
static void format(Verdict& verdict, cudaTextureReadMode read, const char* name, Want want) {
  const int width = 13, height = 5;
  using Channel = decltype(T::x);
  std::vector<T> image(width * height);
  auto* raw = reinterpret_cast<Channel*>(image.data());
  for (int i = 0; i < width * height * channels; ++i) {
    unsigned bits = unsigned(i) * 2654435761u;
    std::memcpy(&raw[i], &bits, sizeof(Channel));
  }
  cudaArray_t array;
  cudaChannelFormatDesc desc = cudaCreateChannelDesc<T>();
  CHECK(cudaMallocArray(&array, &desc, width, height));
  CHECK(cudaMemcpy2DToArray(array, 0, 0, image.data(), width * sizeof(T), width * sizeof(T), height,
                            cudaMemcpyHostToDevice));
  std::vector<T> back(width * height);
  CHECK(cudaMemcpy2DFromArray(back.data(), width * sizeof(T), array, 0, 0, width * sizeof(T),
                              height, cudaMemcpyDeviceToHost));
  verdict.expect(!std::memcmp(back.data(), image.data(), image.size() * sizeof(T)), name);
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaTextureDesc how = {};
  how.readMode = read;
  cudaTextureObject_t t;
  CHECK(cudaCreateTextureObject(&t, &resource, &how, nullptr));
  Out* dout;
  CHECK(cudaMalloc(&dout, width * height * sizeof(Out)));
  fetch_as<Out><<<dim3(1, height), 32>>>(t, dout, width, height);
  std::vector<Out> got(width * height);
  CHECK(cudaMemcpy(got.data(), dout, got.size() * sizeof(Out), cudaMemcpyDeviceToHost));
  const auto* values = reinterpret_cast<const decltype(Out::x)*>(got.data());
  int wrong = 0;
  for (int i = 0; i < width * height * channels; ++i)
    if (!(std::fabs(double(values[i]) - double(want(raw[i]))) <= 1e-7)) ++wrong;
  verdict.expect(wrong == 0, name);
  CHECK(cudaDestroyTextureObject(t));
  CHECK(cudaFree(dout));
  CHECK(cudaFreeArray(array));
}

static void buffers(Verdict& verdict) {
  const int n = 100;
  std::vector<int2> data(n), got(n + 20);
  for (int i = 0; i < n; ++i) data[i] = make_int2(i * i, -i);
  int2 *d, *dout;
  CHECK(cudaMalloc(&d, n * sizeof(int2)));
  CHECK(cudaMalloc(&dout, got.size() * sizeof(int2)));
  CHECK(cudaMemcpy(d, data.data(), n * sizeof(int2), cudaMemcpyHostToDevice));
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear.devPtr = d;
  resource.res.linear.desc = cudaCreateChannelDesc<int2>();
  resource.res.linear.sizeInBytes = n * sizeof(int2);
  cudaTextureDesc how = {};
  cudaTextureObject_t t;
  CHECK(cudaCreateTextureObject(&t, &resource, &how, nullptr));
  fetch_linear<int2><<<1, 128>>>(t, dout, -10, n + 20);
  CHECK(cudaMemcpy(got.data(), dout, got.size() * sizeof(int2), cudaMemcpyDeviceToHost));
  bool right = true;
  for (int i = 0; i < n + 20; ++i) {
    const int at = i - 10;
    const int2 want = at >= 0 && at < n ? data[at] : make_int2(0, 0);
    right &= got[i].x == want.x && got[i].y == want.y;
  }
  verdict.expect(right, "tex1Dfetch, with zeros outside");
  CHECK(cudaDestroyTextureObject(t));

  // Pitched memory.
  const int width = 33, height = 7;
  float* pitched;
  size_t pitch;
  CHECK(cudaMallocPitch(&pitched, &pitch, width * sizeof(float), height));
  std::vector<float> image(width * height), out(width * height);
  for (int i = 0; i < width * height; ++i) image[i] = float(i) * 0.5f;
  CHECK(cudaMemcpy2D(pitched, pitch, image.data(), width * sizeof(float), width * sizeof(float),
                     height, cudaMemcpyHostToDevice));
  cudaResourceDesc flat = {};
  flat.resType = cudaResourceTypePitch2D;
  flat.res.pitch2D.devPtr = pitched;
  flat.res.pitch2D.desc = cudaCreateChannelDesc<float>();
  flat.res.pitch2D.width = width;
  flat.res.pitch2D.height = height;
  flat.res.pitch2D.pitchInBytes = pitch;
  CHECK(cudaCreateTextureObject(&t, &flat, &how, nullptr));
  float* fout;
  CHECK(cudaMalloc(&fout, out.size() * sizeof(float)));
  fetch_as<float><<<dim3(2, height), 32>>>(t, fout, width, height);
  CHECK(cudaMemcpy(out.data(), fout, out.size() * sizeof(float), cudaMemcpyDeviceToHost));
  verdict.expect(out == image, "pitched memory");
  CHECK(cudaDestroyTextureObject(t));
}

static void gathers(Verdict& verdict) {
  const int width = 16, height = 8;
  std::vector<float> image(width * height);
  for (int i = 0; i < width * height; ++i) image[i] = float(i);
  cudaArray_t array;
  cudaChannelFormatDesc desc = cudaCreateChannelDesc<float>();
  CHECK(cudaMallocArray(&array, &desc, width, height, cudaArrayTextureGather));
  CHECK(cudaMemcpy2DToArray(array, 0, 0, image.data(), width * 4, width * 4, height,
                            cudaMemcpyHostToDevice));
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaTextureDesc how = {};
  for (auto& a : how.addressMode) a = cudaAddressModeClamp;
  cudaTextureObject_t t;
  CHECK(cudaCreateTextureObject(&t, &resource, &how, nullptr));
  float4* dout;
  std::vector<float4> got(width);
  CHECK(cudaMalloc(&dout, width * sizeof(float4)));
  gather<<<1, 32>>>(t, dout, width);
  CHECK(cudaMemcpy(got.data(), dout, width * sizeof(float4), cudaMemcpyDeviceToHost));
  bool right = true;
  for (int x = 0; x < width; ++x) {
    // (x + 0.75, 2.25) lies between columns x, x + 1 and rows 1, 2.
    const int next = x + 1 < width ? x + 1 : width - 1;
    right &= got[x].x == image[2 * width + x] && got[x].y == image[2 * width + next] &&
             got[x].z == image[width + next] && got[x].w == image[width + x];
  }
  verdict.expect(right, "tex2Dgather");
}

int main() {
  Verdict verdict;
  sweep(verdict, {1, {8, 0, 0}});
  sweep(verdict, {2, {8, 6, 0}});
  sweep(verdict, {3, {8, 4, 4}});
  const auto element = cudaReadModeElementType, normal = cudaReadModeNormalizedFloat;
  auto same = [](auto v) { return v; };
  format<uchar1, uchar1, 1>(verdict, element, "uchar", same);
  format<uchar4, uchar4, 4>(verdict, element, "uchar4", same);
  format<char2, char2, 2>(verdict, element, "char2", same);
  format<short1, short1, 1>(verdict, element, "short", same);
  format<ushort4, ushort4, 4>(verdict, element, "ushort4", same);
  format<int1, int1, 1>(verdict, element, "int", same);
  format<uint2, uint2, 2>(verdict, element, "uint2", same);
  format<int4, int4, 4>(verdict, element, "int4", same);
  format<uchar1, float1, 1>(verdict, normal, "uchar normalized", [](auto v) { return v / 255.0; });
  format<uchar4, float4, 4>(verdict, normal, "uchar4 normalized", [](auto v) { return v / 255.0; });
  format<char4, float4, 4>(verdict, normal, "char4 normalized",
                           [](auto v) { return v < -127 ? -1.0 : v / 127.0; });
  format<ushort2, float2, 2>(verdict, normal, "ushort2 normalized",
                             [](auto v) { return v / 65535.0; });
  format<short2, float2, 2>(verdict, normal, "short2 normalized",
                            [](auto v) { return v < -32767 ? -1.0 : v / 32767.0; });
  buffers(verdict);
  gathers(verdict);
  return verdict.finish();
}
