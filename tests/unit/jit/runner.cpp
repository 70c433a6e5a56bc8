// See runner.h.
#include "runner.h"

#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <future>
#include <random>
#include <sstream>

#include "compiler/image/image.h"
#include "compiler/ptx/parser.h"
#include "oracle/oracle.h"

namespace limen::test {

namespace {

jit::CompileFn compiler() {
  static jit::CompileFn fn = [] {
    const char* other = std::getenv("LIMEN_TEST_JIT");  // where the build folder is not at hand
    void* lib = dlopen(other ? other : LIMEN_JIT_PATH, RTLD_NOW | RTLD_LOCAL);
    if (!lib) std::fprintf(stderr, "%s\n", dlerror());
    return lib ? reinterpret_cast<jit::CompileFn>(dlsym(lib, "limen_jit_compile")) : nullptr;
  }();
  return fn;
}

engine::Pool& pool() {
  static auto* p = new engine::Pool(engine::PoolOptions{2, false});
  return *p;
}

std::vector<uint8_t> parameters(const Job& job, const void* in, void* out) {
  std::vector<uint8_t> bytes(24);
  const uint32_t n =
      job.grid[0] * job.grid[1] * job.grid[2] * job.block[0] * job.block[1] * job.block[2];
  std::memcpy(bytes.data(), &in, 8);
  std::memcpy(bytes.data() + 8, &out, 8);
  std::memcpy(bytes.data() + 16, &n, 4);
  return bytes;
}

/// Storage of the module's variables, as the engine wants it: address by index.
struct Globals {
  explicit Globals(const ptx::Module& module) {
    for (const ptx::Variable& v : module.variables) {
      storage.emplace_back((v.bytes + 7) / 8 + 1, 0);
      std::memcpy(storage.back().data(), v.init.data(), std::min<size_t>(v.init.size(), v.bytes));
      addresses.push_back(storage.back().data());
    }
  }
  std::vector<std::vector<uint64_t>> storage;
  std::vector<void*> addresses;
};

Outcome evaluate(const Job& job, ptx::Module& module, uint32_t kernel) {
  Outcome o;
  std::vector<uint32_t> in = job.in;
  o.out.assign(job.out_words, 0);
  oracle::Launch launch;
  launch.kernel = kernel;
  std::copy(job.grid, job.grid + 3, launch.grid);
  std::copy(job.block, job.block + 3, launch.block);
  launch.params = parameters(job, in.data(), o.out.data());
  launch.memory = {{in.data(), in.size() * 4}, {o.out.data(), o.out.size() * 4}};
  launch.max_steps = job.max_steps;
  const oracle::Outcome result = oracle::evaluate(module, launch);
  o.ran = result.ran;
  o.error = result.error;
  return o;
}

/// Words that end where the machine's pages do, with a page behind them that nobody may touch.
class Guarded {
 public:
  explicit Guarded(const std::vector<uint32_t>& words) {
    constexpr size_t page = 4096, aligned = 16;
    const size_t bytes = (words.size() * 4 + aligned - 1) / aligned * aligned;
    const size_t pages = (bytes + page - 1) / page * page;
    mapped_ = pages + page;
    void* at = mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) std::abort();
    mapping_ = static_cast<uint8_t*>(at);
    mprotect(mapping_ + pages, page, PROT_NONE);
    words_ = reinterpret_cast<uint32_t*>(mapping_ + pages - bytes);
    std::copy(words.begin(), words.end(), words_);
  }
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;
  ~Guarded() { munmap(mapping_, mapped_); }
  uint32_t* words() const { return words_; }

 private:
  uint8_t* mapping_ = nullptr;
  size_t mapped_ = 0;
  uint32_t* words_ = nullptr;
};

constexpr size_t shared_words = 16;  ///< that all threads add to, behind those of each

}  // namespace

Job job_of(uint64_t seed, uint32_t block_x, uint32_t block_y) {
  Job job;
  job.grid[0] = 3;
  job.block[0] = block_x;
  job.block[1] = block_y;
  std::mt19937 random(static_cast<uint32_t>(seed));
  job.in.resize(4096);
  for (auto& w : job.in) w = random() % 3 ? random() % 64 : random();
  job.out_words = size_t{16} * 3 * block_x * block_y + shared_words;
  return job;
}

bool read_job(const std::string& text, Job& job) {
  unsigned long long seed = 0;
  unsigned x = 0, y = 0;
  int read = 0;
  if (std::sscanf(text.c_str(), "// seed %llu block %u %u%n", &seed, &x, &y, &read) != 3)
    return false;
  job = job_of(seed, x, y);
  job.ptx = text;
  job.exact_nan = text.substr(static_cast<size_t>(read)).starts_with(" exact");
  return true;
}

