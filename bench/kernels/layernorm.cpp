// Layer normalisation of 8192 rows of 1024 floats with gain and bias: a block of 256 a row, sums by
// shuffles within a warp and through shared memory between warps. OpenCL 1.2 has no shuffles: its
// peer reduces in local memory.
#include "bench.h"

constexpr int rows = 8192, columns = 1024, block = 256;
constexpr float epsilon = 1e-5f;

static std::vector<float> values() {
  return bench::random_floats(size_t{rows} * columns, 19, -2.0f, 3.0f);
}
static std::vector<float> gains() { return bench::random_floats(columns, 20, 0.5f, 1.5f); }
static std::vector<float> biases() { return bench::random_floats(columns, 21, -0.5f, 0.5f); }

#if defined(PEER_CUDA)

__device__ float block_sum(float value) {
  __shared__ float parts[block / 32];
  for (int mask = 16; mask > 0; mask /= 2) value += __shfl_xor_sync(0xffffffffu, value, mask);
  __syncthreads();
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = value;
  __syncthreads();
  float sum = 0.0f;
  for (int i = 0; i < block / 32; ++i) sum += parts[i];
  return sum;
}

__global__ void layernorm(float* out, const float* in, const float* gain, const float* bias,
                          int width) {
  const float* from = in + blockIdx.x * width;
  float* to = out + blockIdx.x * width;
  float sum = 0.0f, squares = 0.0f;
  for (int i = threadIdx.x; i < width; i += blockDim.x) sum += from[i];
  float mean = block_sum(sum) / width;
  for (int i = threadIdx.x; i < width; i += blockDim.x) {
    float distance = from[i] - mean;
    squares += distance * distance;
  }
  float scale = rsqrtf(block_sum(squares) / width + epsilon);
  for (int i = threadIdx.x; i < width; i += blockDim.x)
    to[i] = (from[i] - mean) * scale * gain[i] + bias[i];
}

int main(int argc, char** argv) {
  float *in = bench::to_device(values()), *gain = bench::to_device(gains());
  float *bias = bench::to_device(biases()), *out = bench::on_device<float>(size_t{rows} * columns);
  return bench::measure(
      argc, argv,
      [&] {
        layernorm<<<rows, block>>>(out, in, gain, bias, columns);
        bench::finish();
      },
      [&] { return bench::from_device(out, size_t{rows} * columns); });
}

#elif defined(PEER_OPENMP)

int main(int argc, char** argv) {
  std::vector<float> in = values(), gain = gains(), bias = biases(), out(in.size());
  return bench::measure(
      argc, argv,
      [&] {
        const float *all_in = in.data(), *factor = gain.data(), *offset = bias.data();
        float* all_out = out.data();
#pragma omp parallel for
        for (int row = 0; row < rows; ++row) {
          const float* from = all_in + row * columns;
          float* to = all_out + row * columns;
          float sum = 0.0f, squares = 0.0f;
#pragma omp simd reduction(+ : sum)
          for (int i = 0; i < columns; ++i) sum += from[i];
          float mean = sum / columns;
#pragma omp simd reduction(+ : squares)
          for (int i = 0; i < columns; ++i) squares += (from[i] - mean) * (from[i] - mean);
          float scale = 1.0f / std::sqrt(squares / columns + epsilon);
#pragma omp simd
          for (int i = 0; i < columns; ++i)
            to[i] = (from[i] - mean) * scale * factor[i] + offset[i];
        }
      },
      [&] { return out; });
}

#else

int main(int argc, char** argv) {
  bench::OpenCl cl(R"(
    float group_sum(local float* parts, float value) {
      int id = get_local_id(0);
      barrier(CLK_LOCAL_MEM_FENCE);
      parts[id] = value;
      for (int stride = 128; stride > 0; stride /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (id < stride) parts[id] += parts[id + stride];
      }
      barrier(CLK_LOCAL_MEM_FENCE);
      return parts[0];
    }
    kernel void layernorm(global float* out, global const float* in, global const float* gain,
                          global const float* bias, int width, float epsilon) {
      local float parts[256];
      int id = get_local_id(0);
      global const float* from = in + get_group_id(0) * width;
      global float* to = out + get_group_id(0) * width;
      float sum = 0.0f, squares = 0.0f;
      for (int i = id; i < width; i += 256) sum += from[i];
      float mean = group_sum(parts, sum) / width;
      for (int i = id; i < width; i += 256) squares += (from[i] - mean) * (from[i] - mean);
      float scale = rsqrt(group_sum(parts, squares) / width + epsilon);
      for (int i = id; i < width; i += 256) to[i] = (from[i] - mean) * scale * gain[i] + bias[i];
    })");
  cl_mem out = cl.on_device<float>(size_t{rows} * columns);
  cl_kernel layernorm = cl.kernel("layernorm", out, cl.to_device(values()), cl.to_device(gains()),
                                  cl.to_device(biases()), columns, epsilon);
  return bench::measure(
      argc, argv,
      [&] {
        cl.launch(layernorm, rows * block, block);
        cl.finish();
      },
      [&] { return cl.from_device<float>(out, size_t{rows} * columns); });
}

#endif
