// RGB pictures as PNG files, through libpng.
#pragma once
#include <string>
#include <vector>

struct Picture {
  int width = 0;
  int height = 0;
  std::vector<unsigned char> rgb;  // 3 bytes a pixel, rows from the top
};

/// Reads any PNG file as 8-bit RGB; false and a message on standard error when it cannot.
bool read_png(const std::string& path, Picture& picture);
bool write_png(const std::string& path, const Picture& picture);
