// What a per-thread entry (_ptsz, _ptds) does to its arguments: the null stream becomes
// CU_STREAM_PER_THREAD, also inside the two structs that carry a stream. The caller's struct is
// copied, never written, except for the results that the API returns in it.
#pragma once
#include "abi/cuda_abi.h"

namespace limen::loader {

inline CUstream per_thread(CUstream stream) { return stream ? stream : CU_STREAM_PER_THREAD; }

class LaunchConfigPerThread {
 public:
  explicit LaunchConfigPerThread(const CUlaunchConfig* config) : given_(config) {
    if (!config || config->hStream) return;
    copy_ = *config;
    copy_.hStream = CU_STREAM_PER_THREAD;
    given_ = &copy_;
  }
  const CUlaunchConfig* get() const { return given_; }

 private:
  const CUlaunchConfig* given_;
  CUlaunchConfig copy_;
};

class InstantiateParamsPerThread {
 public:
  explicit InstantiateParamsPerThread(CUDA_GRAPH_INSTANTIATE_PARAMS* params) : given_(params) {
    if (!params) return;
    copy_ = *params;
    copy_.hUploadStream = per_thread(params->hUploadStream);
  }
  ~InstantiateParamsPerThread() {
    if (!given_) return;
    given_->hErrNode_out = copy_.hErrNode_out;
    given_->result_out = copy_.result_out;
  }
  InstantiateParamsPerThread(const InstantiateParamsPerThread&) = delete;
  InstantiateParamsPerThread& operator=(const InstantiateParamsPerThread&) = delete;
  CUDA_GRAPH_INSTANTIATE_PARAMS* get() { return given_ ? &copy_ : nullptr; }

 private:
  CUDA_GRAPH_INSTANTIATE_PARAMS* given_;
  CUDA_GRAPH_INSTANTIATE_PARAMS copy_;
};

}  // namespace limen::loader
