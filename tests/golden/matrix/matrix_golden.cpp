// Records what a device makes of every mma and wmma form, and compares a device with a recording:
// the driver's public functions alone, one binary for NVIDIA's driver and for Limen.
// docs/how/record_goldens.md.
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "inputs.h"
#include "tools/test/driver.h"
#include "tools/test/golden_file.h"

namespace limen::golden {

namespace {

using Bytes = std::vector<uint8_t>;

/// Cases of one form that share a generator. A new one is "not recorded" and spoils no recording.
struct CaseSet {
  std::string suffix;  ///< of the form's title
  std::vector<Theme> cases;
};

std::vector<CaseSet> sets_of(const Form& form) {
  std::vector<CaseSet> sets(1);
  for (int i = 0; i < 32; ++i) sets[0].cases.push_back(static_cast<Theme>(i % themes_of_32));
  if (form.a == Type::bf16 || form.a == Type::tf32)
    sets.push_back({" tiny", std::vector<Theme>(8, Theme::tiny)});
  return sets;
}

/// Forms of which a golden keeps results and not their hashes alone: one of each kind of sum.
/// Integers are exact, which programs/matrix_forms looks at.
bool is_shown(const Form& form) {
  return form.d != Type::s32 && !form.ordered && form.selector == 0 && !form.a_col && !form.b_row;
}
constexpr size_t shown_cases = 8;

unsigned word_bytes(const Form& form) {
  return form.d == Type::f64 ? 8 : form.d == Type::f16 ? 2 : 4;
}

uint32_t hash_of(const uint8_t* bytes, size_t size, uint32_t hash = 2166136261u) {
  for (size_t i = 0; i < size; ++i) hash = (hash ^ bytes[i]) * 16777619u;
  return hash;
}

struct Run {
  uint32_t input_hash = 0;
  std::string message;  ///< why there is no output
  Bytes output;
};

Run run(Driver& driver, const Form& form, const CaseSet& set) {
  const Inputs in = inputs_of(form, set.suffix, set.cases);
  Bytes input;
  for (const Bytes* part : {&in.a, &in.b, &in.c, &in.metadata})
    input.insert(input.end(), part->begin(), part->end());
  const auto cases = static_cast<int>(set.cases.size());
  auto output = driver.run(ptx_of(form, cases), "k", input, form.bytes_d() * set.cases.size(),
                           static_cast<unsigned>(32 * cases));
  Run done{hash_of(input.data(), input.size()), "", {}};
  if (output.ok())
    done.output = std::move(output.value());
  else
    done.message = output.error().what;
  return done;
}

/// Two entries a set: results of the first cases (or all, or none), and a hash of each case.
void add_entries(GoldenFile& golden, const Form& form, const CaseSet& set, const Run& done,
                 bool all_values) {
  const size_t size = form.bytes_d(), cases = set.cases.size();
  const size_t shown = all_values ? cases : is_shown(form) ? std::min(cases, shown_cases) : 0;
  const std::string title = form.title() + set.suffix;
  const unsigned word = word_bytes(form);
  golden.cases.push_back(
      {title, "", fmt::format("b{}", word * 8), fmt::format("{} words", shown * size / word),
       done.input_hash,
       Bytes(done.output.begin(), done.output.begin() + static_cast<long>(shown * size))});
  Bytes hashes(cases * 4);
  for (size_t i = 0; i < cases; ++i) {
    const uint32_t hash = hash_of(&done.output[i * size], size);
    std::memcpy(&hashes[i * 4], &hash, 4);
  }
  golden.cases.push_back(
      {title + " hashes", "", "b32", fmt::format("{} cases", cases), done.input_hash, hashes});
}

int record(Driver& driver, const std::string& path, bool all_values) {
  std::time_t now = std::time(nullptr);
  char date[16];
  std::strftime(date, sizeof(date), "%Y-%m-%d", std::gmtime(&now));
  GoldenFile golden{"matrix", driver.version(), driver.device_name(), date, {}};
  int refused = 0;
  for (const Form& form : all_forms())
    for (const CaseSet& set : sets_of(form)) {
      const Run done = run(driver, form, set);
      if (done.message.empty()) {
        add_entries(golden, form, set, done, all_values);
      } else {
        fmt::print("not recorded: {}: {}\n", form.title(), done.message);
        ++refused;
      }
    }
  auto written = write_golden(golden, path);
  if (!written.ok()) return fmt::print(stderr, "{}\n", written.error().what), 1;
  fmt::print("matrix: {} sets recorded, {} refused, {} bytes\n", golden.cases.size() / 2, refused,
             std::filesystem::file_size(path));
  return 0;
}

/// Prints the first differences; the number of cases that differ.
int compare(const Form& form, const CaseSet& set, const Run& done, const RecordedCase& values,
            const RecordedCase& hashes) {
  constexpr int printed = 4;
  const size_t size = form.bytes_d();
  const unsigned word = word_bytes(form);
  int wrong = 0, lines = 0;
  for (size_t i = 0; i < set.cases.size(); ++i) {
    uint32_t want_hash = 0;
    std::memcpy(&want_hash, &hashes.output[i * 4], 4);
    if (hash_of(&done.output[i * size], size) == want_hash) continue;
    if (wrong++ == 0) fmt::print("WRONG: {}{}\n", form.title(), set.suffix);
    if ((i + 1) * size > values.output.size()) {
      if (lines++ < printed)
        fmt::print("  case {}, theme {}: by its hash alone\n", i, static_cast<int>(set.cases[i]));
      continue;
    }
    for (size_t at = i * size; at < (i + 1) * size; at += word) {
      uint64_t want = 0, got = 0;
      std::memcpy(&want, &values.output[at], word);
      std::memcpy(&got, &done.output[at], word);
      if (want != got && lines++ < printed)
        fmt::print("  case {}, theme {}, word {}: want {:x}, got {:x}\n", i,
                   static_cast<int>(set.cases[i]), (at - i * size) / word, want, got);
    }
  }
  return wrong;
}

/// Titles of sets known to differ, one a line; `#` begins a comment.
std::set<std::string> read_known(const char* path) {
  std::set<std::string> known;
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);)
    if (!line.empty() && line[0] != '#') known.insert(line);
  return known;
}

