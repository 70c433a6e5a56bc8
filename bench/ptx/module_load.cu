// Processor time of cuModuleLoadData (one thread), for a PTX file given as text and in a fat binary
// (read on demand), in MB of PTX a second, and the process' largest size. Use: module_load FILE.ptx
// [rounds]
#include <cuda.h>
#include <sys/resource.h>
#include <time.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>

static void check(CUresult r, const char* what) {
  if (r == CUDA_SUCCESS) return;
  std::printf("%s: code %d\n", what, int(r));
  std::exit(1);
}

static std::string fatbin_of(const std::string& text, unsigned sm) {
  std::string payload = text;
  payload.resize((payload.size() + 8) / 8 * 8);
  std::string out(16 + 64, '\0');
  auto put = [&](size_t at, auto value) { std::memcpy(&out[at], &value, sizeof value); };
  put(0, uint32_t{0xba55ed50});
  put(4, uint16_t{1});
  put(6, uint16_t{16});
  put(8, uint64_t{64 + payload.size()});
  put(16, uint16_t{1});
  put(18, uint16_t{0x0101});
  put(20, uint32_t{64});
  put(24, uint64_t{payload.size()});
  put(42, uint16_t{8});
  put(44, uint32_t{sm});
  put(56, uint64_t{0x11});
  return out + payload;
}

static double processor_seconds() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return t.tv_sec + t.tv_nsec * 1e-9;
}

static void measure(const char* what, const std::string& image, double megabytes) {
  CUmodule module;
  const double start = processor_seconds();
  check(cuModuleLoadData(&module, image.data()), "cuModuleLoadData");
  const double s = processor_seconds() - start;
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  std::printf("%-11s %8.1f ms, %6.0f MB/s, process at most %ld MiB\n", what, s * 1e3, megabytes / s,
              usage.ru_maxrss / 1024);
  check(cuModuleUnload(module), "cuModuleUnload");
}

int main(int argc, char** argv) {
  if (argc < 2) return std::printf("usage: module_load FILE.ptx [rounds]\n"), 2;
  std::ifstream file(argv[1], std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const double megabytes = text.size() / 1e6;
  check(cuInit(0), "cuInit");
  CUdevice device;
  CUcontext context;
  check(cuDeviceGet(&device, 0), "cuDeviceGet");
  check(cuDevicePrimaryCtxRetain(&context, device), "cuDevicePrimaryCtxRetain");
  check(cuCtxSetCurrent(context), "cuCtxSetCurrent");
  const std::string fatbin = fatbin_of(text, 75);
  for (int i = argc > 2 ? std::atoi(argv[2]) : 2; i > 0; --i) {
    measure("fat binary", fatbin, megabytes);
    measure("PTX text", text, megabytes);
  }
}
