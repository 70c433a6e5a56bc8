// limen: the command line. Dispatches to a verb and knows nothing of what verbs do.
// Single-threaded: nothing here starts a thread, so that `run` may hand the process over cleanly.
#include "tools/verb.h"

#include <fmt/format.h>

#include <cstdio>

namespace limen::tools {

const std::vector<Verb>& verbs() {
  static const std::vector<Verb> all = {
      {"run", "run a CUDA program on Limen's devices", run_verb, run_help},
      {"env", "list the variables that steer Limen, with their values", env_verb, env_help},
  };
  return all;
}

void print_error(const Error& error) {
  fmt::print(stderr, "limen: {}\n", error.what);
  if (!error.remedy.empty()) fmt::print(stderr, "limen: {}\n", error.remedy);
}

namespace {

void print_overview(std::FILE* out) {
  fmt::print(out, "usage: limen VERB [options] [arguments]\n\n");
  for (const Verb& verb : verbs()) fmt::print(out, "  {:<6} {}\n", verb.name, verb.summary);
  fmt::print(out,
             "  help   say more of a verb: limen help VERB\n\n"
             "limen --version prints the version.\n");
}

const Verb* find_verb(const std::string& name) {
  for (const Verb& verb : verbs()) {
    if (name == verb.name) return &verb;
  }
  return nullptr;
}

int help(const Words& words) {
  if (words.empty()) {
    print_overview(stdout);
    return 0;
  }
  const Verb* verb = find_verb(words[0]);
  if (!verb) {
    print_error({Code::invalid_value, fmt::format("there is no verb '{}'", words[0]), ""});
    print_overview(stderr);
    return exit_usage;
  }
  verb->help();
  return 0;
}

int dispatch(const Words& words) {
  if (words.empty()) {
    print_overview(stderr);
    return exit_usage;
  }
  const std::string& name = words[0];
  Words rest(words.begin() + 1, words.end());
  if (name == "--version" || name == "version") {
    fmt::print("limen {}\n", LIMEN_VERSION);
    return 0;
  }
  if (name == "help" || name == "--help" || name == "-h") return help(rest);
  if (const Verb* verb = find_verb(name)) return verb->run(rest);
  const char* kind = name[0] == '-' ? "unknown option" : "there is no verb";
  print_error({Code::invalid_value, fmt::format("{} '{}'", kind, name), ""});
  print_overview(stderr);
  return exit_usage;
}

}  // namespace
}  // namespace limen::tools

int main(int argc, char** argv) {
  int code = limen::tools::dispatch({argv + (argc > 0 ? 1 : 0), argv + argc});
  if (std::fflush(stdout) != 0 && code == 0) {
    std::perror("limen: cannot write to standard output");
    return limen::tools::exit_failed;
  }
  return code;
}
