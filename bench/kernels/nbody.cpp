// Accelerations between 8192 bodies, all pairs, tiles of 256 bodies in shared memory.
#include "bench.h"

constexpr int count = 8192;
constexpr int block = 256;
constexpr float softening = 0.01f;

static std::vector<float> bodies() { return bench::random_floats(4 * count, 3, -1.0f, 1.0f); }

#if defined(PEER_CUDA)

__global__ void accelerate(float* out, const float4* in, int n) {
  __shared__ float4 tile[block];
  int i = blockIdx.x * block + threadIdx.x;
  float4 me = in[i];
  float ax = 0.0f, ay = 0.0f, az = 0.0f;
  for (int base = 0; base < n; base += block) {
    tile[threadIdx.x] = in[base + threadIdx.x];
    __syncthreads();
    for (int k = 0; k < block; ++k) {
      float x = tile[k].x - me.x, y = tile[k].y - me.y, z = tile[k].z - me.z;
      float r = rsqrtf(x * x + y * y + z * z + softening);
      float s = tile[k].w * r * r * r;
      ax += x * s, ay += y * s, az += z * s;
    }
    __syncthreads();
  }
  out[3 * i] = ax, out[3 * i + 1] = ay, out[3 * i + 2] = az;
}

int main(int argc, char** argv) {
  float* in = bench::to_device(bodies());
  float* out = bench::on_device<float>(3 * count);
  return bench::measure(
      argc, argv,
      [&] {
        accelerate<<<count / block, block>>>(out, reinterpret_cast<float4*>(in), count);
        bench::finish();
      },
      [&] { return bench::from_device(out, 3 * count); });
}

#elif defined(PEER_OPENMP)

int main(int argc, char** argv) {
  // One array a coordinate: the layout that lets g++ vectorise the inner loop.
  std::vector<float> all = bodies(), px(count), py(count), pz(count), pm(count), out(3 * count);
  for (int i = 0; i < count; ++i)
    px[i] = all[4 * i], py[i] = all[4 * i + 1], pz[i] = all[4 * i + 2], pm[i] = all[4 * i + 3];
  return bench::measure(
      argc, argv,
      [&] {
        const float *qx = px.data(), *qy = py.data(), *qz = pz.data(), *qm = pm.data();
#pragma omp parallel for
        for (int i = 0; i < count; ++i) {
          float ax = 0, ay = 0, az = 0, mx = qx[i], my = qy[i], mz = qz[i];
#pragma omp simd reduction(+ : ax, ay, az)
          for (int k = 0; k < count; ++k) {
            float x = qx[k] - mx, y = qy[k] - my, z = qz[k] - mz;
            float r = 1.0f / std::sqrt(x * x + y * y + z * z + softening);
            float s = qm[k] * r * r * r;
            ax += x * s, ay += y * s, az += z * s;
          }
          out[3 * i] = ax, out[3 * i + 1] = ay, out[3 * i + 2] = az;
        }
      },
      [&] { return out; });
}

#else

int main(int argc, char** argv) {
  bench::OpenCl cl(R"(
    #define B 256
    kernel void accelerate(global float* out, global const float4* in, int n) {
      local float4 tile[B];
      int i = get_global_id(0), id = get_local_id(0);
      float4 me = in[i];
      float ax = 0.0f, ay = 0.0f, az = 0.0f;
      for (int base = 0; base < n; base += B) {
        tile[id] = in[base + id];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int k = 0; k < B; ++k) {
          float x = tile[k].x - me.x, y = tile[k].y - me.y, z = tile[k].z - me.z;
          float r = native_rsqrt(x * x + y * y + z * z + 0.01f);
          float s = tile[k].w * r * r * r;
          ax += x * s; ay += y * s; az += z * s;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
      }
      out[3 * i] = ax; out[3 * i + 1] = ay; out[3 * i + 2] = az;
    })");
  cl_mem out = cl.on_device<float>(3 * count);
  cl_kernel accelerate = cl.kernel("accelerate", out, cl.to_device(bodies()), count);
  return bench::measure(
      argc, argv,
      [&] {
        cl.launch(accelerate, count, block);
        cl.finish();
      },
      [&] { return cl.from_device<float>(out, 3 * count); });
}

#endif
