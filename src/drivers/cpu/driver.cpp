// cuInit: reads the settings, reserves addresses, starts the workers, makes the devices. Also the
// one place that turns an Error into a log line and a CUresult. Invariant: what is made here is
// never destroyed. Thread rule: cuInit runs under the loader's lock.
#include "drivers/cpu/driver.h"

#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>

#include "base/config.h"
#include "base/log.h"
#include "drivers/cpu/async_notification.h"
#include "drivers/cpu/context.h"
#include "drivers/cpu/device_select.h"
#include "drivers/cpu/external.h"
#include "drivers/cpu/graph/plan.h"
#include "drivers/cpu/green.h"
#include "drivers/cpu/logs.h"
#include "drivers/cpu/memory/array.h"
#include "drivers/cpu/memory/limits.h"
#include "drivers/cpu/memory/physical.h"
#include "drivers/cpu/memory/pool.h"
#include "drivers/cpu/module/module.h"
#include "drivers/cpu/texture/reference.h"

namespace limen::cpu {

namespace {

Driver* the_driver = nullptr;
std::atomic<bool> exiting{false};
ContextEndHook early_hook = nullptr;

std::string cache_directory(const std::string& setting) {
  if (!setting.empty()) return setting;
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache && *cache == '/')
    return std::string(cache) + "/limen";
  if (const char* home = std::getenv("HOME"); home && *home == '/')
    return std::string(home) + "/.cache/limen";
  return {};
}

int strategy_number(const std::string& name) {
  if (name == "region") return static_cast<int>(kernel::Strategy::region);
  if (name == "fiber") return static_cast<int>(kernel::Strategy::fiber);
  if (name == "lane") return static_cast<int>(kernel::Strategy::lane);
  if (name == "independent") return jit::independent_lanes;
  return -1;
}

bool environment_is(const char* name, const char* value) {
  const char* text = std::getenv(name);
  return text && std::string_view(text) == value;
}

/// What the system could still give to new blocks. Memory is committed when it is touched: blocks
/// that are allocated already and not resident yet will want theirs, too.
uint64_t bytes_for_new_blocks(const Driver& made, uint64_t resident_at_start) {
  // Pages that were freed and kept count as wanted, too: part of them is resident.
  auto wanted = [](const Allocator& memory) { return memory.used_bytes() + memory.freed_bytes(); };
  uint64_t promised = made.host ? wanted(*made.host) : 0;
  for (const Device* device : made.devices) promised += wanted(device->memory());
  const uint64_t resident = resident_bytes();
  const uint64_t touched = resident - std::min(resident, resident_at_start);
  const uint64_t untouched = promised - std::min(promised, touched);
  const uint64_t available = available_memory_bytes();
  return available - std::min(available, untouched);
}

/// The devices that the program shall see, as numbers among all. code: what cuInit answers.
Selection visible_devices(const Settings& settings) {
  std::vector<CUuuid> uuids;
  for (uint32_t i = 0; i < settings.devices; ++i) uuids.push_back(Device::uuid_of(i));
  if (settings.choose_devices) return select_devices(settings.visible_devices, uuids);
  Selection all;
  for (uint32_t i = 0; i < settings.devices; ++i) all.devices.push_back(i);
  return all;
}

/// Identity and memory of a device do not depend on which others are visible.
Result<void> make_devices(Driver& made, const std::vector<unsigned>& visible) {
  const Settings& settings = made.settings;
  const auto count = static_cast<uint32_t>(visible.size());
  constexpr uint64_t range_bytes = uint64_t{4} << 40;
  LIMEN_CHECK(made.space.reserve(count + 2, range_bytes));
  uint64_t machine = machine_memory_bytes();
  auto available = [&made, start = resident_bytes()] { return bytes_for_new_blocks(made, start); };
  uint64_t each = settings.memory_bytes ? settings.memory_bytes
                                        : machine / 2 / std::max(settings.devices, 1u);
  each = std::max(each / chunk_bytes, uint64_t{32}) * chunk_bytes;
  auto freed_waits = [&made] { made.ageing.wake(); };
  for (uint32_t i = 0; i < count; ++i) {
    Allocator::Options options{made.space.partition_base(i), made.space.partition_bytes(), each,
                               "device", available, freed_waits};
    made.devices.push_back(new Device(static_cast<int>(i), visible[i], settings,
                                      made.pool->threads(), new Allocator(std::move(options))));
  }
  made.host = new Allocator({made.space.partition_base(count), made.space.partition_bytes(),
                             machine, "pinned host", available});
  for (Device* device : made.devices) made.ageing.watch(device->memory());
  made.virtual_space.bind(made.space.partition_base(count + 1), made.space.partition_bytes());
  return {};
}

}  // namespace

