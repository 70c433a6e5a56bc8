// Prints, for each file, every function that does not parse or verify: "file: line N, ...".
// Options: -d print the instructions read, -t print the speed of each pass, in megabytes of text a second
// of processor time; bodies are given back after they were checked, as the driver does.
// Exit code 1 when anything was wrong.
#include <fmt/format.h>

#include <time.h>

#include <cstdio>
#include <fstream>
#include <sstream>

#include "compiler/ptx/parser.h"

using namespace limen;

namespace {

double processor_seconds() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

double seconds_since(double start) { return processor_seconds() - start; }

void print_body(const ptx::Module& m, const ptx::Function& f) {
  fmt::print("{}:\n", f.name);
  for (size_t b = 0; b < f.blocks.size(); ++b) {
    fmt::print(" block {} ->", b);
    for (ptx::Index s : f.blocks[b].succ) fmt::print(" {}", s);
    fmt::print("\n");
    for (const ptx::Instruction& i : f.blocks[b].body)
      fmt::print("  {}\n", ptx::to_text(m, f, i));
  }
}

bool check(const std::string& path, bool dump, bool times) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    fmt::print("{}: cannot be read\n", path);
    return false;
  }
  std::stringstream content;
  content << file.rdbuf();
  std::string text = content.str();
  const double megabytes = static_cast<double>(text.size()) / 1e6;
  double start = processor_seconds();
  auto parsed = ptx::parse_module(std::move(text));
  const double directory = seconds_since(start);
  if (!parsed) {
    fmt::print("{}: {}\n", path, parsed.error().what);
    return false;
  }
  ptx::Module& m = **parsed;
  bool good = true;
  double bodies = 0, verify = 0;
  for (ptx::Index i = 0; i < m.functions.size(); ++i) {
    start = processor_seconds();
    auto result = ptx::parse_body(m, i);
    bodies += seconds_since(start);
    start = processor_seconds();
    if (result) result = ptx::verify_body(m, i);
    verify += seconds_since(start);
    if (!result) {
      fmt::print("{}: {} (in {})\n", path, result.error().what, m.functions[i].name);
      good = false;
    } else if (dump) {
      print_body(m, m.functions[i]);
    }
    if (times) ptx::forget_body(m, i);
  }
  if (times)
    fmt::print("{}: {:.1f} MB, MB/s: directory {:.0f}, bodies {:.0f}, verify {:.0f}, all {:.0f}\n",
               path, megabytes, megabytes / directory, megabytes / bodies, megabytes / verify,
               megabytes / (directory + bodies + verify));
  return good;
}

}  // namespace

int main(int argc, char** argv) {
  bool dump = false, times = false, good = true;
  for (int i = 1; i < argc; ++i) {
    const std::string arg = argv[i];
    if (arg == "-d") dump = true;
    else if (arg == "-t") times = true;
    else good &= check(arg, dump, times);
  }
  return good ? 0 : 1;
}
