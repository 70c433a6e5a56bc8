// Records what texture and surface instructions give on whatever driver it runs, for coordinates
// that the manuals leave open, so that two drivers can be compared:
//   texture_record OUT             writes OUT, one line a sample: section, index, inputs, result words
//   texture_record --compare A B   sums up by section where B differs from A; needs no device
//   texture_record                 records into memory only and checks a few sums (the ctest case)
// Built with -DQUERIES it also records the queries whose answers are NVIDIA's own enumerations.
// Every kernel is a module of its own, of PTX for the driver's compiler, so that one that a driver
// refuses does not take the others with it. What a driver refuses to make is recorded as its error
// code. A kernel that is refused, fails or does not write its results, and a plain fetch that
// differs from the host's own answer, end in FAILED; the rest is recorded all the same, as each
// section has its own process.
#include "recorder.h"

// -- images and textures --------------------------------------------------------------------------

template <typename T>
static cudaArray_t array_of(const std::vector<T>& data, int w, int h, int d, unsigned flags = 0,
                            cudaChannelFormatDesc desc = cudaCreateChannelDesc<T>()) {
  cudaArray_t array;
  CHECK(cudaMalloc3DArray(&array, &desc, make_cudaExtent(w, h, d), flags));
  cudaMemcpy3DParms copy = {};
  copy.srcPtr = make_cudaPitchedPtr(const_cast<T*>(data.data()), w * sizeof(T), w, h ? h : 1);
  copy.dstArray = array;
  copy.extent = make_cudaExtent(w, h ? h : 1, d ? d : 1);
  copy.kind = cudaMemcpyHostToDevice;
  CHECK(cudaMemcpy3D(&copy));
  return array;
}

static cudaTextureObject_t texture(cudaArray_t array, const cudaTextureDesc& how) {
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaTextureObject_t t = 0;
  const cudaError_t error = cudaCreateTextureObject(&t, &resource, &how, nullptr);
  static int made = 0;
  ++made;
  if (error == cudaSuccess) return t;
  note("texture" + std::to_string(made) + ".error", error);
  (void)cudaGetLastError();
  return 0;
}

static cudaTextureDesc mode(cudaTextureAddressMode address, bool normalized, bool linear) {
  cudaTextureDesc how = {};
  for (auto& a : how.addressMode) a = address;
  how.normalizedCoords = normalized;
  how.filterMode = linear ? cudaFilterModeLinear : cudaFilterModePoint;
  how.borderColor[0] = 0.25f, how.borderColor[1] = 2, how.borderColor[2] = 3,
  how.borderColor[3] = 4;
  return how;
}

static float ulp(float x, int up) {
  return std::nextafterf(x, up > 0 ? INFINITY : -INFINITY);
}

/// Places on an axis of n texels, in texels.
static std::vector<float> places(int n, bool all) {
  const float inf = INFINITY, nan = std::numeric_limits<float>::quiet_NaN();
  std::vector<float> out = {0.0f, -0.0f, 0.5f, 1.0f, 1.5f, n - 0.5f, float(n), n + 0.5f, -0.5f,
                            -1.0f, 2.25f, 2.75f};
  if (!all) return out;
  for (int k : {0, 1, 2, n - 1, n, n + 1, -1, -2, -n, 2 * n, 3 * n, -2 * n})
    for (float h : {0.0f, 0.5f, 1.0f / 512, 0.25f, -1.0f / 512, 3.0f / 512})
      for (int u : {-1, 0, 1}) out.push_back(u ? ulp(k + h, u) : k + h);
  for (float x : {1e-40f, -1e-40f, 1e-20f, 1e5f, -1e5f, 16777216.0f, 16777218.0f, 1e9f, -1e9f, 1e20f,
                  -1e20f, 3e38f, -3e38f, inf, -inf, nan})
    out.push_back(x);
  return out;
}

static const std::pair<cudaTextureAddressMode, const char*> addresses[] = {
    {cudaAddressModeWrap, "wrap"},
    {cudaAddressModeClamp, "clamp"},
    {cudaAddressModeMirror, "mirror"},
    {cudaAddressModeBorder, "border"}};

