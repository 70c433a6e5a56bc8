// Relocations of AArch64 objects as LLVM emits them for the small code model, with and without PIC.
// source: ELF for the Arm 64-bit Architecture, 5.7 (2023Q3).
#include <elf.h>

#include "compiler/image/relocation.h"

namespace limen::image {
namespace {

constexpr uint32_t rel_plt32 = 314, rel_gotpcrel32 = 315;  // newer than Debian 12's elf.h

using Range = Field::Range;
constexpr Field bits64{8, 0, 64, 0, Range::cut};
constexpr Field signed32{4, 0, 32, 0, Range::is_signed};
constexpr Field unsigned32{4, 0, 32, 0, Range::is_unsigned};
constexpr Field address21{4, 0, 21, 0, Range::is_signed, true};
constexpr Field page21{4, 12, 21, 0, Range::is_signed, true};
constexpr Field branch14{4, 2, 14, 5, Range::is_signed};
constexpr Field branch19{4, 2, 19, 5, Range::is_signed};
constexpr Field branch26{4, 2, 26, 0, Range::is_signed};

/// The lower 12 bits of an address, in units of 2^`skip` bytes.
constexpr Field low12(uint8_t skip) {
  return {4, skip, static_cast<uint8_t>(12 - skip), 10, Range::cut};
}

#define LIMEN_RULE(name, ...) {R_AARCH64_##name, "R_AARCH64_" #name, __VA_ARGS__}
constexpr Rule rules[] = {
    LIMEN_RULE(ABS64, Base::symbol, Minus::nothing, bits64),
    LIMEN_RULE(ABS32, Base::symbol, Minus::nothing, unsigned32),
    LIMEN_RULE(PREL64, Base::symbol, Minus::place, bits64),
    LIMEN_RULE(PREL32, Base::symbol, Minus::place, signed32),
    LIMEN_RULE(LD_PREL_LO19, Base::symbol, Minus::place, branch19),
    LIMEN_RULE(ADR_PREL_LO21, Base::symbol, Minus::place, address21),
    LIMEN_RULE(ADR_PREL_PG_HI21, Base::symbol, Minus::place_page, page21),
    LIMEN_RULE(ADD_ABS_LO12_NC, Base::symbol, Minus::nothing, low12(0)),
    LIMEN_RULE(LDST8_ABS_LO12_NC, Base::symbol, Minus::nothing, low12(0)),
    LIMEN_RULE(LDST16_ABS_LO12_NC, Base::symbol, Minus::nothing, low12(1)),
    LIMEN_RULE(LDST32_ABS_LO12_NC, Base::symbol, Minus::nothing, low12(2)),
    LIMEN_RULE(LDST64_ABS_LO12_NC, Base::symbol, Minus::nothing, low12(3)),
    LIMEN_RULE(LDST128_ABS_LO12_NC, Base::symbol, Minus::nothing, low12(4)),
    LIMEN_RULE(TSTBR14, Base::symbol, Minus::place, branch14),
    LIMEN_RULE(CONDBR19, Base::symbol, Minus::place, branch19),
    LIMEN_RULE(JUMP26, Base::symbol, Minus::place, branch26),
    LIMEN_RULE(CALL26, Base::symbol, Minus::place, branch26),
    LIMEN_RULE(GOT_LD_PREL19, Base::slot, Minus::place, branch19),
    LIMEN_RULE(ADR_GOT_PAGE, Base::slot, Minus::place_page, page21),
    LIMEN_RULE(LD64_GOT_LO12_NC, Base::slot, Minus::nothing, low12(3)),
    {rel_plt32, "R_AARCH64_PLT32", Base::symbol, Minus::place, signed32},
    {rel_gotpcrel32, "R_AARCH64_GOTPCREL32", Base::slot, Minus::place, signed32},
};
#undef LIMEN_RULE

}  // namespace

std::span<const Rule> relocation_rules() { return rules; }

}  // namespace limen::image
