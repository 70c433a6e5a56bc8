// Compiles kernels for named levels of x86-64 and writes their object files; runs nothing.
// usage: emit_objects <jobs>     one job a line, fields apart by tabs:
//          target, PTX file, kernel, block dimensions (3), residency, object file
//        emit_objects --llvm     prints the version of LLVM that the compiler is built with
// Jobs of one target and file stand together: each such group reads the file anew, so that no
// kernel's code depends on what was compiled before it.
#include <dlfcn.h>

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "compiler/jit/compile.h"
#include "compiler/ptx/parser.h"

namespace {

using namespace limen;

struct Job {
  std::string ptx, kernel, object, residency;
  jit::Specialization spec;
};

bool read_job(const std::string& line, Job& job) {
  std::istringstream in(line);
  auto word = [&](std::string& out) { return bool(std::getline(in, out, '\t')); };
  std::string block[3];
  if (!word(job.spec.target) || !word(job.ptx) || !word(job.kernel) || !word(block[0]) ||
      !word(block[1]) || !word(block[2]) || !word(job.residency) || !word(job.object))
    return false;
  for (int i = 0; i < 3; ++i)
    if (std::sscanf(block[i].c_str(), "%u", &job.spec.block[i]) != 1) return false;
  if (job.residency == "cooperative")
    job.spec.residency = jit::Residency::cooperative;
  else if (job.residency == "cluster")
    job.spec.residency = jit::Residency::cluster;
  else if (job.residency != "free")
    return false;
  job.spec.small_grid = true;
  return true;
}

std::string read_text(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// The object, or what is wrong in `error`.
std::vector<uint8_t> compile(jit::CompileFn fn, ptx::Module& module, const Job& job,
                             std::string& error) {
  const auto found = module.function_index.find(job.kernel);
  if (found == module.function_index.end())
    return error = "is not in " + job.ptx, std::vector<uint8_t>{};
  auto compiled = fn(module, found->second, job.spec);
  if (!compiled.ok()) return error = compiled.error().what, std::vector<uint8_t>{};
  return std::move(compiled->object);
}

int run(const char* list, jit::CompileFn fn) {
  std::ifstream jobs(list);
  std::string line, open;
  std::unique_ptr<ptx::Module> module;
  int failed = jobs ? 0 : 1;
  while (std::getline(jobs, line)) {
    Job job;
    if (!read_job(line, job)) return std::fprintf(stderr, "not a job: %s\n", line.c_str()), 2;
    if (open != job.spec.target + job.ptx) {
      auto parsed = ptx::parse_module(read_text(job.ptx));
      if (!parsed.ok())
        return std::fprintf(stderr, "%s: %s\n", job.ptx.c_str(), parsed.error().what.c_str()), 1;
      module = std::move(parsed.value());
      open = job.spec.target + job.ptx;
    }
    std::string error;
    const std::vector<uint8_t> object = compile(fn, *module, job, error);
    std::ofstream out(job.object, std::ios::binary);
    out.write(reinterpret_cast<const char*>(object.data()),
              static_cast<std::streamsize>(object.size()));
    if (error.empty() && !out.flush()) error = "cannot write " + job.object;
    if (error.empty()) continue;
    std::fprintf(stderr, "%s for %s: %s\n", job.kernel.c_str(), job.spec.target.c_str(),
                 error.c_str());
    failed = 1;
  }
  return failed;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::string(argv[1]) == "--llvm") return std::puts(LIMEN_TEST_LLVM), 0;
  if (argc != 2) return std::fprintf(stderr, "usage: emit_objects <jobs> | --llvm\n"), 2;
  void* library = dlopen(LIMEN_JIT_PATH, RTLD_NOW | RTLD_LOCAL);
  if (!library) return std::fprintf(stderr, "%s\n", dlerror()), 1;
  return run(argv[1], reinterpret_cast<jit::CompileFn>(dlsym(library, "limen_jit_compile")));
}