static void record_modes() {
  const int n = 8, m = 5, d = 3;  // 5 and 3 are no powers of two
  std::vector<float> image(n * m * d);
  for (size_t i = 0; i < image.size(); ++i) image[i] = float((i * 37) % 101) - 50.0f;
  cudaArray_t one = array_of(std::vector<float>(image.begin(), image.begin() + n), n, 0, 0);
  cudaArray_t odd = array_of(std::vector<float>(image.begin(), image.begin() + m), m, 0, 0);
  cudaArray_t two = array_of(std::vector<float>(image.begin(), image.begin() + n * m), n, m, 0);
  cudaArray_t three = array_of(image, n, m, d);
  for (auto [address, name] : addresses)
    for (bool normalized : {false, true})
      for (bool linear : {false, true}) {
        const std::string tag = std::string(name) + (normalized ? ".normalized" : ".texels") +
                                (linear ? ".linear" : ".point");
        const cudaTextureDesc how = mode(address, normalized, linear);
        auto in = [&](float x, int size) { return normalized ? x / float(size) : x; };
        // The texel at a coordinate well inside it, beyond the edges that of the edge.
        auto index = [](float x, int size) -> std::optional<int> {
          const float whole = std::floor(x);
          if (!(std::fabs(x) < 1000) || x - whole < 1 / 16.f || x - whole > 15 / 16.f) return {};
          return whole < 0 ? 0 : whole >= size ? size - 1 : int(whole);
        };
        auto texel = [&](const Sample& p, int w, int h, int depth) -> std::optional<unsigned> {
          const auto x = index(p.x, w), y = h ? index(p.y, h) : 0, z = depth ? index(p.z, depth) : 0;
          if (!x || !y || !z) return {};
          return bits_of(image[(*z * m + *y) * n + *x]);
        };
        auto whole = [&](const Sample& p, int h, int depth) -> std::optional<unsigned> {
          if (!h) return 0;  // tex.1d by integers reads buffers only
          if (p.i < 0 || p.i >= n || (h && (p.j < 0 || p.j >= h))) return {};
          return bits_of(image[((depth ? p.k : 0) * m + (h ? p.j : 0)) * n + p.i]);
        };
        const bool plain = address == cudaAddressModeClamp && !normalized && !linear;
        auto expect = [&](int w, int h, int depth) -> Expect {
          if (!plain) return nullptr;
          return [=](const Sample& p) { return texel(p, w, h, depth); };
        };
        auto expect_whole = [&](int h, int depth) -> Expect {
          if (!plain) return nullptr;
          return [=](const Sample& p) { return whole(p, h, depth); };
        };
        std::vector<Sample> s;
        for (float x : places(n, true)) s.push_back({in(x, n)});
        run("1d.8." + tag, tex_1d, texture(one, how), s, expect(n, 0, 0));
        s.clear();
        for (float x : places(m, true)) s.push_back({in(x, m)});
        run("1d.5." + tag, tex_1d, texture(odd, how), s, expect(m, 0, 0));
        s.clear();
        for (float x : places(n, false))
          for (float y : places(m, false)) s.push_back({in(x, n), in(y, m)});
        run("2d." + tag, tex_2d, texture(two, how), s, expect(n, m, 0));
        s.clear();
        for (float x : places(n, false))
          for (float y : {0.25f, 2.5f, 5.0f, -1.0f})
            for (float z : {0.5f, 1.25f, 2.875f, 3.5f, -0.5f})
              s.push_back({in(x, n), in(y, m), in(z, d)});
        run("3d." + tag, tex_3d, texture(three, how), s, expect(n, m, d));
        s.clear();
        for (int i = -3; i < n + 3; ++i)
          for (int j : {-2, 0, 4, 5, 100}) s.push_back({0, 0, 0, 0, i, j, 1});
        run("1d.s32." + tag, tex_1d_s32, texture(one, how), s, expect_whole(0, 0));
        run("2d.s32." + tag, tex_2d_s32, texture(two, how), s, expect_whole(m, 0));
        run("3d.s32." + tag, tex_3d_s32, texture(three, how), s, expect_whole(m, d));
      }
}

/// Weights: a texel of 1 among zeros gives the weight itself.
static void record_weights() {
  const int n = 8;
  std::vector<float> line(n, 0.0f), plane(n * n, 0.0f), volume(n * n * n, 0.0f);
  line[3] = plane[3 * n + 3] = volume[(3 * n + 3) * n + 3] = 1.0f;
  const cudaTextureDesc texels = mode(cudaAddressModeClamp, false, true),
                        normal = mode(cudaAddressModeClamp, true, true);
  cudaArray_t one = array_of(line, n, 0, 0), two = array_of(plane, n, n, 0),
              three = array_of(volume, n, n, n);
  std::vector<Sample> s, t;
  for (int k = 0; k <= 4096; ++k) {
    const float x = 2.5f + float(k) / 2048.0f;
    s.push_back({x});
    t.push_back({x / n});
  }
  run("weights.1d.texels", tex_1d, texture(one, texels), s, [](const Sample& p) {
    const bool centre = p.x == 2.5f || p.x == 3.5f || p.x == 4.5f;
    return centre ? std::optional(bits_of(p.x == 3.5f ? 1.0f : 0.0f)) : std::nullopt;
  });
  run("weights.1d.normalized", tex_1d, texture(one, normal), t);
  s.clear();
  for (int a = 0; a < 48; ++a)
    for (int b = 0; b < 48; ++b) s.push_back({2.5f + a * 43 / 1024.0f, 2.5f + b * 41 / 1024.0f});
  run("weights.2d", tex_2d, texture(two, texels), s);
  s.clear();
  for (int a = 0; a < 12; ++a)
    for (int b = 0; b < 12; ++b)
      for (int c = 0; c < 12; ++c)
        s.push_back({2.5f + a * 171 / 1024.0f, 2.5f + b * 167 / 1024.0f, 2.5f + c * 163 / 1024.0f});
  run("weights.3d", tex_3d, texture(three, texels), s);
  // Sums of values of very different size, infinities and NaNs beside a texel centre.
  std::vector<float> odd = {1.0f, 1e30f, -1e30f, INFINITY, 2.0f, NAN, 3.0f, 1e-40f};
  s.clear();
  for (int k = 0; k <= 8 * 16; ++k) s.push_back({k / 16.0f});
  run("weights.values", tex_1d, texture(array_of(odd, n, 0, 0), texels), s);
  run("weights.values.point", tex_1d,
      texture(array_of(odd, n, 0, 0), mode(cudaAddressModeClamp, false, false)), s);
}

template <typename T>
static void record_format(const char* name) {
  const int w = 16, h = 4;
  std::vector<T> image(w * h);
  auto* bytes = reinterpret_cast<unsigned char*>(image.data());
  unsigned seed = 1;
  for (size_t i = 0; i < image.size() * sizeof(T); ++i) {
    seed = seed * 1664525u + 1013904223u;
    bytes[i] = static_cast<unsigned char>(seed >> 24);
  }
  const cudaChannelFormatDesc desc = cudaCreateChannelDesc<T>();
  const bool is_float = desc.f == cudaChannelFormatKindFloat;
  if (is_float)  // small numbers, so that no sum overflows
    for (size_t i = 0; i < image.size() * sizeof(T) / 4; ++i) {
      float v = float(int(i * 37 % 201) - 100) / 16;
      std::memcpy(bytes + i * 4, &v, 4);
    }
  cudaArray_t array = array_of(image, w, h, 0);
  std::vector<Sample> s;
  for (int y = 0; y < h; ++y)
    for (int x = 0; x < w; ++x) s.push_back({x + 0.5f, y + 0.5f, 0, 0, x, y});
  for (float x : {0.0f, 1.25f, 5.0f, 7.125f, 15.9f, 20.0f}) s.push_back({x, 1.75f});
  const bool small = desc.x < 32;
  for (bool normalized : {false, true})
    for (bool linear : {false, true})
      for (bool srgb : {false, true}) {
        if (normalized && !small) continue;
        if (linear && !is_float && !normalized) continue;
        if (srgb && (!normalized || desc.x != 8 || desc.f != cudaChannelFormatKindUnsigned)) continue;
        cudaTextureDesc how = mode(cudaAddressModeBorder, false, linear);
        how.readMode = normalized ? cudaReadModeNormalizedFloat : cudaReadModeElementType;
        how.sRGB = srgb;
        const std::string tag = std::string("format.") + name + (normalized ? ".normalized" : "") +
                                (srgb ? ".srgb" : "") + (linear ? ".linear" : "");
        const cudaTextureObject_t t = texture(array, how);
        run(tag, tex_2d_u32, t, s);
        run(tag + ".s32", tex_2d_s32, t, s);
        if (linear) continue;
        run(tag + ".f16x2", tex_pairs, t, s);
        run(tag + ".f16", tex_halves, t, s);
      }
}

