// A preloaded shim that records what a CUDA program's kernels left in memory, on any driver.
//
// It stands between an unmodified program and libcuda.so.1 (linked, opened by a static or a shared
// runtime: it answers dlsym and cuGetProcAddress) and writes one line of numbers for each copy from
// device to host and for each allocation when it is freed or when the process ends. It holds no
// reference values: run_open_programs.py compares two such files. New allocations up to 256 MiB are
// zeroed, so that memory no kernel wrote is the same everywhere. With DTOH_HASH_NOOP=1 launches
// succeed and do nothing: the control run. Asynchronous copies are made synchronous, otherwise the
// program's calls pass unchanged. Any thread may call; one mutex guards the record.
#include <dlfcn.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace {

using Result = int;
using Pointer = unsigned long long;
using Handle = void*;

constexpr size_t size_limit = 256u << 20;
constexpr int record_limit = 20000;

using Dlsym = void* (*)(void*, const char*);
Dlsym real_dlsym() {
  static Dlsym real = [] {
    void* p = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.34");
    if (!p) p = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5");
    return reinterpret_cast<Dlsym>(p);
  }();
  return real;
}

/// A function of the driver beneath us, by its exported name.
template <typename F>
F driver(const char* name) {
  static void* library = [] {
    void* h = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    return h ? h : dlopen("libcuda.so.1", RTLD_NOW);
  }();
  return reinterpret_cast<F>(real_dlsym()(library, name));
}

enum class Kind { device, managed, host };
struct Allocation {
  size_t bytes;
  Kind kind;
  Handle context;
};

std::mutex guard;
std::map<Pointer, Allocation>& live() {
  static auto* map = new std::map<Pointer, Allocation>;
  return *map;
}
int records = 0;
int launches = 0;
bool noop() {
  static bool on = std::getenv("DTOH_HASH_NOOP") != nullptr;
  return on;
}
std::FILE* output() {
  static std::FILE* file = [] {
    const char* path = std::getenv("DTOH_HASH_OUT");
    std::FILE* f = path ? std::fopen(path, "w") : nullptr;
    if (f) std::setvbuf(f, nullptr, _IOLBF, 0);
    return f;
  }();
  return file;
}

struct Sums {
  size_t plausible = 0, nonfinite = 0;
  double sum = 0, absolute = 0, weighted = 0;
  void add(double v, size_t i, bool likely) {
    plausible += likely;
    if (!std::isfinite(v)) {
      ++nonfinite;
      return;
    }
    if (std::fabs(v) > 1e60) return;  // bits of something else read as a float
    double weight = ((i * 2654435761u >> 8) & 0xffff) / 65536.0;
    sum += v;
    absolute += std::fabs(v);
    weighted += v * weight;
  }
};

float half_value(uint16_t h) {
  int exponent = h >> 10 & 31;
  float mantissa = h & 1023;
  float v = exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(mantissa + 1024, exponent - 25);
  if (exponent == 31) v = NAN;
  return h >> 15 ? -v : v;
}

void print_sums(std::FILE* f, const char* name, const Sums& s, size_t n) {
  std::fprintf(f, ",\"%s\":[%.4f,%zu,%.17g,%.17g,%.17g]", name,
               n ? double(s.plausible) / double(n) : 0.0, s.nonfinite, s.sum, s.absolute,
               s.weighted);
}

/// Writes one record. The caller holds the guard.
void record(const char* what, const void* data, size_t bytes) {
  std::FILE* f = output();
  if (!f || ++records > record_limit) return;
  size_t n = bytes < size_limit ? bytes : size_limit;
  const auto* b = static_cast<const unsigned char*>(data);
  uint64_t hash = 1469598103934665603ull, isum = 0, iweighted = 0;
  double bytes_sum = 0, bytes_weighted = 0;
  Sums f32, f64, f16;
  size_t words = n / 4, doubles = n / 8, halves = n / 2;
  for (size_t i = 0; i < words; ++i) {
    uint32_t w;
    std::memcpy(&w, b + 4 * i, 4);
    hash = (hash ^ w) * 1099511628211ull;
    isum += w;
    iweighted += uint64_t(w) * (i * 2654435761u >> 8 & 0xffff);
    float v;
    std::memcpy(&v, &w, 4);
    unsigned exponent = w >> 23 & 255;
    f32.add(v, i, w == 0 || w == 0x80000000u || (exponent > 127 - 40 && exponent < 127 + 40));
    for (int part = 0; part < 2; ++part) {
      auto h = static_cast<uint16_t>(w >> 16 * part);
      unsigned e = h >> 10 & 31;
      f16.add(half_value(h), 2 * i + part, (h & 0x7fff) == 0 || (e > 3 && e < 28));
    }
  }
  for (size_t i = 0; i < n; ++i) {
    bytes_sum += b[i];
    bytes_weighted += b[i] * ((i * 2654435761u >> 8 & 0xffff) / 65536.0);
  }
  for (size_t i = 4 * words; i < n; ++i) hash = (hash ^ b[i]) * 1099511628211ull, isum += b[i];
  for (size_t i = 0; i < doubles; ++i) {
    uint64_t w;
    double v;
    std::memcpy(&w, b + 8 * i, 8);
    std::memcpy(&v, &w, 8);
    unsigned exponent = w >> 52 & 2047;
    f64.add(v, i, w == 0 || w << 1 == 0 || (exponent > 1023 - 60 && exponent < 1023 + 60));
  }
  std::fprintf(f, "{\"what\":\"%s\",\"bytes\":%zu,\"hash\":\"%016llx\",\"i\":[%llu,%llu]", what,
               bytes, static_cast<unsigned long long>(hash), static_cast<unsigned long long>(isum),
               static_cast<unsigned long long>(iweighted));
  std::fprintf(f, ",\"u8\":[%.17g,%.17g]", bytes_sum, bytes_weighted);
  print_sums(f, "f32", f32, words);
  print_sums(f, "f64", f64, doubles);
  print_sums(f, "f16", f16, halves);
  std::fputs("}\n", f);
}

