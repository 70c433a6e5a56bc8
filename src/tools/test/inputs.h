// Operand values of the golden tests: edge values of each class crossed, then values made by a
// fixed generator. A function of the classes and the number of tuples alone, the same on every
// machine and for ever: goldens hold outputs only (and a hash that notices when this changes).
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "tools/test/cases.h"

namespace limen::golden {

/// shape: a column after the other, `tuples` * 8 bytes each; elements as wide as their register.
/// errors: invalid_value (a class that is not known).
Result<std::vector<uint8_t>> make_input(const Kernel& kernel);

/// The value of a column in a tuple.
uint64_t input_value(const Kernel& kernel, const std::vector<uint8_t>& input, size_t column,
                     size_t tuple);

/// Bytes of an element of that class.
unsigned class_bytes(const std::string& value_class);

/// FNV-1a, 32 bits.
uint32_t hash_of(const void* bytes, size_t size);

}  // namespace limen::golden
