// Random programs in great number: each is evaluated (tests/oracle), compiled under one strategy
// and width picked by its number and, with --gpu, run by the machine's own libcuda.so.1 as well.
// All must leave the same memory. Programs that differ are made small and appended to the file
// --out. docs/how/compare_random_programs.md.
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>
#include <string>

#include "reduce.h"
#include "runner.h"
#include "tools/test/driver.h"

namespace limen::test {
namespace {

struct Options {
  uint64_t first = 1, count = 500;
  unsigned jobs = 1;
  double seconds = 1e9;
  bool compile = true, gpu = false;
  /// NVIDIA's optimiser has faults of its own (docs/how/compare_random_programs.md): 0 leaves it
  /// out.
  int gpu_level = 0;
  std::string out = "differences.ptx";
  std::string file;  ///< one text instead of random ones
};

constexpr uint64_t most_failures = 100;  ///< after which a run ends
constexpr uint64_t most_reduced = 100;   ///< of them that are made small

constexpr unsigned most_jobs = 256;
constexpr uint64_t in_gpu_driver = uint64_t{1} << 63;  ///< beside the program's number
constexpr int go_on = 3;  ///< exit code: another process must take over

/// Of all processes together.
struct Totals {
  std::atomic<uint64_t> next, done, compiled, on_gpu, failed;
  std::atomic<uint64_t> at[most_jobs];  ///< what each process is busy with
};

bool read_options(int argc, char** argv, Options& o) {
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--gpu") {
      o.gpu = true;
      continue;
    }
    if (word == "--no-compile") {
      o.compile = false;
      continue;
    }
    if (++i == argc) return false;
    if (word == "--first")
      o.first = std::strtoull(argv[i], nullptr, 10);
    else if (word == "--count")
      o.count = std::strtoull(argv[i], nullptr, 10);
    else if (word == "--jobs")
      o.jobs = static_cast<unsigned>(std::strtoul(argv[i], nullptr, 10));
    else if (word == "--seconds")
      o.seconds = std::strtod(argv[i], nullptr);
    else if (word == "--out")
      o.out = argv[i];
    else if (word == "--gpu-level")
      o.gpu_level = static_cast<int>(std::strtol(argv[i], nullptr, 10));
    else if (word == "--file")
      o.file = argv[i];
    else
      return false;
  }
  return o.jobs > 0 && o.jobs <= most_jobs && o.count > 0;
}

/// What is odd about `got`, empty when it is `want`.
std::string difference(const Outcome& want, const Outcome& got) {
  if (!got.ran) return got.error;
  for (size_t i = 0; i < want.out.size(); ++i)
    if (got.out[i] != want.out[i]) {
      char text[96];
      std::snprintf(text, sizeof text, "thread %zu word %zu is %08x, evaluated %08x", i / 16,
                    i % 16, got.out[i], want.out[i]);
      return text;
    }
  return "";
}

Outcome run_on_gpu(golden::Driver& driver, const Job& job, int jit_level) {
  golden::Run launch;
  launch.kernel = "k";
  launch.blocks = job.grid[0];
  launch.block_x = job.block[0];
  launch.block_y = job.block[1];
  launch.count = job.grid[0] * job.block[0] * job.block[1];
  launch.input = job.in.data();
  launch.input_bytes = job.in.size() * 4;
  launch.output_bytes = job.out_words * 4;
  launch.jit_level = jit_level;
  Outcome o;
  auto bytes = driver.run(job.ptx, launch);
  if (!bytes.ok()) return o.error = bytes.error().what, o;
  o.ran = true;
  o.out.resize(job.out_words);
  std::memcpy(o.out.data(), bytes->data(), bytes->size());
  return o;
}

/// Programs are numbered through all families.
Family family_of(uint64_t number) { return static_cast<Family>(number % 3); }

class Worker {
 public:
  Worker(const Options& options, Totals& totals, unsigned job)
      : options_(options), totals_(totals), job_(job) {}

  int work() {
    if (options_.gpu) {
      auto driver = golden::Driver::open();
      if (!driver.ok()) {
        std::printf("%s\n", driver.error().what.c_str());
        return 2;
      }
      driver_ = std::move(driver.value());
    }
    const auto begin = std::chrono::steady_clock::now();
    for (uint64_t n; (n = totals_.next++) < options_.first + options_.count;) {
      totals_.at[job_] = n;
      one(n);
      ++totals_.done;
      const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin;
      if (passed.count() > options_.seconds || totals_.failed >= most_failures) break;
      if (lost_) return go_on;
    }
    return 0;
  }

 private:
  void one(uint64_t number) {
    const Family family = family_of(number);
    Job job = random_job(family, number / 3);
    job.strategy = oracle_strategy;
    const Outcome want = run(job);
    if (!want.ran) {
      ++totals_.failed;
      return write(number, job, "evaluator", want.error);
    }
    if (options_.compile) {
      const auto& all = versions(family);
      const Version& v = all[number / 3 * 2654435761u % 65521 % all.size()];
      job.strategy = v.strategy;
      job.width = v.width;
      job.specialize = v.specialize;
      ++totals_.compiled;
      check(number, job, want, run,
            "strategy " + std::to_string(v.strategy) + " width " + std::to_string(v.width) +
                (v.specialize ? "" : " any block"));
    }
    if (driver_) {
      totals_.at[job_] = number | in_gpu_driver;
      // A fault leaves NVIDIA's driver of no use in this process.
      const auto gpu = [&](const Job& j) {
        Outcome o;
        if (lost_) return o.error = "lost", o;
        o = run_on_gpu(*driver_, j, options_.gpu_level);
        lost_ = !o.ran;
        return o;
      };
      check(number, job, want, gpu, "GPU");
      ++totals_.on_gpu;
    }
  }

