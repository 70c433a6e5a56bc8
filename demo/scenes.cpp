// The demo's three pictures: a fractal, a filtered picture, two galaxies that meet. Host code only;
// all work on pixels and bodies happens in kernels. Each scene checks samples of what came back
// against a plain computation here, so that a pretty picture with wrong numbers fails.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "device.h"
#include "picture.h"

namespace {

using Clock = std::chrono::steady_clock;

double milliseconds_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

unsigned blocks(int items, int size) { return static_cast<unsigned>((items + size - 1) / size); }

/// Shows how far a scene is: one moving line on a terminal, a few lines elsewhere.
class Progress {
 public:
  explicit Progress(const char* what) : what_(what), terminal_(isatty(1)), begin_(Clock::now()) {}

  void step(int done, int all) {
    int percent = done * 100 / all;
    if (terminal_ ? percent == shown_ : percent / 25 == shown_ / 25) return;
    shown_ = percent;
    std::printf(terminal_ ? "\r  %-22s %3d %%" : "  %-22s %3d %%\n", what_, percent);
    std::fflush(stdout);
  }

  double done(const std::string& note) {
    double ms = milliseconds_since(begin_);
    std::printf("%s  %-22s %8.1f ms  %s\n", terminal_ ? "\r" : "", what_, ms, note.c_str());
    return ms;
  }

 private:
  const char* what_;
  bool terminal_;
  Clock::time_point begin_;
  int shown_ = 0;
};

/// Device memory for `count` elements, released with the object.
template <typename T>
class Buffer {
 public:
  Buffer(Device& device, size_t count) : device_(device), bytes_(count * sizeof(T)) {
    data_ = static_cast<T*>(device.allocate(bytes_));
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() { device_.release(data_); }

  operator T*() { return data_; }
  void upload(const T* from) { device_.upload(data_, from, bytes_); }
  void download(T* to) { device_.download(to, data_, bytes_); }
  void clear() { device_.clear(data_, bytes_); }
  void swap(Buffer& other) { std::swap(data_, other.data_); }

 private:
  Device& device_;
  size_t bytes_;
  T* data_ = nullptr;
};

/// Counts samples that differ from the host's by more than a tolerance.
struct Check {
  int samples = 0;
  int wrong = 0;

