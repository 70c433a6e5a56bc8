// Fuzzes everything that reads an image: of known extent, behind a pointer, and inside an ELF file.
// An input passes if each call ends in a value or an error of a documented code.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "compiler/fatbin/fatbin.h"

using namespace limen;

namespace {

void require(bool good) {
  if (!good) std::abort();
}

void use(const fatbin::Image& image) {
  for (const fatbin::Entry& entry : image.entries()) {
    auto payload = image.payload(entry);
    require(payload.ok() || payload.code() == Code::invalid_image ||
            payload.code() == Code::not_supported);
    auto text = image.ptx_text(entry);
    require(text.ok()
                ? payload.ok() && text->size() <= payload->size() && text->find('\0') == text->npos
                : !text.error().what.empty());
  }
  require(!fatbin::describe_architectures(image).empty());
  for (uint32_t sm : {75u, 120u}) {
    auto choice = fatbin::choose_ptx(image, sm);
    require(choice.ok() || choice.code() == Code::no_binary_for_gpu);
    if (choice.ok())
      for (uint32_t index : choice->entries)
        require(index < image.entries().size() && image.entries()[index].kind == fatbin::Kind::ptx);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  auto image = fatbin::parse_memory(data, size);
  require(image.ok() || image.code() == Code::invalid_image);
  if (image.ok()) use(*image);
  std::string terminated(reinterpret_cast<const char*>(data), size);
  auto pointed = fatbin::parse_pointer(terminated.c_str());
  require(pointed.ok() || pointed.code() == Code::invalid_image);
  if (pointed.ok()) use(*pointed);
  auto found = fatbin::scan_elf_bytes({data, data + size});
  require(found.ok() || found.code() == Code::invalid_image);
  if (found.ok())
    for (const fatbin::Found& one : *found) use(one.image);
  return 0;
}
