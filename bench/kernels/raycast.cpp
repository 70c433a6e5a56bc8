// 768 x 512 pixels of a scene of 32 mirroring spheres over a floor, up to four reflections and a
// shadow ray at each hit: divergent, little memory. Spheres in constant memory.
#include "bench.h"

constexpr int width = 768, height = 512, spheres = 32;

// Centre, radius and brightness of each sphere.
static std::vector<float> scene() {
  bench::Random random(25);
  std::vector<float> out;
  for (int i = 0; i < spheres; ++i) {
    float radius = random.uniform(0.3f, 0.9f);
    out.push_back(random.uniform(-6.0f, 6.0f));
    out.push_back(random.uniform(radius, 4.0f));
    out.push_back(random.uniform(4.0f, 14.0f));
    out.push_back(radius);
    out.push_back(random.uniform(0.3f, 1.0f));
  }
  return out;
}

// Written so that it is C++ and OpenCL C at once. NEAREST is the body of a function that returns
// the number of the sphere that the ray hits first (32 for the floor, -1 for none) and sets
// `distance`.
#define NEAREST_BODY(SQRT)                                                             \
  int hit = -1;                                                                        \
  float best = 1e30f;                                                                  \
  if (dy < -1e-4f) {                                                                   \
    best = -oy / dy;                                                                   \
    hit = 32;                                                                          \
  }                                                                                    \
  for (int i = 0; i < 32; ++i) {                                                       \
    float x = scene[5 * i] - ox, y = scene[5 * i + 1] - oy, z = scene[5 * i + 2] - oz; \
    float along = x * dx + y * dy + z * dz, radius = scene[5 * i + 3];                 \
    float square = along * along - (x * x + y * y + z * z) + radius * radius;          \
    if (along > 0.0f && square > 0.0f) {                                               \
      float near = along - SQRT(square);                                               \
      if (near > 1e-3f && near < best) {                                               \
        best = near;                                                                   \
        hit = i;                                                                       \
      }                                                                                \
    }                                                                                  \
  }                                                                                    \
  *distance = best;                                                                    \
  return hit;

#define PIXEL_BODY(SQRT, FLOOR)                                                               \
  float ox = 0.0f, oy = 2.0f, oz = 0.0f, light = 0.0f, weight = 1.0f;                         \
  float dx = (column - 384) / 384.0f, dy = (256 - row) / 384.0f, dz = 1.2f;                   \
  float norm = 1.0f / SQRT(dx * dx + dy * dy + dz * dz);                                      \
  dx *= norm, dy *= norm, dz *= norm;                                                         \
  for (int depth = 0; depth < 4; ++depth) {                                                   \
    float distance, unused;                                                                   \
    int hit = nearest(scene, ox, oy, oz, dx, dy, dz, &distance);                              \
    if (hit < 0) {                                                                            \
      light += weight * (0.3f + 0.5f * dy);                                                   \
      break;                                                                                  \
    }                                                                                         \
    ox += distance * dx, oy += distance * dy, oz += distance * dz;                            \
    float nx = 0.0f, ny = 1.0f, nz = 0.0f, bright, mirror = 0.2f;                             \
    if (hit < 32) {                                                                           \
      float inverse = 1.0f / scene[5 * hit + 3];                                              \
      nx = (ox - scene[5 * hit]) * inverse;                                                   \
      ny = (oy - scene[5 * hit + 1]) * inverse;                                               \
      nz = (oz - scene[5 * hit + 2]) * inverse;                                               \
      bright = scene[5 * hit + 4];                                                            \
      mirror = 0.6f;                                                                          \
    } else {                                                                                  \
      bright = ((int)FLOOR(ox) + (int)FLOOR(oz)) % 2 == 0 ? 0.9f : 0.3f;                      \
      oy = 0.0f;                                                                              \
    }                                                                                         \
    float sun = 0.57735f * (nx + ny - nz);                                                    \
    if (sun > 0.0f && nearest(scene, ox, oy, oz, 0.57735f, 0.57735f, -0.57735f, &unused) < 0) \
      light += weight * (1.0f - mirror) * bright * sun;                                       \
    weight *= mirror;                                                                         \
    float turn = 2.0f * (dx * nx + dy * ny + dz * nz);                                        \
    dx -= turn * nx, dy -= turn * ny, dz -= turn * nz;                                        \
  }                                                                                           \
  return light;

#if defined(PEER_CUDA)

__constant__ float balls[5 * spheres];

__device__ int nearest(const float* scene, float ox, float oy, float oz, float dx, float dy,
                       float dz, float* distance){NEAREST_BODY(sqrtf)} __device__
    float pixel(const float* scene, int column, int row){PIXEL_BODY(sqrtf, floorf)}

__global__ void raycast(float* out) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  out[y * width + x] = pixel(balls, x, y);
}

int main(int argc, char** argv) {
  float* out = bench::on_device<float>(width * height);
  CUDA_OK(cudaMemcpyToSymbol(balls, scene().data(), sizeof balls));
  return bench::measure(
      argc, argv,
      [&] {
        raycast<<<dim3(width / 16, height / 16), dim3(16, 16)>>>(out);
        bench::finish();
      },
      [&] { return bench::from_device(out, width * height); });
}

#elif defined(PEER_OPENMP)

static inline int nearest(const float* scene, float ox, float oy, float oz, float dx, float dy,
                          float dz, float* distance) {
  NEAREST_BODY(std::sqrt)
}
static float pixel(const float* scene, int column, int row) { PIXEL_BODY(std::sqrt, std::floor) }

int main(int argc, char** argv) {
  std::vector<float> all = scene(), out(width * height);
  return bench::measure(
      argc, argv,
      [&] {
        float* to = out.data();
#pragma omp parallel for schedule(dynamic, 8)
        for (int y = 0; y < height; ++y)
          for (int x = 0; x < width; ++x) to[y * width + x] = pixel(all.data(), x, y);
      },
      [&] { return out; });
}

#else

#define TEXT_OF(...) #__VA_ARGS__
#define TEXT(...) TEXT_OF(__VA_ARGS__)

int main(int argc, char** argv) {
  std::string source =
      "int nearest(constant float* scene, float ox, float oy, float oz, float dx,"
      " float dy, float dz, float* distance) {";
  source += TEXT(NEAREST_BODY(sqrt));
  source += "}\nfloat pixel(constant float* scene, int column, int row) {";
  source += TEXT(PIXEL_BODY(sqrt, floor));
  source +=
      "}\nkernel void raycast(global float* out, constant float* scene, int width) {"
      " int x = get_global_id(0), y = get_global_id(1);"
      " out[y * width + x] = pixel(scene, x, y); }";
  bench::OpenCl cl(source.c_str());
  cl_mem out = cl.on_device<float>(width * height);
  cl_kernel raycast = cl.kernel("raycast", out, cl.to_device(scene()), width);
  return bench::measure(
      argc, argv,
      [&] {
        cl.launch(raycast, width, 16, height, 16);
        cl.finish();
      },
      [&] { return cl.from_device<float>(out, width * height); });
}

#endif