void record_allocation(const char* what, Pointer p, const Allocation& a) {
  if (a.bytes > size_limit) return;
  driver<Result (*)(Handle)>("cuCtxSetCurrent")(a.context);
  if (driver<Result (*)()>("cuCtxSynchronize")() != 0) return;
  if (a.kind != Kind::device) {
    record(what, reinterpret_cast<void*>(p), a.bytes);
    return;
  }
  std::vector<unsigned char> copy(a.bytes);
  if (driver<Result (*)(void*, Pointer, size_t)>("cuMemcpyDtoH_v2")(copy.data(), p, a.bytes) == 0) {
    record(what, copy.data(), a.bytes);
  }
}

void at_exit() {
  std::lock_guard lock(guard);
  for (auto& [p, a] : live()) record_allocation("exit", p, a);
  live().clear();
  if (std::FILE* f = output()) std::fprintf(f, "{\"what\":\"end\",\"launches\":%d}\n", launches);
}

void allocated(Pointer p, size_t bytes, Kind kind) {
  std::lock_guard lock(guard);
  static bool registered = std::atexit(at_exit) == 0;
  (void)registered;
  Handle context = nullptr;
  driver<Result (*)(Handle*)>("cuCtxGetCurrent")(&context);
  live()[p] = {bytes, kind, context};
  if (bytes > size_limit) return;
  if (kind == Kind::host) {
    std::memset(reinterpret_cast<void*>(p), 0, bytes);
  } else {
    driver<Result (*)(Pointer, unsigned char, size_t)>("cuMemsetD8_v2")(p, 0, bytes);
    driver<Result (*)()>("cuCtxSynchronize")();
  }
}

void freeing(Pointer p) {
  std::lock_guard lock(guard);
  auto found = live().find(p);
  if (found == live().end()) return;
  Handle context = nullptr;
  driver<Result (*)(Handle*)>("cuCtxGetCurrent")(&context);
  record_allocation("free", p, found->second);
  driver<Result (*)(Handle)>("cuCtxSetCurrent")(context);
  live().erase(found);
}

/// Whether the driver calls an address device (or managed) memory.
bool on_device(Pointer p) {
  int type = 0;  // CU_POINTER_ATTRIBUTE_MEMORY_TYPE is 2, CU_MEMORYTYPE_DEVICE is 2
  Result r = driver<Result (*)(void*, int, Pointer)>("cuPointerGetAttribute")(&type, 2, p);
  return r == 0 && type == 2;
}

void copied(const char* what, const void* destination, size_t bytes) {
  std::lock_guard lock(guard);
  record(what, destination, bytes);
}

struct Copy2D {  // CUDA_MEMCPY2D_v2
  size_t src_x, src_y;
  int src_type;
  const void* src_host;
  Pointer src_device;
  Handle src_array;
  size_t src_pitch, dst_x, dst_y;
  int dst_type;
  void* dst_host;
  Pointer dst_device;
  Handle dst_array;
  size_t dst_pitch, width, height;
};

void copied_2d(const Copy2D& c) {
  if (c.dst_type != 1) return;  // 1: host
  std::vector<unsigned char> packed(c.width * c.height);
  for (size_t y = 0; y < c.height; ++y) {
    std::memcpy(packed.data() + y * c.width,
                static_cast<char*>(c.dst_host) + (c.dst_y + y) * c.dst_pitch + c.dst_x, c.width);
  }
  copied("dtoh", packed.data(), packed.size());
}

