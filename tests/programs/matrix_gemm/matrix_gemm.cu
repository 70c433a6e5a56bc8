// Matrix products as programs write them: wmma's C++ interface from global and shared memory, and
// ldmatrix + mma + stmatrix with tiles, barriers and a loop; movmatrix; warps that skip the
// product.
#include <cuda_fp16.h>
#include <mma.h>

#include <vector>

#include "check.h"

using namespace nvcuda;

constexpr int M = 64, N = 48, K = 80;

// One warp a 16 x 16 tile, fragments from global memory; a row-major, b column-major.
template <typename In, typename Acc>
__global__ void wmma_global(const In* a, const In* b, Acc* c, int m, int n, int k) {
  const int warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  const int row = warp / (n / 16) * 16, column = warp % (n / 16) * 16;
  if (row >= m) return;
  wmma::fragment<wmma::matrix_a, 16, 16, 16, In, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, In, wmma::col_major> fb;
  wmma::fragment<wmma::accumulator, 16, 16, 16, Acc> fc;
  wmma::fill_fragment(fc, Acc(0));
  for (int i = 0; i < k; i += 16) {
    wmma::load_matrix_sync(fa, a + row * k + i, k);
    wmma::load_matrix_sync(fb, b + column * k + i, k);
    wmma::mma_sync(fc, fa, fb, fc);
  }
  for (int i = 0; i < fc.num_elements; ++i) fc.x[i] = fc.x[i] * Acc(2);
  wmma::store_matrix_sync(c + row * n + column, fc, n, wmma::mem_row_major);
}

// Tiles of 32 x 16 by four warps; A and B through shared memory, ldmatrix and stmatrix.
__global__ void tiled(const half* a, const half* b, half* c, int n, int k) {
  __shared__ alignas(16) half sa[32][16 + 8], sb[16][16 + 8], sc[32][16 + 8];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int row0 = blockIdx.y * 32, column0 = blockIdx.x * 16;
  const int wr = warp / 2 * 16, wc = warp % 2 * 8;
  float acc[4] = {};
  for (int k0 = 0; k0 < k; k0 += 16) {
    for (int i = threadIdx.x; i < 32 * 16; i += blockDim.x)
      sa[i / 16][i % 16] = a[(row0 + i / 16) * k + k0 + i % 16];
    for (int i = threadIdx.x; i < 16 * 16; i += blockDim.x)
      sb[i / 16][i % 16] = b[(k0 + i / 16) * n + column0 + i % 16];
    __syncthreads();
    unsigned fa[4], fb[2];
    const unsigned pa = unsigned(__cvta_generic_to_shared(&sa[wr + lane % 16][lane / 16 * 8]));
    const unsigned pb = unsigned(__cvta_generic_to_shared(&sb[lane % 16][wc]));
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(fa[0]), "=r"(fa[1]), "=r"(fa[2]), "=r"(fa[3])
                 : "r"(pa)
                 : "memory");
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1}, [%2];"
                 : "=r"(fb[0]), "=r"(fb[1])
                 : "r"(pb)
                 : "memory");
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
        "{%0,%1,%2,%3};"
        : "+f"(acc[0]), "+f"(acc[1]), "+f"(acc[2]), "+f"(acc[3])
        : "r"(fa[0]), "r"(fa[1]), "r"(fa[2]), "r"(fa[3]), "r"(fb[0]), "r"(fb[1]));
    __syncthreads();
  }
  union {
    half2 h[2];
    unsigned u[2];
  } out;
  out.h[0] = __floats2half2_rn(acc[0], acc[1]);
  out.h[1] = __floats2half2_rn(acc[2], acc[3]);
  const unsigned pc = unsigned(__cvta_generic_to_shared(&sc[wr + lane % 16][wc]));
  asm volatile("stmatrix.sync.aligned.m8n8.x2.shared.b16 [%0], {%1,%2};" ::"r"(pc), "r"(out.u[0]),
               "r"(out.u[1])
               : "memory");
  __syncthreads();
  for (int i = threadIdx.x; i < 32 * 16; i += blockDim.x)
    c[(row0 + i / 16) * n + column0 + i % 16] = sc[i / 16][i % 16];
}

