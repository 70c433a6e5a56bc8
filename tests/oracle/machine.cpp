// Set-up of a launch, and turns: every running thread of every resident block runs a few
// instructions, then the next. So a thread that waits for another one, in memory or at a barrier,
// never keeps that one from running. See machine.h.
#include "machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "compiler/ptx/parser.h"
#include "compiler/ptx/table.h"

namespace limen::oracle {
namespace {

uint32_t align_up(uint32_t v, uint32_t align) {
  align = std::max(align, 1u);
  return (v + align - 1) / align * align;
}

Memory poisoned(uint32_t bytes) {
  Memory out;
  if (!bytes) return out;
  out.reserve(bytes);
  out.forget(0, bytes);
  return out;
}

}  // namespace

uint64_t function_address(Index function) {
  return first_function_address + uint64_t{function} * function_stride;
}

Outcome evaluate(ptx::Module& module, const Launch& launch) {
  return Machine(module, launch).run();
}

bool Machine::prepare_function(Index index) {
  Function& f = module_.functions[index];
  if (!f.has_body) return true;
  if (auto parsed = ptx::parse_body(module_, index); !parsed) {
    error_ = parsed.error().what;
    return false;
  }
  if (auto verified = ptx::verify_body(module_, index); !verified) {
    error_ = verified.error().what;
    return false;
  }
  Layout& l = layouts_[index];
  l.ready = true;
  for (const ptx::Register& r : f.registers) {
    l.registers.push_back(l.slots);
    l.slots += r.vector;
  }
  for (const ptx::Variable& v : f.locals) {
    uint32_t* top = v.space == Space::shared  ? &shared_bytes_
                    : v.space == Space::param ? &l.argument_bytes
                                              : &l.local_bytes;
    *top = align_up(*top, std::max(v.align, v.space == Space::param ? 16u : 1u));
    l.locals.push_back(*top);
    *top += static_cast<uint32_t>(v.bytes);
  }
  for (const std::vector<ptx::Param>* list : {&f.params, &f.returns})
    for (const ptx::Param& p : *list) {
      if (f.is_entry) {
        l.params.push_back(static_cast<uint32_t>(p.offset));
        l.param_bytes = static_cast<uint32_t>(f.param_bytes);
        continue;
      }
      l.param_bytes = align_up(l.param_bytes, std::max(p.align, 16u));
      l.params.push_back(l.param_bytes);
      l.param_bytes += static_cast<uint32_t>(std::max<uint64_t>(p.bytes, 16));
    }
  return true;
}

bool Machine::prepare_variables() {
  variables_.resize(module_.variables.size());
  addresses_.assign(module_.variables.size(), 0);
  for (size_t n = 0; n < module_.variables.size(); ++n) {
    const ptx::Variable& v = module_.variables[n];
    if (v.space == Space::shared) {
      if (!v.bytes) continue;
      shared_bytes_ = align_up(shared_bytes_, v.align);
      addresses_[n] = shared_bytes_;
      shared_bytes_ += static_cast<uint32_t>(v.bytes);
      continue;
    }
    variables_[n].assign(v.bytes + v.align, 0);
    uint64_t at = reinterpret_cast<uint64_t>(variables_[n].data());
    at = (at + v.align - 1) / std::max(v.align, 1u) * std::max(v.align, 1u);
    addresses_[n] = at;
    if (!v.init.empty())
      std::memcpy(reinterpret_cast<void*>(at), v.init.data(),
                  std::min<uint64_t>(v.init.size(), v.bytes));
  }
  for (size_t n = 0; n < module_.variables.size(); ++n)
    for (const ptx::Reloc& r : module_.variables[n].relocs) {
      uint64_t value = r.kind == Operand::SymbolKind::function ? function_address(r.symbol)
                                                               : addresses_[r.symbol];
      value = (value + static_cast<uint64_t>(r.addend)) >> r.shift;
      std::memcpy(reinterpret_cast<uint8_t*>(addresses_[n]) + r.offset, &value, r.bytes);
    }
  return true;
}

bool Machine::prepare() {
  const uint64_t threads = uint64_t{launch_.block[0]} * launch_.block[1] * launch_.block[2];
  if (!threads || threads > 1024) {
    error_ = fmt::format("a block of {} threads", threads);
    return false;
  }
  threads_ = static_cast<uint32_t>(threads);
  warps_ = (threads_ + 31) / 32;
  layouts_.resize(module_.functions.size());
  if (!prepare_variables()) return false;
  for (Index n = 0; n < module_.functions.size(); ++n)
    if (!prepare_function(n)) return false;
  // Dynamic shared memory begins where the static one ends.
  shared_bytes_ = align_up(shared_bytes_, 16);
  for (size_t n = 0; n < module_.variables.size(); ++n) {
    const ptx::Variable& v = module_.variables[n];
    if (v.space == Space::shared && !v.bytes) addresses_[n] = shared_bytes_;
  }
  for (size_t f = 0; f < module_.functions.size(); ++f)
    for (size_t n = 0; n < layouts_[f].locals.size(); ++n) {
      const ptx::Variable& v = module_.functions[f].locals[n];
      if (v.space == Space::shared && !v.bytes) layouts_[f].locals[n] = shared_bytes_;
    }
  shared_bytes_ += launch_.dynamic_shared_bytes;
  if (launch_.params.size() < module_.functions[launch_.kernel].param_bytes) {
    error_ = fmt::format("{} bytes of parameters, the kernel takes {}", launch_.params.size(),
                         module_.functions[launch_.kernel].param_bytes);
    return false;
  }
  return true;
}

void Machine::push_frame(Thread& t, Index function, const Instruction* call) {
  const Layout& l = layouts_[function];
  Frame f;
  f.function = function;
  f.code = &module_.functions[function];
  f.layout = &l;
  f.call = call;
  f.registers.assign(l.slots, 0);
  f.written.assign(l.slots, 0);
  f.local_base = align_up(t.local_top, 16);
  if (l.local_bytes) {
    if (!t.local) t.local.reserve(local_capacity);
    if (f.local_base + uint64_t{l.local_bytes} > local_capacity) {
      error_ = fmt::format("the stack of thread {} overflows in {}", t.linear, f.code->name);
      return;
    }
    t.local.forget(f.local_base, l.local_bytes);
  }
  t.local_top = f.local_base + l.local_bytes;
  f.params = poisoned(l.param_bytes);
  f.arguments = poisoned(l.argument_bytes);
  if (t.frames.size() > 4096) {
    error_ = fmt::format("calls of thread {} are nested too deeply", t.linear);
    return;
  }
  t.frames.push_back(std::move(f));
}

std::unique_ptr<Block> Machine::make_block(uint64_t number) {
  auto b = std::make_unique<Block>();
  b->ctaid[0] = static_cast<uint32_t>(number % launch_.grid[0]);
  b->ctaid[1] = static_cast<uint32_t>(number / launch_.grid[0] % launch_.grid[1]);
  b->ctaid[2] = static_cast<uint32_t>(number / launch_.grid[0] / launch_.grid[1]);
  b->shared = poisoned(shared_bytes_);
  b->alive = threads_;
  b->exited.assign(warps_, 0);
  for (uint32_t n = threads_; n < warps_ * 32; ++n) b->exited[n / 32] |= 1u << n % 32;
  for (Barrier& barrier : b->barriers) barrier.arrived.assign(warps_, 0);
  b->threads.resize(threads_);
  for (uint32_t n = 0; n < threads_; ++n) {
    Thread& t = b->threads[n];
    t.block = b.get();
    t.linear = n;
    t.warp = n / 32;
    t.lane = n % 32;
    t.tid[0] = n % launch_.block[0];
    t.tid[1] = n / launch_.block[0] % launch_.block[1];
    t.tid[2] = n / launch_.block[0] / launch_.block[1];
    push_frame(t, launch_.kernel, nullptr);
    const size_t bytes = module_.functions[launch_.kernel].param_bytes;
    if (bytes) std::memcpy(t.frames[0].params.get(), launch_.params.data(), bytes);
  }
  return b;
}

/// One turn of every running thread. False when none ran.
bool Machine::turn(Block& block) {
  bool any = false;
  for (Thread& t : block.threads) {
    t.yielded = false;
    for (uint32_t n = 0; n < launch_.slice && t.state == Thread::State::running && !t.yielded;
         ++n) {
      any = true;
      step(t);
      if (failed()) return any;
    }
  }
  gather(block);
  return any;
}

void Machine::step(Thread& t) {
  Frame* f = &t.frames.back();
  while (f->at >= f->code->blocks[f->block].body.size()) {
    ++f->block;  // fall through; the parser ends the last block with a ret
    f->at = 0;
  }
  const Instruction& i = f->code->blocks[f->block].body[f->at++];
  if (++steps_ > launch_.max_steps) {
    fail(t, i, fmt::format("the program has not ended after {} instructions", launch_.max_steps));
    return;
  }
  if (i.guard != no_index &&
      static_cast<bool>(read_register(t, i, i.guard, 0) & 1) == i.guard_negated)
    return;
  execute(t, i);
}

void Machine::execute(Thread& t, const Instruction& i) {
  using ptx::Class;
  const ptx::Form& form = ptx::form(i);
  bool known = false;
  switch (form.cls) {
    case Class::branch:
      known = control(t, i);
      break;
    case Class::barrier:
      known = synchronise(t, i);
      break;
    case Class::warp:
      known = warp(t, i);
      break;
    case Class::atomic:
      known = atomic(t, i);
      break;
    case Class::memory:
      known = memory(t, i);
      break;
    case Class::lane:
      known = convert(t, i) || real(t, i) || integer(t, i) || video(t, i);
      break;
    default:
      break;
  }
  if (!known && !failed()) fail(t, i, "is not evaluated");
}

bool Machine::stuck(const std::vector<std::unique_ptr<Block>>& blocks) {
  for (const auto& b : blocks)
    for (const Thread& t : b->threads) {
      if (t.state == Thread::State::gathering) return false;
      if (t.state != Thread::State::exited && t.waits)
        return fail(t, *t.waits, "waits for threads that do not come"), true;
    }
  return false;
}

Outcome Machine::run() {
  Outcome out;
  const uint64_t total = uint64_t{launch_.grid[0]} * launch_.grid[1] * launch_.grid[2];
  if (prepare()) {
    std::vector<std::unique_ptr<Block>> resident;
    uint64_t next = 0;
    while (!failed()) {
      while (next < total && resident.size() < std::max(launch_.resident, 1u) && !failed())
        resident.push_back(make_block(next++));
      if (resident.empty() || failed()) break;
      bool any = false;
      for (auto& b : resident) {
        any = turn(*b) || any;
        if (failed()) break;
      }
      const size_t before = resident.size();
      std::erase_if(resident, [](const auto& b) { return b->alive == 0; });
      if (!any && before == resident.size() && !failed() && stuck(resident)) break;
    }
  }
  out.error = error_;
  out.ran = error_.empty();
  out.steps = steps_;
  return out;
}

}  // namespace limen::oracle
