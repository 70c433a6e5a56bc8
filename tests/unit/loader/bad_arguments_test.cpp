// Every exported function with wrong arguments of every kind, generated from the table: handles
// that were never made, that are gone, that lie beside a live one; addresses that are foreign,
// freed, misaligned or past everything; sizes and numbers from -1 to the largest. No call may crash
// or hang, and a call that was given a wrong handle may not succeed. Each function runs in a
// process of its own, once a round; known exceptions stand in bad_arguments_known.txt with their
// reason.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "abi/cuda_abi.h"

namespace limen::test {
namespace {

using AnyCall = CUresult (*)(long, long, long, long, long, long, long, long, long, long, long, long,
                             long, long, long, long);
constexpr const char* rounds[] = {"foreign", "freed", "misaligned", "huge", "negative", "valid"};
constexpr int round_count = 6;
constexpr size_t most_arguments = 16;
constexpr int not_run = -1;

struct Function {
  std::string name;
  std::vector<std::string> arguments;
};

std::vector<Function> read_functions() {
  std::vector<Function> functions;
  std::ifstream file(ARGUMENTS);
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    Function one;
    words >> one.name;
    for (std::string word; words >> word;) one.arguments.push_back(word);
    functions.push_back(one);
  }
  return functions;
}

constexpr const char* ptx = R"(
.version 7.0
.target sm_70
.address_size 64
.global .texref picture;
.visible .entry nothing(.param .u64 a) { ret; }
)";

/// Objects of one life: made twice, one set is then taken down again.
struct Objects {
  std::map<std::string, long> handles;
  long memory = 0, stream = 0;
};

void* library = nullptr;
template <typename... Args>
CUresult call(const char* name, Args... args) {
  return reinterpret_cast<CUresult (*)(Args...)>(dlsym(library, name))(args...);
}

void must(CUresult result) {
  if (result != CUDA_SUCCESS) _exit(2);
}

Objects make_objects() {
  Objects made;
  auto keep = [&](const char* type, const void* handle) {
    made.handles[type] = reinterpret_cast<long>(handle);
  };
  CUcontext context = nullptr;
  must(call("cuCtxCreate_v2", &context, 0u, 0));
  keep("CUcontext", context);
  CUdeviceptr memory = 0;
  must(call("cuMemAlloc_v2", &memory, size_t{65536}));
  made.memory = static_cast<long>(memory);
  CUstream stream = nullptr;
  must(call("cuStreamCreate", &stream, 0u));
  made.stream = reinterpret_cast<long>(stream);
  CUevent event = nullptr;
  must(call("cuEventCreate", &event, 0u));
  keep("CUevent", event);
  CUmodule module = nullptr;
  must(call("cuModuleLoadData", &module, static_cast<const void*>(ptx)));
  keep("CUmodule", module);
  CUfunction function = nullptr;
  must(call("cuModuleGetFunction", &function, module, "nothing"));
  keep("CUfunction", function);
  CUtexref reference = nullptr;
  must(call("cuModuleGetTexRef", &reference, module, "picture"));
  keep("CUtexref", reference);
  CUlibrary loaded = nullptr;
  must(call("cuLibraryLoadData", &loaded, static_cast<const void*>(ptx),
            static_cast<void*>(nullptr), static_cast<void*>(nullptr), 0u,
            static_cast<void*>(nullptr), static_cast<void*>(nullptr), 0u));
  keep("CUlibrary", loaded);
  CUkernel kernel = nullptr;
  must(call("cuLibraryGetKernel", &kernel, loaded, "nothing"));
  keep("CUkernel", kernel);
  CUlinkState link = nullptr;
  must(
      call("cuLinkCreate_v2", 0u, static_cast<void*>(nullptr), static_cast<void*>(nullptr), &link));
  keep("CUlinkState", link);
  CUDA_ARRAY_DESCRIPTOR shape{8, 8, CU_AD_FORMAT_FLOAT, 1};
  CUarray array = nullptr;
  must(call("cuArrayCreate_v2", &array, &shape));
  keep("CUarray", array);
  CUmemPoolProps props{};
  props.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  props.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  CUmemoryPool pool = nullptr;
  must(call("cuMemPoolCreate", &pool, &props));
  keep("CUmemoryPool", pool);
  CUgraph graph = nullptr;
  if (call("cuGraphCreate", &graph, 0u) == CUDA_SUCCESS) keep("CUgraph", graph);
  return made;
}

void destroy_objects(const Objects& made) {
  auto of = [&](const char* type) { return made.handles.at(type); };
  call("cuMemFree_v2", made.memory);
  call("cuStreamDestroy_v2", made.stream);
  call("cuEventDestroy_v2", of("CUevent"));
  call("cuModuleUnload", of("CUmodule"));
  call("cuLibraryUnload", of("CUlibrary"));
  call("cuLinkDestroy", of("CUlinkState"));
  call("cuArrayDestroy", of("CUarray"));
  call("cuMemPoolDestroy", of("CUmemoryPool"));
  if (made.handles.contains("CUgraph")) call("cuGraphDestroy", of("CUgraph"));
  call("cuCtxDestroy_v2", of("CUcontext"));
}

void callback() {}