void wait(Handle stream, int variant) {
  driver<Result (*)(Handle)>(variant ? "cuStreamSynchronize_ptsz" : "cuStreamSynchronize")(stream);
}

// Each wrapper exists twice: legacy (0) and per-thread default stream (1).
template <int V>
struct Real {
  static inline Result (*dtoh)(void*, Pointer, size_t);
  static inline Result (*dtoh_async)(void*, Pointer, size_t, Handle);
  static inline Result (*copy)(Pointer, Pointer, size_t);
  static inline Result (*copy_async)(Pointer, Pointer, size_t, Handle);
  static inline Result (*copy_2d)(const Copy2D*);
  static inline Result (*copy_2d_async)(const Copy2D*, Handle);
  static inline Result (*alloc)(Pointer*, size_t);
  static inline Result (*alloc_pitch)(Pointer*, size_t*, size_t, size_t, unsigned);
  static inline Result (*alloc_managed)(Pointer*, size_t, unsigned);
  static inline Result (*alloc_host)(void**, size_t, unsigned);
  static inline Result (*free_device)(Pointer);
  static inline Result (*free_host)(void*);
  static inline Result (*launch)(Handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                                 unsigned, Handle, void**, void**);
  static inline Result (*launch_ex)(const void*, Handle, void**, void**);
  static inline Result (*launch_together)(Handle, unsigned, unsigned, unsigned, unsigned, unsigned,
                                          unsigned, unsigned, Handle, void**);
};

template <int V>
Result dtoh(void* d, Pointer s, size_t n) {
  Result r = Real<V>::dtoh(d, s, n);
  if (r == 0) copied("dtoh", d, n);
  return r;
}
template <int V>
Result dtoh_async(void* d, Pointer s, size_t n, Handle stream) {
  Result r = Real<V>::dtoh_async(d, s, n, stream);
  if (r == 0) {
    wait(stream, V);
    copied("dtoh", d, n);
  }
  return r;
}
template <int V>
Result copy(Pointer d, Pointer s, size_t n) {
  Result r = Real<V>::copy(d, s, n);
  if (r == 0 && !on_device(d)) copied("copy", reinterpret_cast<void*>(d), n);
  return r;
}
template <int V>
Result copy_async(Pointer d, Pointer s, size_t n, Handle stream) {
  Result r = Real<V>::copy_async(d, s, n, stream);
  if (r == 0 && !on_device(d)) {
    wait(stream, V);
    copied("copy", reinterpret_cast<void*>(d), n);
  }
  return r;
}
template <int V>
Result copy_2d(const Copy2D* c) {
  Result r = Real<V>::copy_2d(c);
  if (r == 0) copied_2d(*c);
  return r;
}
template <int V>
Result copy_2d_async(const Copy2D* c, Handle stream) {
  Result r = Real<V>::copy_2d_async(c, stream);
  if (r == 0) {
    wait(stream, V);
    copied_2d(*c);
  }
  return r;
}
template <int V>
Result alloc(Pointer* p, size_t n) {
  Result r = Real<V>::alloc(p, n);
  if (r == 0) allocated(*p, n, Kind::device);
  return r;
}
template <int V>
Result alloc_pitch(Pointer* p, size_t* pitch, size_t width, size_t height, unsigned element) {
  Result r = Real<V>::alloc_pitch(p, pitch, width, height, element);
  if (r == 0) allocated(*p, *pitch * height, Kind::device);
  return r;
}
template <int V>
Result alloc_managed(Pointer* p, size_t n, unsigned flags) {
  Result r = Real<V>::alloc_managed(p, n, flags);
  if (r == 0) allocated(*p, n, Kind::managed);
  return r;
}
template <int V>
Result alloc_host(void** p, size_t n, unsigned flags) {
  Result r = Real<V>::alloc_host(p, n, flags);
  if (r == 0) allocated(reinterpret_cast<Pointer>(*p), n, Kind::host);
  return r;
}
template <int V>
Result free_device(Pointer p) {
  freeing(p);
  return Real<V>::free_device(p);
}
template <int V>
Result free_host(void* p) {
  freeing(reinterpret_cast<Pointer>(p));
  return Real<V>::free_host(p);
}
template <int V>
Result launch(Handle f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
              unsigned bz, unsigned shared, Handle stream, void** params, void** extra) {
  ++launches;
  if (noop()) return 0;
  return Real<V>::launch(f, gx, gy, gz, bx, by, bz, shared, stream, params, extra);
}
template <int V>
Result launch_ex(const void* config, Handle f, void** params, void** extra) {
  ++launches;
  return noop() ? 0 : Real<V>::launch_ex(config, f, params, extra);
}
template <int V>
Result launch_together(Handle f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                       unsigned bz, unsigned shared, Handle stream, void** params) {
  ++launches;
  if (noop()) return 0;
  return Real<V>::launch_together(f, gx, gy, gz, bx, by, bz, shared, stream, params);
}

