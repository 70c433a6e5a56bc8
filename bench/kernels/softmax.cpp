// Softmax of 4096 rows of 1024 floats: a warp a row, maximum and sum by shuffles, four rows a
// block. OpenCL 1.2 has no shuffles: its peer reduces in local memory, a group a row.
#include "bench.h"

constexpr int rows = 4096, columns = 1024;
constexpr int warps = 4;

static std::vector<float> values() {
  return bench::random_floats(size_t{rows} * columns, 18, -4.0f, 4.0f);
}

#if defined(PEER_CUDA)

__global__ void softmax(float* out, const float* in, int count, int width) {
  int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (row >= count) return;
  const float* from = in + row * width;
  float* to = out + row * width;
  float top = -INFINITY;
  for (int i = lane; i < width; i += 32) top = fmaxf(top, from[i]);
  for (int mask = 16; mask > 0; mask /= 2)
    top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, mask));
  float sum = 0.0f;
  for (int i = lane; i < width; i += 32) {
    float value = expf(from[i] - top);
    to[i] = value;
    sum += value;
  }
  for (int mask = 16; mask > 0; mask /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, mask);
  float scale = 1.0f / sum;
  for (int i = lane; i < width; i += 32) to[i] *= scale;
}

int main(int argc, char** argv) {
  float* in = bench::to_device(values());
  float* out = bench::on_device<float>(size_t{rows} * columns);
  return bench::measure(
      argc, argv,
      [&] {
        softmax<<<rows / warps, 32 * warps>>>(out, in, rows, columns);
        bench::finish();
      },
      [&] { return bench::from_device(out, size_t{rows} * columns); });
}

#elif defined(PEER_OPENMP)

int main(int argc, char** argv) {
  std::vector<float> in = values(), out(in.size());
  return bench::measure(
      argc, argv,
      [&] {
        const float* all_in = in.data();
        float* all_out = out.data();
#pragma omp parallel for
        for (int row = 0; row < rows; ++row) {
          const float* from = all_in + row * columns;
          float* to = all_out + row * columns;
          float top = from[0], sum = 0.0f;
#pragma omp simd reduction(max : top)
          for (int i = 0; i < columns; ++i) top = std::max(top, from[i]);
#pragma omp simd reduction(+ : sum)
          for (int i = 0; i < columns; ++i) {
            float value = std::exp(from[i] - top);
            to[i] = value;
            sum += value;
          }
          float scale = 1.0f / sum;
#pragma omp simd
          for (int i = 0; i < columns; ++i) to[i] *= scale;
        }
      },
      [&] { return out; });
}

#else

int main(int argc, char** argv) {
  bench::OpenCl cl(R"(
    kernel void softmax(global float* out, global const float* in, int width) {
      local float part[32];
      int lane = get_local_id(0);
      global const float* from = in + get_group_id(0) * width;
      global float* to = out + get_group_id(0) * width;
      float top = -INFINITY;
      for (int i = lane; i < width; i += 32) top = fmax(top, from[i]);
      part[lane] = top;
      for (int stride = 16; stride > 0; stride /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lane < stride) part[lane] = fmax(part[lane], part[lane + stride]);
      }
      barrier(CLK_LOCAL_MEM_FENCE);
      top = part[0];
      barrier(CLK_LOCAL_MEM_FENCE);
      float sum = 0.0f;
      for (int i = lane; i < width; i += 32) {
        float value = exp(from[i] - top);
        to[i] = value;
        sum += value;
      }
      part[lane] = sum;
      for (int stride = 16; stride > 0; stride /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lane < stride) part[lane] += part[lane + stride];
      }
      barrier(CLK_LOCAL_MEM_FENCE);
      float scale = 1.0f / part[0];
      for (int i = lane; i < width; i += 32) to[i] *= scale;
    })");
  cl_mem out = cl.on_device<float>(size_t{rows} * columns);
  cl_kernel softmax = cl.kernel("softmax", out, cl.to_device(values()), columns);
  return bench::measure(
      argc, argv,
      [&] {
        cl.launch(softmax, rows * 32, 32);
        cl.finish();
      },
      [&] { return cl.from_device<float>(out, size_t{rows} * columns); });
}

#endif
