// A program that compiles at run time. Opens the library that argv[1] names, or uses the one it is
// linked with where LINKED is set; prints what it gets.
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

typedef struct _nvrtcProgram* Program;
#ifdef LINKED
int nvrtcVersion(int*, int*);
#endif

int main(int argc, char** argv) {
#ifdef LINKED
  int ma = 0, mi = 0;
  nvrtcVersion(&ma, &mi);
  void* lib = dlopen("libnvrtc.so.13", RTLD_NOW | RTLD_NOLOAD);
#else
  void* lib = dlopen(argv[1], RTLD_NOW);
#endif
  if (!lib) {
    printf("dlopen: %s\n", dlerror());
    return 9;
  }
#define GET(name) __typeof__(&name##_type) name = (__typeof__(&name##_type))dlsym(lib, #name)
  int nvrtcVersion_type(int*, int*);
  const char* nvrtcGetErrorString_type(int);
  int nvrtcCreateProgram_type(Program*, const char*, const char*, int, const char* const*,
                              const char* const*);
  int nvrtcCompileProgram_type(Program, int, const char* const*);
  int nvrtcGetPTXSize_type(Program, size_t*), nvrtcGetCUBINSize_type(Program, size_t*);
  int nvrtcGetPTX_type(Program, char*), nvrtcGetCUBIN_type(Program, char*);
  int nvrtcDestroyProgram_type(Program*);
  int __nvrtcCPEx_type(int, int, int, int, int, int, int, double, double);
  int (*version)(int*, int*) = (int (*)(int*, int*))dlsym(lib, "nvrtcVersion");
  GET(nvrtcGetErrorString);
  GET(nvrtcCreateProgram);
  GET(nvrtcCompileProgram);
  GET(nvrtcGetPTXSize);
  GET(nvrtcGetCUBINSize);
  GET(nvrtcGetPTX);
  GET(nvrtcGetCUBIN);
  GET(nvrtcDestroyProgram);
  GET(__nvrtcCPEx);
  int major = 0, minor = 0, code = version(&major, &minor);
  printf("version %d %d.%d\n", code, major, minor);
  if (code) {
    printf("%s\n", nvrtcGetErrorString(code));
    return code;
  }
  printf("raw %d\n", __nvrtcCPEx(1, 2, 3, 4, 5, 6, 7, 8, 9));
  Program p;
  nvrtcCreateProgram(&p, "source", "a.cu", 0, 0, 0);
  const char* words[8] = {0};
  for (int i = 2; i < argc; ++i) words[i - 2] = argv[i];
  nvrtcCompileProgram(p, argc - 2, words);
  char text[8192];
  size_t size = 0;
  nvrtcGetPTXSize(p, &size);
  nvrtcGetPTX(p, text);
  printf("ptx %zu <%s>\n", size, text);
  nvrtcGetCUBINSize(p, &size);
  printf("cubin %zu", size);
  if (size) {
    nvrtcGetCUBIN(p, text);
    printf(" <%s>", text);
  }
  nvrtcDestroyProgram(&p);
  printf("\ndestroyed %d\n", p == 0);
  return 0;
}
