// Sparse matrix times vector in CSR form: one thread a row and one warp a row, ragged rows,
// indirect loads.
#include <vector>

#include "check.h"

__global__ void spmv_scalar(int rows, const int* start, const int* column, const double* value,
                            const double* x, double* y) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < rows) {
    double sum = 0;
    for (int k = start[row]; k < start[row + 1]; ++k) sum += value[k] * x[column[k]];
    y[row] = sum;
  }
}

__global__ void spmv_vector(int rows, const int* start, const int* column,
                            const double* __restrict__ value, const double* __restrict__ x,
                            double* y) {
  int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (row >= rows) return;
  double sum = 0;
  for (int k = start[row] + lane; k < start[row + 1]; k += 32) sum += value[k] * x[column[k]];
  for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffffu, sum, d);
  if (lane == 0) y[row] = sum;
}

int main() {
  const int rows = 2003, columns = 1777;
  Random random(10);
  std::vector<int> start(1, 0), column;
  std::vector<double> value, x(columns), want(rows, 0);
  for (double& v : x) v = static_cast<int>(random.below(200)) - 100;  // sums stay exact
  for (int r = 0; r < rows; ++r) {
    int length = r % 97 == 5 ? 300 : static_cast<int>(random.below(20));
    for (int k = 0; k < length; ++k) {
      column.push_back(static_cast<int>(random.below(columns)));
      value.push_back((static_cast<int>(random.below(64)) - 32) * 0.25);
      want[r] += value.back() * x[column.back()];
    }
    start.push_back(static_cast<int>(column.size()));
  }
  int *ds, *dc;
  double *dv, *dx, *dy;
  CHECK(cudaMalloc(&ds, start.size() * sizeof(int)));
  CHECK(cudaMalloc(&dc, column.size() * sizeof(int)));
  CHECK(cudaMalloc(&dv, value.size() * sizeof(double)));
  CHECK(cudaMalloc(&dx, x.size() * sizeof(double)));
  CHECK(cudaMalloc(&dy, rows * sizeof(double)));
  CHECK(cudaMemcpy(ds, start.data(), start.size() * sizeof(int), cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(dc, column.data(), column.size() * sizeof(int), cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(dv, value.data(), value.size() * sizeof(double), cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(dx, x.data(), x.size() * sizeof(double), cudaMemcpyHostToDevice));
  Verdict verdict;
  std::vector<double> got(rows);
  for (int kind = 0; kind < 2; ++kind) {
    CHECK(cudaMemset(dy, 0xff, rows * sizeof(double)));
    if (kind == 0) {
      spmv_scalar<<<(rows + 127) / 128, 128>>>(rows, ds, dc, dv, dx, dy);
    } else {
      spmv_vector<<<(rows + 3) / 4, 128>>>(rows, ds, dc, dv, dx, dy);
    }
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(got.data(), dy, rows * sizeof(double), cudaMemcpyDeviceToHost));
    for (int r = 0; r < rows; ++r) verdict.equal(got[r], want[r], kind ? "vector" : "scalar", r);
  }
  return verdict.finish();
}
