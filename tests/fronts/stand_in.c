// Plays NVIDIA's NVRTC: "compiles" to a PTX text of a newer version that carries the options it was
// given; has no machine code unless it was asked for some. WHO says which copy answers.
#include <stdlib.h>
#include <string.h>

struct _nvrtcProgram {
  char ptx[4096];
  int machine;
};
typedef struct _nvrtcProgram* Program;

int nvrtcVersion(int* major, int* minor) {
  *major = WHO;
  *minor = 77;
  return 0;
}
const char* nvrtcGetErrorString(int result) { return result ? "stand-in error" : "stand-in success"; }
int nvrtcCreateProgram(Program* out, const char* source, const char* name, int n,
                       const char* const* headers, const char* const* names) {
  *out = calloc(1, sizeof **out);
  strcpy((*out)->ptx, "// made\n.version 9.4\n.target sm_80\n.address_size 64\n//");
  strcat((*out)->ptx, source);
  return 0;
}
int nvrtcDestroyProgram(Program* out) {
  free(*out);
  *out = 0;
  return 0;
}
int nvrtcCompileProgram(Program p, int count, const char* const* options) {
  for (int i = 0; i < count; ++i) {
    strcat(strcat(p->ptx, " "), options[i]);
    if (strstr(options[i], "sm_")) p->machine = 1;
  }
  return 0;
}
int nvrtcGetPTXSize(Program p, size_t* size) {
  *size = strlen(p->ptx) + 1;
  return 0;
}
int nvrtcGetPTX(Program p, char* text) {
  strcpy(text, p->ptx);
  return 0;
}
int nvrtcGetCUBINSize(Program p, size_t* size) {
  *size = p->machine ? 7 : 0;
  return 0;
}
int nvrtcGetCUBIN(Program p, char* text) {
  strcpy(text, "machine");
  return 0;
}
// Seven words and two numbers: whoever forwards it by a jump must keep them all.
int __nvrtcCPEx(int a, int b, int c, int d, int e, int f, int g, double x, double y) {
  return a == 1 && b == 2 && c == 3 && d == 4 && e == 5 && f == 6 && g == 7 && x == 8 && y == 9 ? 42 : 1;
}
