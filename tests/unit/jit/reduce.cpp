// Makes a failing program small: takes lines out of a PTX text as long as the evaluator still runs
// it and one strategy still gives something else. The evaluator is strict, so what remains is
// defined. reduce FILE SEED BLOCK_X BLOCK_Y STRATEGY WIDTH [any]: the smaller text goes to standard
// output.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "runner.h"

namespace limen::test {
namespace {

std::string join(const std::vector<std::string>& lines) {
  std::string out;
  for (const std::string& l : lines) out += l + "\n";
  return out;
}

/// Empty when both agree or the program is not defined, else what differs.
std::string difference(Job job, int strategy, uint32_t width, bool specialize) {
  job.strategy = oracle_strategy;
  const Outcome want = run(job);
  if (!want.ran) return {};
  job.strategy = strategy;
  job.width = width;
  job.specialize = specialize;
  const Outcome got = run(job);
  if (!got.ran) return "error: " + got.error.substr(0, got.error.find('%'));
  return got.out == want.out ? "" : "values differ";
}

int main_of(int argc, char** argv) {
  if (argc < 7)
    return std::fputs("reduce FILE SEED BLOCK_X BLOCK_Y STRATEGY WIDTH [any]\n", stderr), 2;
  const auto number = [&](int n) { return std::strtoull(argv[n], nullptr, 10); };
  std::ifstream file(argv[1]);
  std::vector<std::string> lines;
  for (std::string l; std::getline(file, l);) lines.push_back(l);
  Job job = job_of(number(2), static_cast<uint32_t>(number(3)), static_cast<uint32_t>(number(4)));
  job.max_steps = 5'000'000;
  const auto fails = [&](const std::vector<std::string>& text) {
    job.ptx = join(text);
    return difference(job, static_cast<int>(number(5)), static_cast<uint32_t>(number(6)), argc < 8);
  };
  const std::string wanted = fails(lines);
  std::fprintf(stderr, "%s\n", wanted.c_str());
  if (wanted.empty()) return 1;
  bool smaller = true;
  for (size_t chunk = lines.size() / 2; chunk; chunk = smaller && chunk == 1 ? 1 : chunk / 2) {
    smaller = false;
    for (size_t at = 0; at < lines.size();) {
      std::vector<std::string> fewer = lines;
      const size_t end = std::min(at + chunk, fewer.size());
      fewer.erase(fewer.begin() + static_cast<ptrdiff_t>(at),
                  fewer.begin() + static_cast<ptrdiff_t>(end));
      if (fails(fewer) == wanted) {
        lines = std::move(fewer);
        smaller = true;
      } else {
        at += chunk;
      }
    }
  }
  job.ptx = join(lines);
  job.strategy = oracle_strategy;
  const Outcome want = run(job);
  job.strategy = static_cast<int>(number(5));
  const Outcome got = run(job);
  for (size_t n = 0, shown = 0; n < want.out.size() && got.ran && shown < 4; ++n)
    if (want.out[n] != got.out[n] && ++shown)
      std::fprintf(stderr, "thread %zu word %zu: %08x by the evaluator, %08x by the strategy\n",
                   n / 16, n % 16, want.out[n], got.out[n]);
  std::fputs(job.ptx.c_str(), stdout);
  return 0;
}

}  // namespace
}  // namespace limen::test

int main(int argc, char** argv) { return limen::test::main_of(argc, argv); }