struct Wrapped {
  const char* name;
  void** real[2];
  void* ours[2];
};

#define WRAP(name, function)                                                       \
  {                                                                                \
    name,                                                                          \
        {reinterpret_cast<void**>(&Real<0>::function),                             \
         reinterpret_cast<void**>(&Real<1>::function)},                            \
    {                                                                              \
      reinterpret_cast<void*>(&function<0>), reinterpret_cast<void*>(&function<1>) \
    }                                                                              \
  }

const Wrapped wrapped[] = {
    WRAP("cuMemcpyDtoH", dtoh),
    WRAP("cuMemcpyDtoHAsync", dtoh_async),
    WRAP("cuMemcpy", copy),
    WRAP("cuMemcpyAsync", copy_async),
    WRAP("cuMemcpy2DUnaligned", copy_2d),
    WRAP("cuMemcpy2DAsync", copy_2d_async),
    WRAP("cuMemAlloc", alloc),
    WRAP("cuMemAllocPitch", alloc_pitch),
    WRAP("cuMemAllocManaged", alloc_managed),
    WRAP("cuMemHostAlloc", alloc_host),
    WRAP("cuMemFree", free_device),
    WRAP("cuMemFreeHost", free_host),
    WRAP("cuLaunchKernel", launch),
    WRAP("cuLaunchKernelEx", launch_ex),
    WRAP("cuLaunchCooperativeKernel", launch_together),
};

/// Swaps a driver function for ours when it is one that we watch. `name` may carry a suffix.
void* swap(const char* name, void* real, bool per_thread) {
  std::string base = name;
  for (const char* suffix : {"_ptsz", "_ptds"}) {
    size_t n = base.size();
    if (n > 5 && base.compare(n - 5, 5, suffix) == 0) {
      base.resize(n - 5);
      per_thread = true;
    }
  }
  if (base.size() > 3 && base.compare(base.size() - 3, 3, "_v2") == 0) base.resize(base.size() - 3);
  for (const Wrapped& w : wrapped) {
    if (base == w.name) {
      if (real != w.ours[0] && real != w.ours[1]) *w.real[per_thread] = real;
      return w.ours[per_thread];
    }
  }
  return real;
}

Result proc_address_v2(const char* name, void** out, int version, unsigned long long flags,
                       int* status) {
  using F = Result (*)(const char*, void**, int, unsigned long long, int*);
  Result r = driver<F>("cuGetProcAddress_v2")(name, out, version, flags, status);
  if (r == 0 && name && out && *out) {
    if (!std::strcmp(name, "cuGetProcAddress")) {
      *out = reinterpret_cast<void*>(&proc_address_v2);
    } else {
      *out = swap(name, *out, (flags & 2) != 0);
    }
  }
  return r;
}

template <typename F>
F direct(const char* name, F* real) {
  if (!*real) *real = driver<F>(name);
  return *real;
}

}  // namespace

#define EXPORT extern "C" __attribute__((visibility("default")))

EXPORT void* dlsym(void* handle, const char* name) noexcept {
  void* real = real_dlsym()(handle, name);
  if (!real || std::strncmp(name, "cu", 2) != 0) return real;
  void* cuda = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  if (cuda) dlclose(cuda);
  if (handle != cuda) return real;  // a driver's own look-ups in its parts are not ours
  if (!std::strcmp(name, "cuGetProcAddress_v2")) return reinterpret_cast<void*>(&proc_address_v2);
  return swap(name, real, false);
}

// Programs linked with -lcuda bind to these.
EXPORT Result cuMemcpyDtoH_v2(void* d, Pointer s, size_t n) {
  direct("cuMemcpyDtoH_v2", &Real<0>::dtoh);
  return dtoh<0>(d, s, n);
}
EXPORT Result cuMemcpyDtoHAsync_v2(void* d, Pointer s, size_t n, Handle stream) {
  direct("cuMemcpyDtoHAsync_v2", &Real<0>::dtoh_async);
  return dtoh_async<0>(d, s, n, stream);
}
EXPORT Result cuMemAlloc_v2(Pointer* p, size_t n) {
  direct("cuMemAlloc_v2", &Real<0>::alloc);
  return alloc<0>(p, n);
}
EXPORT Result cuMemFree_v2(Pointer p) {
  direct("cuMemFree_v2", &Real<0>::free_device);
  return free_device<0>(p);
}
EXPORT Result cuLaunchKernel(Handle f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                             unsigned by, unsigned bz, unsigned shared, Handle stream,
                             void** params, void** extra) {
  direct("cuLaunchKernel", &Real<0>::launch);
  return launch<0>(f, gx, gy, gz, bx, by, bz, shared, stream, params, extra);
}
