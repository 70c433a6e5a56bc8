// CUDA_VISIBLE_DEVICES. The cases of one device were measured on an H200, driver 580.159.04.
#include "drivers/cpu/device_select.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

namespace limen::cpu {
namespace {

std::vector<CUuuid> make_devices(unsigned count) {
  std::vector<CUuuid> uuids(count);
  for (unsigned i = 0; i < count; ++i) {
    std::memset(&uuids[i], 0x3f + int(16 * i), sizeof uuids[i]);
    uuids[i].bytes[15] = char(i);
  }
  return uuids;
}

std::string chosen(const char* value, unsigned count) {
  Selection selection = select_devices(value, make_devices(count));
  if (selection.code != CUDA_SUCCESS) return "code " + std::to_string(selection.code);
  std::string text;
  for (unsigned device : selection.devices) text += std::to_string(device) + " ";
  return text;
}

TEST(VisibleDevices, OneDeviceAsMeasured) {
  const std::string uuid = "GPU-3f3f3f3f-3f3f-3f3f-3f3f-3f3f3f3f3f00";
  for (const char* value : {"0", " 0", "0 ", "00", "0x0", "0,1", "0,-1", "0;1", "GPU-3f3f"})
    EXPECT_EQ(chosen(value, 1), "0 ") << value;
  EXPECT_EQ(chosen(uuid.c_str(), 1), "0 ");
  for (const char* value : {"", "   ", "-1", "1", "1,0", "7", "all", "none", "\"0\"", "cuda:0",
                            "3f3f3f3f-3f3f-3f3f-3f3f-3f3f3f3f3f00", "GPU-aaaa", "GPU-", "MIG-3f3f"})
    EXPECT_EQ(chosen(value, 1), "") << value;
  EXPECT_EQ(chosen("0,0", 1), "code 101");
}

TEST(VisibleDevices, SeveralAreReordered) {
  EXPECT_EQ(chosen("2,0", 4), "2 0 ");
  EXPECT_EQ(chosen("3, 1 ,0x2", 4), "3 1 2 ");
  EXPECT_EQ(chosen("1,9,2", 4), "1 ");
  EXPECT_EQ(chosen("GPU-4f4f,GPU-3F3F", 4), "1 0 ");
  EXPECT_EQ(chosen("1,GPU-4f", 4), "code 101");
  EXPECT_EQ(chosen("1,9,1", 4), "1 ") << "the list has ended before the second 1";
}

TEST(VisibleDevices, AmbiguousBeginningNamesNone) {
  std::vector<CUuuid> alike(2);
  std::memset(alike.data(), 0x11, 2 * sizeof(CUuuid));
  alike[1].bytes[15] = 0x22;
  EXPECT_TRUE(select_devices("GPU-1111", alike).devices.empty());
  EXPECT_EQ(select_devices("GPU-11111111-1111-1111-1111-111111111122", alike).devices.size(), 1u);
}

}  // namespace
}  // namespace limen::cpu
