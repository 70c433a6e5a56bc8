// See reduce.h.
#include "reduce.h"

#include <algorithm>
#include <sstream>
#include <vector>

namespace limen::test {

namespace {

std::string join(const std::vector<std::string>& lines) {
  std::string out;
  for (const std::string& l : lines) out += l + "\n";
  return out;
}

/// Lines that give each thread its place in memory: without them threads would race.
bool is_address(const std::string& line) {
  std::istringstream words(line);
  std::string op, first;
  words >> op >> first;
  return op.rfind("ld.param", 0) == 0 || first.rfind("%t", 0) == 0 || first == "%a2," ||
         first == "%a3," || first == "%a4," || first == "%a6,";
}

}  // namespace

std::string difference_kind(Job job, const Runner& other) {
  Job evaluated = job;
  evaluated.strategy = oracle_strategy;
  const Outcome want = run(evaluated);
  if (!want.ran) return {};
  const Outcome got = other(job);
  if (!got.ran) return "error: " + got.error.substr(0, got.error.find('%'));
  return got.out == want.out ? "" : "values differ";
}

std::string smallest(Job job, const Runner& other) {
  job.max_steps = 5'000'000;
  const std::string wanted = difference_kind(job, other);
  if (wanted.empty()) return {};
  std::vector<std::string> lines;
  std::istringstream text(job.ptx);
  for (std::string l; std::getline(text, l);) lines.push_back(l);
  bool smaller = true;
  for (size_t chunk = lines.size() / 2; chunk; chunk = smaller && chunk == 1 ? 1 : chunk / 2) {
    smaller = false;
    for (size_t at = 0; at < lines.size();) {
      std::vector<std::string> fewer = lines;
      const auto begin = fewer.begin() + static_cast<ptrdiff_t>(at);
      const size_t end = std::min(at + chunk, fewer.size());
      fewer.erase(std::remove_if(begin, fewer.begin() + static_cast<ptrdiff_t>(end),
                                 [](const std::string& l) { return !is_address(l); }),
                  fewer.begin() + static_cast<ptrdiff_t>(end));
      job.ptx = join(fewer);
      if (fewer.size() == lines.size()) {
        at += chunk;
      } else if (difference_kind(job, other) == wanted) {
        lines = std::move(fewer);
        smaller = true;
      } else {
        at += chunk;
      }
    }
  }
  return join(lines);
}

}  // namespace limen::test
