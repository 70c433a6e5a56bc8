// See picture.h. Uses libpng's simplified interface.
#include "picture.h"

#include <png.h>

#include <cstdio>
#include <cstring>

bool read_png(const std::string& path, Picture& picture) {
  png_image image;
  std::memset(&image, 0, sizeof image);
  image.version = PNG_IMAGE_VERSION;
  if (!png_image_begin_read_from_file(&image, path.c_str())) {
    std::fprintf(stderr, "demo: cannot read %s: %s\n", path.c_str(), image.message);
    return false;
  }
  image.format = PNG_FORMAT_RGB;
  picture.width = static_cast<int>(image.width);
  picture.height = static_cast<int>(image.height);
  picture.rgb.resize(PNG_IMAGE_SIZE(image));
  if (!png_image_finish_read(&image, nullptr, picture.rgb.data(), 0, nullptr)) {
    std::fprintf(stderr, "demo: cannot read %s: %s\n", path.c_str(), image.message);
    return false;
  }
  return true;
}

bool write_png(const std::string& path, const Picture& picture) {
  png_image image;
  std::memset(&image, 0, sizeof image);
  image.version = PNG_IMAGE_VERSION;
  image.width = static_cast<png_uint_32>(picture.width);
  image.height = static_cast<png_uint_32>(picture.height);
  image.format = PNG_FORMAT_RGB;
  if (!png_image_write_to_file(&image, path.c_str(), 0, picture.rgb.data(), 0, nullptr)) {
    std::fprintf(stderr, "demo: cannot write %s: %s\n", path.c_str(), image.message);
    return false;
  }
  return true;
}
