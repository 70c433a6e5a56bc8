// conformance: runs the cases, each in a process of its own, and compares what they observed.
//   conformance [--list] [--jobs N] [--filter TEXT] [--without TEXT] [--record FILE]
//               [--golden FILE] [--differs FILE] [--mutants] [--seconds N] [--only FILE]
// --record writes every observation ("function/case/label<tab>value"), for a device's golden file.
// --golden is such a file: what a case expects must be what it says.
// --only: a file of cases, one "function/case" a line. --seconds: no case is started later than that; the rest is skipped.
// --differs names the file of the CPU device's known differences. --mutants runs every function's
// cases once more with that function answering success and doing nothing: they must fail.
// Exit status: 0 when all is as expected, 1 otherwise, 2 for wrong use.
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "conformance/run.h"

namespace limen::conform {
namespace {

constexpr unsigned case_seconds = 60;
constexpr unsigned mutant_seconds = 10;  ///< a mutant may wait for what it did not do

struct Check {
  std::string label, actual, expected;
};

struct Outcome {
  std::vector<Check> checks;
  std::string broken, skipped;
  int successes = 0, errors = 0;
};

struct Difference {
  std::string value;
  bool met = false;
};

struct Options {
  bool list = false, mutants = false;
  int jobs = 1;
  int seconds = 0;  ///< 0: no limit
  std::string filter, without, record, golden, differs, only;
  std::set<std::string> names;  ///< of the file `only`

