// Reads the marked PTX line by line. The grammar is that of golden_cases.kernel_text.
#include "tools/test/cases.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <sstream>

namespace limen::golden {

unsigned Case::bytes_a_tuple() const {
  unsigned sum = 0;
  for (unsigned bytes : out_bytes) sum += bytes;
  return sum;
}

std::string Kernel::signature() const {
  std::string text = fmt::format("{}", tuples);
  for (const Column& column : columns) text += " " + column.value_class;
  return text;
}

namespace {

unsigned register_bytes(const std::string& type) {
  if (type == "pred" || type == "b8") return 1;
  if (type == "b16") return 2;
  if (type == "b32" || type == "f32") return 4;
  if (type == "b64" || type == "f64") return 8;
  return 0;
}

/// `k3 1024 a=i32 b=i32`
bool read_kernel(const std::string& text, Kernel& kernel) {
  std::istringstream words(text);
  words >> kernel.name >> kernel.tuples;
  std::string word;
  while (words >> word) {
    size_t equals = word.find('=');
    if (equals == std::string::npos) return false;
    kernel.columns.push_back({word.substr(0, equals), word.substr(equals + 1)});
  }
  return kernel.tuples > 0;
}

/// `exact b32,pred add.u32 d, a, b` or `bounded[rel 2^-22] f32 ...`
bool read_case(const std::string& text, Case& item) {
  size_t at = 0;
  if (text.rfind("bounded[", 0) == 0) {
    at = text.find(']');
    if (at == std::string::npos) return false;
    item.bound = text.substr(8, at - 8);
    at += 2;
  } else if (text.rfind("exact ", 0) == 0) {
    at = 6;
  } else {
    return false;
  }
  size_t space = text.find(' ', at);
  if (space == std::string::npos) return false;
  item.outs = text.substr(at, space - at);
  item.name = text.substr(space + 1);
  std::istringstream types(item.outs);
  std::string type;
  while (std::getline(types, type, ',')) item.out_bytes.push_back(register_bytes(type));
  return !item.out_bytes.empty() &&
         std::find(item.out_bytes.begin(), item.out_bytes.end(), 0) == item.out_bytes.end();
}

}  // namespace

Result<Family> read_family(const std::string& path) {
  std::ifstream file(path);
  if (!file)
    return Error{Code::file_not_found, path + " cannot be read", "build the target goldens"};
  Family family;
  std::string line;
  enum { header, prologue, body, epilogue } place = header;
  for (size_t number = 1; std::getline(file, line); ++number) {
    bool good = true;
    if (line.rfind("//! family ", 0) == 0) {
      family.name = line.substr(11);
    } else if (line.rfind("//! kernel ", 0) == 0) {
      good = read_kernel(line.substr(11), family.kernels.emplace_back());
      place = prologue;
    } else if (line.rfind("//! case ", 0) == 0) {
      Kernel& kernel = family.kernels.back();
      Case item;
      good = read_case(line.substr(9), item);
      item.offset = kernel.output_bytes;
      kernel.output_bytes += size_t{item.bytes_a_tuple()} * kernel.tuples;
      kernel.cases.push_back(std::move(item));
      place = body;
    } else if (line == "//! end") {
      place = epilogue;
    } else if (place == header) {
      family.header += line + "\n";
    } else if (place == prologue) {
      family.kernels.back().prologue += line + "\n";
    } else if (place == body) {
      family.kernels.back().cases.back().body += line + "\n";
    }
    if (!good)
      return Error{Code::invalid_source, fmt::format("{}: line {}: {}", path, number, line), ""};
  }
  if (family.name.empty()) return Error{Code::invalid_source, path + " names no family", ""};
  return family;
}

std::string module_text(const Family& family, const Kernel& kernel,
                        const std::vector<size_t>& members, std::vector<size_t>* first_lines) {
  std::string text = family.header + kernel.prologue;
  size_t line = 1 + static_cast<size_t>(std::count(text.begin(), text.end(), '\n'));
  for (size_t member : members) {
    const std::string& body = kernel.cases[member].body;
    if (first_lines) first_lines->push_back(line);
    line += static_cast<size_t>(std::count(body.begin(), body.end(), '\n'));
    text += body;
  }
  return text + "  ret;\n}\n";
}

}  // namespace limen::golden
