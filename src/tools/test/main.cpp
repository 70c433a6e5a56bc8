// limen-test: records what a device computes for every case of the golden kernels, and compares a
// device with such a recording. Uses the driver's public functions alone; the same binary records
// on NVIDIA's driver and replays on Limen. docs/how/record_goldens.md.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "tools/test/bound.h"
#include "tools/test/cases.h"
#include "tools/test/driver.h"
#include "tools/test/golden_file.h"
#include "tools/test/inputs.h"
#include "tools/test/report.h"
#include "tools/test/run_cases.h"

namespace limen::golden {

namespace {

namespace fs = std::filesystem;

constexpr int exit_failed = 1, exit_usage = 2;

struct Options {
  std::string verb;
  fs::path kernels, out;
  std::string summary, known;
  std::vector<std::string> names;
  size_t shown = 3;  ///< mismatches printed a case
  unsigned block = 128;
  bool any_nan = false;
};

int usage() {
  fmt::print(
      stderr,
      "usage: limen-test record --out FOLDER [--kernels FOLDER] [FAMILY...]\n"
      "       limen-test replay [--kernels FOLDER] [--known FILE] [--any-nan] [--summary FILE] GOLDEN...\n"
      "  record   runs the kernels of each family and writes FAMILY.golden\n"
      "  replay   runs them and compares with what was recorded\n"
      "  --kernels  the folder of the .ptx files; default: ../goldens, seen from the program\n"
      "  --summary  a JSON file with one row a case\n"
      "  --known    cases known to be wrong: lines of a case, a tab and the reason\n"
      "  --any-nan  of several different f64 NaN operands any may come out: without LIMEN_EXACT_NAN\n"
      "  --show     mismatches printed a case; default 3\n"
      "  --block    threads of a block: 128, 64, 32, ... or 1, which makes operands uniform\n"
      "  --strategy, --width  as LIMEN_STRATEGY and LIMEN_WIDTH\n");
  return exit_usage;
}

bool read_options(int argc, char** argv, Options& options) {
  if (argc < 2) return false;
  options.verb = argv[1];
  for (int i = 2; i < argc; ++i) {
    std::string word = argv[i];
    if (word.rfind("--", 0) != 0) {
      options.names.push_back(word);
      continue;
    }
    if (word == "--any-nan") {
      options.any_nan = true;
      continue;
    }
    if (++i == argc) return false;
    if (word == "--kernels")
      options.kernels = argv[i];
    else if (word == "--out")
      options.out = argv[i];
    else if (word == "--summary")
      options.summary = argv[i];
    else if (word == "--known")
      options.known = argv[i];
    else if (word == "--show")
      options.shown = std::stoul(argv[i]);
    else if (word == "--block")
      options.block = static_cast<unsigned>(std::stoul(argv[i]));
    else if (word == "--strategy")
      setenv("LIMEN_STRATEGY", argv[i], 1);
    else if (word == "--width")
      setenv("LIMEN_WIDTH", argv[i], 1);
    else
      return false;
  }
  if (options.block == 0 || (options.block & (options.block - 1)) != 0 || options.block > 128)
    return false;
  if (options.kernels.empty()) {
    std::error_code ignored;
    fs::path folder = fs::read_symlink("/proc/self/exe", ignored).parent_path();
    options.kernels = folder.filename() == "goldens" ? folder : folder.parent_path() / "goldens";
  }
  return options.verb == "record" ? !options.out.empty()
                                  : options.verb == "replay" && !options.names.empty();
}

int fail(const Error& error) {
  fmt::print(stderr, "limen-test: {}\n", error.what);
  if (!error.remedy.empty()) fmt::print(stderr, "limen-test: {}\n", error.remedy);
  return exit_failed;
}

std::string today() {
  std::time_t now = std::time(nullptr);
  char text[16];
  std::strftime(text, sizeof(text), "%Y-%m-%d", std::gmtime(&now));
  return text;
}

Result<size_t> record_family(Driver& driver, const fs::path& ptx, const fs::path& out) {
  LIMEN_TRY(Family family, read_family(ptx));
  GoldenFile golden{family.name, driver.version(), driver.device_name(), today(), {}};
  size_t refused = 0;
  for (const Kernel& kernel : family.kernels) {
    LIMEN_TRY(std::vector<uint8_t> input, make_input(kernel));
    uint32_t hash = hash_of(input.data(), input.size());
    std::vector<Outcome> outcomes = run_cases(driver, family, kernel, input);
    for (size_t i = 0; i < kernel.cases.size(); ++i) {
      const Case& item = kernel.cases[i];
      if (!outcomes[i].message.empty()) {
        fmt::print("{}: not recorded: {}: {}\n", family.name, item.name, outcomes[i].message);
        ++refused;
        continue;
      }
      golden.cases.push_back({item.name, item.bound, item.outs, kernel.signature(), hash,
                              std::move(outcomes[i].output)});
    }
  }
  fs::path path = out / (family.name + ".golden");
  LIMEN_CHECK(write_golden(golden, path));
  fmt::print("{}: {} cases recorded, {} refused, {} bytes\n", family.name, golden.cases.size(),
             refused, fs::file_size(path));
  return refused;
}

int record(const Options& options) {
  auto driver = Driver::open();
  if (!driver.ok()) return fail(driver.error());
  fmt::print("{}, {}\n", driver->device_name(), driver->version());
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(options.kernels))
    if (entry.path().extension() == ".ptx" &&
        (options.names.empty() ||
         std::count(options.names.begin(), options.names.end(), entry.path().stem().string())))
      files.push_back(entry.path());
  if (files.empty())
    return fail({Code::file_not_found, options.kernels.string() + " has no such kernels", ""});
  std::sort(files.begin(), files.end());
  fs::create_directories(options.out);
  int code = 0;
  for (const fs::path& file : files) {
    auto refused = record_family(driver.value(), file, options.out);
    if (!refused.ok()) return fail(refused.error());
    std::fflush(stdout);
  }
  return code;
}

/// Compares the cases of one kernel with what was recorded and adds a row for each.
Result<void> replay_kernel(Driver& driver, const Family& family, const Kernel& kernel,
                           std::map<std::string, const RecordedCase*>& recorded, Report& report) {
  LIMEN_TRY(std::vector<uint8_t> input, make_input(kernel));
  uint32_t hash = hash_of(input.data(), input.size());
  std::vector<Outcome> outcomes = run_cases(driver, family, kernel, input);
  for (size_t i = 0; i < kernel.cases.size(); ++i) {
    const Case& item = kernel.cases[i];
    auto found = recorded.find(item.name);
    if (found == recorded.end()) {
      report.add_unrecorded(item.name);
      continue;
    }
    const RecordedCase& want = *found->second;
    recorded.erase(found);
    if (want.signature != kernel.signature() || want.input_hash != hash || want.outs != item.outs)
      report.add_stale(item.name, "its operands or results are not those of the recording");
    else
      report.add(kernel, item, input, want.output, outcomes[i]);
  }
  return {};
}

Result<std::map<std::string, std::string>> read_known(const std::string& path) {
  std::map<std::string, std::string> known;
  if (path.empty()) return known;
  std::ifstream file(path);
  if (!file) return Error{Code::file_not_found, path + " cannot be read", ""};
  std::string line;
  while (std::getline(file, line)) {
    size_t tab = line.find('\t');
    if (line.empty() || line[0] == '#') continue;
    if (tab == std::string::npos)
      return Error{Code::invalid_source, path + ": no reason: " + line, ""};
    known[line.substr(0, tab)] = line.substr(tab + 1);
  }
  return known;
}

Result<bool> replay_file(Driver& driver, const Options& options, const std::string& path,
                         const std::map<std::string, std::string>& known,
                         std::vector<std::string>& rows) {
  LIMEN_TRY(GoldenFile golden, read_golden(path));
  LIMEN_TRY(Family family, read_family(options.kernels / (golden.family + ".ptx")));
  std::map<std::string, const RecordedCase*> recorded;
  for (const RecordedCase& item : golden.cases) recorded[item.name] = &item;
  Report report(family.name, options.shown, known, options.any_nan);
  for (const Kernel& kernel : family.kernels)
    LIMEN_CHECK(replay_kernel(driver, family, kernel, recorded, report));
  for (const auto& [name, item] : recorded)
    report.add_stale(name, "no kernel has this case any more");
  report.print_summary(golden);
  for (std::string& row : report.rows()) rows.push_back(std::move(row));
  return report.good();
}

int replay(const Options& options) {
  auto driver = Driver::open();
  if (!driver.ok()) return fail(driver.error());
  driver->set_block_threads(options.block);
  auto known = read_known(options.known);
  if (!known.ok()) return fail(known.error());
  bool good = true;
  std::vector<std::string> rows;
  for (const std::string& path : options.names) {
    auto result = replay_file(driver.value(), options, path, known.value(), rows);
    if (!result.ok()) return fail(result.error());
    good &= result.value();
    std::fflush(stdout);
  }
  if (!options.summary.empty()) {
    std::ofstream file(options.summary);
    file << "[\n";
    for (size_t i = 0; i < rows.size(); ++i)
      file << rows[i] << (i + 1 < rows.size() ? ",\n" : "\n");
    file << "]\n";
    if (!file.flush())
      return fail({Code::operating_system, options.summary + " cannot be written", ""});
  }
  return good ? 0 : exit_failed;
}

}  // namespace
}  // namespace limen::golden

int main(int argc, char** argv) {
  limen::golden::Options options;
  if (!limen::golden::read_options(argc, argv, options)) return limen::golden::usage();
  return options.verb == "record" ? limen::golden::record(options) : limen::golden::replay(options);
}