static void record_formats() {
  record_format<unsigned char>("u8"), record_format<uchar2>("u8x2"), record_format<uchar4>("u8x4");
  record_format<signed char>("s8"), record_format<char2>("s8x2"), record_format<char4>("s8x4");
  record_format<unsigned short>("u16"), record_format<ushort2>("u16x2");
  record_format<ushort4>("u16x4"), record_format<short>("s16"), record_format<short2>("s16x2");
  record_format<short4>("s16x4"), record_format<unsigned>("u32"), record_format<uint2>("u32x2");
  record_format<uint4>("u32x4"), record_format<int>("s32"), record_format<int2>("s32x2");
  record_format<int4>("s32x4"), record_format<float>("f32"), record_format<float2>("f32x2");
  record_format<float4>("f32x4");
  // Halves: every exponent, by bits.
  std::vector<ushort2> halves(64);
  for (int i = 0; i < 64; ++i)
    halves[i] = make_ushort2(static_cast<unsigned short>(i * 1031), static_cast<unsigned short>(i * 521 + 7));
  cudaArray_t array = array_of(halves, 64, 0, 0, 0, cudaCreateChannelDescHalf2());
  std::vector<Sample> s;
  for (int i = 0; i < 64; ++i) s.push_back({i + 0.5f});
  run("format.f16x2", tex_1d, texture(array, mode(cudaAddressModeClamp, false, false)), s);
}

static void record_buffers() {
  const int n = 64;
  std::vector<float> data(n);
  for (int i = 0; i < n; ++i) data[i] = float(i + 1);
  float* d;
  CHECK(cudaMalloc(&d, 4096));
  CHECK(cudaMemcpy(d, data.data(), n * 4, cudaMemcpyHostToDevice));
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear.devPtr = d;
  resource.res.linear.desc = cudaCreateChannelDesc<float>();
  resource.res.linear.sizeInBytes = n * 4;
  std::vector<Sample> s;
  for (int i : {-2147483647 - 1, -100, -1, 0, 1, 31, 62, 63, 64, 65, 1000, 2147483647})
    s.push_back({float(i) + 0.5f, 0, 0, 0, i});
  for (auto [address, name] : addresses) {
    const cudaTextureDesc how = mode(address, false, false);
    cudaTextureObject_t t;
    CHECK(cudaCreateTextureObject(&t, &resource, &how, nullptr));
    run(std::string("buffer.s32.") + name, tex_1d_s32, t, s, [&](const Sample& p) {
      return p.i >= 0 && p.i < n ? std::optional(bits_of(data[p.i])) : std::nullopt;
    });
    run(std::string("buffer.f32.") + name, tex_1d, t, s);
  }
}

static void record_gathers() {
  const int w = 8, h = 5;
  std::vector<float4> image(w * h);
  for (int i = 0; i < w * h; ++i) image[i] = make_float4(i, 100 + i, 200 + i, 300 + i);
  cudaArray_t array = array_of(image, w, h, 0, cudaArrayTextureGather);
  std::vector<Sample> s;
  for (float x : places(w, false))
    for (float y : {0.25f, 0.5f, 1.0f, 2.5f, 4.75f, 6.0f}) s.push_back({x, y, 0, 0, 1, -2});
  for (int k = -4; k <= 4; ++k) s.push_back({2.5f + k / 1024.0f, 1.5f + k / 1024.0f, 0, 0, -3, 2});
  for (auto [address, name] : addresses) {
    const cudaTextureObject_t t = texture(array, mode(address, false, false));
    run(std::string("gather.r.") + name, tld4_r, t, s);
    run(std::string("gather.a.") + name, tld4_a, t, s);
    run(std::string("gather.offset.") + name, tld4_offset, t, s);
    run(std::string("offset.point.") + name, tex_offset, t, s);
    run(std::string("offset.linear.") + name, tex_offset, texture(array, mode(address, false, true)), s);
    std::vector<Sample> normal = s;
    for (Sample& a : normal) a.x /= w, a.y /= h;
    run(std::string("offset.normalized.") + name, tex_offset,
        texture(array, mode(address, true, true)), normal);
  }
}

static void record_layers() {
  const int w = 8, h = 4, d = 3;
  std::vector<float> image(w * h * d);
  for (size_t i = 0; i < image.size(); ++i) image[i] = float(i);
  cudaArray_t two = array_of(image, w, h, d, cudaArrayLayered);
  cudaArray_t one = array_of(std::vector<float>(image.begin(), image.begin() + w * d), w, 0, d, cudaArrayLayered);
  std::vector<Sample> s;
  for (int layer : {-2147483647 - 1, -1, 0, 1, 2, 3, 4, 1000, 2147483647})
    for (float x : {0.5f, 3.25f, -1.0f, 9.0f}) s.push_back({x, 1.5f, 0, 0, layer});
  for (auto [address, name] : addresses)
    for (bool linear : {false, true}) {
      const cudaTextureDesc how = mode(address, false, linear);
      const std::string tag = std::string(name) + (linear ? ".linear" : ".point");
      run("a1d." + tag, tex_a1d, texture(one, how), s);
      run("a2d." + tag, tex_a2d, texture(two, how), s);
    }
}

