// What captures allow, refuse and record, and the cuStream*Capture* calls. source: CUDA C++
// Programming Guide 13.0, "Creating a Graph Using Stream Capture"; CUDA Driver API 13.0.
// Thread rule: see the header.
#include "drivers/cpu/graph/capture.h"

#include <algorithm>
#include <cstring>
#include <set>
#include <unordered_set>

#include "abi/cpu_api.h"
#include "drivers/cpu/context.h"
#include "drivers/cpu/graph/node_params.h"
#include "drivers/cpu/graph/plan.h"
#include "drivers/cpu/module/module.h"

namespace limen::cpu {

namespace {

/// The captures under way. Under the GraphLock.
std::set<Capture*>& active_captures() {
  static auto* made = new std::set<Capture*>;
  return *made;
}

thread_local CUstreamCaptureMode thread_mode = CU_STREAM_CAPTURE_MODE_GLOBAL;

uint64_t next_capture_id() {
  static std::atomic<uint64_t> next{1};
  return next.fetch_add(1, std::memory_order_relaxed);
}

CUresult invalidate(Capture& capture, CUresult code) {
  capture.invalid = true;
  return code;
}

bool is_blocking(const StreamHandle& stream) {
  return stream.stream->kind() == Stream::Kind::blocking;
}

bool same_edge(const GraphEdge& a, const GraphEdge& b) {
  return a.node == b.node && std::memcmp(&a.data, &b.data, sizeof a.data) == 0;
}

void add_edges(std::vector<GraphEdge>* to, const std::vector<GraphEdge>& from) {
  for (const GraphEdge& edge : from)
    if (std::none_of(to->begin(), to->end(),
                     [&](const GraphEdge& known) { return same_edge(known, edge); }))
      to->push_back(edge);
}

void join(const std::shared_ptr<Capture>& sequence, StreamHandle* stream,
          std::vector<GraphEdge> edges) {
  stream->capture = std::make_shared<StreamCapture>();
  stream->capture->sequence = sequence;
  stream->capture->edges = std::move(edges);
  sequence->streams.push_back(stream);
}

/// All streams leave it; its events stay, and refer to something that is over.
void end_capture(Capture& capture) {
  capture.over = true;
  capture.graph->capturing = false;
  const std::vector<StreamHandle*> streams = std::move(capture.streams);
  active_captures().erase(&capture);
  driver().captures.fetch_sub(1, std::memory_order_relaxed);
  for (StreamHandle* stream : streams) stream->capture.reset();  // perhaps the last reference
}

/// Whether everything that other streams were given leads into what the first stream's end waits
/// for.
bool is_joined(const Capture& capture) {
  std::unordered_set<const GraphNode*> reached;
  std::vector<const GraphNode*> list;
  auto reach = [&](const GraphNode* node) {
    if (reached.insert(node).second) list.push_back(node);
  };
  for (const GraphEdge& edge : capture.origin->capture->edges) reach(edge.node);
  while (!list.empty()) {
    const GraphNode* node = list.back();
    list.pop_back();
    for (const GraphEdge& edge : node->in) reach(edge.node);
  }
  auto joined = [&](const std::vector<GraphEdge>& edges) {
    return std::ranges::all_of(edges,
                               [&](const auto& edge) { return reached.contains(edge.node); });
  };
  return joined(capture.left) && std::ranges::all_of(capture.streams, [&](const auto* stream) {
           return joined(stream->capture->edges);
         });
}

/// Nodes that were destroyed are no dependencies any more.
void drop_dead(std::vector<GraphEdge>* edges) {
  std::erase_if(*edges,
                [](const GraphEdge& edge) { return !driver().graph_nodes.resolve(edge.node); });
}

/// The stream's place in its capture, if that can still be added to.
CUresult open_place(const ResolvedStream& on, StreamCapture** place) {
  *place = on.capture.get();
  if ((*place)->sequence->over || (*place)->sequence->invalid)
    return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  drop_dead(&(*place)->edges);
  return CUDA_SUCCESS;
}

/// Adds a node after everything that the stream has so far.
CUresult append(StreamCapture& place, CUgraphNodeType type, NodeWork work) {
  // Programmatic edges join kernels; anything else waits for all of the kernel.
  if (type != CU_GRAPH_NODE_TYPE_KERNEL)
    for (GraphEdge& edge : place.edges)
      if (edge.data.type == CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC) edge.data = {};
  GraphNode* node = add_node(*place.sequence->graph, type, std::move(work), place.edges);
  if (!node) return CUDA_ERROR_OUT_OF_MEMORY;
  place.edges.assign(1, {node, {}});
  return CUDA_SUCCESS;
}

/// Makes the calling thread's context the stream's for the length of a scope.
class InContext {
 public:
  explicit InContext(Context& context) { cuCtxPushCurrent(handle_of(&context)); }
  ~InContext() {
    CUcontext popped;
    cuCtxPopCurrent(&popped);
  }
  InContext(const InContext&) = delete;
  InContext& operator=(const InContext&) = delete;
};

CUresult begin(const ResolvedStream& on, CUstreamCaptureMode mode, Graph* graph, bool owns_graph,
               std::vector<GraphEdge> edges) {
  auto sequence = std::make_shared<Capture>();
  sequence->id = next_capture_id();
  sequence->mode = mode;
  sequence->thread = std::this_thread::get_id();
  sequence->graph = graph;
  sequence->owns_graph = owns_graph;
  sequence->origin = on.handle;
  graph->capturing = true;
  active_captures().insert(sequence.get());
  driver().captures.fetch_add(1, std::memory_order_relaxed);
  join(sequence, on.handle, std::move(edges));
  return CUDA_SUCCESS;
}

bool mode_is_valid(CUstreamCaptureMode mode) {
  return mode >= CU_STREAM_CAPTURE_MODE_GLOBAL && mode <= CU_STREAM_CAPTURE_MODE_RELAXED;
}

/// Whether the stream may begin a capture. errors: 1, 401, 900.
CUresult check_begin(const ResolvedStream& on, CUstreamCaptureMode mode) {
  // The legacy stream cannot. measured H200, driver 580.x
  if (!on.handle) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  if (!mode_is_valid(mode)) return CUDA_ERROR_INVALID_VALUE;
  return on.handle->capture ? CUDA_ERROR_ILLEGAL_STATE : CUDA_SUCCESS;
}

/// A blocking stream of the context is captured: the legacy stream would depend on it.
bool legacy_is_barred(Context& context, bool invalidates) {
  bool barred = false;
  for (Capture* capture : active_captures()) {
    for (const StreamHandle* stream : capture->streams) {
      if (stream->context != &context || !is_blocking(*stream)) continue;
      barred = true;
      if (invalidates) capture->invalid = true;
    }
  }
  return barred;
}

}  // namespace

CUresult meet_captures(ResolvedStream* on, UnderCapture under) {
  if (under == UnderCapture::ignore) return CUDA_SUCCESS;
  GraphLock lock;
  if (!on->handle)
    return legacy_is_barred(*on->context, true) ? CUDA_ERROR_STREAM_CAPTURE_IMPLICIT : CUDA_SUCCESS;
  if (!on->handle->capture) return CUDA_SUCCESS;
  Capture& capture = *on->handle->capture->sequence;
  if (capture.invalid) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  if (under == UnderCapture::refuse)
    return invalidate(capture, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  on->capture = on->handle->capture;
  return CUDA_SUCCESS;
}

CUresult refuse_unsafe_call() {
  if (!driver().captures.load(std::memory_order_relaxed)) return CUDA_SUCCESS;
  if (thread_mode == CU_STREAM_CAPTURE_MODE_RELAXED) return CUDA_SUCCESS;
  GraphLock lock;
  CUresult result = CUDA_SUCCESS;
  for (Capture* capture : active_captures()) {
    const bool own = capture->thread == std::this_thread::get_id() &&
                     capture->mode != CU_STREAM_CAPTURE_MODE_RELAXED;
    const bool others = thread_mode == CU_STREAM_CAPTURE_MODE_GLOBAL &&
                        capture->mode == CU_STREAM_CAPTURE_MODE_GLOBAL;
    if (own || others) result = invalidate(*capture, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  }
  return result;
}

CUresult refuse_context_call(Context& context) {
  if (!driver().captures.load(std::memory_order_relaxed)) return CUDA_SUCCESS;
  {
    GraphLock lock;
    CUresult result = CUDA_SUCCESS;
    for (Capture* capture : active_captures())
      for (const StreamHandle* stream : capture->streams)
        if (stream->context == &context)
          result = invalidate(*capture, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    if (result) return result;
  }
  return refuse_unsafe_call();
}

CUresult refuse_event_call(EventHandle& event) {
  if (event.was_captured.load(std::memory_order_acquire)) {
    GraphLock lock;
    if (event.captured) {
      // Once the capture is over, its event stands for nothing. measured H200, driver 580.159.04
      if (event.captured->sequence->over) return CUDA_ERROR_INVALID_VALUE;
      event.captured->sequence->invalid = true;
      return CUDA_ERROR_CAPTURED_EVENT;
    }
  }
  return refuse_unsafe_call();
}

void leave_capture(StreamHandle* stream) {
  if (!driver().captures.load(std::memory_order_relaxed)) return;
  GraphLock lock;
  std::shared_ptr<StreamCapture> place = stream->capture;
  if (!place) return;
  Capture& capture = *place->sequence;
  std::erase(capture.streams, stream);
  stream->capture.reset();
  if (capture.origin != stream) {
    // The capture goes on; what the stream was given must have been joined when it ends.
    capture.left.insert(capture.left.end(), place->edges.begin(), place->edges.end());
    return;
  }
  // Nobody can end it any more.
  end_capture(capture);
  if (capture.owns_graph) destroy_graph(capture.graph);
}

// ---- What calls record ------------------------------------------------------------------------

CUresult capture_node(const ResolvedStream& on, CUgraphNodeParams& params) {
  GraphLock lock;
  InContext inside(*on.context);
  StreamCapture* place;
  if (CUresult result = open_place(on, &place)) return result;
  NodeWork work;
  if (CUresult result = read_node(*place->sequence->graph, place->edges, params, &work))
    return result;
  return append(*place, params.type, std::move(work));
}

/// The events of the launch's attributes stand for edges from the node's ports.
/// source: CUDA C++ Programming Guide 13.0, "Use in CUDA Graphs" of programmatic dependent launch.
static void capture_launch_events(const StreamCapture& place, const LaunchOptions& options) {
  for (unsigned i = 0; i < options.attribute_count; ++i) {
    const CUlaunchAttribute& attribute = options.attributes[i];
    CUevent handle = nullptr;
    CUgraphEdgeData data{};
    if (attribute.id == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT) {
      const auto& asked = attribute.value.programmaticEvent;
      handle = asked.event;
      data.from_port = asked.triggerAtBlockStart ? CU_GRAPH_KERNEL_NODE_PORT_LAUNCH_ORDER
                                                 : CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC;
      data.type = CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC;
    } else if (attribute.id == CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT) {
      handle = attribute.value.launchCompletionEvent.event;
      data.from_port = CU_GRAPH_KERNEL_NODE_PORT_LAUNCH_ORDER;
    }
    EventHandle* event = handle ? driver().events.resolve(handle) : nullptr;
    if (!event) continue;
    event->captured =
        std::make_shared<EventCapture>(EventCapture{place.sequence, {{place.edges[0].node, data}}});
    event->was_captured.store(true, std::memory_order_release);
  }
}

/// Lets kernels change the node to be, and gives its handle to the caller's attribute.
static void tell_device_node(KernelNode& kernel, const LaunchOptions& options) {
  kernel.device_node = DeviceNode::make(kernel.in.context->device);
  for (unsigned i = 0; i < options.attribute_count; ++i)
    if (options.attributes[i].id == CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE)
      const_cast<CUlaunchAttribute&>(options.attributes[i])
          .value.deviceUpdatableKernelNode.devNode = kernel.device_node->handle();
}

CUresult capture_kernel(const ResolvedStream& on, CUfunction function, const LaunchShape& shape,
                        void** params, void** extra, const LaunchOptions& options) {
  GraphLock lock;
  InContext inside(*on.context);
  StreamCapture* place;
  if (CUresult result = open_place(on, &place)) return result;
  KernelNode kernel;
  CUDA_KERNEL_NODE_PARAMS_v3 launch{};
  launch.func = function;
  launch.gridDimX = shape.grid[0], launch.gridDimY = shape.grid[1], launch.gridDimZ = shape.grid[2];
  launch.blockDimX = shape.block[0], launch.blockDimY = shape.block[1];
  launch.blockDimZ = shape.block[2];
  launch.sharedMemBytes = shape.shared_bytes;
  launch.kernelParams = params;
  launch.extra = extra;
  bool overlaps = false;
  for (unsigned i = 0; i < options.attribute_count; ++i) {
    const CUlaunchAttribute& attribute = options.attributes[i];
    if (attribute.id == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION)
      overlaps = attribute.value.programmaticStreamSerializationAllowed != 0;
    else if (attribute.id == CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE ||
             attribute.id == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT ||
             attribute.id == CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT)
      continue;  // not the node's
    else if (attribute.id != CU_LAUNCH_ATTRIBUTE_IGNORE)
      kernel.attributes.push_back(attribute);
  }
  auto add_number = [&kernel](CUlaunchAttributeID id, int value) {
    CUlaunchAttribute attribute;
    std::memset(&attribute, 0, sizeof attribute);
    attribute.id = id;
    std::memcpy(&attribute.value, &value, sizeof value);
    kernel.attributes.push_back(attribute);
  };
  if (options.cooperative && !options.attribute_count)
    add_number(CU_LAUNCH_ATTRIBUTE_COOPERATIVE, 1);
  // Nodes take the stream's priority. source: CUDA Driver API 13.0, cuGraphInstantiate.
  if (!options.has_priority) add_number(CU_LAUNCH_ATTRIBUTE_PRIORITY, on.stream->priority());
  if (CUresult result = read_kernel(launch, &kernel)) return result;
  if (kernel.in.context != on.context) return CUDA_ERROR_INVALID_HANDLE;
  if (options.device_updatable) tell_device_node(kernel, options);
  if (overlaps && place->edges.size() == 1 &&
      place->edges[0].node->type == CU_GRAPH_NODE_TYPE_KERNEL) {
    place->edges[0].data.from_port = CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC;
    place->edges[0].data.type = CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC;
  }
  if (CUresult result = append(*place, CU_GRAPH_NODE_TYPE_KERNEL, std::move(kernel))) return result;
  capture_launch_events(*place, options);
  return CUDA_SUCCESS;
}

CUresult capture_copy(const ResolvedStream& on, const CUDA_MEMCPY3D& copy) {
  CUgraphNodeParams params = params_of(CU_GRAPH_NODE_TYPE_MEMCPY);
  params.memcpy.copyParams = copy;
  return capture_node(on, params);
}

CUresult capture_fill(const ResolvedStream& on, const CUDA_MEMSET_NODE_PARAMS& fill) {
  CUgraphNodeParams params = params_of(CU_GRAPH_NODE_TYPE_MEMSET);
  const auto [dst, pitch, value, element_bytes, width, height] = fill;
  params.memset = {dst, pitch, value, element_bytes, width, height, nullptr};
  return capture_node(on, params);
}

CUresult capture_host(const ResolvedStream& on, CUhostFn function, void* data) {
  CUgraphNodeParams params = params_of(CU_GRAPH_NODE_TYPE_HOST);
  params.host = {function, data};
  return capture_node(on, params);
}

CUresult capture_alloc(const ResolvedStream& on, const CUmemPoolProps& props, size_t bytes,
                       CUdeviceptr* address) {
  CUgraphNodeParams params = params_of(CU_GRAPH_NODE_TYPE_MEM_ALLOC);
  params.alloc.poolProps = props;
  params.alloc.bytesize = bytes;
  if (CUresult result = capture_node(on, params)) return result;
  *address = params.alloc.dptr;
  return CUDA_SUCCESS;
}

CUresult capture_free(const ResolvedStream& on, CUdeviceptr address) {
  CUgraphNodeParams params = params_of(CU_GRAPH_NODE_TYPE_MEM_FREE);
  params.free.dptr = address;
  return capture_node(on, params);
}

CUresult capture_mem_ops(const ResolvedStream& on, const CUstreamBatchMemOpParams* ops,
                         unsigned count) {
  CUgraphNodeParams params = params_of(CU_GRAPH_NODE_TYPE_BATCH_MEM_OP);
  params.memOp.count = count;
  params.memOp.paramArray = const_cast<CUstreamBatchMemOpParams*>(ops);
  return capture_node(on, params);
}

CUresult capture_signal(const ResolvedStream& on, const CUexternalSemaphore* semaphores,
                        const CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS* list, unsigned count) {
  CUgraphNodeParams params = params_of(CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL);
  params.extSemSignal = {const_cast<CUexternalSemaphore*>(semaphores), list, count};
  return capture_node(on, params);
}

CUresult capture_wait(const ResolvedStream& on, const CUexternalSemaphore* semaphores,
                      const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS* list, unsigned count) {
  CUgraphNodeParams params = params_of(CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT);
  params.extSemWait = {const_cast<CUexternalSemaphore*>(semaphores), list, count};
  return capture_node(on, params);
}

CUresult capture_record(const ResolvedStream& on, EventHandle& event, bool external) {
  if (external) {
    CUgraphNodeParams params = params_of(CU_GRAPH_NODE_TYPE_EVENT_RECORD);
    params.eventRecord.event = reinterpret_cast<CUevent>(&event);
    return capture_node(on, params);
  }
  GraphLock lock;
  StreamCapture* place;
  if (CUresult result = open_place(on, &place)) return result;
  event.captured = std::make_shared<EventCapture>(EventCapture{place->sequence, place->edges});
  event.was_captured.store(true, std::memory_order_release);
  return CUDA_SUCCESS;
}

void forget_captured_event(EventHandle& event) {
  if (!event.was_captured.load(std::memory_order_relaxed)) return;
  GraphLock lock;
  event.captured.reset();
  event.was_captured.store(false, std::memory_order_release);
}

CUresult capture_wait_event(const ResolvedStream& on, EventHandle& event, bool external,
                            bool* taken) {
  *taken = true;
  if (external) {
    if (!on.capture) return CUDA_ERROR_INVALID_VALUE;
    CUgraphNodeParams params = params_of(CU_GRAPH_NODE_TYPE_WAIT_EVENT);
    params.eventWait.event = reinterpret_cast<CUevent>(&event);
    return capture_node(on, params);
  }
  GraphLock lock;
  if (!event.captured) {
    if (!on.capture) {
      *taken = false;
      return CUDA_SUCCESS;
    }
    std::lock_guard state(event.state->mutex);
    if (!event.state->recorded && !event.state->shared) return CUDA_SUCCESS;
    return invalidate(*on.capture->sequence, CUDA_ERROR_STREAM_CAPTURE_ISOLATION);
  }
  const std::shared_ptr<Capture>& from = event.captured->sequence;
  if (from->over) return CUDA_ERROR_CAPTURED_EVENT;
  if (from->invalid) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  if (!on.capture) {
    // A stream that waits for a captured event becomes part of the capture.
    if (!on.handle) return invalidate(*from, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    drop_dead(&event.captured->edges);
    join(from, on.handle, event.captured->edges);
    return CUDA_SUCCESS;
  }
  if (on.capture->sequence != from) {
    invalidate(*on.capture->sequence, CUDA_ERROR_STREAM_CAPTURE_MERGE);
    return invalidate(*from, CUDA_ERROR_STREAM_CAPTURE_MERGE);
  }
  StreamCapture* place;
  if (CUresult result = open_place(on, &place)) return result;
  drop_dead(&event.captured->edges);
  add_edges(&place->edges, event.captured->edges);
  return CUDA_SUCCESS;
}

// ---- The calls --------------------------------------------------------------------------------

CUresult cuStreamBeginCapture(CUstream hStream, CUstreamCaptureMode mode) {
  ResolvedStream on;
  if (CUresult result = resolve_stream(hStream, &on, UnderCapture::ignore)) return result;
  GraphLock lock;
  if (CUresult result = check_begin(on, mode)) return result;
  Graph* graph = make_graph();
  if (!graph) return CUDA_ERROR_OUT_OF_MEMORY;
  return begin(on, mode, graph, true, {});
}

CUresult cuStreamBeginCaptureToGraph(CUstream hStream, CUgraph hGraph,
                                     const CUgraphNode* dependencies,
                                     const CUgraphEdgeData* dependencyData, size_t numDependencies,
                                     CUstreamCaptureMode mode) {
  {
    GraphLock lock;
    Graph* graph;
    if (CUresult result = resolve_graph(hGraph, &graph)) return result;
  }
  ResolvedStream on;
  if (CUresult result = resolve_stream(hStream, &on, UnderCapture::ignore)) return result;
  GraphLock lock;
  if (CUresult result = check_begin(on, mode)) return result;
  Graph* graph;
  if (CUresult result = resolve_graph(hGraph, &graph)) return result;
  // measured H200, driver 580.159.04
  if (graph->capturing) return CUDA_ERROR_ILLEGAL_STATE;
  std::vector<GraphEdge> edges;
  // What the first node will be is not known: kernels have the most ports.
  if (CUresult result = read_dependencies(*graph, dependencies, dependencyData, numDependencies,
                                          CU_GRAPH_NODE_TYPE_KERNEL, &edges))
    return result;
  return begin(on, mode, graph, false, std::move(edges));
}

CUresult cuStreamEndCapture(CUstream hStream, CUgraph* phGraph) {
  ResolvedStream on;
  if (CUresult result = resolve_stream_any(hStream, &on, UnderCapture::ignore)) return result;
  GraphLock lock;
  // Before anything else. measured H200, driver 580.x
  if (!on.handle || !on.handle->capture) return CUDA_ERROR_ILLEGAL_STATE;
  std::shared_ptr<Capture> capture = on.handle->capture->sequence;
  if (capture->origin != on.handle)
    return invalidate(*capture, CUDA_ERROR_STREAM_CAPTURE_UNMATCHED);
  // The wrong thread ends it as well, and a graph that nobody takes is lost. measured H200, driver
  // 580.159.04
  const bool wrong_thread = capture->mode != CU_STREAM_CAPTURE_MODE_RELAXED &&
                            capture->thread != std::this_thread::get_id();
  if (phGraph) *phGraph = nullptr;
  for (StreamHandle* stream : capture->streams) drop_dead(&stream->capture->edges);
  drop_dead(&capture->left);
  CUresult result = wrong_thread           ? CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD
                    : capture->invalid     ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED
                    : !is_joined(*capture) ? CUDA_ERROR_STREAM_CAPTURE_UNJOINED
                                           : CUDA_SUCCESS;
  end_capture(*capture);
  if (result == CUDA_SUCCESS && phGraph)
    *phGraph = handle_of(capture->graph);
  else if (capture->owns_graph)
    destroy_graph(capture->graph);
  return result;
}

CUresult cuStreamIsCapturing(CUstream hStream, CUstreamCaptureStatus* captureStatus) {
  if (!captureStatus) return CUDA_ERROR_INVALID_VALUE;
  return cuStreamGetCaptureInfo(hStream, captureStatus, nullptr, nullptr, nullptr, nullptr,
                                nullptr);
}

CUresult cuStreamGetCaptureInfo(CUstream hStream, CUstreamCaptureStatus* captureStatus_out,
                                cuuint64_t* id_out, CUgraph* graph_out,
                                const CUgraphNode** dependencies_out,
                                const CUgraphEdgeData** edgeData_out, size_t* numDependencies_out) {
  if (!captureStatus_out) return CUDA_ERROR_INVALID_VALUE;
  ResolvedStream on;
  if (CUresult result = resolve_stream(hStream, &on, UnderCapture::ignore)) return result;
  *captureStatus_out = CU_STREAM_CAPTURE_STATUS_NONE;
  if (!driver().captures.load(std::memory_order_relaxed)) return CUDA_SUCCESS;
  GraphLock lock;
  if (!on.handle)
    return legacy_is_barred(*on.context, false) ? CUDA_ERROR_STREAM_CAPTURE_IMPLICIT : CUDA_SUCCESS;
  StreamCapture* place = on.handle->capture.get();
  if (!place) return CUDA_SUCCESS;
  if (place->sequence->invalid) {
    *captureStatus_out = CU_STREAM_CAPTURE_STATUS_INVALIDATED;
    return CUDA_SUCCESS;
  }
  drop_dead(&place->edges);
  place->shown_nodes.clear();
  place->shown_data.clear();
  for (const GraphEdge& edge : place->edges) {
    if (dependencies_out && !edgeData_out && !same_edge(edge, {edge.node, {}}))
      return CUDA_ERROR_LOSSY_QUERY;
    place->shown_nodes.push_back(handle_of(edge.node));
    place->shown_data.push_back(edge.data);
  }
  *captureStatus_out = CU_STREAM_CAPTURE_STATUS_ACTIVE;
  if (id_out) *id_out = place->sequence->id;
  if (graph_out) *graph_out = handle_of(place->sequence->graph);
  if (dependencies_out) *dependencies_out = place->shown_nodes.data();
  if (edgeData_out) *edgeData_out = place->shown_data.data();
  if (numDependencies_out) *numDependencies_out = place->shown_nodes.size();
  return CUDA_SUCCESS;
}

CUresult cuStreamUpdateCaptureDependencies(CUstream hStream, CUgraphNode* dependencies,
                                           const CUgraphEdgeData* dependencyData,
                                           size_t numDependencies, unsigned int flags) {
  ResolvedStream on;
  if (CUresult result = resolve_stream(hStream, &on, UnderCapture::ignore)) return result;
  GraphLock lock;
  if (!on.handle || !on.handle->capture) return CUDA_ERROR_ILLEGAL_STATE;
  if (flags > CU_STREAM_SET_CAPTURE_DEPENDENCIES) return CUDA_ERROR_INVALID_VALUE;
  StreamCapture& place = *on.handle->capture;
  if (place.sequence->invalid) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  std::vector<GraphEdge> edges;
  if (CUresult result = read_dependencies(*place.sequence->graph, dependencies, dependencyData,
                                          numDependencies, CU_GRAPH_NODE_TYPE_KERNEL, &edges))
    return result;
  if (flags == CU_STREAM_SET_CAPTURE_DEPENDENCIES) place.edges.clear();
  drop_dead(&place.edges);
  add_edges(&place.edges, edges);
  return CUDA_SUCCESS;
}

CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode* mode) {
  if (!mode) return CUDA_ERROR_INVALID_VALUE;
  // Any number is kept, and one that is no mode is stricter than none. measured H200, driver
  // 580.159.04
  std::swap(thread_mode, *mode);
  return CUDA_SUCCESS;
}

}  // namespace limen::cpu
