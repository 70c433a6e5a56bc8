// access(path, R_OK) of x86-64 without a C library, for audit.cpp.
#pragma once
#include <sys/syscall.h>

/// 0, or a negative error number.
inline long access_for_reading(const char* path) {
  long result;
  asm volatile("syscall"
               : "=a"(result)
               : "a"(long{SYS_access}), "D"(path), "S"(long{4} /* R_OK */)
               : "rcx", "r11", "memory");
  return result;
}
