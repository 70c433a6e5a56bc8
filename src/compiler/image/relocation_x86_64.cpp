// Relocations of x86-64 objects as LLVM emits them for the small code model, with and without PIC.
// source: System V ABI, AMD64 supplement 1.0, table 4.9.
#include <elf.h>

#include "compiler/image/relocation.h"

namespace limen::image {
namespace {

constexpr uint32_t rel_gotpcrelx = 41,
                   rel_rex_gotpcrelx = 42;  // newer than Debian 12's oldest elf.h

constexpr Field bits64{8, 0, 64, 0, Field::Range::cut};
constexpr Field signed32{4, 0, 32, 0, Field::Range::is_signed};
constexpr Field unsigned32{4, 0, 32, 0, Field::Range::is_unsigned};

constexpr Rule rules[] = {
    {R_X86_64_64, "R_X86_64_64", Base::symbol, Minus::nothing, bits64},
    {R_X86_64_PC32, "R_X86_64_PC32", Base::symbol, Minus::place, signed32},
    {R_X86_64_GOT32, "R_X86_64_GOT32", Base::slot_offset, Minus::nothing, signed32},
    {R_X86_64_PLT32, "R_X86_64_PLT32", Base::symbol, Minus::place, signed32},
    {R_X86_64_GOTPCREL, "R_X86_64_GOTPCREL", Base::slot, Minus::place, signed32},
    {R_X86_64_32, "R_X86_64_32", Base::symbol, Minus::nothing, unsigned32},
    {R_X86_64_32S, "R_X86_64_32S", Base::symbol, Minus::nothing, signed32},
    {R_X86_64_PC64, "R_X86_64_PC64", Base::symbol, Minus::place, bits64},
    {R_X86_64_GOTOFF64, "R_X86_64_GOTOFF64", Base::symbol, Minus::table, bits64},
    {R_X86_64_GOTPC32, "R_X86_64_GOTPC32", Base::table, Minus::place, signed32},
    {R_X86_64_GOT64, "R_X86_64_GOT64", Base::slot_offset, Minus::nothing, bits64},
    {R_X86_64_GOTPCREL64, "R_X86_64_GOTPCREL64", Base::slot, Minus::place, bits64},
    {R_X86_64_GOTPC64, "R_X86_64_GOTPC64", Base::table, Minus::place, bits64},
    {R_X86_64_PLTOFF64, "R_X86_64_PLTOFF64", Base::symbol, Minus::table, bits64},
    {rel_gotpcrelx, "R_X86_64_GOTPCRELX", Base::slot, Minus::place, signed32},
    {rel_rex_gotpcrelx, "R_X86_64_REX_GOTPCRELX", Base::slot, Minus::place, signed32},
};

}  // namespace

std::span<const Rule> relocation_rules() { return rules; }

}  // namespace limen::image