static void record_cubes() {
  const int n = 4;
  std::vector<float> image(n * n * 12);
  for (size_t i = 0; i < image.size(); ++i) image[i] = float(i);
  std::vector<Sample> s;
  const float inf = INFINITY, nan = NAN;
  for (float x : {-1.0f, -0.9f, -0.6f, -0.25f, -0.0f, 0.0f, 0.3f, 0.7f, 1.0f})
    for (float y : {-1.0f, -0.75f, -0.1f, 0.0f, 0.45f, 0.97f, 1.0f})
      for (float z : {-1.0f, -0.5f, -0.0f, 0.2f, 0.99f, 1.0f}) s.push_back({x, y, z, 0, 1});
  for (float x : {inf, -inf, nan, 1e30f, 1e-40f}) {
    s.push_back({x, 0.5f, 0.25f, 0, 0});
    s.push_back({x, x, 0.25f, 0, -1});
    s.push_back({x, x, x, 0, 5});
  }
  for (bool linear : {false, true})
    for (bool seamless : {false, true}) {
      cudaTextureDesc how = mode(cudaAddressModeClamp, true, linear);
      how.seamlessCubemap = seamless;
      const std::string tag = std::string(linear ? ".linear" : ".point") + (seamless ? ".seamless" : "");
      cudaArray_t one = array_of(std::vector<float>(image.begin(), image.begin() + n * n * 6), n, n, 6, cudaArrayCubemap);
      cudaArray_t two = array_of(image, n, n, 12, cudaArrayCubemap | cudaArrayLayered);
      run("cube" + tag, tex_cube, texture(one, how), s);
      run("acube" + tag, tex_acube, texture(two, how), s);
      run("tld4.cube" + tag, tld4_cube, texture(one, how), s);
    }
}

static void record_levels() {
  const int n = 16, count = 5;
  cudaMipmappedArray_t mipmapped;
  const cudaChannelFormatDesc desc = cudaCreateChannelDesc<float>();
  CHECK(cudaMallocMipmappedArray(&mipmapped, &desc, make_cudaExtent(n, n / 2, 0), count));
  for (int level = 0; level < count; ++level) {
    cudaArray_t array;
    CHECK(cudaGetMipmappedArrayLevel(&array, mipmapped, level));
    const int w = n >> level, h = (n / 2) >> level ? (n / 2) >> level : 1;
    std::vector<float> data(w * h);
    for (int i = 0; i < w * h; ++i) data[i] = level * 1024.0f + i;
    CHECK(cudaMemcpy2DToArray(array, 0, 0, data.data(), w * 4, w * 4, h, cudaMemcpyHostToDevice));
  }
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeMipmappedArray;
  resource.res.mipmap.mipmap = mipmapped;
  std::vector<Sample> lods, grads, whole;
  for (int k = -64; k <= 6 * 64; ++k) lods.push_back({0.3f, 0.6f, k / 64.0f});
  for (int k = -8; k <= 8; ++k) lods.push_back({0.3f, 0.6f, 1.5f + k / 2048.0f});
  for (float x : {INFINITY, -INFINITY, NAN, 1e9f, 1e-40f}) lods.push_back({0.3f, 0.6f, x});
  for (int a = -6; a < 12; ++a)
    for (int b = -6; b < 12; b += 3)
      grads.push_back({0.3f, 0.6f, std::exp2f(a * 0.37f) / n, -std::exp2f(b * 0.31f) / n});
  for (float x : {0.0f, INFINITY, NAN}) grads.push_back({0.3f, 0.6f, x, 0.125f});
  for (int level : {-1, 0, 1, 2, 4, 5, 100})
    for (int i : {-1, 0, 3, 15, 16}) whole.push_back({0, 0, 0, 0, i, 2, level});
  for (bool linear : {false, true})
    for (bool between : {false, true})
      for (float bias : {0.0f, 0.75f}) {
        cudaTextureDesc how = mode(cudaAddressModeClamp, true, linear);
        how.mipmapFilterMode = between ? cudaFilterModeLinear : cudaFilterModePoint;
        how.mipmapLevelBias = bias;
        how.minMipmapLevelClamp = bias ? 0.5f : 0;
        how.maxMipmapLevelClamp = bias ? 2.75f : 15;
        cudaTextureObject_t t;
        CHECK(cudaCreateTextureObject(&t, &resource, &how, nullptr));
        const std::string tag = std::string(linear ? ".linear" : ".point") +
                                (between ? ".between" : ".nearest") + (bias ? ".biased" : "");
        run("level" + tag, tex_level_2d, t, lods);
        run("grad" + tag, tex_grad_2d, t, grads);
        run("base" + tag, tex_base_2d, t, lods);
        run("plain" + tag, tex_2d, t, lods);
        run("level.s32" + tag, tex_level_s32, t, whole);
      }
}

template <typename T>
static void record_stores(const char* name, bool is_float,
                          cudaChannelFormatDesc desc = cudaCreateChannelDesc<T>()) {
  const int w = 16, h = 4;
  cudaArray_t array = array_of(std::vector<T>(w * h), w, h, 0, cudaArraySurfaceLoadStore, desc);
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaSurfaceObject_t surface;
  CHECK(cudaCreateSurfaceObject(&surface, &resource));
  std::vector<Sample> s;
  const int numbers[] = {0, 1, -1, 127, 128, 255, 256, -128, -129, 32767, 32768, 65535, 65536, -32769,
                         2147483647, -2147483647 - 1};
  const float reals[] = {0, 1, -1, 0.5f, 65504, 65520, 1e-8f, 6e-8f, 1e30f, INFINITY, NAN, 0.1f,
                         -0.0f, 2.5f, 1.0009765f, 1.0014648f};
  for (int i = 0; i < 16; ++i) {
    int a = numbers[i], b = numbers[(i + 5) % 16];
    if (is_float) {
      std::memcpy(&a, &reals[i], 4);
      std::memcpy(&b, &reals[(i + 5) % 16], 4);
    }
    s.push_back({0, 0, 0, 0, i, 1, a, b});
  }
  run(std::string("sust.p.") + name, sust_p, surface, s);
  std::vector<T> got(w * h);
  CHECK(cudaMemcpy2DFromArray(got.data(), w * sizeof(T), array, 0, 0, w * sizeof(T), h, cudaMemcpyDeviceToHost));
  const auto* bytes = reinterpret_cast<const unsigned char*>(got.data());
  for (size_t i = 0; i < got.size() * sizeof(T); ++i)
    note("sust.p." + std::string(name) + ".byte" + std::to_string(i), bytes[i]);
}