  void check(uint64_t number, Job job, const Outcome& want, const Runner& runner,
             const std::string& who) {
    const std::string odd = difference(want, runner(job));
    if (odd.empty()) return;
    if (++totals_.failed <= most_reduced && !lost_)
      if (std::string small = smallest(job, runner); !small.empty()) job.ptx = std::move(small);
    write(number, job, who, odd);
  }

  /// Appends to a file of all processes, in one write.
  void write(uint64_t number, const Job& job, const std::string& who, const std::string& what) {
    const uint64_t seed = number / 3 + number % 3 * 1'000'000'000;
    const std::string line = what.substr(0, what.find('\n'));
    std::ostringstream text;
    text << "// seed " << seed << " block " << job.block[0] << " " << job.block[1]
         << (job.exact_nan ? " exact" : "") << "\n// program " << number << ", " << who << ": "
         << line << "\n"
         << job.ptx << "\n";
    std::ofstream(options_.out, std::ios::app) << text.str() << std::flush;
    std::printf("program %llu, %s: %s\n", static_cast<unsigned long long>(number), who.c_str(),
                line.substr(0, 300).c_str());
    std::fflush(stdout);
  }

  const Options& options_;
  Totals& totals_;
  std::optional<golden::Driver> driver_;
  unsigned job_;
  bool lost_ = false;
};

/// A text that begins with `// seed S block X Y`, under every strategy and width.
int run_file(const Options& options) {
  std::stringstream text;
  text << std::ifstream(options.file).rdbuf();
  Job job;
  if (!read_job(text.str(), job))
    return std::fprintf(stderr, "%s does not begin with // seed S block X Y\n",
                        options.file.c_str()),
           2;
  job.strategy = oracle_strategy;
  const Outcome want = run(job);
  if (!want.ran) return std::printf("evaluator: %s\n", want.error.c_str()), 1;
  int code = 0;
  const auto show = [&](const std::string& who, const Outcome& got) {
    const std::string odd = difference(want, got);
    std::printf("%s: %s\n", who.c_str(), odd.empty() ? "agrees" : odd.c_str());
    if (!odd.empty()) code = 1;
  };
  for (const Version& v : versions(Family::plain)) {
    job.strategy = v.strategy;
    job.width = v.width;
    job.specialize = v.specialize;
    show("strategy " + std::to_string(v.strategy) + " width " + std::to_string(v.width) +
             (v.specialize ? "" : " any block"),
         run(job));
  }
  if (!options.gpu) return code;
  auto driver = golden::Driver::open();
  if (!driver.ok()) return std::printf("%s\n", driver.error().what.c_str()), 2;
  show("GPU", run_on_gpu(driver.value(), job, options.gpu_level));
  return code;
}

int main_of(int argc, char** argv) {
  Options options;
  if (!read_options(argc, argv, options))
    return std::fputs(
               "usage: jit_random [--first N] [--count N] [--jobs N] [--seconds S] [--gpu]\n"
               "                  [--no-compile] [--gpu-level 0..4] [--out FILE]\n"
               "       jit_random --file FILE [--gpu]\n",
               stderr),
           2;
  if (!options.file.empty()) return run_file(options);
  auto* totals = static_cast<Totals*>(
      mmap(nullptr, sizeof(Totals), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  if (totals == MAP_FAILED) return std::perror("mmap"), 2;
  totals->next = options.first;
  int bad = 0;
  std::map<pid_t, unsigned> running;
  const auto start = [&](unsigned j) {
    std::fflush(stdout);
    const pid_t pid = fork();
    if (pid == 0) _exit(Worker(options, *totals, j).work());
    running[pid] = j;
  };
  for (unsigned j = 0; j < options.jobs; ++j) start(j);
  int status;
  for (pid_t pid; (pid = wait(&status)) > 0;) {
    if (status == 0) continue;
    const unsigned j = running[pid];
    if (!WIFEXITED(status)) {
      // NVIDIA's compiler at level 0 does, now and then.
      const bool in_driver = totals->at[j] & in_gpu_driver;
      std::printf("program %llu ends its process with signal %d%s\n",
                  static_cast<unsigned long long>(totals->at[j] & ~in_gpu_driver), WTERMSIG(status),
                  in_driver ? " in the GPU's driver" : "");
      if (!in_driver) ++totals->failed;
    } else if (WEXITSTATUS(status) != go_on) {
      ++bad;
      continue;
    }
    start(j);
  }
  std::printf("programs from %llu on: %llu done, %llu compiled, %llu on the GPU, %llu differ\n",
              static_cast<unsigned long long>(options.first),
              static_cast<unsigned long long>(totals->done),
              static_cast<unsigned long long>(totals->compiled),
              static_cast<unsigned long long>(totals->on_gpu),
              static_cast<unsigned long long>(totals->failed));
  return bad || totals->failed ? 1 : 0;
}

}  // namespace
}  // namespace limen::test

int main(int argc, char** argv) { return limen::test::main_of(argc, argv); }
