// Green contexts: a device's primary context with some of its multiprocessors. Nothing but streams
// belongs to a green context; memory, modules and errors are the primary context's.
// A CUgreenCtx and the CUcontext made from it are the same handle. A resource is a plain struct in
// the program's hands: what we need to know of it stands, sealed, in its padding.
// Invariant: a live green context holds one retain of its primary context.
// Thread rule: any thread; `mutex` guards the streams.
#pragma once
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "abi/cuda_abi.h"
#include "drivers/cpu/stream/stream.h"

namespace limen::cpu {

class Device;
struct Context;
struct StreamHandle;

/// Multiprocessors by number, as a split made them.
struct SmSet {
  uint32_t device = 0;
  std::vector<uint32_t> sms;  ///< rising
};

/// What a CUdevResourceDesc is. Never destroyed: the API has no call for it; equal ones are shared.
struct ResourceDescription {
  SmSet set;
};

struct GreenContext {
  Context* primary = nullptr;
  uint32_t owner = 0;  ///< of the primary context's activation
  uint64_t id = 0;
  SmSet set;
  std::shared_ptr<engine::Partition> partition;
  StreamHandle* default_stream = nullptr;  ///< what the null stream means where it is current

  std::mutex mutex;
  std::vector<std::shared_ptr<Stream>> streams;

  std::vector<std::shared_ptr<Stream>> list_streams();
};

inline CUcontext handle_of(GreenContext* green) { return reinterpret_cast<CUcontext>(green); }

/// The green context current to this thread, or nullptr. errors: 709 when it has been destroyed.
CUresult current_green(GreenContext** green);

/// A stream whose work stays on the green context's multiprocessors; nullptr when there are too
/// many.
StreamHandle* make_green_stream(GreenContext& green, Stream::Kind kind, int priority,
                                unsigned flags);

/// Multiprocessors that a launch in a stream may use; null handle: a default stream.
uint32_t multiprocessors_for(const Device& device, const StreamHandle* handle);

}  // namespace limen::cpu
