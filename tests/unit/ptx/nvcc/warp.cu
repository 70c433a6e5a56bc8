// Warp, atomic, half precision and asynchronous copies for the parser; never run.
#include <cooperative_groups.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <cuda_pipeline.h>
#include <cuda/atomic>
#include <cuda/barrier>
namespace cg = cooperative_groups;
__global__ void warp(unsigned* o, unsigned long long* l, float* f, double* d, int n) {
  unsigned v = o[threadIdx.x], m = __activemask();
  v += __shfl_sync(m, v, 3) + __shfl_up_sync(m, v, 1, 16) + __shfl_down_sync(m, v, 2);
  v += __shfl_xor_sync(m, v, 4) + __ballot_sync(m, v > 3) + __any_sync(m, v) + __all_sync(m, v);
  int all;
  v += __match_any_sync(m, v) + __match_all_sync(m, v, &all) + all;
#if __CUDA_ARCH__ >= 800
  v += __reduce_add_sync(m, v) + __reduce_max_sync(m, (int)v) + __reduce_xor_sync(m, v);
#endif
  __syncwarp();
  v += __syncthreads_count(v > 1) + __syncthreads_and(v) + __syncthreads_or(v);
  atomicAdd(o, v);
  o[1] = atomicAdd(o + 2, v) + atomicSub(o + 3, v) + atomicExch(o + 4, v) + atomicMin(o + 5, v);
  o[2] = atomicMax((int*)o + 6, (int)v) + atomicInc(o + 7, v) + atomicDec(o + 8, v);
  o[3] = atomicCAS(o + 9, v, v + 1) + atomicAnd(o + 1, v) + atomicOr(o + 2, v) + atomicXor(o, v);
  l[0] = atomicAdd(l + 1, v) + atomicCAS(l + 2, v, 7) + atomicMax(l + 3, v) + atomicExch(l, v);
  f[0] = atomicAdd(f + 1, 2.0f) + atomicExch(f + 2, 1.0f);
  d[0] = atomicAdd(d + 1, 2.0) + atomicAdd_block(d + 2, 1.0) + atomicAdd_system(o + 5, 3);
  cg::thread_block block = cg::this_thread_block();
  auto tile = cg::tiled_partition<16>(block);
  o[9] = tile.shfl_down(v, 1) + tile.any(v) + tile.meta_group_rank();
  auto active = cg::coalesced_threads();
  o[10] = active.size() + active.shfl(v, 0);
  block.sync();
}
__global__ void halves(half* h, half2* h2, __nv_bfloat16* b, __nv_bfloat162* b2, float* f) {
  h[0] = __hadd(__hfma(h[1], h[2], h[3]), __hmax(h[4], h[5])) - hsqrt(h[6]) * hexp(h[7]) / h[8];
  h2[0] = __hfma2(h2[1], h2[2], h2[3]) + __hmin2(h2[4], h2[5]) * h2sin(h2[6]);
  h[9] = __float2half_rz(f[0]) + __int2half_rn((int)f[1]) + __ushort_as_half(3);
  f[2] = __half2float(h[1]) + __low2float(h2[1]) + (h[2] < h[3]) + __hequ(h[1], h[2]);
#if __CUDA_ARCH__ >= 800
  b[0] = __hadd(__hfma(b[1], b[2], b[3]), __hmax(b[4], b[5]));
  b[9] = __float2bfloat16(f[3]);
  b2[0] = __hfma2(b2[1], b2[2], b2[3]);
  b2[9] = __floats2bfloat162_rn(f[4], f[5]);
  f[6] = __bfloat162float(b[1]) + (b[2] > b[3]);
#endif
  atomicAdd(h, h[1]);
  atomicAdd(h2, h2[1]);
  __nv_fp8_e4m3 e(f[7]);
  f[8] = float(e) + float(__nv_fp8_e5m2(f[9]));
}
__global__ void copies(float* g, int n, cuda::atomic<int>* a) {
#if __CUDA_ARCH__ >= 800
  __shared__ alignas(16) float s[256];
  __pipeline_memcpy_async(&s[threadIdx.x * 4], &g[threadIdx.x * 4], 16);
  __pipeline_memcpy_async(&s[threadIdx.x], &g[threadIdx.x], 4);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __shared__ cuda::barrier<cuda::thread_scope_block> bar;
  if (threadIdx.x == 0) init(&bar, blockDim.x);
  __syncthreads();
  bar.arrive_and_wait();
  g[n] = s[threadIdx.x];
#endif
  a->fetch_add(1, cuda::memory_order_acq_rel);
  a->store(2, cuda::memory_order_release);
  g[0] = a->load(cuda::memory_order_acquire) + a->exchange(3) + a->fetch_max(4);
  int expected = 1;
  a->compare_exchange_strong(expected, 2);
  cg::this_grid().sync();
}
