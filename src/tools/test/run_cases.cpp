// A driver that refuses a kernel names a line: the case that owns it is taken out and the rest runs
// again. Where no line is named, halves are tried until the culprit is alone.
#include "tools/test/run_cases.h"

#include <algorithm>
#include <numeric>
#include <regex>

namespace limen::golden {

namespace {

class Runner {
 public:
  Runner(Driver& driver, const Family& family, const Kernel& kernel,
         const std::vector<uint8_t>& input)
      : driver_(driver),
        family_(family),
        kernel_(kernel),
        input_(input),
        outcomes_(kernel.cases.size()) {}

  std::vector<Outcome> run() {
    std::vector<size_t> all(kernel_.cases.size());
    std::iota(all.begin(), all.end(), 0);
    run(all);
    return std::move(outcomes_);
  }

 private:
  void run(std::vector<size_t> members) {
    while (!members.empty()) {
      std::vector<size_t> lines;
      std::string text = module_text(family_, kernel_, members, &lines);
      auto output = driver_.run(text, kernel_.name, input_, kernel_.output_bytes, kernel_.tuples);
      if (output.ok()) {
        for (size_t member : members) keep(member, output.value());
        return;
      }
      const std::string& message = output.error().what;
      if (members.size() == 1) {
        outcomes_[members[0]].message = message;
        return;
      }
      size_t culprit = owner_of_line(message, lines);
      if (culprit == members.size()) {
        auto middle = members.begin() + static_cast<long>(members.size() / 2);
        run({members.begin(), middle});
        members.erase(members.begin(), middle);
        continue;
      }
      outcomes_[members[culprit]].message = message;
      members.erase(members.begin() + static_cast<long>(culprit));
    }
  }

  void keep(size_t member, const std::vector<uint8_t>& output) {
    const Case& item = kernel_.cases[member];
    auto begin = output.begin() + static_cast<long>(item.offset);
    outcomes_[member].output.assign(
        begin, begin + static_cast<long>(item.bytes_a_tuple() * kernel_.tuples));
  }

  /// Index among the members; lines.size() if the message names no line of a case.
  static size_t owner_of_line(const std::string& message, const std::vector<size_t>& lines) {
    static const std::regex pattern("line (\\d+)");
    std::smatch match;
    if (!std::regex_search(message, match, pattern)) return lines.size();
    size_t line = std::stoul(match[1]);
    auto after = std::upper_bound(lines.begin(), lines.end(), line);
    return after == lines.begin() ? lines.size() : static_cast<size_t>(after - lines.begin()) - 1;
  }

  Driver& driver_;
  const Family& family_;
  const Kernel& kernel_;
  const std::vector<uint8_t>& input_;
  std::vector<Outcome> outcomes_;
};

}  // namespace

std::vector<Outcome> run_cases(Driver& driver, const Family& family, const Kernel& kernel,
                               const std::vector<uint8_t>& input) {
  return Runner(driver, family, kernel, input).run();
}

}  // namespace limen::golden