static void record_surfaces() {
  const int w = 8, h = 4;
  std::vector<int> image(w * h);
  for (int i = 0; i < w * h; ++i) image[i] = 0x01010101 * i;
  cudaArray_t array = array_of(image, w, h, 0, cudaArraySurfaceLoadStore);
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaSurfaceObject_t surface;
  CHECK(cudaCreateSurfaceObject(&surface, &resource));
  std::vector<Sample> s;
  for (int x : {-2147483647 - 1, -8, 0, 8, 16, 24, 32, 40, 1 << 20})
    for (int y : {-2147483647 - 1, -1, 0, 1, 3, 4, 1 << 20}) s.push_back({0, 0, 0, 0, x, y});
  const Expect inside = [&](const Sample& p) {
    const bool in = p.i >= 0 && p.i < w * 4 && p.j >= 0 && p.j < h;
    return in ? std::optional(unsigned(image[p.j * w + p.i / 4])) : std::nullopt;
  };
  run("suld.clamp", suld_clamp, surface, s, inside);
  run("suld.zero", suld_zero, surface, s, inside);
  record_stores<unsigned char>("u8", false), record_stores<char4>("s8x4", false);
  record_stores<ushort2>("u16x2", false), record_stores<short>("s16", false);
  record_stores<uint2>("u32x2", false), record_stores<int4>("s32x4", false);
  record_stores<float2>("f32x2", true);
  record_stores<ushort2>("f16x2", true, cudaCreateChannelDescHalf2());
}

// -- queries --------------------------------------------------------------------------------------

/// Each kernel in a section of its own: a query that a driver cannot answer may end it. The first word is the width in all that begin with it.
static void record_queries_by(Kernel& kernel, bool sizes) {
  const Expect eight = sizes ? Expect([](const Sample& p) {
    return p.k == 0 ? std::optional(8u) : std::nullopt;
  }) : nullptr;
  const std::string tag = std::string("query.") + kernel.name + ".";
  const cudaTextureDesc how = mode(cudaAddressModeClamp, false, false);
  const cudaTextureDesc normal = mode(cudaAddressModeClamp, true, true);
  run(tag + "1d", kernel, texture(array_of(std::vector<float>(8), 8, 0, 0), how), {Sample{}}, eight);
  run(tag + "2d", kernel, texture(array_of(std::vector<float>(40), 8, 5, 0), normal), {Sample{}}, eight);
  run(tag + "3d", kernel, texture(array_of(std::vector<float>(120), 8, 5, 3), how), {Sample{}}, eight);
  run(tag + "a1d", kernel, texture(array_of(std::vector<float>(24), 8, 0, 3, cudaArrayLayered), how),
      {Sample{}}, eight);
  run(tag + "a2d", kernel, texture(array_of(std::vector<float>(96), 8, 4, 3, cudaArrayLayered), how),
      {Sample{}}, eight);
  run(tag + "cube", kernel, texture(array_of(std::vector<float>(384), 8, 8, 6, cudaArrayCubemap), normal),
      {Sample{}}, eight);
  run(tag + "acube", kernel,
      texture(array_of(std::vector<float>(768), 8, 8, 12, cudaArrayCubemap | cudaArrayLayered), normal),
      {Sample{}}, eight);
  float* d;
  CHECK(cudaMalloc(&d, 4096));
  cudaResourceDesc resource = {};
  cudaTextureObject_t t;
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear = {d, cudaCreateChannelDesc<float>(), 256};
  CHECK(cudaCreateTextureObject(&t, &resource, &how, nullptr));
  run(tag + "buffer", kernel, t, {Sample{}});
  cudaMipmappedArray_t mipmapped;
  const cudaChannelFormatDesc desc = cudaCreateChannelDesc<float>();
  CHECK(cudaMallocMipmappedArray(&mipmapped, &desc, make_cudaExtent(16, 8, 0), 5));
  resource = {};
  resource.resType = cudaResourceTypeMipmappedArray;
  resource.res.mipmap.mipmap = mipmapped;
  CHECK(cudaCreateTextureObject(&t, &resource, &normal, nullptr));
  std::vector<Sample> levels;
  for (int level : {0, 1, 2, 4, 5, 100, -1}) levels.push_back({0, 0, 0, 0, level, 0, 1});
  run(tag + "mip", kernel, t, levels);
}

static void record_surface_queries_by(Kernel& kernel, bool sizes) {
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array_of(std::vector<int>(32), 8, 4, 0, cudaArraySurfaceLoadStore);
  cudaSurfaceObject_t surface;
  CHECK(cudaCreateSurfaceObject(&surface, &resource));
  run(std::string("query.") + kernel.name + ".surface", kernel, surface, {Sample{}},
      sizes ? Expect([](const Sample&) { return std::optional(8u); }) : nullptr);
}

static void record_all_queries() {
  section("record_queries_by txq_level", [] { record_queries_by(txq_level, true); });
  section("record_queries_by txq_sizes", [] { record_queries_by(txq_sizes, true); });
  section("record_queries_by txq_array_size", [] { record_queries_by(txq_array_size, false); });
  section("record_queries_by txq_levels", [] { record_queries_by(txq_levels, false); });
  section("record_queries_by txq_samples", [] { record_queries_by(txq_samples, false); });
  section("record_queries_by txq_normalized", [] { record_queries_by(txq_normalized, false); });
  section("record_queries_by is_types", [] { record_queries_by(is_types, false); });
  section("record_surface_queries_by suq_sizes", [] { record_surface_queries_by(suq_sizes, true); });
  section("record_surface_queries_by suq_array_size", [] { record_surface_queries_by(suq_array_size, false); });
  section("record_surface_queries_by is_types", [] { record_surface_queries_by(is_types, false); });
}

