// Loads, stores, atomics and the copies that cp.async makes (at once: the manual allows any time up
// to the wait). Fences do nothing: one instruction ends before the next begins. Source: PTX ISA 9.0
// #data-movement-and-conversion-instructions-ld, -st, -cp-async,
// #parallel-synchronization-and-communication-instructions-atom.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "compiler/ptx/table.h"
#include "machine.h"

namespace limen::oracle {
namespace {

Wide fetch(const uint8_t* p, size_t bytes) {
  Wide v = 0;
  std::memcpy(&v, p, bytes);
  return v;
}

void put(uint8_t* p, size_t bytes, Wide v) { std::memcpy(p, &v, bytes); }

bool inside(uint64_t address, uint64_t bytes, const void* begin, uint64_t size) {
  const uint64_t first = reinterpret_cast<uint64_t>(begin);
  return address >= first && address - first <= size && bytes <= size - (address - first);
}

}  // namespace

/// A global or generic address, which are the host's; nullptr where the kernel may not go.
uint8_t* Machine::locate_host(Thread& t, uint64_t address, uint64_t bytes) {
  uint8_t* const p = reinterpret_cast<uint8_t*>(address);
  for (const Region& r : launch_.memory)
    if (inside(address, bytes, r.begin, r.bytes)) return p;
  for (const std::vector<uint8_t>& v : variables_)
    if (inside(address, bytes, v.data(), v.size())) return p;
  if (t.block->shared && inside(address, bytes, t.block->shared.get(), shared_bytes_)) return p;
  if (t.local && inside(address, bytes, t.local.get(), local_capacity)) return p;
  for (const Frame& f : t.frames) {
    if (f.params && inside(address, bytes, f.params.get(), f.layout->param_bytes)) return p;
    if (f.arguments && inside(address, bytes, f.arguments.get(), f.layout->argument_bytes))
      return p;
  }
  return nullptr;
}

uint8_t* Machine::locate(Thread& t, const Instruction& i, const Operand& o, Space space,
                         uint64_t bytes) {
  uint64_t address;
  if (o.symbol_kind != Operand::SymbolKind::none) {
    address = symbol_address(t, i, o);
    space = symbol_space(t, o);
  } else {
    address = static_cast<uint64_t>(o.bits);
    if (o.index != no_index)
      address += static_cast<uint64_t>(read_register(t, i, o.index, o.component));
  }
  uint8_t* base = nullptr;
  uint64_t size = 0;
  if (space == Space::shared) {
    base = t.block->shared.get();
    size = shared_bytes_;
    address &= 0xffffffffu;
  } else if (space == Space::local) {
    base = t.local.get();
    size = t.local_top;
    address &= 0xffffffffu;
  }
  if (address % bytes) {
    fail(t, i, fmt::format("is misaligned at {:#x}", address));
    return nullptr;
  }
  if (space != Space::shared && space != Space::local) {
    uint8_t* p = locate_host(t, address, bytes);
    if (!p) fail(t, i, fmt::format("reaches {:#x}, which is no memory of the kernel", address));
    return p;
  }
  if (address > size || bytes > size - address) {
    fail(t, i, fmt::format("reaches byte {} of {}", address, size));
    return nullptr;
  }
  return base + address;
}

void Machine::note_write(Thread& t, const uint8_t* p, size_t bytes) {
  if (t.block->shared.holds(p))
    t.block->shared.write(p, bytes);
  else if (t.local.holds(p))
    t.local.write(p, bytes);
}

/// False, and an error, for shared or local bytes that nobody wrote.
bool Machine::note_read(Thread& t, const Instruction& i, const uint8_t* p, size_t bytes) {
  if (!launch_.strict) return true;
  if (t.block->shared.holds(p) ? t.block->shared.is_known(p, bytes)
                               : !t.local.holds(p) || t.local.is_known(p, bytes))
    return true;
  return fail(t, i, "reads memory that has no value");
}

bool Machine::memory(Thread& t, const Instruction& i) {
  switch (i.op) {
    case Op::ld:
    case Op::ldu:
      load(t, i);
      return true;
    case Op::st:
      if (ptx::form(i).state == ptx::State::later) return false;
      store(t, i);
      return true;
    case Op::membar:
    case Op::fence:
    case Op::prefetch:
    case Op::prefetchu:
    case Op::applypriority:
    case Op::pmevent:
      return true;
    case Op::nanosleep:
      t.yielded = true;
      return true;
    case Op::createpolicy:
      write(t, i.ops[0], 0);
      return true;
    case Op::cp:
      if (ptx::form(i).state == ptx::State::later || i.has(Tok::mbarrier)) return false;
      if (!i.ops.empty() && i.ops[0].kind == Operand::Kind::address) copy_asynchronous(t, i);
      return true;
    default:
      return false;
  }
}

void Machine::load(Thread& t, const Instruction& i) {
  const Type type = i.type();
  const size_t each = ptx::size_of(type);
  const unsigned count = ptx::vector_of(i);
  const uint8_t* p = locate(t, i, i.ops[1], ptx::space_of(i), each * count);
  if (!p || !note_read(t, i, p, each * count)) return;
  const Operand& to = i.ops[0];
  // All parts are fetched before the first is written: the address may be in one of them.
  const Wide first = fetch(p, each);
  std::vector<Wide> rest;
  for (unsigned n = 1; n < count; ++n) rest.push_back(fetch(p + n * each, each));
  write_extended(t, to.kind == Operand::Kind::vector ? to.elems[0] : to, type, first);
  for (unsigned n = 1; n < count; ++n) write_extended(t, to.elems[n], type, rest[n - 1]);
}

void Machine::store(Thread& t, const Instruction& i) {
  const Type type = i.type();
  const size_t each = ptx::size_of(type);
  const unsigned count = ptx::vector_of(i);
  uint8_t* p = locate(t, i, i.ops[0], ptx::space_of(i), each * count);
  if (!p) return;
  const Operand& from = i.ops[1];
  for (unsigned n = 0; n < count; ++n) {
    const Operand& e = from.kind == Operand::Kind::vector ? from.elems[n] : from;
    if (e.kind == Operand::Kind::sink) continue;
    put(p + n * each, each, read(t, i, e, type));
    note_write(t, p + n * each, each);
  }
}

void Machine::copy_asynchronous(Thread& t, const Instruction& i) {
  const uint64_t bytes = read64(t, i, i.ops[2], Type::u32);
  if (bytes != 4 && bytes != 8 && bytes != 16) {
    fail(t, i, "copies a number of bytes that is not 4, 8 or 16");
    return;
  }
  uint64_t take = bytes;
  if (i.ops.size() > 3 && !(i.ops.size() == 4 && i.has(Tok::L2__cache_hint))) {
    if (i.ops[3].kind == Operand::Kind::reg && register_bits(t, i.ops[3]) == 8) {
      take = read_predicate(t, i, i.ops[3]) ? 0 : bytes;  // ignore-src
    } else {
      take = std::min(read64(t, i, i.ops[3], Type::u32), bytes);
    }
  }
  uint8_t* to = locate(t, i, i.ops[0], Space::shared, bytes);
  if (!to) return;
  uint8_t buffer[16] = {};
  if (take) {
    const uint8_t* from = locate(t, i, i.ops[1], Space::global, bytes);
    if (!from) return;
    if (!note_read(t, i, from, take)) return;
    std::memcpy(buffer, from, take);
  }
  std::memcpy(to, buffer, bytes);
  note_write(t, to, bytes);
}

bool Machine::atomic_result(const Instruction& i, Type type, Space space, Wide old, Wide b, Wide c,
                            Wide& out) const {
  const __int128 x = extend(type, old), y = extend(type, b);
  if (i.has(Tok::exch))
    out = b;
  else if (i.has(Tok::cas))
    out = old == b ? c : old;
  else if (i.has(Tok::and_))
    out = old & b;
  else if (i.has(Tok::or_))
    out = old | b;
  else if (i.has(Tok::xor_))
    out = old ^ b;
  else if (i.has(Tok::inc))
    out = old >= b ? 0 : old + 1;
  else if (i.has(Tok::dec))
    out = old == 0 || old > b ? b : old - 1;
  else if (has_format(type)) {
    if (!i.has(Tok::add)) return false;
    const Format& f = format_of(type);
    const uint32_t width = static_cast<uint32_t>(f.bits());
    out = 0;
    for (uint32_t at = 0; at < bits_of(type); at += width) {
      uint64_t p = static_cast<uint64_t>(old >> at & mask_of(width)),
               q = static_cast<uint64_t>(b >> at & mask_of(width));
      // f32 flushes subnormals in global memory and keeps them in shared (PTX ISA 9.0, atom).
      const bool flushes = type == Type::f32 && space != Space::shared;
      if (flushes) {
        p = flush(f, p);
        q = flush(f, q);
      }
      uint64_t sum = compute(f, Arithmetic::add, Rounding::nearest, p, q, 0);
      if (flushes) sum = flush(f, sum);
      out |= Wide{sum} << at;
    }
  } else if (i.has(Tok::add))
    out = old + b;
  else if (i.has(Tok::min))
    out = static_cast<Wide>(std::min(x, y));
  else if (i.has(Tok::max))
    out = static_cast<Wide>(std::max(x, y));
  else
    return false;
  return true;
}

bool Machine::atomic(Thread& t, const Instruction& i) {
  if (ptx::form(i).state == ptx::State::later || ptx::vector_of(i) != 1) return false;
  const Type type = i.type();
  const size_t bytes = ptx::size_of(type);
  const size_t at = i.op == Op::red ? 0 : 1;
  Space space = ptx::space_of(i);
  uint8_t* p = locate(t, i, i.ops[at], space, bytes);
  if (!p || !note_read(t, i, p, bytes)) return true;
  if (t.block->shared &&
      inside(reinterpret_cast<uint64_t>(p), bytes, t.block->shared.get(), shared_bytes_))
    space = Space::shared;
  const Wide b = read(t, i, i.ops[at + 1], type);
  const Wide c = i.has(Tok::cas) ? read(t, i, i.ops[at + 2], type) : 0;
  const Wide old = fetch(p, bytes);
  Wide out = 0;
  if (!atomic_result(i, type, space, old, b, c, out)) return false;
  put(p, bytes, out);
  if (at) write(t, i.ops[0], old);
  return true;
}

}  // namespace limen::oracle
