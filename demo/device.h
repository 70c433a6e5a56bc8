// What the demo's scenes ask of a device. Two classes fill it in: one by the CUDA runtime and
// launches in `<<<>>>` (cuda_main.cu), one by the driver API and PTX text (driver_main.cpp). Every
// function ends the program with a message when CUDA reports an error.
#pragma once
#include <cstddef>
#include <string>

#include "kernel_types.h"

struct Grid {
  unsigned x, y;
};
struct Block {
  unsigned x, y;
};

class Device {
 public:
  virtual ~Device() = default;
  /// The device's name and how kernels come to it.
  virtual std::string describe() = 0;

  virtual void* allocate(size_t bytes) = 0;
  virtual void release(void* memory) = 0;
  virtual void upload(void* to, const void* from, size_t bytes) = 0;
  virtual void download(void* to, const void* from, size_t bytes) = 0;
  virtual void clear(void* memory, size_t bytes) = 0;
  virtual void finish() = 0;

  virtual void fractal_samples(Grid g, Block b, float* counts, int width, int height,
                               float centre_x, float centre_y, float step, int iterations_max) = 0;
  virtual void fractal_colours(Grid g, Block b, unsigned char* rgb, const float* counts, int width,
                               int height, int scale) = 0;
  virtual void split(Grid g, Block b, float* out, const unsigned char* rgb, int pixels,
                     int channel) = 0;
  virtual void merge(Grid g, Block b, unsigned char* rgb, const float* in, int pixels,
                     int channel) = 0;
  virtual void brightness(Grid g, Block b, float* out, const unsigned char* rgb, int pixels) = 0;
  virtual void blur(Grid g, Block b, float* out, const float* in, int width, int height,
                    int along_x, const float* weights, int radius) = 0;
  virtual void edges(Grid g, Block b, unsigned char* rgb, const float* in, int width,
                     int height) = 0;
  virtual void gravity(Grid g, Block b, Body* next, const Body* bodies, int count, float dt,
                       float softening) = 0;
  virtual void splat(Grid g, Block b, unsigned* density, const Body* bodies, int count, int width,
                     int height, float scale, unsigned weight) = 0;
  virtual void develop(Grid g, Block b, unsigned char* rgb, const unsigned* density, int width,
                       int height, float gain) = 0;
};

/// Renders all pictures; `arguments` are the program's: output folder, input picture.
/// Returns the exit code: 0 when every check against the host held.
int render_pictures(Device& device, int argc, char** argv);