  void expect(double got, double wanted, double tolerance) {
    ++samples;
    if (!(std::fabs(got - wanted) <= tolerance)) ++wrong;
  }
  std::string text() const {
    char line[80];
    std::snprintf(line, sizeof line, "%d of %d samples as on the host", samples - wrong, samples);
    return line;
  }
  // Chaotic points may differ by one rounding and then by a lot: one in a hundred may.
  bool held() const { return wrong * 100 <= samples; }
};

float host_count(float cx, float cy, int iterations_max) {
  float zx = 0, zy = 0, size = 0;
  int n = 0;
  for (; n < iterations_max; ++n) {
    float xx = zx * zx, yy = zy * zy;
    size = xx + yy;
    if (size > 256.0f) break;
    zy = std::fma(2.0f * zx, zy, cy);
    zx = xx - yy + cx;
  }
  return n == iterations_max ? 0.0f : n + 4.0f - std::log2(std::log2(size));
}

bool fractal(Device& device, const std::string& folder) {
  constexpr int width = 1280, height = 720, scale = 2, iterations_max = 400;
  constexpr int sample_width = width * scale, sample_height = height * scale;
  const float step = 2.6f / sample_height;
  const float centre_x = -0.65f, centre_y = 0.0f;
  Buffer<float> counts(device, size_t{sample_width} * sample_height);
  Buffer<unsigned char> rgb(device, size_t{3} * width * height);
  Progress progress("fractal");
  device.fractal_samples({blocks(sample_width, 32), blocks(sample_height, 8)}, {32, 8}, counts,
                         sample_width, sample_height, centre_x, centre_y, step, iterations_max);
  device.fractal_colours({blocks(width, 32), blocks(height, 8)}, {32, 8}, rgb, counts, width,
                         height, scale);
  Picture picture{width, height, std::vector<unsigned char>(size_t{3} * width * height)};
  rgb.download(picture.rgb.data());
  std::vector<float> values(size_t{sample_width} * sample_height);
  counts.download(values.data());
  Check check;
  for (size_t i = 0; i < values.size(); i += 3001) {
    int x = static_cast<int>(i % sample_width), y = static_cast<int>(i / sample_width);
    float wanted = host_count(centre_x + (x - sample_width * 0.5f) * step,
                              centre_y + (y - sample_height * 0.5f) * step, iterations_max);
    check.expect(values[i], wanted, 0.02 + 0.001 * wanted);
  }
  progress.done("1280 x 720, 4 samples a pixel; " + check.text());
  return write_png(folder + "/fractal.png", picture) && check.held();
}

std::vector<float> bell(int radius) {
  std::vector<float> weights(2 * radius + 1);
  float sum = 0;
  for (int k = -radius; k <= radius; ++k)
    sum += weights[k + radius] = std::exp(-4.5f * k * k / (radius * radius));
  for (float& weight : weights) weight /= sum;
  return weights;
}

float host_blur(const Picture& in, const std::vector<float>& weights, int x, int y, int channel) {
  int radius = static_cast<int>(weights.size()) / 2;
  double sum = 0;
  for (int j = -radius; j <= radius; ++j) {
    for (int i = -radius; i <= radius; ++i) {
      int px = std::clamp(x + i, 0, in.width - 1), py = std::clamp(y + j, 0, in.height - 1);
      sum += double{weights[j + radius]} * weights[i + radius] *
             in.rgb[3 * (static_cast<size_t>(py) * in.width + px) + channel];
    }
  }
  return static_cast<float>(sum);
}

/// Blurred and edge picture of `in`; the written file shows all three side by side.
bool filter(Device& device, const std::string& folder, const Picture& in) {
  constexpr int radius = 8;
  const int width = in.width, height = in.height, pixels = width * height;
  const size_t bytes = in.rgb.size();
  std::vector<float> weights = bell(radius);
  Buffer<float> weight_memory(device, weights.size());
  Buffer<unsigned char> source(device, bytes), blurred(device, bytes), lines(device, bytes);
  Buffer<float> plane(device, pixels), other(device, pixels);
  Progress progress("filters");
  weight_memory.upload(weights.data());
  source.upload(in.rgb.data());
  auto blur = [&](Buffer<float>& data) {
    device.blur({blocks(width, blur_block), static_cast<unsigned>(height)}, {blur_block, 1}, other,
                data, width, height, 1, weight_memory, radius);
    device.blur({blocks(height, blur_block), static_cast<unsigned>(width)}, {blur_block, 1}, data,
                other, width, height, 0, weight_memory, radius);
  };
  Grid flat{blocks(pixels, 256), 1};
  for (int channel = 0; channel < 3; ++channel) {
    device.split(flat, {256, 1}, plane, source, pixels, channel);
    blur(plane);
    device.merge(flat, {256, 1}, blurred, plane, pixels, channel);
  }
  device.brightness(flat, {256, 1}, plane, source, pixels);
  device.edges({blocks(width, 32), blocks(height, 8)}, {32, 8}, lines, plane, width, height);
  std::vector<unsigned char> soft(bytes), sharp(bytes);
  blurred.download(soft.data());
  lines.download(sharp.data());

  Check check;
  for (int i = 0; i < pixels; i += 997) {
    for (int channel = 0; channel < 3; ++channel)
      check.expect(soft[3 * i + channel],
                   host_blur(in, weights, i % width, i / width, channel), 1.01);
  }
  progress.done(std::to_string(width) + " x " + std::to_string(height) +
                ", blur of radius 8 and edges; " + check.text());
  Picture out{3 * width, height, std::vector<unsigned char>(3 * bytes)};
  for (int y = 0; y < height; ++y) {
    size_t row = size_t{3} * width;
    const unsigned char* parts[] = {in.rgb.data(), soft.data(), sharp.data()};
    for (int part = 0; part < 3; ++part)
      std::copy_n(parts[part] + y * row, row, out.rgb.data() + (3 * y + part) * row);
  }
  return write_png(folder + "/filtered.png", out) && check.held();
}

/// Two discs of stars around heavy centres, on a course that makes them meet.
std::vector<Body> two_galaxies(int count) {
  std::mt19937 random(2026);
  auto uniform = [&] { return static_cast<float>(random()) / 4294967296.0f; };
  std::vector<Body> bodies(count);
  for (int i = 0; i < count; ++i) {
    Body& body = bodies[i];
    body.galaxy = i % 3 == 0;
    float side = body.galaxy ? 1.0f : -1.0f;
    float size = body.galaxy ? 0.7f : 1.0f, centre_mass = body.galaxy ? 0.6f : 1.0f;
    float tilt = body.galaxy ? 1.1f : 0.3f;
    float r = 0.08f + size * std::sqrt(uniform()), angle = 6.2831853f * uniform();
    if (i < 2) r = 0.0f;
    float speed = i < 2 ? 0.0f : std::sqrt(centre_mass / r);
    float px = r * std::cos(angle), py = r * std::sin(angle), pz = 0.03f * (uniform() - 0.5f);
    float vx = -speed * std::sin(angle), vy = speed * std::cos(angle);
    body.mass = i < 2 ? centre_mass : 0.05f / count;
    body.x = px + side * 1.5f;
    body.y = py * std::cos(tilt) - pz * std::sin(tilt) + side * 0.55f;
    body.z = py * std::sin(tilt) + pz * std::cos(tilt);
    body.vx = vx - side * 0.45f;
    body.vy = vy * std::cos(tilt);
    body.vz = vy * std::sin(tilt);
  }
  // Body 0 belongs to galaxy 1 by the rule above, body 1 to galaxy 0: both sit in their centres.
  return bodies;
}

Body host_step(const std::vector<Body>& bodies, int index, float dt, float softening) {
  Body me = bodies[index];
  double ax = 0, ay = 0, az = 0;
  for (const Body& other : bodies) {
    double x = other.x - me.x, y = other.y - me.y, z = other.z - me.z;
    double inverse = 1.0 / std::sqrt(x * x + y * y + z * z + softening);
    double pull = other.mass * inverse * inverse * inverse;
    ax += x * pull, ay += y * pull, az += z * pull;
  }
  me.x += static_cast<float>((me.vx + ax * dt) * dt);
  me.y += static_cast<float>((me.vy + ay * dt) * dt);
  me.z += static_cast<float>((me.vz + az * dt) * dt);
  return me;
}

bool galaxies(Device& device, const std::string& folder) {
  constexpr int count = 6144, steps = 200, width = 1280, height = 720;
  constexpr float dt = 0.01f, softening = 0.0025f, scale = 190.0f;
  std::vector<Body> bodies = two_galaxies(count);
  Buffer<Body> now(device, count), next(device, count);
  Buffer<unsigned> density(device, size_t{2} * width * height);
  Buffer<unsigned char> rgb(device, size_t{3} * width * height);
  now.upload(bodies.data());
  density.clear();
  Progress progress("two galaxies");
  Check check;
  Grid grid{blocks(count, gravity_block), 1};
  double ms = 0;
  for (int step = 0; step < steps; ++step) {
    auto begin = Clock::now();
    device.gravity(grid, {gravity_block, 1}, next, now, count, dt, softening);
    now.swap(next);
    // Later positions leave more light, so that trails fade.
    device.splat(grid, {gravity_block, 1}, density, now, count, width, height, scale,
                 step + 1 == steps ? 400 : 1 + step * step / 6000);
    device.finish();
    ms += milliseconds_since(begin);
    if (step == 0) {
      std::vector<Body> moved(count);
      now.download(moved.data());
      for (int i = 0; i < count; i += 97) {
        Body wanted = host_step(bodies, i, dt, softening);
        check.expect(moved[i].x, wanted.x, 2e-4);
        check.expect(moved[i].y, wanted.y, 2e-4);
        check.expect(moved[i].z, wanted.z, 2e-4);
      }
    }
    progress.step(step + 1, steps);
  }
  device.develop({blocks(width * height, 256), 1}, {256, 1}, rgb, density, width, height, 0.6f);
  Picture picture{width, height, std::vector<unsigned char>(size_t{3} * width * height)};
  rgb.download(picture.rgb.data());
  char note[160];
  std::snprintf(note, sizeof note, "%d bodies, %d steps, %.2f billion pairs a second; %s", count,
                steps, double{count} * count * steps / (ms * 1e6), check.text().c_str());
  progress.done(note);
  return write_png(folder + "/galaxies.png", picture) && check.held();
}

}  // namespace

int render_pictures(Device& device, int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: %s OUTPUT_FOLDER INPUT.png\n", argv[0]);
    return 2;
  }
  std::string folder = argv[1];
  Picture input;
  if (!read_png(argv[2], input)) return 1;
  std::printf("device: %s\n", device.describe().c_str());
  bool ok = fractal(device, folder);
  ok &= filter(device, folder, input);
  ok &= galaxies(device, folder);
  if (!ok) std::fprintf(stderr, "demo: a check against the host failed; see the lines above\n");
  return ok ? 0 : 1;
}