int replay(Driver& driver, const std::string& path, const std::set<std::string>& known) {
  auto golden = read_golden(path);
  if (!golden.ok()) return fmt::print(stderr, "{}\n", golden.error().what), 1;
  std::map<std::string, const RecordedCase*> recorded;
  for (const RecordedCase& item : golden->cases) recorded[item.name] = &item;
  int right = 0, wrong = 0, unrecorded = 0, excused = 0;
  for (const Form& form : all_forms())
    for (const CaseSet& set : sets_of(form)) {
      const std::string title = form.title() + set.suffix;
      auto values = recorded.find(title), hashes = recorded.find(title + " hashes");
      if (values == recorded.end() || hashes == recorded.end()) {
        ++unrecorded;
        continue;
      }
      const Run done = run(driver, form, set);
      const RecordedCase &a = *values->second, &b = *hashes->second;
      recorded.erase(values);
      recorded.erase(hashes);
      bool good = false;
      if (!done.message.empty())
        fmt::print("REFUSED: {}: {}\n", title, done.message);
      else if (a.input_hash != done.input_hash || b.output.size() != 4 * set.cases.size())
        fmt::print("STALE: {}: its inputs are not those of the recording\n", title);
      else
        good = compare(form, set, done, a, b) == 0;
      const bool listed = known.count(title) != 0;
      if (listed && good) fmt::print("right, but listed as wrong: {}\n", title);
      ++(good != listed ? (listed ? excused : right) : wrong);
    }
  for (const auto& [name, item] : recorded) {
    fmt::print("STALE: {}: no form has this case any more\n", name);
    ++wrong;
  }
  fmt::print("matrix: {} right, {} wrong, {} known to be wrong, {} not recorded ({}, {}, {})\n",
             right, wrong, excused, unrecorded, golden->device, golden->driver, golden->date);
  return wrong != 0;
}

}  // namespace
}  // namespace limen::golden

int main(int argc, char** argv) {
  const std::string verb = argc > 1 ? argv[1] : "";
  const bool all_values = argc == 4 && std::string(argv[2]) == "--values";
  const bool arguments = argc == 3 || (argc == 4 && (verb == "replay" || all_values));
  if ((verb != "record" && verb != "replay") || !arguments) {
    fmt::print(stderr,
               "usage: matrix-golden record [--values] GOLDEN | replay GOLDEN [KNOWN]\n"
               "  --values  all results, where a golden keeps hashes of most\n");
    return 2;
  }
  auto driver = limen::golden::Driver::open();
  if (!driver.ok()) return fmt::print(stderr, "{}\n", driver.error().what), 1;
  driver->set_block_threads(32);
  if (verb == "record") return limen::golden::record(driver.value(), argv[argc - 1], all_values);
  return limen::golden::replay(driver.value(), argv[2],
                               limen::golden::read_known(argc > 3 ? argv[3] : "/dev/null"));
}
