// Runs of pages with the same advice. See the header. Thread rule: see the header.
#include "drivers/cpu/memory/advice.h"

#include <iterator>

namespace limen::cpu {

namespace {

bool same(const CUmemLocation& a, const CUmemLocation& b) {
  return a.type == b.type && a.id == b.id;
}

bool same(const Advice& a, const Advice& b) {
  return a.read_mostly == b.read_mostly && a.accessed_by_host == b.accessed_by_host &&
         a.accessed_by == b.accessed_by && same(a.preferred, b.preferred) &&
         same(a.last_prefetch, b.last_prefetch);
}

const Advice no_advice{};

}  // namespace

const Advice& PageAdvice::at(uint64_t page) const {
  auto next = runs_.upper_bound(page);
  return next == runs_.begin() ? no_advice : std::prev(next)->second;
}

void PageAdvice::split(uint64_t page) { runs_.try_emplace(page, at(page)); }

void PageAdvice::merge(uint64_t first, uint64_t end) {
  auto run = runs_.find(first);
  while (run != runs_.end() && run->first <= end) {
    const Advice& before = run == runs_.begin() ? no_advice : std::prev(run)->second;
    run = same(before, run->second) ? runs_.erase(run) : std::next(run);
  }
}

Advice PageAdvice::common(uint64_t address, uint64_t bytes) const {
  const uint64_t first = address / page_bytes, end = end_page(address, bytes);
  Advice all = at(first);
  for (auto run = runs_.upper_bound(first); run != runs_.end() && run->first < end; ++run) {
    const Advice& next = run->second;
    all.read_mostly &= next.read_mostly;
    all.accessed_by_host &= next.accessed_by_host;
    all.accessed_by &= next.accessed_by;
    if (!same(all.preferred, next.preferred)) all.preferred = no_advice.preferred;
    if (!same(all.last_prefetch, next.last_prefetch)) all.last_prefetch = no_advice.last_prefetch;
  }
  return all;
}

}  // namespace limen::cpu
