// From what a program hands over (fat binary, PTX text, a link's output) to a Program.
// Invariant: text that a program wrote itself is parsed and verified here, a compiler's text when a
// kernel is first needed. Thread rule: any thread.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "compiler/fatbin/fatbin.h"
#include "drivers/cpu/device.h"
#include "drivers/cpu/module/jit_options.h"
#include "drivers/cpu/module/program.h"

namespace limen::cpu {

/// PTX chosen for a device, not parsed yet.
struct ChosenPtx {
  std::vector<std::string> texts;
  std::vector<std::string> left_out;  ///< parts of the program without usable PTX, described
  bool user_text = false;  ///< plain PTX text or a link's output: verify at once
};

/// `wrapped`: a runtime's wrapper around a fat binary is taken as well.
/// errors: invalid_value (null), invalid_image, no_binary_for_gpu (names what was found),
/// invalid_ptx
///         (PTX text for a newer device).
Result<ChosenPtx> choose_ptx(const void* image, const Device& device, bool wrapped);
/// PTX of a newer version is taken for the newest that is read if machine code stands beside it that
/// NVIDIA's driver would run.
Result<ChosenPtx> choose_ptx(const fatbin::Image& image, uint32_t capability);
/// An error about the code of one of NVIDIA's closed libraries, with the remedy that applies there.
Error closed_library_error(Error error);
/// NVIDIA's device runtime, which programs are linked with: Limen has its own.
bool defines_device_runtime(const ptx::Module& module);
/// Parses, links, checks what can be checked without a context.
Result<std::shared_ptr<Program>> make_program(ChosenPtx chosen, JitOptions& log);

/// Reads a whole file. errors: file_not_found.
Result<std::string> read_file(const char* path);

}  // namespace limen::cpu
