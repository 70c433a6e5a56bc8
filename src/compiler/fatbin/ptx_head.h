// The little that this room reads of PTX text itself: whether it is PTX, and its .version and
// .target. Everything else is compiler/ptx. Private to this room.
#pragma once
#include <string_view>

#include "compiler/fatbin/fatbin.h"

namespace limen::fatbin {

/// Whether text begins like PTX: a directive or a comment after white space. Not a check of syntax.
bool looks_like_ptx(std::string_view text);

/// Fills the version, sm and suffix of `entry` from the head of a PTX text; leaves 0 where absent.
void read_ptx_head(std::string_view text, Entry& entry);

}  // namespace limen::fatbin