// -- what the API answers -------------------------------------------------------------------------

static void record_answers() {
  float* d;
  CHECK(cudaMalloc(&d, 1 << 16));
  const cudaChannelFormatDesc f = cudaCreateChannelDesc<float>(), u = cudaCreateChannelDesc<unsigned>(),
                              b = cudaCreateChannelDesc<unsigned char>();
  auto create = [&](const char* name, const cudaResourceDesc& r, const cudaTextureDesc& how) {
    cudaTextureObject_t t = 0;
    note(std::string("create.") + name, cudaCreateTextureObject(&t, &r, &how, nullptr));
    (void)cudaGetLastError();
    if (t) CHECK(cudaDestroyTextureObject(t));
  };
  const cudaTextureDesc point = mode(cudaAddressModeClamp, false, false),
                        linear = mode(cudaAddressModeClamp, false, true);
  for (int offset : {0, 4, 16, 32, 64, 128, 256, 512}) {
    cudaResourceDesc r = {};
    r.resType = cudaResourceTypeLinear;
    r.res.linear = {reinterpret_cast<char*>(d) + offset, f, 1024};
    create(("linear.offset" + std::to_string(offset)).c_str(), r, point);
    create(("linear.filter.offset" + std::to_string(offset)).c_str(), r, linear);
    r.resType = cudaResourceTypePitch2D;
    r.res.pitch2D = {reinterpret_cast<char*>(d) + offset, f, 16, 4, 512};
    create(("pitch.offset" + std::to_string(offset)).c_str(), r, point);
    if (!offset) continue;
    r.res.pitch2D = {d, f, 1, 4, size_t(offset)};
    create(("pitch.pitch" + std::to_string(offset)).c_str(), r, point);
  }
  cudaResourceDesc r = {};
  r.resType = cudaResourceTypeLinear;
  r.res.linear = {d, u, 1024};
  create("linear.integer.linear", r, linear);
  r.res.linear = {d, f, 2};
  create("linear.tiny", r, point);
  r.res.linear = {d, f, 0};
  create("linear.empty", r, point);
  r.res.linear = {nullptr, f, 1024};
  create("linear.null", r, point);
  cudaArray_t ints, bytes;
  CHECK(cudaMallocArray(&ints, &u, 8, 8));
  CHECK(cudaMallocArray(&bytes, &b, 8, 8));
  r = {};
  r.resType = cudaResourceTypeArray;
  r.res.array.array = ints;
  create("array.integer.linear", r, linear);
  cudaTextureDesc normal = linear;
  normal.readMode = cudaReadModeNormalizedFloat;
  create("array.integer.normalized", r, normal);
  r.res.array.array = bytes;
  create("array.bytes.linear", r, linear);
  create("array.bytes.normalized.linear", r, normal);
  cudaSurfaceObject_t s = 0;
  note("surface.without.flag", cudaCreateSurfaceObject(&s, &r));
  (void)cudaGetLastError();
  cudaMipmappedArray_t mipmapped;
  CHECK(cudaMallocMipmappedArray(&mipmapped, &f, make_cudaExtent(8, 8, 0), 4));
  r.resType = cudaResourceTypeMipmappedArray;
  r.res.mipmap.mipmap = mipmapped;
  create("mipmap.texels", r, point);
  create("mipmap.normalized", r, mode(cudaAddressModeClamp, true, true));
  auto extent = [&](const char* name, cudaExtent e, unsigned flags) {
    cudaArray_t a = nullptr;
    note(std::string("array.") + name, cudaMalloc3DArray(&a, &f, e, flags));
    (void)cudaGetLastError();
    if (a) CHECK(cudaFreeArray(a));
  };
  extent("depth.no.height", make_cudaExtent(8, 0, 4), 0);
  extent("zero", make_cudaExtent(0, 0, 0), 0);
  extent("wide.1d", make_cudaExtent(131072, 0, 0), 0);
  extent("wider.1d", make_cudaExtent(131073, 0, 0), 0);
  extent("wide.2d", make_cudaExtent(131073, 2, 0), 0);
  extent("cube.5", make_cudaExtent(8, 8, 5), cudaArrayCubemap);
  extent("cube.12", make_cudaExtent(8, 8, 12), cudaArrayCubemap);
  extent("cube.layered.12", make_cudaExtent(8, 8, 12), cudaArrayCubemap | cudaArrayLayered);
  extent("cube.uneven", make_cudaExtent(8, 4, 6), cudaArrayCubemap);
  extent("layered.0", make_cudaExtent(8, 8, 0), cudaArrayLayered);
  extent("gather.1d", make_cudaExtent(8, 0, 0), cudaArrayTextureGather);
  extent("gather.3d", make_cudaExtent(8, 8, 8), cudaArrayTextureGather);
}

