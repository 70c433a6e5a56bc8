// Form of a block: eight bytes of magic, the number of texts, then size and bytes of each; numbers
// are 64-bit little-endian. Thread rule: see the header.
#include "compiler/fatbin/linked.h"

#include <cstdint>
#include <cstring>

#include "compiler/fatbin/source.h"

namespace limen::fatbin {

namespace {

constexpr char linked_magic[8] = {'\x7f', 'L', 'i', 'm', 'L', 'i', 'n', 'k'};

}  // namespace

std::string pack_linked(const std::vector<std::string>& texts) {
  std::string block(linked_magic, sizeof linked_magic);
  auto number = [&](uint64_t value) {
    block.append(reinterpret_cast<const char*>(&value), sizeof value);
  };
  number(texts.size());
  for (const std::string& text : texts) {
    number(text.size());
    block += text;
  }
  return block;
}

bool is_linked(const void* code) {
  char head[sizeof linked_magic];
  return process_memory()->read(reinterpret_cast<uint64_t>(code), head, sizeof head) &&
         std::memcmp(head, linked_magic, sizeof head) == 0;
}

std::vector<std::string> unpack_linked(const void* block) {
  std::vector<std::string> texts;
  const char* at = static_cast<const char*>(block) + sizeof linked_magic;
  auto number = [&] {
    uint64_t value;
    std::memcpy(&value, at, sizeof value);
    at += sizeof value;
    return value;
  };
  for (uint64_t left = number(); left; --left) {
    const uint64_t bytes = number();
    texts.emplace_back(at, bytes);
    at += bytes;
  }
  return texts;
}

}  // namespace limen::fatbin