/// Room that an output may fill, zeroed: also an input whose fields are all 0.
long buffer(size_t index) {
  constexpr size_t bytes = 64 << 10;
  static unsigned char* all = static_cast<unsigned char*>(mmap(
      nullptr, bytes * most_arguments, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  return reinterpret_cast<long>(all + bytes * index);
}

long handle_value(const std::string& round, const std::string& type, const Objects& live,
                  const Objects& gone) {
  auto find = [&](const Objects& from) {
    auto found = from.handles.find(type);
    return found == from.handles.end() ? buffer(most_arguments - 1) : found->second;
  };
  if (round == "foreign") return buffer(most_arguments - 1);
  if (round == "freed") return find(gone);
  if (round == "misaligned") return find(live) + 1;
  if (round == "huge") return ~7L;
  return find(live);
}

long address_value(const std::string& round, const Objects& live, const Objects& gone) {
  if (round == "foreign") return buffer(most_arguments - 1);
  if (round == "freed") return gone.memory;
  if (round == "misaligned") return live.memory + 1;
  if (round == "huge") return ~7L;
  return live.memory;
}

long stream_value(const std::string& round, const Objects& live, const Objects& gone) {
  if (round == "foreign") return buffer(most_arguments - 1);
  if (round == "freed") return gone.stream;
  if (round == "misaligned") return live.stream + 1;
  if (round == "huge") return ~7L;
  return live.stream;
}

long number_value(const std::string& round, bool wide) {
  if (round == "freed") return 1;
  if (round == "misaligned") return 3;
  if (round == "huge") return wide ? ~0L : 0x7fffffff;
  if (round == "negative") return wide ? 0 : -1;
  return 0;
}

long value_of(const std::string& kind, size_t index, const std::string& round, const Objects& live,
              const Objects& gone) {
  const bool huge = round == "huge";
  switch (kind[0]) {
    case 'h':
      return handle_value(round, kind.substr(2), live, gone);
    case 't':
      return stream_value(round, live, gone);
    case 'd':
      return address_value(round, live, gone);
    case 'p':
      return huge ? 0 : buffer(index);  // nothing that a count of the largest size could lie in
    case 's': {
      static const std::string longest(100000, 'x');
      return reinterpret_cast<long>(huge ? longest.c_str() : "");
    }
    case 'f':
      return huge ? 0 : reinterpret_cast<long>(&callback);
    case 'v':
      return round == "valid" || round == "freed" ? 0 : number_value(round, false);
    default:
      return number_value(round, kind[0] == 'n');
  }
}

struct Progress {
  int round;
  int codes[round_count];
};

[[noreturn]] void run_function(const Function& function, Progress& progress) {
  library = dlopen(LIBCUDA, RTLD_NOW | RTLD_LOCAL);
  if (!library || call("cuInit", 0u) != CUDA_SUCCESS) _exit(2);
  auto target = reinterpret_cast<AnyCall>(dlsym(library, function.name.c_str()));
  for (int round = 0; round < round_count; ++round) {
    // Anew for each: what one round frees must not be the next one's live object.
    Objects gone = make_objects();
    destroy_objects(gone);
    Objects live = make_objects();
    long values[most_arguments] = {};
    for (size_t i = 0; i < function.arguments.size(); ++i)
      values[i] = value_of(function.arguments[i], i, rounds[round], live, gone);
    progress.round = round;
    alarm(20);
    progress.codes[round] = target(values[0], values[1], values[2], values[3], values[4], values[5],
                                   values[6], values[7], values[8], values[9], values[10],
                                   values[11], values[12], values[13], values[14], values[15]);
    // A capture that was begun would forbid the next round's set-up.
    CUgraph captured = nullptr;
    call("cuStreamEndCapture", live.stream, &captured);
  }
  progress.round = round_count;
  _exit(0);
}

/// Known exceptions: "symbol round reason".
std::set<std::string> read_known() {
  std::set<std::string> known;
  std::ifstream file(KNOWN);
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream words(line);
    std::string symbol, round;
    words >> symbol >> round;
    known.insert(symbol + " " + round);
  }
  return known;
}

bool has_required_handle(const Function& function) {
  for (const std::string& kind : function.arguments)
    if (kind[0] == 'h' || kind[0] == 't') return true;
  return false;
}

TEST(BadArguments, NeverCrashNorSucceed) {
  setenv("LIMEN_LOG", "off", 1);
  const std::vector<Function> functions = read_functions();
  ASSERT_GT(functions.size(), 600u);
  const std::set<std::string> known = read_known();
  const char* only = std::getenv("ONLY");
  auto* progress = static_cast<Progress*>(
      mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  int calls = 0;
  for (const Function& function : functions) {
    if (function.name == "cuInit" || (only && function.name.find(only) == std::string::npos))
      continue;
    progress->round = -1;
    std::fill_n(progress->codes, round_count, not_run);
    pid_t child = fork();
    if (child == 0) run_function(function, *progress);
    int status = 0;
    waitpid(child, &status, 0);
    if (progress->round != round_count) {
      const std::string where =
          function.name + " " + (progress->round < 0 ? "setup" : rounds[progress->round]);
      EXPECT_TRUE(known.contains(where))
          << where << ": "
          << (WIFSIGNALED(status) ? "signal " + std::to_string(WTERMSIG(status))
                                  : "exit " + std::to_string(WEXITSTATUS(status)));
      continue;
    }
    for (int round = 0; round < round_count; ++round) {
      ++calls;
      const int code = progress->codes[round];
      EXPECT_TRUE(code >= 0 && code <= 999) << function.name << " " << rounds[round] << " " << code;
      const bool wrong_handle = round < 4 && has_required_handle(function);
      if (wrong_handle && code == CUDA_SUCCESS) {
        EXPECT_TRUE(known.contains(function.name + " " + rounds[round]))
            << function.name << " succeeds in the round " << rounds[round];
      }
    }
  }
  std::printf("%d calls\n", calls);
}

}  // namespace
}  // namespace limen::test
