// What every benchmark program shares. One source file a kernel holds the same work three times:
// PEER_CUDA (built by nvcc), PEER_OPENMP (g++ -fopenmp) and PEER_OPENCL (g++, -lOpenCL). A program
// runs its kernel once cold and then several times warm, times each run on the host's clock from
// the launch to the end of the work, and prints one line of JSON: the times, and a fingerprint of
// the result that bench/run.py compares between the peers.
#pragma once
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <vector>

namespace bench {

/// Numbers that are the same in every peer: a small generator, seeded by the caller.
class Random {
 public:
  explicit Random(uint32_t seed) : state_(seed * 2654435761u + 1u) {}
  uint32_t bits() {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 17;
    state_ ^= state_ << 5;
    return state_;
  }
  float uniform(float low, float high) { return low + (high - low) * (bits() >> 8) * 0x1p-24f; }

 private:
  uint32_t state_;
};

inline std::vector<float> random_floats(size_t count, uint32_t seed, float low = 0.0f,
                                        float high = 1.0f) {
  Random random(seed);
  std::vector<float> out(count);
  for (float& value : out) value = random.uniform(low, high);
  return out;
}

/// Runs `work` (which must return when the work is done) and prints the line; `fetch` brings the
/// result to the host and returns it. `cpu_ms` is the process's CPU time, all threads together.
template <typename Work, typename Fetch>
int measure(int argc, char** argv, Work work, Fetch fetch) {
  int runs = argc > 1 ? std::max(1, std::atoi(argv[1])) : 5;
  std::vector<double> times, cpu_times;
  for (int i = 0; i <= runs; ++i) {
    std::clock_t cpu_begin = std::clock();
    auto begin = std::chrono::steady_clock::now();
    work();
    auto end = std::chrono::steady_clock::now();
    cpu_times.push_back(1e3 * double(std::clock() - cpu_begin) / CLOCKS_PER_SEC);
    times.push_back(std::chrono::duration<double, std::milli>(end - begin).count());
  }
  auto result = fetch();
  double sum = 0, size = 0;
  for (auto value : result) sum += static_cast<double>(value), size += std::fabs(double(value));
  std::printf("{\"cold_ms\": %.4f, \"ms\": [", times[0]);
  for (size_t i = 1; i < times.size(); ++i) std::printf("%s%.4f", i > 1 ? ", " : "", times[i]);
  std::printf("], \"cpu_ms\": [");
  for (size_t i = 1; i < times.size(); ++i) std::printf("%s%.4f", i > 1 ? ", " : "", cpu_times[i]);
  std::printf("], \"count\": %zu, \"sum\": %.9g, \"size\": %.9g, \"samples\": [", result.size(), sum,
              size);
  size_t step = std::max<size_t>(1, result.size() / 61);
  for (size_t i = 0, first = 1; i < result.size(); i += step, first = 0)
    std::printf("%s%.9g", first ? "" : ", ", static_cast<double>(result[i]));
  std::printf("]}\n");
  return 0;
}

}  // namespace bench

#if defined(PEER_CUDA)

#define CUDA_OK(call)                                                                  \
  do {                                                                                 \
    cudaError_t error_ = (call);                                                       \
    if (error_ != cudaSuccess) {                                                       \
      std::fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call,               \
                   cudaGetErrorString(error_));                                        \
      std::exit(1);                                                                    \
    }                                                                                  \
  } while (0)

