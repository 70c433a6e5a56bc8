// What generated code calls for cp.async.bulk.tensor and cp.reduce.async.bulk.tensor: run_tensor
// does one lane's instruction at once. Holds no lock and no resource while it moves data, because
// an access may fault and land the worker elsewhere. Thread rule: any worker. Design:
// docs/design/tensor_maps.md.
#pragma once
#include <cstdint>

#include "devlib/kernel_abi.h"
#include "devlib/tensor_replacement.h"
#include "engine/tensor_map.h"

namespace limen::engine {

struct TensorCall {
  kernel::TensorOp op;
  uint64_t map;
  uint64_t shared;       ///< host address in the shared window
  const int32_t* words;  ///< kernel::tensor_words of them
};

/// what == nullptr: no error.
struct TensorResult {
  uint64_t bytes = 0;  ///< moved, gaps and swizzle padding not counted
  const char* what = nullptr;
  kernel::Fault kind = kernel::Fault::illegal_instruction;
  uint64_t address = 0;
};

TensorResult run_tensor(const kernel::BlockContext& block, const TensorCall& call);

// -- tensor_replace.cpp

/// tensormap.replace in the map at `map`, or in 128 zeros, which are a map with no field set.
TensorResult replace_field(kernel::TensorReplacement op, uint64_t map, uint64_t value);
/// What the encoder would not have taken in a map with replaced fields; nullptr: nothing.
const char* check_replaced(const TensorMap& map);

// -- tensor_reduce.cpp

/// Can elements of `type` be so reduced?
bool can_reduce(TensorType type, kernel::TensorReduction how);
/// Reduces `count` elements at `to` with those at `from`, each atomically. `to` is aligned to them.
void reduce_elements(TensorType type, kernel::TensorReduction how, uint8_t* to, const uint8_t* from,
                     uint32_t count);
/// A number of f32 as tf32 holds it.
uint32_t tf32_of(uint32_t bits);

}  // namespace limen::engine
