// Rules between streams: which stream a handle means, and what the legacy default stream waits for.
// Invariant: after before_work(), an operation queued on the stream is ordered as CUDA orders it.
// Thread rule: any thread; takes Context::mutex briefly.
#pragma once
#include <memory>

#include "abi/cuda_abi.h"
#include "drivers/cpu/stream/stream.h"

namespace limen::cpu {

struct Context;
struct StreamCapture;
struct StreamHandle;

/// source: measured H200, driver 580.x, cuCtxGetStreamPriorityRange.
inline constexpr int least_priority = 0, greatest_priority = -5;
/// source: measured H200, driver 580.x: CU_LIMIT_STACK_SIZE refuses 512 KiB.
inline constexpr size_t most_stack_bytes = 512 << 10;

/// What a call does on a stream that is being captured: it must not be made, its work becomes a
/// node, or it is none of the stream's work.
enum class UnderCapture : uint8_t { refuse, record, ignore };

struct ResolvedStream {
  Stream* stream = nullptr;
  Context* context = nullptr;
  StreamHandle* handle = nullptr;  ///< null for the legacy stream
  std::shared_ptr<StreamCapture> capture;  ///< set when the call must record its work
};

/// What a CUstream means for this thread: current context and its sticky error are checked.
/// errors: 400 for what is no live stream, 201, 709, or the sticky error of the stream's context;
/// 900, 901, 906 for what captures under way forbid.
CUresult resolve_stream(CUstream handle, ResolvedStream* out,
                        UnderCapture under = UnderCapture::refuse);
/// The same without refusing host functions: for calls that wait for nothing.
CUresult resolve_asked_stream(CUstream handle, ResolvedStream* out,
                              UnderCapture under = UnderCapture::refuse);
/// The same as resolve_stream without refusing a context that has failed.
CUresult resolve_stream_any(CUstream handle, ResolvedStream* out,
                            UnderCapture under = UnderCapture::refuse);

/// Makes the next operation of `stream` wait for what the legacy default stream's rules say.
void before_work(Context& context, Stream& stream);
/// Whether the legacy rules leave nothing in the way of an operation on `stream`, and it is idle.
bool nothing_before(Context& context, Stream& stream);

StreamHandle* make_stream(Context& context, Stream::Kind kind, int priority, unsigned flags);
/// Takes the handle out of use; work in flight goes on. A capture that it is part of ends.
void retire_stream(StreamHandle* handle);
/// The same for a stream that the program never saw.
void retire_own_stream(StreamHandle* handle);

}  // namespace limen::cpu
