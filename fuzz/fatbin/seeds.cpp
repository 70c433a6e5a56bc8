// Writes the first corpus of the fat binary fuzzer into the folder given: hand-made images of every
// form, compression and kind, and an ELF file that holds one.
#include <elf.h>

#include <cstdio>
#include <fstream>

#include "tests/unit/fatbin/build.h"

using namespace limen::test;

namespace {

std::string elf_with(const std::string& section) {
  const std::string names("\0.nv_fatbin\0.shstrtab\0", 22);
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, "\177ELF\2\1\1", 7);
  header.e_type = ET_REL;
  header.e_machine = EM_X86_64;
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = 3;
  header.e_shstrndx = 2;
  Elf64_Shdr sections[3] = {};
  sections[1].sh_name = 1;
  sections[1].sh_type = SHT_PROGBITS;
  sections[1].sh_offset = sizeof header;
  sections[1].sh_size = section.size();
  sections[2].sh_name = 12;
  sections[2].sh_type = SHT_STRTAB;
  sections[2].sh_offset = sizeof header + section.size();
  sections[2].sh_size = names.size();
  std::string body = section + names;
  body.resize((body.size() + 7) / 8 * 8);
  header.e_shoff = sizeof header + body.size();
  return std::string(reinterpret_cast<char*>(&header), sizeof header) + body +
         std::string(reinterpret_cast<char*>(sections), sizeof sections);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return std::fprintf(stderr, "usage: fatbin_seeds FOLDER\n"), 1;
  auto write = [&](const char* name, const std::string& bytes) {
    std::ofstream(std::string(argv[1]) + "/" + name, std::ios::binary) << bytes;
  };
  std::string text = ptx();
  for (int i = 0; i < 4; ++i) text += "// padding that compresses well\n";
  write("raw", fatbin({{.payload = text}}));
  write("lz4", fatbin({{.payload = text, .method = EntrySpec::lz4}}));
  write("zstd", fatbin({{.payload = text, .method = EntrySpec::zstd}}));
  write("names", fatbin({{.payload = text, .name = "a.cu", .options = "--compile-only"}}));
  write("kinds", fatbin({{.kind = 2, .sm = 90, .flags = 0x100011, .payload = cubin()},
                         {.kind = 8, .payload = "lto"},
                         {.kind = 9, .payload = "new"},
                         {.sm = 120, .flags = 0x200011, .payload = text}}));
  write("empty_fatbin", fatbin({}));
  write("cubin", cubin());
  write("cubin_old_abi", cubin(0x00500550, 7));
  write("text", text);
  write("text_comments", "/* a */ // b\n.version 9.0\n.target sm_120f, debug\n");
  write("elf", elf_with(fatbin({{.payload = text}}) + std::string(8, '\0') +
                        fatbin({{.payload = text, .method = EntrySpec::lz4}})));
}
