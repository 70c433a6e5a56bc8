// Stream capture: while a stream is in a capture, what is put into it becomes nodes of a graph.
// A call that knows nothing of captures is refused by resolve_stream and invalidates the capture,
// so no call can slip by; those that can be recorded ask for UnderCapture::record and call one of
// the functions below. Invariant: a stream's edges are what its next node will depend on; streams
// and captured events of a capture refer to it until it ends. Thread rule: guarded by the
// GraphLock; Driver::captures says without a lock that there is none. docs/design/graphs.md
#pragma once
#include <memory>
#include <thread>
#include <vector>

#include "abi/cuda_abi.h"
#include "drivers/cpu/graph/graph.h"
#include "drivers/cpu/launch.h"
#include "drivers/cpu/stream/order.h"

namespace limen::cpu {

struct EventHandle;

/// One capture sequence.
struct Capture {
  uint64_t id = 0;
  CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
  std::thread::id thread;
  Graph* graph = nullptr;
  bool owns_graph = false;  ///< made by the capture, not given by the program
  bool invalid = false;
  bool over = false;
  StreamHandle* origin = nullptr;
  std::vector<StreamHandle*> streams;
  std::vector<GraphEdge> left;  ///< ends of streams that were destroyed
};

/// A stream that is part of a capture.
struct StreamCapture {
  std::shared_ptr<Capture> sequence;
  std::vector<GraphEdge> edges;
  // As the latest query has shown them.
  std::vector<CUgraphNode> shown_nodes;
  std::vector<CUgraphEdgeData> shown_data;
};

/// What an event stands for that was recorded in a capture.
struct EventCapture {
  std::shared_ptr<Capture> sequence;
  std::vector<GraphEdge> edges;
};

/// A call on a stream meets the captures under way; Driver::captures is not 0.
/// errors: 900, 901, 906.
CUresult meet_captures(ResolvedStream* on, UnderCapture under);
/// A call that a capture may forbid without touching a stream of it ("potentially unsafe").
/// errors: 900.
CUresult refuse_unsafe_call();
/// A call on a whole context. errors: 900.
CUresult refuse_context_call(Context& context);
/// A call that asks for or waits for an event. errors: 900, 907.
CUresult refuse_event_call(EventHandle& event);
/// The stream is being destroyed. A capture that began in it cannot go on.
void leave_capture(StreamHandle* stream);

// What calls record. All take the GraphLock. errors: those of the node's parameters, 901.
CUresult capture_node(const ResolvedStream& on, CUgraphNodeParams& params);
CUresult capture_kernel(const ResolvedStream& on, CUfunction function, const LaunchShape& shape,
                        void** params, void** extra, const LaunchOptions& options);
CUresult capture_copy(const ResolvedStream& on, const CUDA_MEMCPY3D& copy);
CUresult capture_fill(const ResolvedStream& on, const CUDA_MEMSET_NODE_PARAMS& fill);
CUresult capture_host(const ResolvedStream& on, CUhostFn function, void* data);
CUresult capture_alloc(const ResolvedStream& on, const CUmemPoolProps& props, size_t bytes,
                       CUdeviceptr* address);
CUresult capture_free(const ResolvedStream& on, CUdeviceptr address);
CUresult capture_mem_ops(const ResolvedStream& on, const CUstreamBatchMemOpParams* ops,
                         unsigned count);
CUresult capture_signal(const ResolvedStream& on, const CUexternalSemaphore* semaphores,
                        const CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS* params, unsigned count);
CUresult capture_wait(const ResolvedStream& on, const CUexternalSemaphore* semaphores,
                      const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS* params, unsigned count);

/// cuEventRecord in a stream that is captured.
CUresult capture_record(const ResolvedStream& on, EventHandle& event, bool external);
/// An event is recorded outside of any capture: it is a plain event again.
void forget_captured_event(EventHandle& event);
/// cuStreamWaitEvent where the stream is captured or the event was. `taken`: nothing is left to do.
CUresult capture_wait_event(const ResolvedStream& on, EventHandle& event, bool external,
                            bool* taken);

}  // namespace limen::cpu
