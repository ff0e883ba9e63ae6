// SPDX-License-Identifier: Apache-2.0
#include "devices.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

#include <coroscope/detail/device_recorder.hpp>
#include <coroscope/detail/task_state.hpp>

#include "../base/clock.hpp"
#include "../base/forks.hpp"
#include "../writer/recorder.hpp"

namespace coroscope::runtime::inline devices {
namespace {

using detail::device_message;
using detail::device_recorder;

constexpr const char* known_devices[] = {"cuda", "xpu", "mtia", "hpu", "privateuse1"};
constexpr const char* cuda_library = "libcoroscope-cuda.so.0";

constinit std::atomic<const device_recorder*> registered{nullptr};
constinit std::atomic<const device_recorder*> active{nullptr};
constinit std::atomic<std::uint32_t> recorded_generation{0};

// A session's status returns pointers to these texts, so they live as long as the program. Few
// different texts occur.
constexpr std::size_t kept_messages = 16;
constexpr const char* not_recorded = "Devices are not recorded: ";
struct status_text {
    char text[sizeof(device_message) + 32];
};
constinit status_text kept[kept_messages] = {};

const char* keep(bool records, const device_message& message) noexcept {
    status_text status;
    std::snprintf(status.text, sizeof status.text, "%s%s", records ? "" : not_recorded,
                  message.text);
    for (status_text& each : kept) {
        if (each.text[0] == '\0') each = status;
        if (std::strcmp(each.text, status.text) == 0) return each.text;
    }
    return "Devices are not recorded, or not wholly: the trace's header says why.";
}

device_message message_of(const char* text) noexcept {
    device_message message{};
    std::snprintf(message.text, sizeof message.text, "%s", text);
    return message;
}

bool is_known(const char* device) noexcept {
    return std::any_of(std::begin(known_devices), std::end(known_devices),
                       [device](const char* known) { return std::strcmp(device, known) == 0; });
}

const device_recorder* find_recorder(const char* device) noexcept {
    const device_recorder* found = registered.load(std::memory_order_acquire);
    return found != nullptr && std::strcmp(found->device, device) == 0 ? found : nullptr;
}

// A linker may drop a library if the program uses no symbol of it. So this function loads
// coroscope-cuda, by the loader's search path or else from the folder of the runtime's library.
// coroscope-cuda registers itself.
void load_cuda_recorder() noexcept {
    if (::dlopen(cuda_library, RTLD_NOW | RTLD_LOCAL) != nullptr) return;
    Dl_info self{};
    if (::dladdr(&registered, &self) == 0 || self.dli_fname == nullptr) return;
    const char* slash = std::strrchr(self.dli_fname, '/');
    if (slash == nullptr) return;
    char path[4096];
    const int size =
        std::snprintf(path, sizeof path, "%.*s/%s", static_cast<int>(slash - self.dli_fname),
                      self.dli_fname, cuda_library);
    if (size > 0 && static_cast<std::size_t>(size) < sizeof path)
        ::dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

// The reason for which these devices cannot be recorded; null if they can.
const char* refusal(const char* device) noexcept {
    if (!is_known(device)) return "use_device is none of cuda, xpu, mtia, hpu, privateuse1.";
    if (find_recorder(device) == nullptr && std::strcmp(device, "cuda") == 0) load_cuda_recorder();
    if (find_recorder(device) == nullptr)
        return "no recorder for that device is present; for CUDA, link the program with "
               "coroscope-cuda.";
    if (active.load(std::memory_order_relaxed) != nullptr) return "another session records them.";
    return nullptr;
}

bool records_devices_here() noexcept { return records_devices(effective_generation(this_thread)); }

bool start_recorder(session& owner, const device_recorder& recorder,
                    device_message& message) noexcept {
    recorded_generation.store(owner.generation.load(std::memory_order_relaxed),
                              std::memory_order_release);
    if (!recorder.start(owner.start_ticks.load(std::memory_order_relaxed), message)) {
        recorded_generation.store(0, std::memory_order_release);
        return false;
    }
    active.store(&recorder, std::memory_order_release);  // pairs with follow_task()
    owner.devices.store(true, std::memory_order_release);
    return true;
}

}  // namespace

const char* start_devices(session& owner, const profile_options& options) noexcept {
    if (options.use_device == nullptr) return "";
    const char* const why_not = refusal(options.use_device);
    device_message message = message_of(why_not == nullptr ? "" : why_not);
    const bool records =
        why_not == nullptr && start_recorder(owner, *find_recorder(options.use_device), message);
    trace::file_header& header = owner.store->header();
    const auto state =
        records ? trace::device_recording::recorded : trace::device_recording::not_recorded;
    __atomic_store_n(&header.devices, static_cast<std::uint64_t>(state), __ATOMIC_RELAXED);
    std::memcpy(header.device_message, message.text, sizeof message.text);
    if (records && options.all_threads) open_gates(owner, true);
    if (records) follow_current_task();
    return message.text[0] == '\0' ? "" : keep(records, message);
}

void collect_devices(const session& owner, bool on) noexcept {
    if (owner.devices.load(std::memory_order_relaxed))
        active.load(std::memory_order_relaxed)->collect(on);
}

void stop_devices(const session& owner) noexcept {
    if (!owner.devices.load(std::memory_order_relaxed)) return;
    active.load(std::memory_order_relaxed)->stop();
    active.store(nullptr, std::memory_order_relaxed);
    recorded_generation.store(0, std::memory_order_release);
}

namespace {

// No session of a forked child records devices.
constinit fork_guest around_forks{.rank = fork_rank::leftovers, .in_child = []() noexcept {
                                      active.store(nullptr, std::memory_order_relaxed);
                                      recorded_generation.store(0, std::memory_order_relaxed);
                                  }};
[[gnu::constructor(101)]] void join() noexcept { join_forks(around_forks); }

}  // namespace

void follow_current_task() noexcept { follow_task(task_of(this_thread.mark)); }

// If the thread's work belongs to another session or to no session, the recorder gets task 0.
void follow_task(std::uint64_t task) noexcept {
    const device_recorder* recorder = active.load(std::memory_order_acquire);
    if (recorder == nullptr || register_thread(this_thread) == nullptr) return;
    recorder->follow(records_devices_here() ? task : 0);
}

detail::device_event find_event(const void* event) noexcept {
    const device_recorder* recorder = active.load(std::memory_order_acquire);
    return recorder == nullptr ? detail::device_event{} : recorder->find_event(event);
}

detail::device_stream identify_stream(void* stream, bool per_thread) noexcept {
    const device_recorder* recorder = active.load(std::memory_order_acquire);
    if (recorder == nullptr) return {trace::device_unknown, trace::device_unknown};
    return recorder->identify(stream, per_thread);
}

bool records_devices(std::uint32_t generation) noexcept {
    return generation != 0 && recorded_generation.load(std::memory_order_acquire) == generation;
}

void write_device_wait(std::uint64_t ticks, trace::device_wait_kind kind, std::uint32_t stream,
                       std::uint64_t third, std::uint64_t fourth) noexcept {
    const auto value = static_cast<std::uint64_t>(kind);
    if (char* at = reserve())
        write_record(at, ticks, make_tag(record_kind::device_wait, stream, value), third, fourth);
}

void record_stream_wait(std::uint64_t ticks, void* stream, std::uint64_t task,
                        bool per_thread) noexcept {
    if (!devices_follow() || !records_devices_here()) return;
    const detail::device_stream waited = identify_stream(stream, per_thread);
    write_device_wait(ticks != 0 ? ticks : now(), trace::device_wait_kind::stream, waited.stream,
                      task, waited.context);
}

namespace {

void write_event_wait(std::uint64_t ticks, const detail::device_event& recorded,
                      std::uint64_t task) noexcept {
    write_device_wait(ticks, trace::device_wait_kind::event, recorded.stream, task,
                      trace::device_wait_word(recorded.context, recorded.correlation));
}

}  // namespace

detail::noted_event_wait record_event_wait(std::uint64_t ticks, const void* event,
                                           std::uint64_t task) noexcept {
    if (!devices_follow() || !records_devices_here()) return {};
    const detail::device_event recorded = find_event(event);
    if (ticks == 0) ticks = now();
    write_event_wait(ticks, recorded, task);
    return {ticks, recorded, recorded, effective_generation(this_thread)};
}

void record_latest_event(const detail::noted_event_wait& wait, std::uint64_t task) noexcept {
    if (records_devices(wait.session) && effective_generation(this_thread) == wait.session)
        write_event_wait(wait.ticks, wait.latest, task);
}

void rebind_and_follow(std::uint64_t carried) noexcept {
    detail::rebind(carried);
    if (devices_follow()) follow_current_task();
}

}  // namespace coroscope::runtime::inline devices

namespace coroscope::detail {

using namespace runtime;

void register_device_recorder(const device_recorder& recorder) noexcept {
    registered.store(&recorder, std::memory_order_release);  // pairs with find_recorder()
}

std::uint64_t session_ticks() noexcept { return current_ticks(); }
trace::clock_point session_clock_point() noexcept { return take_clock_point(); }

std::uint32_t device_site(const char* name, std::size_t size) noexcept {
    site* where = intern_name({name, size});
    return where == nullptr ? 0 : site_id(*where);
}

// The thread's attributes are only set aside: the destructor restores them, so no reference
// changes.
device_delivery::device_delivery() noexcept
    : generation_(recorded_generation.load(std::memory_order_acquire)),
      carried_before_(this_thread.carried) {
    if (open()) rebind(make_carried(generation_, 0));
}

device_delivery::~device_delivery() {
    if (open()) rebind(carried_before_);
}

void device_delivery::write(std::uint64_t start_ticks, std::uint32_t site,
                            const trace::device_body& body) noexcept {
    if (open())
        write_text(start_ticks, record_kind::device, site, reinterpret_cast<const char*>(&body),
                   sizeof body);
}

void device_delivery::count_cut_text() noexcept {
    if (open()) count_truncated();
}

void device_delivery::name_device(std::uint32_t device, const char* name) noexcept {
    write_name(0, device, name);
}

void device_delivery::name_stream(std::uint32_t context, std::uint32_t stream,
                                  const char* name) noexcept {
    write_name(std::uint64_t{context} + 1, stream, name);
}

void device_delivery::write_name(std::uint64_t of, std::uint32_t id, const char* name) noexcept {
    if (!open() || this_thread.record == nullptr) return;
    const std::size_t size = std::min(std::strlen(name), trace::payload_limit);
    const store_use use(*this_thread.record, generation_);
    if (use.owner() != nullptr)
        use.owner()->store->append_metadata(of, make_tag(record_kind::device_name, id, size), name,
                                            size);
}

void device_delivery::count_lost(std::uint64_t records) noexcept {
    if (!open() || this_thread.record == nullptr) return;
    const store_use use(*this_thread.record, generation_);
    if (use.owner() != nullptr)
        __atomic_fetch_add(&use.owner()->store->header().lost_device_records, records,
                           __ATOMIC_RELAXED);
}

void device_delivery::tell(const device_message& message) noexcept {
    if (!open() || this_thread.record == nullptr) return;
    const store_use use(*this_thread.record, generation_);
    if (use.owner() == nullptr) return;
    char* text = use.owner()->store->header().device_message;
    if (*text == '\0') std::memcpy(text, message.text, sizeof message.text);
}

}  // namespace coroscope::detail