  bool choose(const std::string& path) const {
    return (only.empty() || names.contains(path)) && path.find(filter) != std::string::npos &&
           (without.empty() || path.find(without) == std::string::npos);
  }
  bool all() const { return filter.empty() && without.empty() && only.empty(); }
};

std::string path_of(const Case& one) { return std::string(one.function) + "/" + one.name; }

/// A case's process: never returns.
[[noreturn]] void run_here(const Case& one, const std::string& mutant, int descriptor) {
  alarm(mutant.empty() ? case_seconds : mutant_seconds);
  report_descriptor = descriptor;
  catch_crashes();
  open_driver();
  if (one.setup != Setup::nothing) REQUIRE(cuInit(0));
  if (one.setup == Setup::context) {
    CUcontext context = nullptr;
    REQUIRE(cuDevicePrimaryCtxRetain(&context, 0));
    REQUIRE(cuCtxSetCurrent(context));
  }
  running_function = one.function;
  set_mutant(mutant);
  one.body();
  // Exit handlers of a driver are not what is tested, and cost seconds on some.
  _exit(0);
}

void take_line(Outcome& outcome, const std::string& line) {
  std::vector<std::string> words;
  std::istringstream stream(line);
  for (std::string word; std::getline(stream, word, '\t');) words.push_back(word);
  if (words.empty()) return;
  words.resize(4);
  if (words[0] == "check") outcome.checks.push_back({words[1], words[2], words[3]});
  if (words[0] == "broken") outcome.broken = words[1];
  if (words[0] == "skip") outcome.skipped = words[1];
  if (words[0] == "call") ++(words[1] == "success" ? outcome.successes : outcome.errors);
}

struct Running {
  pid_t pid = -1;
  size_t index = 0;
  int descriptor = -1;
  std::string text;
};

Running start(const Case& one, size_t index, const std::string& mutant) {
  int ends[2];
  if (pipe(ends)) std::abort();
  std::fflush(nullptr);
  pid_t pid = fork();
  if (pid == 0) {
    close(ends[0]);
    run_here(one, mutant, ends[1]);
  }
  close(ends[1]);
  return {pid, index, ends[0], {}};
}

Outcome finish(Running& running) {
  Outcome outcome;
  std::istringstream lines(running.text);
  for (std::string line; std::getline(lines, line);) take_line(outcome, line);
  int status = 0;
  waitpid(running.pid, &status, 0);
  close(running.descriptor);
  if (WIFSIGNALED(status))
    outcome.broken =
        WTERMSIG(status) == SIGALRM ? "no end" : "signal " + std::to_string(WTERMSIG(status));
  else if (WEXITSTATUS(status) != 0 && outcome.broken.empty())
    outcome.broken = "exit status " + std::to_string(WEXITSTATUS(status));
  return outcome;
}

/// Runs the cases that `chosen` names, `jobs` at a time; outcomes are in the order of `chosen`.
std::vector<Outcome> run_cases(const std::vector<size_t>& chosen, const Options& options) {
  std::vector<Outcome> outcomes(chosen.size());
  std::vector<Running> running;
  size_t next = 0, end = chosen.size();
  const time_t began = time(nullptr);
  while (next < end || !running.empty()) {
    if (options.seconds && time(nullptr) - began >= options.seconds) end = next;
    while (next < end && running.size() < static_cast<size_t>(options.jobs)) {
      const Case& one = cases()[chosen[next]];
      running.push_back(start(one, next, options.mutants ? one.function : ""));
      ++next;
    }
    std::vector<pollfd> polls;
    for (Running& one : running) polls.push_back({one.descriptor, POLLIN, 0});
    poll(polls.data(), polls.size(), -1);
    for (size_t i = running.size(); i-- > 0;) {
      if (!polls[i].revents) continue;
      char bytes[4096];
      ssize_t count = ::read(running[i].descriptor, bytes, sizeof bytes);
      if (count > 0) {
        running[i].text.append(bytes, static_cast<size_t>(count));
        continue;
      }
      outcomes[running[i].index] = finish(running[i]);
      running.erase(running.begin() + static_cast<ptrdiff_t>(i));
    }
  }
  for (; end < chosen.size(); ++end) outcomes[end].skipped = "time is up";
  return outcomes;
}

/// Rows of differs.toml: `"function/case/label" = "value here"  # why`.
std::map<std::string, Difference> read_differences(const std::string& path) {
  std::map<std::string, Difference> rows;
  if (path.empty()) return rows;
  std::ifstream file(path);
  if (!file) {
    std::fprintf(stderr, "conformance: cannot read %s\n", path.c_str());
    std::exit(2);
  }
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::vector<size_t> quotes;
    for (size_t i = 0; i < line.size() && quotes.size() < 4; ++i)
      if (line[i] == '"') quotes.push_back(i);
    if (quotes.size() < 4 || line.find('#', quotes[3]) == std::string::npos) {
      std::fprintf(stderr, "conformance: %s: not `\"label\" = \"value\"  # why`: %s\n",
                   path.c_str(), line.c_str());
      std::exit(2);
    }
    rows[line.substr(1, quotes[1] - 1)] = {line.substr(quotes[2] + 1, quotes[3] - quotes[2] - 1)};
  }
  return rows;
}

using Golden = std::map<std::string, std::string>;

/// What a device answered, by label.
Golden read_golden(const std::string& path) {
  Golden golden;
  if (path.empty()) return golden;
  std::ifstream file(path);
  if (!file) {
    std::fprintf(stderr, "conformance: cannot read %s\n", path.c_str());
    std::exit(2);
  }
  for (std::string line; std::getline(file, line);)
    if (size_t tab = line.find('\t'); tab != std::string::npos && line[0] != '#')
      golden[line.substr(0, tab)] = line.substr(tab + 1);
  return golden;
}

struct Totals {
  int checks = 0, failed = 0, skipped = 0, differing = 0;
  std::map<std::string, std::pair<int, int>> calls;  ///< by function: successes, errors
};

void judge_check(const std::string& path, const Check& check, const Golden& golden,
                 std::map<std::string, Difference>& differences, Totals& totals) {
  std::string label = path + "/" + check.label;
  std::string expected = check.expected;
  ++totals.checks;
  // Where the device's driver crashes, any clear answer is right.
  if (auto row = golden.find(label);
      row != golden.end() && row->second != expected && row->second != "crash") {
    ++totals.failed;
    std::printf("FAIL %s: the case expects %s, the device answered %s\n", label.c_str(),
                expected.c_str(), row->second.c_str());
  }
  if (auto row = differences.find(label); row != differences.end()) {
    row->second.met = true;
    expected = row->second.value;
    ++totals.differing;
  }
  if (check.actual == expected) return;
  ++totals.failed;
  std::printf("FAIL %s: %s, expected %s\n", label.c_str(), check.actual.c_str(), expected.c_str());
}

bool judge_labels(const std::string& path, const Outcome& outcome) {
  std::set<std::string> labels;
  bool good = true;
  for (const Check& check : outcome.checks) {
    if (labels.insert(check.label).second) continue;
    std::printf("FAIL %s/%s: the label is used twice\n", path.c_str(), check.label.c_str());
    good = false;
  }
  return good;
}

int report(const std::vector<size_t>& chosen, const std::vector<Outcome>& outcomes,
           const Options& options) {
  auto differences = read_differences(options.differs);
  Golden golden = read_golden(options.golden);
  Totals totals;
  std::ofstream record;
  if (!options.record.empty()) record.open(options.record);
  for (size_t i = 0; i < chosen.size(); ++i) {
    const Case& one = cases()[chosen[i]];
    const Outcome& outcome = outcomes[i];
    std::string path = path_of(one);
    for (const Check& check : outcome.checks) {
      judge_check(path, check, golden, differences, totals);
      if (record) record << path << '/' << check.label << '\t' << check.actual << '\n';
    }
    if (!judge_labels(path, outcome)) ++totals.failed;
    if (!outcome.broken.empty()) {
      ++totals.failed;
      std::printf("FAIL %s: %s\n", path.c_str(), outcome.broken.c_str());
    } else if (!outcome.skipped.empty()) {
      ++totals.skipped;
      std::printf("skip %s: %s\n", path.c_str(), outcome.skipped.c_str());
    } else if (outcome.checks.empty()) {
      ++totals.failed;
      std::printf("FAIL %s: checked nothing\n", path.c_str());
    }
    totals.calls[one.function].first += outcome.successes;
    totals.calls[one.function].second += outcome.errors;
  }
  int one_sided = 0;
  for (auto& [function, calls] : totals.calls) {
    if (calls.first && calls.second) continue;
    ++one_sided;
    if (options.all())
      std::printf("note %s: no call that %s\n", function.c_str(),
                  calls.first ? "fails" : "succeeds");
  }
  if (options.all())
    for (auto& [label, row] : differences)
      if (!row.met) {
        ++totals.failed;
        std::printf("FAIL %s: stands in %s but no case observes it\n", label.c_str(),
                    options.differs.c_str());
      }
  std::printf(
      "%d checks of %zu functions in %zu cases: %d failed, %d cases skipped, %d known "
      "differences; %d functions tested from one side only\n",
      totals.checks, totals.calls.size(), chosen.size(), totals.failed, totals.skipped,
      totals.differing, one_sided);
  return totals.failed ? 1 : 0;
}

/// Every function must have a case that fails when the function does nothing.
int report_mutants(const std::vector<size_t>& chosen, const std::vector<Outcome>& outcomes) {
  std::map<std::string, bool> caught;
  for (size_t i = 0; i < chosen.size(); ++i) {
    const Outcome& outcome = outcomes[i];
    bool fails = !outcome.broken.empty();
    for (const Check& check : outcome.checks) fails |= check.actual != check.expected;
    bool& known = caught[cases()[chosen[i]].function];
    // A skipped case says nothing against its function.
    known = known || fails || !outcome.skipped.empty();
  }
  int alive = 0;
  for (auto& [function, dead] : caught) {
    if (dead) continue;
    ++alive;
    std::printf("FAIL %s: a mutant that does nothing passes\n", function.c_str());
  }
  std::printf("%zu mutants, %d alive\n", caught.size(), alive);
  return alive ? 1 : 0;
}

bool parse(int count, char** words, Options& options) {
  for (int i = 1; i < count; ++i) {
    std::string word = words[i];
    auto value = [&](std::string& into) { return ++i < count ? (into = words[i], true) : false; };
    std::string number;
    if (word == "--list") {
      options.list = true;
    } else if (word == "--mutants") {
      options.mutants = true;
    } else if (word == "--jobs") {
      if (!value(number)) return false;
      options.jobs = std::max(1, std::atoi(number.c_str()));
    } else if (word == "--seconds") {
      if (!value(number)) return false;
      options.seconds = std::max(1, std::atoi(number.c_str()));
    } else if (!(word == "--filter" && value(options.filter)) &&
               !(word == "--without" && value(options.without)) &&
               !(word == "--golden" && value(options.golden)) &&
               !(word == "--only" && value(options.only)) &&
               !(word == "--record" && value(options.record)) &&
               !(word == "--differs" && value(options.differs))) {
      return false;
    }
  }
  return true;
}

int run(int count, char** words) {
  Options options;
  if (!parse(count, words, options)) {
    std::fprintf(stderr,
                 "usage: conformance [--list] [--jobs N] [--filter TEXT] [--without TEXT] "
                 "[--record FILE] [--golden FILE] [--differs FILE] [--mutants] [--seconds N] "
                 "[--only FILE]\n");
    return 2;
  }
  std::ranges::sort(cases(), {}, path_of);
  std::ifstream only(options.only);
  for (std::string line; std::getline(only, line);) options.names.insert(line);
  std::vector<size_t> chosen;
  for (size_t i = 0; i < cases().size(); ++i)
    if (options.choose(path_of(cases()[i]))) chosen.push_back(i);
  if (options.list) {
    for (size_t i : chosen) std::printf("%s\n", path_of(cases()[i]).c_str());
    return 0;
  }
  if (chosen.empty()) {
    std::fprintf(stderr, "conformance: no case has \"%s\" in its name\n", options.filter.c_str());
    return 2;
  }
  std::vector<Outcome> outcomes = run_cases(chosen, options);
  return options.mutants ? report_mutants(chosen, outcomes) : report(chosen, outcomes, options);
}

}  // namespace
}  // namespace limen::conform

int main(int count, char** words) { return limen::conform::run(count, words); }
