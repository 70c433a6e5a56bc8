// Sums of every field of 2^23 structures of eight floats: each lane reads 32 bytes from its
// neighbour's. Grid-stride loop, shuffles, one atomic a field and warp.
#include "bench.h"

struct Particle {
  float x, y, z, mass, vx, vy, vz, charge;
};

constexpr int count = 1 << 23, fields = 8;
constexpr int groups = 256, block = 256;

static std::vector<float> particles() {
  return bench::random_floats(size_t{count} * fields, 22, -1.0f, 3.0f);
}

#if defined(PEER_CUDA)

__device__ void add_to(float* out, float sum) {
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffffu, sum, offset);
  if (threadIdx.x % 32 == 0) atomicAdd(out, sum);
}

__global__ void sums(float* out, const Particle* in, int n) {
  float x = 0, y = 0, z = 0, mass = 0, vx = 0, vy = 0, vz = 0, charge = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    x += in[i].x, y += in[i].y, z += in[i].z, mass += in[i].mass;
    vx += in[i].vx, vy += in[i].vy, vz += in[i].vz, charge += in[i].charge;
  }
  add_to(out, x), add_to(out + 1, y), add_to(out + 2, z), add_to(out + 3, mass);
  add_to(out + 4, vx), add_to(out + 5, vy), add_to(out + 6, vz), add_to(out + 7, charge);
}

int main(int argc, char** argv) {
  float* in = bench::to_device(particles());
  float* out = bench::on_device<float>(fields);
  return bench::measure(
      argc, argv,
      [&] {
        CUDA_OK(cudaMemsetAsync(out, 0, fields * sizeof(float)));
        sums<<<groups, block>>>(out, reinterpret_cast<const Particle*>(in), count);
        bench::finish();
      },
      [&] { return bench::from_device(out, fields); });
}

#elif defined(PEER_OPENMP)

int main(int argc, char** argv) {
  std::vector<float> all = particles(), out(fields);
  return bench::measure(
      argc, argv,
      [&] {
        const Particle* in = reinterpret_cast<const Particle*>(all.data());
        float x = 0, y = 0, z = 0, mass = 0, vx = 0, vy = 0, vz = 0, charge = 0;
#pragma omp parallel for simd reduction(+ : x, y, z, mass, vx, vy, vz, charge)
        for (int i = 0; i < count; ++i) {
          x += in[i].x, y += in[i].y, z += in[i].z, mass += in[i].mass;
          vx += in[i].vx, vy += in[i].vy, vz += in[i].vz, charge += in[i].charge;
        }
        out = {x, y, z, mass, vx, vy, vz, charge};
      },
      [&] { return out; });
}

#else

int main(int argc, char** argv) {
  bench::OpenCl cl(R"(
    typedef struct { float x, y, z, mass, vx, vy, vz, charge; } Particle;
    kernel void sums(global float* out, global const Particle* in, int n) {
      local float8 part[256];
      int id = get_local_id(0);
      float x = 0, y = 0, z = 0, mass = 0, vx = 0, vy = 0, vz = 0, charge = 0;
      for (int i = get_global_id(0); i < n; i += get_global_size(0)) {
        x += in[i].x; y += in[i].y; z += in[i].z; mass += in[i].mass;
        vx += in[i].vx; vy += in[i].vy; vz += in[i].vz; charge += in[i].charge;
      }
      part[id] = (float8)(x, y, z, mass, vx, vy, vz, charge);
      for (int stride = 128; stride > 0; stride /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (id < stride) part[id] += part[id + stride];
      }
      if (id == 0) vstore8(part[0], get_group_id(0), out);
    })");
  cl_mem out = cl.on_device<float>(groups * fields);
  cl_kernel sums = cl.kernel("sums", out, cl.to_device(particles()), count);
  return bench::measure(
      argc, argv,
      [&] {
        cl.launch(sums, groups * block, block);
        cl.finish();
      },
      [&] {
        std::vector<float> parts = cl.from_device<float>(out, groups * fields), all(fields);
        for (int i = 0; i < groups * fields; ++i) all[i % fields] += parts[i];
        return all;
      });
}

#endif
