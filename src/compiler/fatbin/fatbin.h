// What a CUDA program hands over as "code": finds the PTX in a fat binary wrapper, a bare fat
// binary, PTX text or a cubin. Lists everything found (also machine code, which Limen cannot run,
// so that messages can name it) and decompresses PTX on demand. It does not parse PTX. Invariant:
// no input, however damaged, crashes or reads outside its bounds; it gives invalid_image with the
// offset and what was expected there. Threads: an Image does not change after parsing; any thread
// may read it. source: format measured on nvcc 13.0 output; field names are ours.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace limen::fatbin {

class Source;

/// No decompressed entry may be larger (bytes): the largest PTX of NVIDIA's own libraries is well
/// below a tenth of it.
inline constexpr uint64_t max_payload_bytes = uint64_t{1} << 30;

enum class Kind : uint8_t { ptx, cubin, lto, other };
enum class Compression : uint8_t { none, lz4, zstd, unknown };
enum class Form : uint8_t { ptx_text, cubin, fatbin, wrapper_v1, wrapper_v2 };

/// One piece of code for one architecture.
struct Entry {
  Kind kind = Kind::other;
  uint16_t kind_number = 0;  ///< as stored; 1 PTX, 2 cubin, 8 LTO-IR
  uint32_t sm = 0;           ///< 75, 80, 120 ...; 0 where PTX text names none
  char suffix = 0;           ///< 'a' (this chip only), 'f' (its family) or 0
  uint16_t ptx_major = 0;    ///< PTX ISA version; 0 for other kinds
  uint16_t ptx_minor = 0;
  uint64_t flags = 0;        ///< as stored
  bool debug = false;        ///< compiled with -G
  bool relocatable = false;  ///< compiled with -rdc=true: may refer to other entries
  std::string source_name;   ///< the .cu file; empty without -G or -lineinfo
  std::string options;       ///< compiler options recorded with the entry
  Compression compression = Compression::none;
  uint64_t stored_bytes = 0;  ///< payload as it lies in the image, without padding
  uint64_t size_bytes = 0;    ///< payload after decompression (padding included where raw)
  uint32_t container = 0;     ///< index of the fat binary it came from (wrapper_v2: 0 = linked)
  uint64_t offset = 0;        ///< of the payload from the container's begin
};

/// A parsed image. Borrows the memory it was parsed from: that must stay until the last payload
/// call.
class Image {
 public:
  Form form() const { return form_; }
  const std::vector<Entry>& entries() const { return entries_; }
  uint32_t containers() const { return static_cast<uint32_t>(bases_.size()); }

  /// Text of a PTX entry, decompressed, without NULs at its end. Line numbers stay as the compiler
  /// counts them.
  /// errors: invalid_image: entry is no PTX, damaged or above max_payload_bytes; invalid_ptx: it is
  /// one of PTX with something else in it.
  Result<std::string> ptx_text(const Entry& entry) const;
  /// Bytes of any entry, decompressed.
  /// errors: invalid_image as above; not_supported for a compression method we do not know.
  Result<std::string> payload(const Entry& entry) const;

 private:
  friend class ImageParser;
  Form form_ = Form::fatbin;
  std::vector<Entry> entries_;
  std::vector<uint64_t> bases_;  ///< of each container, in the source's addresses
  std::shared_ptr<const Source> source_;
};

/// Parses memory of known extent that need not be trusted: files, tests, fuzzers. A wrapper is
/// refused here, since it holds pointers.
/// errors: invalid_image.
Result<Image> parse_memory(const void* data, size_t size_bytes);
/// The same for memory the image shall own.
Result<Image> parse_bytes(std::shared_ptr<const std::vector<uint8_t>> bytes, size_t offset = 0);

/// Parses what a program of this process passes to cuModuleLoadData, cuLibraryLoadData and the
/// like: a pointer of unknown extent. Unreadable memory is an error, not a crash. errors:
/// invalid_value for a null pointer, else invalid_image.
Result<Image> parse_pointer(const void* code);

/// Architectures found, for messages: "sm_80 and sm_90a machine code, no PTX".
std::string describe_architectures(const Image& image);

/// What to load on a device.
struct Choice {
  std::vector<uint32_t> entries;  ///< PTX entries, at most one a container, to be linked together
  std::vector<std::string> left_out;  ///< relocatable containers without usable PTX, described
};

/// Picks the PTX for a device of compute capability `sm` (120 = 12.0): the newest that may run
/// there. A linked fat binary without PTX falls back on its relocatable parts (wrapper version 2).
/// errors: no_binary_for_gpu, naming what was found.
Result<Choice> choose_ptx(const Image& image, uint32_t sm);

/// Whether PTX for `sm` + `suffix` may be compiled for a device of `device_sm`.
bool ptx_runs_on(uint32_t sm, char suffix, uint32_t device_sm);

/// A fat binary found in an executable or shared object.
struct Found {
  std::string section;       ///< ".nv_fatbin" or "__nv_relfatbin"
  uint64_t file_offset = 0;  ///< bytes
  Image image;               ///< owns its memory
};

/// Finds every fat binary of a 64-bit little-endian ELF file (executable, shared or relocatable).
/// errors: file_not_found, invalid_image (not such a file, or damaged: with section and offset).
Result<std::vector<Found>> scan_elf_file(const std::string& path);
/// The same for a file already read.
Result<std::vector<Found>> scan_elf_bytes(const std::vector<uint8_t>& file);

}  // namespace limen::fatbin
