// Fuzzes the loader of compiled objects, which come from cache files: an input passes if it gives
// code or a documented error, and if unloading gives all memory back. What was loaded is not run.
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "compiler/image/image.h"
#include "compiler/image/slab.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  {
    auto code = limen::image::load_object(std::vector<uint8_t>(data, data + size), "fuzzed");
    bool good = code.ok()
                    ? (*code)->entry() >= (*code)->begin() && (*code)->entry() < (*code)->end()
                    : (code.code() == limen::Code::invalid_image ||
                       code.code() == limen::Code::out_of_memory) &&
                          !code.error().what.empty();
    if (!good) std::abort();
  }
  if (limen::image::slab_bytes_in_use() != 0) std::abort();
  return 0;
}
