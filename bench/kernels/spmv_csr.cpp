// Sparse matrix times vector, compressed rows of 8 to 56 entries at random columns, a warp a row.
#include "bench.h"

constexpr int rows = 1 << 18;
constexpr int block = 128;

struct Matrix {
  std::vector<int> begin, column;
  std::vector<float> value, x;
};

static Matrix make_matrix() {
  Matrix out;
  bench::Random random(7);
  out.begin.push_back(0);
  for (int row = 0; row < rows; ++row) {
    int entries = 8 + static_cast<int>(random.bits() % 49);
    for (int i = 0; i < entries; ++i) {
      out.column.push_back(static_cast<int>(random.bits() % rows));
      out.value.push_back(random.uniform(-1.0f, 1.0f));
    }
    out.begin.push_back(static_cast<int>(out.column.size()));
  }
  out.x = bench::random_floats(rows, 8, -1.0f, 1.0f);
  return out;
}

#if defined(PEER_CUDA)

__global__ void spmv(float* y, const int* begin, const int* column, const float* value,
                     const float* x, int n) {
  int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (row >= n) return;
  float sum = 0.0f;
  for (int i = begin[row] + lane; i < begin[row + 1]; i += 32) sum += value[i] * x[column[i]];
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffffu, sum, offset);
  if (lane == 0) y[row] = sum;
}

int main(int argc, char** argv) {
  Matrix m = make_matrix();
  int *begin = bench::to_device(m.begin), *column = bench::to_device(m.column);
  float *value = bench::to_device(m.value), *x = bench::to_device(m.x);
  float* y = bench::on_device<float>(rows);
  return bench::measure(
      argc, argv,
      [&] {
        spmv<<<rows / (block / 32), block>>>(y, begin, column, value, x, rows);
        bench::finish();
      },
      [&] { return bench::from_device(y, rows); });
}

#elif defined(PEER_OPENMP)

int main(int argc, char** argv) {
  Matrix m = make_matrix();
  std::vector<float> y(rows);
  return bench::measure(
      argc, argv,
      [&] {
        const int *begin = m.begin.data(), *column = m.column.data();
        const float *value = m.value.data(), *x = m.x.data();
        float* to = y.data();
#pragma omp parallel for
        for (int row = 0; row < rows; ++row) {
          float sum = 0.0f;
#pragma omp simd reduction(+ : sum)
          for (int i = begin[row]; i < begin[row + 1]; ++i) sum += value[i] * x[column[i]];
          to[row] = sum;
        }
      },
      [&] { return y; });
}

#else

int main(int argc, char** argv) {
  // Without shuffles the natural OpenCL form is a work-item a row.
  bench::OpenCl cl(R"(
    kernel void spmv(global float* y, global const int* begin, global const int* column,
                     global const float* value, global const float* x, int n) {
      int row = get_global_id(0);
      if (row >= n) return;
      float sum = 0.0f;
      for (int i = begin[row]; i < begin[row + 1]; ++i) sum += value[i] * x[column[i]];
      y[row] = sum;
    })");
  Matrix m = make_matrix();
  cl_mem y = cl.on_device<float>(rows);
  cl_kernel spmv = cl.kernel("spmv", y, cl.to_device(m.begin), cl.to_device(m.column),
                             cl.to_device(m.value), cl.to_device(m.x), rows);
  return bench::measure(
      argc, argv,
      [&] {
        cl.launch(spmv, rows, block);
        cl.finish();
      },
      [&] { return cl.from_device<float>(y, rows); });
}

#endif