// Transpositions: by movmatrix, by ldmatrix.trans and by stmatrix.trans, of x1, x2 and x4.
__global__ void transpositions(const unsigned short* in, unsigned short* out) {
  __shared__ alignas(16) unsigned short s[4][8][8], t[4][8][8];
  const int lane = threadIdx.x;
  for (int i = lane; i < 256; i += 32) (&s[0][0][0])[i] = in[i];
  __syncwarp();
  unsigned word, turned, r[4];
  memcpy(&word, &s[0][lane / 4][lane % 4 * 2], 4);
  asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(turned) : "r"(word));
  memcpy(out + lane * 2, &turned, 4);
  const unsigned ps = unsigned(__cvta_generic_to_shared(&s[lane / 8][lane % 8][0]));
  const unsigned pt = unsigned(__cvta_generic_to_shared(&t[lane / 8][lane % 8][0]));
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(ps)
               : "memory");
  for (int i = 0; i < 4; ++i) memcpy(out + 64 + i * 64 + lane * 2, &r[i], 4);
  asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1,%2,%3,%4};" ::"r"(pt),
               "r"(r[3]), "r"(r[2]), "r"(r[1]), "r"(r[0])
               : "memory");
  __syncwarp();
  for (int i = lane; i < 256; i += 32) out[320 + i] = (&t[0][0][0])[i];
  // Lanes above 7 have no say in x1.
  const unsigned p1 = lane < 8 ? ps : 0xfffffff1u;
  asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];"
               : "=r"(r[0])
               : "r"(p1)
               : "memory");
  memcpy(out + 576 + lane * 2, &r[0], 4);
}

template <typename In, typename Acc>
void global_product(Verdict& verdict, const char* what) {
  Random random(5);
  std::vector<In> a(M * K), b(K * N);
  std::vector<Acc> c(M * N);
  std::vector<int> ia(M * K), ib(K * N);
  for (int i = 0; i < M * K; ++i) a[i] = In(float(ia[i] = int(random.below(7)) - 3));
  for (int i = 0; i < K * N; ++i) b[i] = In(float(ib[i] = int(random.below(7)) - 3));
  In *da, *db;
  Acc* dc;
  CHECK(cudaMalloc(&da, a.size() * sizeof(In)));
  CHECK(cudaMalloc(&db, b.size() * sizeof(In)));
  CHECK(cudaMalloc(&dc, c.size() * sizeof(Acc)));
  CHECK(cudaMemcpy(da, a.data(), a.size() * sizeof(In), cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(db, b.data(), b.size() * sizeof(In), cudaMemcpyHostToDevice));
  wmma_global<In, Acc><<<4, 128>>>(da, db, dc, M, N, K);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(c.data(), dc, c.size() * sizeof(Acc), cudaMemcpyDeviceToHost));
  for (int i = 0; i < M; ++i)
    for (int j = 0; j < N; ++j) {
      int want = 0;
      for (int k = 0; k < K; ++k) want += ia[i * K + k] * ib[j * K + k];
      verdict.equal(double(c[i * N + j]), 2.0 * want, what, i * N + j);
    }
}

int main() {
  Verdict verdict;
  global_product<half, float>(verdict, "wmma half to float");
  global_product<half, half>(verdict, "wmma half to half");
  global_product<signed char, int>(verdict, "wmma signed char");

  Random random(6);
  std::vector<half> a(M * K), b(K * N), c(M * N);
  for (half& v : a) v = __float2half(float(int(random.below(7)) - 3));
  for (half& v : b) v = __float2half(float(int(random.below(7)) - 3));
  half *da, *db, *dc;
  CHECK(cudaMalloc(&da, a.size() * 2));
  CHECK(cudaMalloc(&db, b.size() * 2));
  CHECK(cudaMalloc(&dc, c.size() * 2));
  CHECK(cudaMemcpy(da, a.data(), a.size() * 2, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(db, b.data(), b.size() * 2, cudaMemcpyHostToDevice));
  tiled<<<dim3(N / 16, M / 32), 128>>>(da, db, dc, N, K);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(c.data(), dc, c.size() * 2, cudaMemcpyDeviceToHost));
  for (int i = 0; i < M; ++i)
    for (int j = 0; j < N; ++j) {
      float want = 0;
      for (int k = 0; k < K; ++k) want += __half2float(a[i * K + k]) * __half2float(b[k * N + j]);
      verdict.equal(__half2float(c[i * N + j]), want, "ldmatrix, mma, stmatrix", i * N + j);
    }

  std::vector<unsigned short> in(256), out(640);
  for (int i = 0; i < 256; ++i) in[i] = static_cast<unsigned short>(i * 257 + 3);
  unsigned short *di, *dout;
  CHECK(cudaMalloc(&di, 512));
  CHECK(cudaMalloc(&dout, 1280));
  CHECK(cudaMemcpy(di, in.data(), 512, cudaMemcpyHostToDevice));
  transpositions<<<1, 32>>>(di, dout);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(out.data(), dout, 1280, cudaMemcpyDeviceToHost));
  for (int m = 0; m < 4; ++m)
    for (int r = 0; r < 8; ++r)
      for (int x = 0; x < 8; ++x) {
        const int at = m * 64 + r * 8 + x;
        if (m == 0) verdict.equal<int>(out[at], in[x * 8 + r], "movmatrix", at);
        verdict.equal<int>(out[64 + at], in[m * 64 + x * 8 + r], "ldmatrix.trans", at);
        verdict.equal<int>(out[320 + at], in[(3 - m) * 64 + r * 8 + x], "stmatrix.trans", at);
        if (m == 0) verdict.equal<int>(out[576 + at], in[at], "ldmatrix x1", at);
      }
  return verdict.finish();
}