Driver& driver() { return *the_driver; }

bool process_is_exiting() { return exiting.load(std::memory_order_relaxed); }

Allocator* Driver::allocator_of(uint64_t address) const {
  if (!space.contains(address)) return nullptr;
  uint32_t partition = space.partition_of(address);
  if (partition < devices.size()) return &devices[partition]->memory();
  return partition == devices.size() ? host : virtual_space.allocator_of(address);
}

CUresult report(const Error& error) {
  std::string line = error.what;
  if (!error.remedy.empty()) line += " (" + error.remedy + ")";
  log::write(log::Level::error, line);
  return static_cast<CUresult>(error.code);
}

Result<Settings> read_settings() {
  const Config& config = limen::config();
  Settings settings;
  settings.devices = static_cast<uint32_t>(config.devices);
  settings.capability = static_cast<uint32_t>(config.cc.major * 10 + config.cc.minor);
  settings.sms = static_cast<uint32_t>(config.sms);
  settings.threads = static_cast<uint32_t>(config.threads);
  settings.memory_bytes = config.memory;
  settings.strategy = strategy_number(config.strategy);
  settings.width = static_cast<uint32_t>(config.width);
  settings.exact_nan = config.exact_nan;
  settings.target = config.target;
  settings.no_op_kernels = config.noop_kernels;
  settings.launch_blocking = environment_is("CUDA_LAUNCH_BLOCKING", "1");
  settings.eager_loading = environment_is("CUDA_MODULE_LOADING", "EAGER");
  if (const char* visible = std::getenv("CUDA_VISIBLE_DEVICES")) {
    settings.choose_devices = true;
    settings.visible_devices = visible;
  }
  settings.dump_dir = config.dump_dir;
  settings.cache_bytes = config.cache_size;
  if (settings.cache_bytes) settings.cache_dir = cache_directory(config.cache_dir);
  return settings;
}

void set_context_end_hook(ContextEndHook hook) {
  early_hook = hook;
  if (the_driver) the_driver->context_end_hook = hook;
}

CUresult cuInit(unsigned int flags) {
  if (flags) return CUDA_ERROR_INVALID_VALUE;
  start_error_log();
  if (the_driver) return the_driver->devices.empty() ? CUDA_ERROR_NO_DEVICE : CUDA_SUCCESS;
  auto settings = read_settings();
  if (!settings.ok()) return report(settings.error());
  const Selection visible = visible_devices(*settings);
  if (visible.code != CUDA_SUCCESS) return visible.code;
  auto* made = new Driver;
  made->settings = std::move(*settings);
  made->context_end_hook = early_hook;
  made->pool = new engine::Pool({made->settings.threads, false});
  if (auto result = make_devices(*made, visible.devices); !result.ok())
    return report(result.error());
  the_driver = made;
  for (Device* device : made->devices) {
    device->set_primary(made->contexts.create(*device, true));
    device->set_default_pool(make_default_pool(*device));
  }
  if (made->settings.no_op_kernels)
    log::warn("LIMEN_NOOP_KERNELS is set: kernels do nothing, results are meaningless");
  // Ours runs before the exit handler of NVIDIA's runtime, which was registered earlier.
  std::atexit([] { exiting = true; });
  return made->devices.empty() ? CUDA_ERROR_NO_DEVICE : CUDA_SUCCESS;
}

}  // namespace limen::cpu
