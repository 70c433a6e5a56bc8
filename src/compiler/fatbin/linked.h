// The output of a link: all its PTX texts in one block of memory, which loads like any image where a
// program expects machine code. Made by cuLinkComplete and by the front for nvJitLink, read by the
// driver's module loading. The block is Limen's own and no cubin. Thread rule: pure functions.
#pragma once
#include <string>
#include <vector>

namespace limen::fatbin {

/// All texts in one block.
std::string pack_linked(const std::vector<std::string>& texts);

/// Does `code` point to such a block? Any pointer may be asked about, a wild one too.
bool is_linked(const void* code);

/// The texts of a block that is_linked() knows.
std::vector<std::string> unpack_linked(const void* block);

}  // namespace limen::fatbin
