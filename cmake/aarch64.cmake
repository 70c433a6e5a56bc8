# Toolchain file: cross building for AArch64 on a Debian x86-64 (docs/how/cross_build.md). The
# compiler and the C library are Debian's cross packages; the other libraries lie in the folder that
# scripts/aarch64_root unpacks, LIMEN_AARCH64_ROOT. Tests run under qemu-aarch64.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)

set(LIMEN_AARCH64_ROOT "$ENV{LIMEN_AARCH64_ROOT}" CACHE PATH "Where scripts/aarch64_root unpacked")
if(NOT LIMEN_AARCH64_ROOT)
  set(LIMEN_AARCH64_ROOT /opt/aarch64-root)
endif()
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES LIMEN_AARCH64_ROOT)

set(CMAKE_FIND_ROOT_PATH ${LIMEN_AARCH64_ROOT})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)

# What the libraries of that folder need in turn lies beside them.
set(root_libraries ${LIMEN_AARCH64_ROOT}/usr/lib/aarch64-linux-gnu)
foreach(kind EXE SHARED MODULE)
  string(APPEND CMAKE_${kind}_LINKER_FLAGS_INIT
         " -Wl,-rpath-link,${root_libraries}:${LIMEN_AARCH64_ROOT}/lib/aarch64-linux-gnu")
endforeach()

set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64 -L /usr/aarch64-linux-gnu
    -E LD_LIBRARY_PATH=${CMAKE_BINARY_DIR}/lib:${root_libraries}:${LIMEN_AARCH64_ROOT}/lib/aarch64-linux-gnu)