/// What the guide forbids and a driver may make all the same: a mipmapped texture read by texel
/// coordinates, a surface of an array that was not made for stores, a buffer below one texel.
static void record_forbidden_levels() {
  cudaMipmappedArray_t mipmapped;
  const cudaChannelFormatDesc desc = cudaCreateChannelDesc<float>();
  CHECK(cudaMallocMipmappedArray(&mipmapped, &desc, make_cudaExtent(8, 8, 0), 3));
  for (int level = 0; level < 3; ++level) {
    cudaArray_t array;
    CHECK(cudaGetMipmappedArrayLevel(&array, mipmapped, level));
    const int w = 8 >> level;
    std::vector<float> data(w * w);
    for (int i = 0; i < w * w; ++i) data[i] = level * 1024.0f + i;
    CHECK(cudaMemcpy2DToArray(array, 0, 0, data.data(), w * 4, w * 4, w, cudaMemcpyHostToDevice));
  }
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeMipmappedArray;
  resource.res.mipmap.mipmap = mipmapped;
  for (bool linear : {false, true}) {
    cudaTextureDesc how = mode(cudaAddressModeClamp, false, linear);
    how.maxMipmapLevelClamp = 15;
    cudaTextureObject_t t = 0;
    const cudaError_t code = cudaCreateTextureObject(&t, &resource, &how, nullptr);
    const std::string tag = linear ? ".linear" : ".point";
    note("forbidden.level.create" + tag, code);
    (void)cudaGetLastError();
    std::vector<Sample> s, whole;
    for (float x : {0.25f, 0.5f, 1.5f, 3.0f, 5.75f, 9.0f})
      for (float lod : {0.0f, 0.75f, 1.0f, 1.5f, 2.0f, 7.0f}) s.push_back({x, 2.5f, lod});
    for (int x : {0, 1, 3, 5})
      for (int level : {0, 1, 2}) whole.push_back({0, 0, 0, 0, x, 1, level});
    run("forbidden.level" + tag, tex_level_2d, t, s);
    run("forbidden.plain" + tag, tex_2d, t, s);
    run("forbidden.level.s32" + tag, tex_level_s32, t, whole);
  }
}

static void record_forbidden_surface() {
  std::vector<int> image(32);
  for (int i = 0; i < 32; ++i) image[i] = 0x01010101 * i;
  cudaArray_t array = array_of(image, 8, 4, 0);
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaSurfaceObject_t surface = 0;
  note("forbidden.surface.create", cudaCreateSurfaceObject(&surface, &resource));
  (void)cudaGetLastError();
  std::vector<Sample> s;
  for (int x : {0, 8, 16, 24})
    for (int y : {0, 1, 3}) s.push_back({0, 0, 0, 0, x, y});
  run("forbidden.suld", suld_zero, surface, s);
  run("forbidden.sust", sust_trap, surface, s);
  std::vector<int> got(32);
  CHECK(cudaMemcpy2DFromArray(got.data(), 32, array, 0, 0, 32, 4, cudaMemcpyDeviceToHost));
  for (int i = 0; i < 32; ++i) note("forbidden.sust.word" + std::to_string(i), got[i]);
}

static void record_forbidden_buffer() {
  float* d;
  CHECK(cudaMalloc(&d, 512));
  CHECK(cudaMemset(d, 0x3f, 512));
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear = {d, cudaCreateChannelDesc<float>(), 6};
  for (size_t bytes : {2, 6}) {
    resource.res.linear.sizeInBytes = bytes;
    run("forbidden.buffer" + std::to_string(bytes), tex_1d_s32,
        [&] {
          cudaTextureObject_t t = 0;
          const cudaTextureDesc how = mode(cudaAddressModeClamp, false, false);
          CHECK(cudaCreateTextureObject(&t, &resource, &how, nullptr));
          return t;
        }(),
        {Sample{}, Sample{0, 0, 0, 0, 1}, Sample{0, 0, 0, 0, 2}});
  }
}

/// The defaults of a texture reference, by the driver's entry points.
static void record_references() {
  CHECK(cudaFree(nullptr));  // makes the context
  const char* text =
      ".version 8.0\n.target sm_75\n.address_size 64\n.global .texref image;\n.global .surfref plane;\n"
      ".visible .entry k() { ret; }\n";
  auto load = reinterpret_cast<CUresult (*)(CUmodule*, const void*)>(entry("cuModuleLoadData"));
  auto find = reinterpret_cast<CUresult (*)(CUtexref*, CUmodule, const char*)>(entry("cuModuleGetTexRef"));
  auto flags = reinterpret_cast<CUresult (*)(unsigned*, CUtexref)>(entry("cuTexRefGetFlags"));
  auto address = reinterpret_cast<CUresult (*)(CUaddress_mode*, CUtexref, int)>(entry("cuTexRefGetAddressMode"));
  auto filter = reinterpret_cast<CUresult (*)(CUfilter_mode*, CUtexref)>(entry("cuTexRefGetFilterMode"));
  auto format = reinterpret_cast<CUresult (*)(CUarray_format*, int*, CUtexref)>(entry("cuTexRefGetFormat"));
  auto array = reinterpret_cast<CUresult (*)(CUarray*, CUtexref)>(entry("cuTexRefGetArray"));
  if (!load || !find || !flags || !address || !filter || !format || !array) {
    note("texref.entry.points", 0);
    return;
  }
  CUmodule module;
  CUtexref reference;
  CUresult code = load(&module, text);
  note("texref.load", code);
  if (code) return;
  code = find(&reference, module, "image");
  note("texref.find", code);
  if (code) return;
  unsigned f = 99;
  CUaddress_mode a = CUaddress_mode(99);
  CUfilter_mode m = CUfilter_mode(99);
  CUarray_format t = CUarray_format(99);
  CUarray none = nullptr;
  int channels = 99;
  note("texref.flags.code", flags(&f, reference));
  note("texref.flags", f);
  note("texref.address.code", address(&a, reference, 0));
  note("texref.address", a);
  note("texref.filter.code", filter(&m, reference));
  note("texref.filter", m);
  note("texref.format.code", format(&t, &channels, reference));
  note("texref.format", t);
  note("texref.channels", channels);
  note("texref.array.code", array(&none, reference));
}

