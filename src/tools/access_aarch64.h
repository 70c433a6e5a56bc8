// access(path, R_OK) of AArch64 without a C library, for audit.cpp. There it is faccessat's.
#pragma once
#include <sys/syscall.h>

/// 0, or a negative error number.
inline long access_for_reading(const char* path) {
  register long number asm("x8") = SYS_faccessat;
  register long result asm("x0") = -100;  // AT_FDCWD
  register const char* name asm("x1") = path;
  register long mode asm("x2") = 4;  // R_OK
  asm volatile("svc #0" : "+r"(result) : "r"(number), "r"(name), "r"(mode) : "memory");
  return result;
}