Job random_job(Family family, uint64_t seed) {
  struct Shape {
    uint32_t x, y;
  };
  static constexpr Shape any[] = {{32, 1}, {64, 2}, {16, 4}, {8, 8},  {33, 1},
                                  {96, 1}, {12, 5}, {4, 16}, {128, 1}};
  static constexpr Shape whole[] = {{32, 1}, {64, 2}, {16, 4}, {8, 8}, {96, 1}, {128, 1}};
  const bool warp = family == Family::warp;
  const bool barriers = family == Family::barriers || (warp && seed % 2 == 0);
  const Shape shape = warp ? whole[seed % std::size(whole)] : any[seed % std::size(any)];
  const uint64_t own = seed + static_cast<uint64_t>(family) * 1'000'000'000;
  Job job = job_of(own, shape.x, shape.y);
  job.exact_nan = seed % 4 == 1;
  job.ptx = random_program(own, barriers, warp, job.exact_nan);
  return job;
}

const std::vector<Version>& versions(Family family) {
  static const std::vector<Version> all = {
      {0, 4, true},   {0, 8, true}, {0, 16, true}, {0, 32, true},
      {0, 16, false}, {1, 0, true}, {2, 0, true},  {jit::independent_lanes, 0, true}};
  static const std::vector<Version> warp = {
      {0, 32, true}, {0, 32, false}, {1, 0, true}, {2, 0, true}, {jit::independent_lanes, 0, true}};
  return family == Family::warp ? warp : all;
}

Outcome run(const Job& job) {
  Outcome o;
  auto module = ptx::parse_module(job.ptx);
  if (!module) return o.error = module.error().what, o;
  ptx::Module& m = **module;
  uint32_t kernel = 0;
  while (kernel < m.functions.size() && !m.functions[kernel].is_entry) ++kernel;
  if (job.strategy == oracle_strategy) return evaluate(job, m, kernel);
  jit::Specialization spec;
  if (job.specialize) {
    std::copy(job.block, job.block + 3, spec.block);
    spec.small_grid = true;
  }
  spec.strategy = job.strategy;
  spec.width = job.width;
  spec.exact_nan = job.exact_nan;
  if (!compiler()) return o.error = "no compiler", o;
  auto compiled = compiler()(m, kernel, spec);
  if (!compiled) return o.error = compiled.error().what, o;
  o.meta = compiled->meta;
  auto code = image::load_object(compiled->object, "test");
  if (!code) return o.error = code.error().what, o;
  auto kc = std::make_shared<engine::KernelCode>();
  kc->meta = compiled->meta;
  kc->name = m.functions[kernel].name;
  kc->code_begin = (*code)->begin();
  kc->code_end = (*code)->end();
  if (o.meta.strategy == kernel::Strategy::region)
    kc->block_fn = reinterpret_cast<kernel::BlockFn>(const_cast<void*>((*code)->entry()));
  else
    kc->warp_fn = reinterpret_cast<kernel::WarpFn>(const_cast<void*>((*code)->entry()));
  const Guarded in(job.in), out(std::vector<uint32_t>(job.out_words, 0));
  auto grid = std::make_unique<engine::GridSpec>();
  grid->code = kc;
  const std::vector<uint8_t> params = parameters(job, in.words(), out.words());
  grid->params.resize(params.size());
  std::copy(params.begin(), params.end(), grid->params.begin());
  std::copy(job.grid, job.grid + 3, grid->grid);
  std::copy(job.block, job.block + 3, grid->block);
  auto globals = std::make_shared<Globals>(m);
  grid->globals = globals->addresses.data();
  grid->keep_alive = globals;
  std::promise<engine::FaultInfo> done;
  grid->done = [&](const engine::FaultInfo& f) { done.set_value(f); };
  grid->print = [](const char*, size_t) {};
  grid->device_malloc = [](uint64_t) { return uint64_t{0}; };
  grid->device_free = [](uint64_t) { return false; };
  pool().submit(std::move(grid));
  engine::FaultInfo f = done.get_future().get();
  o.ran = f.kind == kernel::Fault::none;
  o.out.assign(out.words(), out.words() + job.out_words);
  if (!o.ran) o.error = f.message;
  return o;
}

std::string code_of(const Job& job) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::temp_directory_path() / ("limen_code_of." + std::to_string(getpid()));
  fs::remove_all(folder);
  fs::create_directories(folder);
  setenv("LIMEN_DUMP_DIR", folder.c_str(), 1);
  const Outcome got = run(job);
  unsetenv("LIMEN_DUMP_DIR");
  std::stringstream text;
  for (const auto& file : fs::directory_iterator(folder))
    if (file.path().string().ends_with(".opt.ll")) text << std::ifstream(file.path()).rdbuf();
  fs::remove_all(folder);
  return got.ran ? text.str() : "";
}

}  // namespace limen::test
