// What the demo's kernels and its host code share.
#pragma once

constexpr int blur_block = 128;      // threads of a block of `blur`
constexpr int blur_radius_max = 16;  // the margin that its shared memory has room for
constexpr int gravity_block = 256;   // threads of a block of `gravity`

struct Body {
  float x, y, z, mass;
  float vx, vy, vz;
  int galaxy;  // 0 or 1
};
