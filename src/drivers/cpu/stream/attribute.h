// Attributes of streams, and the checks that a stream's attribute and a launch's share.
// They are hints on where data is cached and how memory operations are ordered: every one is
// checked and kept to be read back, and full order among one coherent memory satisfies them.
// Invariant: kept values have passed their check. Thread rule: values are under Context::mutex.
#pragma once
#include "abi/cuda_abi.h"
#include "drivers/cpu/stream/signal.h"

namespace limen::cpu {

class Device;
struct ResolvedStream;

/// What a stream keeps. source: CUDA Driver API 13.0, CUlaunchMemSyncDomainMap: the default map
/// takes the default domain to 0 and the remote one to 1.
struct StreamAttributes {
  CUaccessPolicyWindow window{};
  /// None: the context's counts. measured H200, driver 580.159.04: read as -1
  CUsynchronizationPolicy sync_policy = static_cast<CUsynchronizationPolicy>(-1);
  CUlaunchMemSyncDomainMap domain_map{0, 1};
  CUlaunchMemSyncDomain domain = CU_LAUNCH_MEM_SYNC_DOMAIN_DEFAULT;
  unsigned nvlink_centric = 0;
};

/// Checks the value of an attribute that streams and launches both have.
/// errors: 1 for a value that cannot be or another attribute.
CUresult check_shared_attribute(CUlaunchAttributeID attribute, const CUlaunchAttributeValue& value,
                                const Device& device);

/// How a host thread waits for work of the stream: its own policy, else its context's.
WaitPolicy wait_policy_of(const ResolvedStream& on);

}  // namespace limen::cpu