/// Error codes of kernels that go wrong.
static void record_faults() {
  auto fails = [](const char* name, Kernel& kernel, bool surface, bool texture_instead, int x, int y) {
    section(name, [&] {
      if (!load(kernel)) return;
      unsigned long long handle = 0;
      cudaArray_t array = array_of(std::vector<int>(64), 8, 8, 0, cudaArraySurfaceLoadStore);
      cudaResourceDesc resource = {};
      resource.resType = cudaResourceTypeArray;
      resource.res.array.array = array;
      const cudaTextureDesc how = {};
      if (surface) CHECK(cudaCreateSurfaceObject(&handle, &resource));
      if (texture_instead) CHECK(cudaCreateTextureObject(&handle, &resource, &how, nullptr));
      Sample sample, *in;
      sample.i = x, sample.j = y;
      uint4* out;
      CHECK(cudaMalloc(&in, sizeof sample));
      CHECK(cudaMalloc(&out, sizeof(uint4)));
      CHECK(cudaMemcpy(in, &sample, sizeof sample, cudaMemcpyHostToDevice));
      const CUresult started = launch(kernel, 1, 1, handle, in, out, 1);
      if (started) {
        note(std::string("fault.") + name + ".launch", started);
        verdict.expect(false, "a faulting kernel starts");
      }
      note(std::string("fault.") + name, cudaDeviceSynchronize());
    });
  };
  fails("store.outside", sust_trap, true, false, 32, 0);
  fails("store.below", sust_trap, true, false, 0, 8);
  fails("store.misaligned", sust_trap, true, false, 2, 0);
  fails("load.outside", suld_trap, true, false, -4, 0);
  fails("load.misaligned", suld_trap, true, false, 1, 0);
  fails("load.misaligned.outside", suld_trap, true, false, 33, 0);
  fails("load.misaligned.clamp", suld_clamp, true, false, 4, 0);
  fails("store.to.texture", sust_trap, false, true, 0, 0);
  fails("fetch.of.surface", tex_2d, true, false, 0, 0);
  fails("store.to.zero", sust_trap, false, false, 0, 0);
  fails("fetch.of.zero", tex_2d, false, false, 0, 0);
}

#ifdef QUERIES
template <typename T>
static void record_words(Kernel& kernel, const char* name) {
  cudaArray_t array = array_of(std::vector<T>(64), 8, 8, 0);
  for (bool linear : {false, true})
    for (auto [address, mode_name] : addresses) {
      cudaTextureDesc how = mode(address, false, linear);
      if (cudaCreateChannelDesc<T>().f != cudaChannelFormatKindFloat)
        how.readMode = cudaReadModeNormalizedFloat;
      run(std::string("query.") + kernel.name + "." + name + "." + mode_name + (linear ? ".linear" : ".point"),
          kernel, texture(array, how), {Sample{}});
    }
}

static void record_words_by(Kernel& kernel) {
  record_words<unsigned char>(kernel, "u8"), record_words<uchar4>(kernel, "u8x4");
  record_words<char2>(kernel, "s8x2"), record_words<ushort2>(kernel, "u16x2");
  record_words<short>(kernel, "s16"), record_words<float>(kernel, "f32");
  record_words<float2>(kernel, "f32x2"), record_words<float4>(kernel, "f32x4");
}
#endif

// -- comparison -----------------------------------------------------------------------------------

static std::map<std::string, std::string> read_lines(const char* path) {
  std::ifstream file(path);
  std::map<std::string, std::string> out;
  for (std::string line; std::getline(file, line);) {
    const size_t at = line.rfind('|');
    if (at != std::string::npos) out[line.substr(0, at)] = line.substr(at + 1);
  }
  return out;
}

static double largest_difference(const std::string& a, const std::string& b) {
  std::istringstream x(a), y(b);
  double most = 0;
  std::string p, q;
  while (x >> p && y >> q) {
    const unsigned u = unsigned(std::strtoul(p.c_str(), nullptr, 16)),
                   v = unsigned(std::strtoul(q.c_str(), nullptr, 16));
    float s, t;
    std::memcpy(&s, &u, 4);
    std::memcpy(&t, &v, 4);
    if (u != v) most = std::fmax(most, std::isfinite(s - t) ? std::fabs(double(s) - t) : INFINITY);
  }
  return most;
}

static int compare(const char* left, const char* right) {
  const auto a = read_lines(left), b = read_lines(right);
  struct Sum {
    long count = 0, different = 0;
    double most = 0;
    std::vector<std::string> first;
  };
  std::map<std::string, Sum> sections;
  for (const auto& [key, value] : a) {
    Sum& sum = sections[key.substr(0, key.find(' '))];
    ++sum.count;
    auto found = b.find(key);
    if (found != b.end() && found->second == value) continue;
    ++sum.different;
    if (found == b.end()) continue;
    sum.most = std::fmax(sum.most, largest_difference(value, found->second));
    if (sum.first.size() < 3) sum.first.push_back(key + "|" + value + " / " + found->second);
  }
  long different = 0;
  for (const auto& [name, sum] : sections) {
    if (!sum.different) continue;
    different += sum.different;
    std::printf("%s: %ld of %ld differ, by at most %g\n", name.c_str(), sum.different, sum.count, sum.most);
    for (const std::string& line : sum.first) std::printf("    %s\n", line.c_str());
  }
  std::printf("%zu and %zu samples, %ld differ\n", a.size(), b.size(), different);
  return different != 0;
}

int main(int argc, char** argv) {
  if (argc == 4 && !std::strcmp(argv[1], "--compare")) return compare(argv[2], argv[3]);
  if (argc == 2) output = argv[1];
  section("record_modes", record_modes);
  section("record_weights", record_weights);
  section("record_formats", record_formats);
  section("record_buffers", record_buffers);
  section("record_gathers", record_gathers);
  section("record_layers", record_layers);
  section("record_cubes", record_cubes);
  section("record_levels", record_levels);
  section("record_surfaces", record_surfaces);
  section("record_answers", record_answers);
  section("record_references", record_references);
  section("record_forbidden_levels", record_forbidden_levels);
  section("record_forbidden_surface", record_forbidden_surface);
  section("record_forbidden_buffer", record_forbidden_buffer);
  record_all_queries();
#ifdef QUERIES
  section("record_words_by txq_type", [] { record_words_by(txq_type); });
  section("record_words_by txq_order", [] { record_words_by(txq_order); });
  section("record_words_by txq_filter", [] { record_words_by(txq_filter); });
  section("record_words_by txq_address", [] { record_words_by(txq_address); });
#endif
  record_faults();
  write_lines();
  std::printf("%zu samples, %ld of them checked, checksum %08x\n", lines.size(), checked, checksum);
  verdict.expect(lines.size() > 20000 && checksum != 0, "everything was recorded");
  verdict.expect(checked > 400, "enough was checked");
  return verdict.finish();
}