namespace bench {

template <typename T>
T* to_device(const std::vector<T>& values) {
  T* out = nullptr;
  CUDA_OK(cudaMalloc(&out, values.size() * sizeof(T)));
  CUDA_OK(cudaMemcpy(out, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
  return out;
}

template <typename T>
T* on_device(size_t count) {
  T* out = nullptr;
  CUDA_OK(cudaMalloc(&out, count * sizeof(T)));
  CUDA_OK(cudaMemset(out, 0, count * sizeof(T)));
  return out;
}

template <typename T>
std::vector<T> from_device(const T* memory, size_t count) {
  std::vector<T> out(count);
  CUDA_OK(cudaMemcpy(out.data(), memory, count * sizeof(T), cudaMemcpyDeviceToHost));
  return out;
}

inline void finish() {
  CUDA_OK(cudaGetLastError());
  CUDA_OK(cudaDeviceSynchronize());
}

}  // namespace bench

#elif defined(PEER_OPENMP)

// Declared here because Debian's omp.h comes with one compiler and serves only that one.
extern "C" {
int omp_get_max_threads(void);
int omp_get_num_threads(void);
int omp_get_thread_num(void);
}

namespace bench {

/// The part of `count` things that the calling thread of a parallel region takes: [begin, end).
struct Part {
  explicit Part(size_t count) {
    size_t threads = omp_get_num_threads(), me = omp_get_thread_num();
    begin = count * me / threads, end = count * (me + 1) / threads;
  }
  size_t begin, end;
};

}  // namespace bench

#elif defined(PEER_OPENCL)

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#define CL_OK(call)                                                                       \
  do {                                                                                    \
    cl_int error_ = (call);                                                               \
    if (error_ != CL_SUCCESS) {                                                           \
      std::fprintf(stderr, "%s:%d: %s: error %d\n", __FILE__, __LINE__, #call, error_);   \
      std::exit(1);                                                                       \
    }                                                                                     \
  } while (0)

namespace bench {

/// The first CPU device of any platform, one queue, one program.
class OpenCl {
 public:
  OpenCl(const char* source, const char* options = "") {
    cl_platform_id platforms[8];
    cl_uint count = 0;
    CL_OK(clGetPlatformIDs(8, platforms, &count));
    for (cl_uint i = 0; i < count && !device_; ++i) {
      cl_uint found = 0;
      if (clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_CPU, 1, &device_, &found) != CL_SUCCESS)
        device_ = nullptr;
    }
    if (!device_) {
      std::fprintf(stderr, "no OpenCL CPU device\n");
      std::exit(1);
    }
    cl_int error = 0;
    context_ = clCreateContext(nullptr, 1, &device_, nullptr, nullptr, &error);
    CL_OK(error);
    queue_ = clCreateCommandQueue(context_, device_, 0, &error);
    CL_OK(error);
    program_ = clCreateProgramWithSource(context_, 1, &source, nullptr, &error);
    CL_OK(error);
    error = clBuildProgram(program_, 1, &device_, options, nullptr, nullptr);
    if (error != CL_SUCCESS) {
      char log[4096] = "";
      clGetProgramBuildInfo(program_, device_, CL_PROGRAM_BUILD_LOG, sizeof log, log, nullptr);
      std::fprintf(stderr, "%s\n", log);
      CL_OK(error);
    }
  }

  template <typename T>
  cl_mem to_device(const std::vector<T>& values) {
    cl_int error = 0;
    cl_mem out = clCreateBuffer(context_, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
                                values.size() * sizeof(T), const_cast<T*>(values.data()), &error);
    CL_OK(error);
    return out;
  }
  cl_mem to_image(const std::vector<float>& texels, size_t width, size_t height) {
    cl_image_format format = {CL_R, CL_FLOAT};
    cl_image_desc description = {};
    description.image_type = CL_MEM_OBJECT_IMAGE2D;
    description.image_width = width, description.image_height = height;
    cl_int error = 0;
    cl_mem out = clCreateImage(context_, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, &format,
                               &description, const_cast<float*>(texels.data()), &error);
    CL_OK(error);
    return out;
  }
  template <typename T>
  cl_mem on_device(size_t count) {
    return to_device(std::vector<T>(count));
  }
  template <typename T>
  std::vector<T> from_device(cl_mem memory, size_t count) {
    std::vector<T> out(count);
    CL_OK(clEnqueueReadBuffer(queue_, memory, CL_TRUE, 0, count * sizeof(T), out.data(), 0, nullptr,
                              nullptr));
    return out;
  }
  template <typename... Arguments>
  cl_kernel kernel(const char* name, const Arguments&... arguments) {
    cl_int error = 0;
    cl_kernel out = clCreateKernel(program_, name, &error);
    CL_OK(error);
    cl_uint index = 0;
    (set_argument(out, index++, arguments), ...);
    return out;
  }
  /// Enqueues only; sizes in work-items.
  void launch(cl_kernel kernel, size_t global_x, size_t local_x, size_t global_y = 0,
              size_t local_y = 0) {
    size_t global[2] = {global_x, global_y}, local[2] = {local_x, local_y};
    CL_OK(clEnqueueNDRangeKernel(queue_, kernel, global_y ? 2 : 1, nullptr, global, local, 0,
                                 nullptr, nullptr));
  }
  void launch_3d(cl_kernel kernel, std::array<size_t, 3> global, std::array<size_t, 3> local) {
    CL_OK(clEnqueueNDRangeKernel(queue_, kernel, 3, nullptr, global.data(), local.data(), 0, nullptr,
                                 nullptr));
  }
  template <typename T>
  void set_argument(cl_kernel kernel, cl_uint index, const T& value) {
    CL_OK(clSetKernelArg(kernel, index, sizeof value, &value));
  }
  void local_argument(cl_kernel kernel, cl_uint index, size_t bytes) {
    CL_OK(clSetKernelArg(kernel, index, bytes, nullptr));
  }
  template <typename T>
  void write(cl_mem memory, const T& value) {
    CL_OK(clEnqueueWriteBuffer(queue_, memory, CL_TRUE, 0, sizeof value, &value, 0, nullptr,
                               nullptr));
  }
  void clear(cl_mem memory, size_t bytes) {
    cl_uint zero = 0;
    CL_OK(clEnqueueFillBuffer(queue_, memory, &zero, sizeof zero, 0, bytes, 0, nullptr, nullptr));
  }
  void finish() { CL_OK(clFinish(queue_)); }

 private:
  cl_device_id device_ = nullptr;
  cl_context context_ = nullptr;
  cl_command_queue queue_ = nullptr;
  cl_program program_ = nullptr;
};

}  // namespace bench

#endif
