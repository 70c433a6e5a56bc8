// The cuUserObject* calls and graphs' references. Destructors run on a worker that may block, never
// inside a call and never under the GraphLock. Thread rule: as graph.h.
#include <algorithm>
#include <climits>

#include "abi/cpu_api.h"
#include "drivers/cpu/context.h"
#include "drivers/cpu/graph/graph.h"

namespace limen::cpu {

namespace {

bool count_is_valid(unsigned count) { return count > 0 && count <= unsigned{INT_MAX}; }

CUresult resolve_object(CUuserObject handle, UserObject** object) {
  *object = driver().user_objects.resolve(handle);
  return *object ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

}  // namespace

void release_user_object(UserObject* object, uint64_t count) {
  object->references -= std::min(object->references, count);
  if (object->references) return;
  driver().user_objects.retire(object);
  if (!process_is_exiting())
    driver().pool->submit_task(
        [destroy = object->destroy, pointer = object->pointer] {
          HostFunctionScope scope;
          destroy(pointer);
        },
        true);
  driver().user_objects.destroy(object);
}

CUresult cuUserObjectCreate(CUuserObject* object_out, void* ptr, CUhostFn destroy,
                            unsigned int initialRefcount, unsigned int flags) {
  if (!object_out || !destroy || !count_is_valid(initialRefcount) ||
      flags != CU_USER_OBJECT_NO_DESTRUCTOR_SYNC)
    return CUDA_ERROR_INVALID_VALUE;
  GraphLock lock;
  UserObject* object = driver().user_objects.create();
  if (!object) return CUDA_ERROR_OUT_OF_MEMORY;
  object->pointer = ptr;
  object->destroy = destroy;
  object->references = initialRefcount;
  *object_out = reinterpret_cast<CUuserObject>(object);
  return CUDA_SUCCESS;
}

CUresult cuUserObjectRetain(CUuserObject handle, unsigned int count) {
  if (!count_is_valid(count)) return CUDA_ERROR_INVALID_VALUE;
  GraphLock lock;
  UserObject* object;
  if (CUresult result = resolve_object(handle, &object)) return result;
  object->references += count;
  return CUDA_SUCCESS;
}

CUresult cuUserObjectRelease(CUuserObject handle, unsigned int count) {
  if (!count_is_valid(count)) return CUDA_ERROR_INVALID_VALUE;
  GraphLock lock;
  UserObject* object;
  if (CUresult result = resolve_object(handle, &object)) return result;
  release_user_object(object, count);
  return CUDA_SUCCESS;
}

CUresult cuGraphRetainUserObject(CUgraph hGraph, CUuserObject handle, unsigned int count,
                                 unsigned int flags) {
  if (!count_is_valid(count) || (flags & ~unsigned{CU_GRAPH_USER_OBJECT_MOVE}))
    return CUDA_ERROR_INVALID_VALUE;
  GraphLock lock;
  Graph* graph;
  if (CUresult result = resolve_graph(hGraph, &graph)) return result;
  UserObject* object;
  if (CUresult result = resolve_object(handle, &object)) return result;
  if (!(flags & CU_GRAPH_USER_OBJECT_MOVE)) object->references += count;
  graph->objects[object] += count;
  return CUDA_SUCCESS;
}

CUresult cuGraphReleaseUserObject(CUgraph hGraph, CUuserObject handle, unsigned int count) {
  if (!count_is_valid(count)) return CUDA_ERROR_INVALID_VALUE;
  GraphLock lock;
  Graph* graph;
  if (CUresult result = resolve_graph(hGraph, &graph)) return result;
  UserObject* object;
  if (CUresult result = resolve_object(handle, &object)) return result;
  auto held = graph->objects.find(object);
  // No more than it has; asking for more is no error. measured H200, driver 580.159.04
  if (held == graph->objects.end()) return CUDA_SUCCESS;
  count = std::min<uint64_t>(count, held->second);
  held->second -= count;
  if (!held->second) graph->objects.erase(held);
  release_user_object(object, count);
  return CUDA_SUCCESS;
}

}  // namespace limen::cpu
