// A 7-point stencil in double precision: 3-D blocks and grids, halos in shared memory, two buffers.
#include <vector>

#include "check.h"

constexpr int bx = 16, by = 4, bz = 4;

__global__ void stencil_plain(const double* in, double* out, int nx, int ny, int nz) {
  int x = blockIdx.x * bx + threadIdx.x, y = blockIdx.y * by + threadIdx.y,
      z = blockIdx.z * bz + threadIdx.z;
  if (x >= nx || y >= ny || z >= nz) return;
  int i = (z * ny + y) * nx + x;
  if (x == 0 || y == 0 || z == 0 || x == nx - 1 || y == ny - 1 || z == nz - 1) {
    out[i] = in[i];
    return;
  }
  out[i] = 0.5 * in[i] + 0.125 * (in[i - 1] + in[i + 1]) +
           0.0625 * (in[i - nx] + in[i + nx] + in[i - nx * ny] + in[i + nx * ny]);
}

__global__ void stencil_shared(const double* in, double* out, int nx, int ny, int nz) {
  __shared__ double s[bz + 2][by + 2][bx + 2];
  int tx = threadIdx.x + 1, ty = threadIdx.y + 1, tz = threadIdx.z + 1;
  int x = blockIdx.x * bx + threadIdx.x, y = blockIdx.y * by + threadIdx.y,
      z = blockIdx.z * bz + threadIdx.z;
  bool inside = x < nx && y < ny && z < nz;
  int i = (z * ny + y) * nx + x;
  if (inside) {
    s[tz][ty][tx] = in[i];
    if (threadIdx.x == 0 && x > 0) s[tz][ty][0] = in[i - 1];
    if (threadIdx.x == bx - 1 && x < nx - 1) s[tz][ty][bx + 1] = in[i + 1];
    if (threadIdx.y == 0 && y > 0) s[tz][0][tx] = in[i - nx];
    if (threadIdx.y == by - 1 && y < ny - 1) s[tz][by + 1][tx] = in[i + nx];
    if (threadIdx.z == 0 && z > 0) s[0][ty][tx] = in[i - nx * ny];
    if (threadIdx.z == bz - 1 && z < nz - 1) s[bz + 1][ty][tx] = in[i + nx * ny];
  }
  __syncthreads();
  if (!inside) return;
  bool edge = x == 0 || y == 0 || z == 0 || x == nx - 1 || y == ny - 1 || z == nz - 1;
  out[i] = edge ? s[tz][ty][tx]
                : 0.5 * s[tz][ty][tx] + 0.125 * (s[tz][ty][tx - 1] + s[tz][ty][tx + 1]) +
                      0.0625 * (s[tz][ty - 1][tx] + s[tz][ty + 1][tx] + s[tz - 1][ty][tx] +
                                s[tz + 1][ty][tx]);
}

int main() {
  const int nx = 50, ny = 21, nz = 18, n = nx * ny * nz, steps = 4;
  std::vector<double> start(n), a, b(n), got(n);
  Random random(13);
  for (double& v : start) v = random.below(1024) * 1024.0;  // four steps stay exact
  a = start;
  for (int step = 0; step < steps; ++step) {
    for (int z = 0; z < nz; ++z) {
      for (int y = 0; y < ny; ++y) {
        for (int x = 0; x < nx; ++x) {
          int i = (z * ny + y) * nx + x;
          bool edge = !x || !y || !z || x == nx - 1 || y == ny - 1 || z == nz - 1;
          b[i] = edge ? a[i]
                      : 0.5 * a[i] + 0.125 * (a[i - 1] + a[i + 1]) +
                            0.0625 * (a[i - nx] + a[i + nx] + a[i - nx * ny] + a[i + nx * ny]);
        }
      }
    }
    a.swap(b);
  }
  double* d[2];
  for (auto& p : d) CHECK(cudaMalloc(&p, n * sizeof(double)));
  dim3 block(bx, by, bz), grid((nx + bx - 1) / bx, (ny + by - 1) / by, (nz + bz - 1) / bz);
  Verdict verdict;
  for (int kind = 0; kind < 2; ++kind) {
    CHECK(cudaMemcpy(d[0], start.data(), n * sizeof(double), cudaMemcpyHostToDevice));
    for (int step = 0; step < steps; ++step) {
      if (kind == 0) stencil_plain<<<grid, block>>>(d[step % 2], d[1 - step % 2], nx, ny, nz);
      if (kind == 1) stencil_shared<<<grid, block>>>(d[step % 2], d[1 - step % 2], nx, ny, nz);
    }
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(got.data(), d[steps % 2], n * sizeof(double), cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; ++i) verdict.equal(got[i], a[i], kind ? "shared" : "plain", i);
  }
  return verdict.finish();
}
