// Format version 1. The header's lines are "key value"; an empty line ends it.
#include "tools/test/golden_file.h"

#include <fmt/format.h>
#include <zstd.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>

namespace limen::golden {

namespace {

constexpr const char* magic = "limen-golden 1";
constexpr int final_level = 19, probe_level = 1;
/// Earlier cases tried as a base; near ones differ by a modifier.
constexpr size_t bases_tried = 24;

using Bytes = std::vector<uint8_t>;

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> out;
  std::istringstream stream(text);
  std::string word;
  while (std::getline(stream, word, separator)) out.push_back(word);
  return out;
}

/// Output planes to stored planes: byte k of all tuples together, a predicate's tuples to bits.
Bytes pack(const RecordedCase& item, size_t tuples) {
  Bytes out;
  size_t at = 0;
  for (const std::string& type : split(item.outs, ',')) {
    unsigned bytes = out_sizes(type)[0];
    if (type == "pred") {
      Bytes bits((tuples + 7) / 8, 0);
      for (size_t t = 0; t < tuples; ++t)
        bits[t / 8] |= static_cast<uint8_t>((item.output[at + t] & 1) << t % 8);
      out.insert(out.end(), bits.begin(), bits.end());
    } else {
      for (unsigned k = 0; k < bytes; ++k)
        for (size_t t = 0; t < tuples; ++t) out.push_back(item.output[at + t * bytes + k]);
    }
    at += tuples * bytes;
  }
  return out;
}

size_t packed_size(const std::string& outs, size_t tuples) {
  size_t size = 0;
  for (const std::string& type : split(outs, ','))
    size += type == "pred" ? (tuples + 7) / 8 : out_sizes(type)[0] * tuples;
  return size;
}

Bytes unpack(const std::string& outs, const uint8_t* packed, size_t tuples) {
  Bytes out;
  for (const std::string& type : split(outs, ',')) {
    unsigned bytes = out_sizes(type)[0];
    if (type == "pred") {
      for (size_t t = 0; t < tuples; ++t) out.push_back(packed[t / 8] >> t % 8 & 1);
      packed += (tuples + 7) / 8;
      continue;
    }
    for (size_t t = 0; t < tuples; ++t)
      for (unsigned k = 0; k < bytes; ++k) out.push_back(packed[k * tuples + t]);
    packed += tuples * bytes;
  }
  return out;
}

Bytes compress(const Bytes& bytes, int level) {
  Bytes out(ZSTD_compressBound(bytes.size()));
  ZSTD_CCtx* context = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, level);
  if (level == final_level) {
    ZSTD_CCtx_setParameter(context, ZSTD_c_enableLongDistanceMatching, 1);
    ZSTD_CCtx_setParameter(context, ZSTD_c_windowLog, 26);
  }
  out.resize(ZSTD_compress2(context, out.data(), out.size(), bytes.data(), bytes.size()));
  ZSTD_freeCCtx(context);
  return out;
}

void exclude(Bytes& bytes, const uint8_t* other) {
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] ^= other[i];
}

size_t tuples_of(const std::string& signature) { return std::stoul(signature); }

/// How many cases back the best base stands; 0: none is better than none.
size_t best_base(const std::vector<Bytes>& packed, const GoldenFile& golden, size_t at) {
  size_t best = 0, best_size = compress(packed[at], probe_level).size();
  for (size_t back = 1; back <= std::min(at, bases_tried); ++back) {
    const RecordedCase& other = golden.cases[at - back];
    if (other.outs != golden.cases[at].outs || other.signature != golden.cases[at].signature)
      continue;
    Bytes difference = packed[at];
    exclude(difference, packed[at - back].data());
    size_t size = compress(difference, probe_level).size();
    if (size < best_size) {
      best = back;
      best_size = size;
    }
  }
  return best;
}

Error broken(const std::string& path, const std::string& why) {
  return {Code::invalid_source, fmt::format("{}: {}", path, why), "record it anew"};
}

}  // namespace

std::vector<unsigned> out_sizes(const std::string& outs) {
  std::vector<unsigned> sizes;
  for (const std::string& type : split(outs, ',')) {
    bool byte = type == "pred" || type == "b8", half = type == "b16";
    sizes.push_back(byte ? 1 : half ? 2 : type == "b64" || type == "f64" ? 8 : 4);
  }
  return sizes;
}

