// What compiled code depends on besides the PTX: this machine's processor and the compiler library.
// Found without loading the compiler: on a cache hit LLVM must stay out of the process.
// Thread rule: any thread; worked out once.
#pragma once
#include <string>

namespace limen::cpu {

/// Path of liblimen_jit.so, which lies beside this library.
const std::string& compiler_path();
/// Processor features and the compiler's identity, part of every key of the disk cache.
const std::string& host_key();
/// True if this processor has the instructions of jit::Specialization::target `target`.
bool executes(const std::string& target);

}  // namespace limen::cpu
