// Which text a program gets of a fat binary whose PTX is newer than what is read.
#include <gtest/gtest.h>

#include "../fatbin/build.h"
#include "drivers/cpu/module/load.h"

namespace limen::cpu {
namespace {

/// The text chosen for a device of capability 12.0 from PTX 9.4 and machine code for `cubin_sm`.
std::string chosen(uint32_t cubin_sm) {
  std::vector<test::EntrySpec> entries = {{.kind = 1, .sm = 80, .payload = test::ptx("9.4")}};
  if (cubin_sm) entries.push_back({.kind = 2, .sm = cubin_sm, .payload = test::cubin()});
  const std::string bytes = test::fatbin(entries);
  auto image = fatbin::parse_memory(bytes.data(), bytes.size());
  EXPECT_TRUE(image.ok());
  auto out = cpu::choose_ptx(*image, 120);
  EXPECT_TRUE(out.ok());
  return out.ok() && out->texts.size() == 1 ? out->texts[0] : "";
}

TEST(ChoosePtx, NewerPtxIsTakenWhereNvidiasDriverWouldRunMachineCode) {
  EXPECT_NE(chosen(120).find(".version 9.0"), std::string::npos);
}

TEST(ChoosePtx, NewerPtxStaysNewerWhereNvidiasDriverWouldCompileIt) {
  for (uint32_t sm : {0u, 80u, 90u, 100u, 121u})
    EXPECT_NE(chosen(sm).find(".version 9.4"), std::string::npos) << sm;
}

}  // namespace
}  // namespace limen::cpu