Result<void> write_golden(const GoldenFile& golden, const std::string& path) {
  std::string index;
  std::vector<Bytes> packed;
  Bytes data;
  for (size_t i = 0; i < golden.cases.size(); ++i) {
    const RecordedCase& item = golden.cases[i];
    packed.push_back(pack(item, tuples_of(item.signature)));
    size_t base = best_base(packed, golden, i);
    Bytes stored = packed.back();
    if (base) exclude(stored, packed[i - base].data());
    data.insert(data.end(), stored.begin(), stored.end());
    index += fmt::format("{}\t{}\t{:08x}\t{}\t{}\t{}\n", item.signature, item.outs, item.input_hash,
                         base, item.bound, item.name);
  }
  Bytes raw(index.begin(), index.end());
  raw.push_back(0);
  raw.insert(raw.end(), data.begin(), data.end());
  Bytes frame = compress(raw, final_level);
  std::ofstream file(path, std::ios::binary);
  file << magic << "\nfamily " << golden.family << "\ndriver " << golden.driver << "\ndevice "
       << golden.device << "\ndate " << golden.date << "\ncases " << golden.cases.size() << "\nraw "
       << raw.size() << "\n\n";
  file.write(reinterpret_cast<const char*>(frame.data()),
             static_cast<std::streamsize>(frame.size()));
  if (!file.flush()) return Error{Code::operating_system, path + " cannot be written", ""};
  return {};
}

Result<GoldenFile> read_golden(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string line;
  if (!file || !std::getline(file, line)) return broken(path, "cannot be read");
  if (line != magic) return broken(path, "is no golden of version 1");
  std::map<std::string, std::string> header;
  while (std::getline(file, line) && !line.empty()) {
    size_t space = line.find(' ');
    if (space == std::string::npos) return broken(path, "has a header line without a value");
    header[line.substr(0, space)] = line.substr(space + 1);
  }
  std::stringstream rest;
  rest << file.rdbuf();
  std::string frame = rest.str();
  Bytes raw(std::strtoul(header["raw"].c_str(), nullptr, 10));
  ZSTD_DCtx* context = ZSTD_createDCtx();
  ZSTD_DCtx_setParameter(context, ZSTD_d_windowLogMax, 27);
  size_t size = ZSTD_decompressDCtx(context, raw.data(), raw.size(), frame.data(), frame.size());
  ZSTD_freeDCtx(context);
  if (ZSTD_isError(size) || size != raw.size()) return broken(path, "is damaged");
  auto end = std::find(raw.begin(), raw.end(), 0);
  if (end == raw.end()) return broken(path, "has no outputs");

  GoldenFile golden{header["family"], header["driver"], header["device"], header["date"], {}};
  std::vector<Bytes> packed;
  size_t at = static_cast<size_t>(end - raw.begin()) + 1;
  for (const std::string& entry : split(std::string(raw.begin(), end), '\n')) {
    std::vector<std::string> words = split(entry, '\t');
    if (words.size() != 6) return broken(path, "has an index line of another form");
    RecordedCase item{words[5],
                      words[4],
                      words[1],
                      words[0],
                      static_cast<uint32_t>(std::strtoul(words[2].c_str(), nullptr, 16)),
                      {}};
    size_t tuples = tuples_of(item.signature), bytes = packed_size(item.outs, tuples);
    size_t base = std::strtoul(words[3].c_str(), nullptr, 10);
    if (bytes > raw.size() - at || base > packed.size()) return broken(path, "ends early");
    packed.emplace_back(raw.begin() + static_cast<long>(at),
                        raw.begin() + static_cast<long>(at + bytes));
    if (base) {
      const Bytes& other = packed[packed.size() - 1 - base];
      if (other.size() != bytes) return broken(path, "has a base of another size");
      exclude(packed.back(), other.data());
    }
    item.output = unpack(item.outs, packed.back().data(), tuples);
    at += bytes;
    golden.cases.push_back(std::move(item));
  }
  return golden;
}

}  // namespace limen::golden
