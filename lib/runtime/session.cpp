// SPDX-License-Identifier: Apache-2.0
#include "session.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <span>

#include <coroscope/detail/task_state.hpp>

#include "calibration.hpp"
#include "clock.hpp"
#include "copies.hpp"
#include "crash_report.hpp"
#include "devices.hpp"
#include "kept_labels.hpp"
#include "live_tasks.hpp"
#include "notes.hpp"
#include "own_threads.hpp"
#include "program_faults.hpp"
#include "recent_sites.hpp"
#include "registry.hpp"
#include "session_identity.hpp"
#include "sites.hpp"
#include "trace_file.hpp"
#include "uncancelled.hpp"

namespace coroscope::runtime {
namespace {

constinit std::uint32_t last_generation = 0;
constinit std::mutex start_mutex;

// Stores whose sessions are over, but whose memory a thread may still hold in its hands.
struct retired_store : own_memory {
    retired_store* next;
    chunk_store* store;
    std::uint32_t generation;
};
constinit retired_store* retired = nullptr;

bool held_by_a_thread(std::uint32_t generation) noexcept {
    for (const detail::thread_record* record = first_thread(); record != nullptr;
         record = record->next) {
        if (record->busy.load(std::memory_order_acquire) == generation) return true;
        for (const binding& bound : record->bindings) {
            if (bound.generation.load(std::memory_order_acquire) == generation) return true;
        }
    }
    return false;
}

// Unmaps what no thread can touch any more. Address space of the rest is kept; its memory is gone.
void reap_retired() noexcept {
    const std::lock_guard lock(registry_mutex());
    for (retired_store** at = &retired; *at != nullptr;) {
        retired_store* entry = *at;
        if (held_by_a_thread(entry->generation)) {
            at = &entry->next;
            continue;
        }
        *at = entry->next;
        entry->store->release_mapping();
        delete entry->store;
        delete entry;
    }
}

// Without memory for the entry the store keeps its address space for good, which is all it costs.
void retire(chunk_store* store, std::uint32_t generation) noexcept {
    auto* entry = new (std::nothrow) retired_store{{}, retired, store, generation};
    if (entry != nullptr) retired = entry;
}

// Who uses a store uses the session's slot, too: both are kept while somebody does. Under the sessions' lock.
void give_up_slots() noexcept {
    const std::lock_guard lock(registry_mutex());
    for (session& each : std::span(session_table(), session_slots)) {
        const std::uint32_t generation = each.generation.load(std::memory_order_relaxed);
        if (generation == 0 || each.live.load(std::memory_order_relaxed) || is_used(generation))
            continue;
        retire(each.store, generation);
        each.store = nullptr;
        each.generation.store(0, std::memory_order_release);  // pairs with who looks for a session
    }
}

constexpr std::uint64_t fewest_chunks = 2;  // one for names, one for records
constexpr std::uint32_t most_threads_at_start = 4096;

session* free_slot() noexcept {
    session* table = session_table();
    session* end = table + session_slots;
    session* found = std::find_if(table, end, [](const session& each) {
        return each.generation.load(std::memory_order_acquire) == 0;
    });
    return found == end ? nullptr : found;
}

chunk_store::settings store_settings(const profile_options& options) noexcept {
    chunk_store::settings settings;
    settings.path = options.output;
    settings.limit_bytes = options.limit_bytes;
    settings.chunk_bytes =
        std::clamp<std::uint32_t>(options.chunk_bytes / 4096 * 4096, 4096, 1U << 20);
    settings.policy = static_cast<trace::overflow_policy>(options.policy);
    settings.task_table = options.policy == overflow::overwrite_oldest;
    settings.when_cut = take_limits;
    settings.threads =
        options.all_threads ? std::clamp(threads_of_process(), 1U, most_threads_at_start) : 1;
    return settings;
}

void fill_header(trace::file_header& header, const profile_options& options,
                 const trace_name& name) noexcept {
    header.clock = tick_source();
    identify(header, options, name);
    header.asio = static_cast<std::uint64_t>(asio_tracking());
    const recording_cost cost = measure_recording_cost();
    header.scope_cost_ticks = cost.scope_ticks_256;
    header.await_cost_ticks = cost.await_ticks_256;
}

void go_live(session& slot, const profile_options& options, chunk_store* store) noexcept {
    // What stands for a session in 16 bits is never what tasks say that none knows.
    do {
        ++last_generation;
    } while ((last_generation & 0xffff) == 0 ||
             (last_generation & 0xffff) == detail::unknown_session);
    const std::uint32_t generation = last_generation;
    slot.store = store;
    slot.devices.store(false, std::memory_order_relaxed);
    slot.record_arguments.store(options.record_arguments, std::memory_order_relaxed);
    slot.features.store(asked_for(options), std::memory_order_relaxed);
    slot.collecting.store(true, std::memory_order_relaxed);
    slot.reports_crashes.store(options.crash_report >= 0, std::memory_order_relaxed);
    recent_sites<site_kind::await>::forget();
    recent_sites<site_kind::coroutine>::forget();
    if (options.policy == overflow::overwrite_oldest) prepare_labels();
    slot.task_table.store(options.policy == overflow::overwrite_oldest, std::memory_order_relaxed);
    slot.late_records.store(0, std::memory_order_relaxed);
    slot.lost_records.store(0, std::memory_order_relaxed);
    slot.departed_losses.store(0, std::memory_order_relaxed);
    slot.start_ticks.store(store->start_clock(), std::memory_order_relaxed);
    slot.generation.store(generation, std::memory_order_release);
    slot.takes_definitions.store(true, std::memory_order_release);  // of what comes from here on
    slot.live.store(true, std::memory_order_release);               // pairs with find_session()
    define_all_sites(*store);
    if (options.with_stack) describe_modules(*store);
    if (!options.all_threads) return;
    {
        const std::lock_guard lock(registry_mutex());
        global_generation().store(generation, std::memory_order_release);
    }
    open_gates(slot, true);
}

std::size_t number_of(const session& slot) noexcept {
    return static_cast<std::size_t>(&slot - session_table());
}

void report_crashes_of(const session& slot, const profile_options& options) noexcept {
    watch_crashes(number_of(slot), slot.store->header(), slot.store->file_bytes(),
                  options.crash_report);
    if (detail::this_thread.record != nullptr) give_signal_stack(*detail::this_thread.record);
}

start_result start_under_lock(const profile_options& options, const trace_name& name,
                              bool tracks_live) noexcept {
    const std::lock_guard lock(start_mutex);
    detail::thread_state& thread = detail::this_thread;
    if (!counter_may_be_read())
        return {0, "The thread may not read the processor's counter (PR_SET_TSC).", EPERM};
    if (register_thread(thread) == nullptr)
        return {0, "The thread is ending or memory is short.", ENOMEM};
    if (is_enabled(thread)) return {0, already_enabled, EBUSY};
    if (options.all_threads && global_generation().load(std::memory_order_acquire) != 0)
        return {0, already_enabled, EBUSY};
    give_up_slots();
    reap_retired();
    session* slot = free_slot();
    if (slot == nullptr) return {0, "Too many sessions record at once.", EBUSY};
    const chunk_store::settings settings = store_settings(options);
    if (settings.limit_bytes < trace::file_header_bytes + fewest_chunks * settings.chunk_bytes)
        return {0, "The limit leaves no room for a trace.", EINVAL};
    auto* store = new (std::nothrow) chunk_store;
    if (store == nullptr) return {0, "There is no memory for a session.", ENOMEM};
    if (const int error = store->open(settings); error != 0) {
        delete store;
        return {0,
                options.output != nullptr ? why_no_trace_file(error)
                                          : "There is no memory for a trace.",
                error};
    }
    fill_header(store->header(), options, name);
    go_live(*slot, options, store);
    slot->tracks_live.store(tracks_live, std::memory_order_relaxed);
    if (options.crash_report >= 0) report_crashes_of(*slot, options);
    return {slot->generation.load(std::memory_order_relaxed), start_devices(*slot, options), 0};
}

// What is overwritten comes on top of these, until the store is closed.
std::uint64_t dropped_records(const session& slot, std::uint32_t generation) noexcept {
    const std::lock_guard registry(registry_mutex());
    std::uint64_t dropped = slot.lost_records.load(std::memory_order_relaxed) +
                            slot.departed_losses.load(std::memory_order_relaxed) +
                            __atomic_load_n(&slot.store->header().lost_records, __ATOMIC_RELAXED);
    for (const detail::thread_record* record = first_thread(); record != nullptr;
         record = record->next) {
        for (const binding& bound : record->bindings) {
            if (bound.generation.load(std::memory_order_acquire) == generation)
                dropped += bound.lost.load(std::memory_order_relaxed);
        }
    }
    return dropped;
}

stop_result stop_under_lock(std::uint32_t generation, bool& tracked_live) noexcept {
    const std::lock_guard lock(start_mutex);
    session* slot = find_session(generation);
    if (slot == nullptr) return {};
    tracked_live = slot->tracks_live.exchange(false, std::memory_order_relaxed);
    stop_devices(*slot);
    slot->live.store(false, std::memory_order_seq_cst);  // pairs with store_use
    cut_off(generation);
    {
        // Until the chunks were taken away a thread might record a site that it had just met. Whoever defines one in
        // this store is done with it when we go on.
        const std::lock_guard definitions(sites_mutex());
        slot->takes_definitions.store(false, std::memory_order_release);
    }
    {
        const std::lock_guard registry(registry_mutex());
        if (global_generation().load(std::memory_order_relaxed) == generation)
            global_generation().store(0, std::memory_order_release);
    }
    stop_result stopped;
    stopped.lost_records = dropped_records(*slot, generation);
    slot->store->header().late_records = slot->late_records.load(std::memory_order_relaxed);
    __atomic_fetch_add(&slot->store->header().lost_records,
                       slot->lost_records.load(std::memory_order_relaxed), __ATOMIC_RELAXED);
    if ((slot->features.load(std::memory_order_relaxed) & trace::feature_stacks) != 0)
        describe_modules(*slot->store);  // those that came since
    const bool in_memory = slot->store->file_bytes() == 0;
    stopped.trace = slot->store->close();
    stopped.lost_records += slot->store->overwritten_records();
    if (in_memory && stopped.trace.empty()) stopped.error_number = ENOMEM;
    wait_until_unused(generation);
    unwatch_crashes(
        number_of(*slot));  // until here somebody might cut the file under a thread that records
    give_up_slots();
    return stopped;
}

// ESTALE, EBADF and ENOENT are the store's own words.
const char* why_impaired(int error) noexcept {
    switch (error) {
        case ESTALE: return "The trace file was cut by somebody else: what follows is lost.";
        case EBADF:
            return "The program closed the trace file's descriptor: the trace cannot grow, records "
                   "may be "
                   "lost.";
        case ENOENT: return "The trace file was removed: what is recorded is lost.";
        default: return "The trace cannot grow: records may be lost.";
    }
}

}  // namespace

std::mutex& sessions_mutex() noexcept { return start_mutex; }

void tell_asio_tracking(trace::asio_tracking state) noexcept {
    detail::thread_state& thread = detail::this_thread;
    if (thread.record == nullptr) return;
    const store_use use(*thread.record, effective_generation(thread));
    if (use.owner() != nullptr)
        __atomic_store_n(&use.owner()->store->header().asio, static_cast<std::uint64_t>(state),
                         __ATOMIC_RELAXED);
}

start_result start_session(const profile_options& options) noexcept {
    const uncancelled meanwhile;
    const trace_name name = name_trace(options);
    // Its lock is the sessions' own.
    const bool tracks = options.crash_report >= 0 && set_live_tracking(live_reason::needed, true);
    const char* copies = look_for_copies();
    start_result started = start_under_lock(options, name, tracks);
    if (*started.message == '\0') started.message = copies;
    if (tracks && started.generation == 0) set_live_tracking(live_reason::needed, false);
    return started;
}

void toggle_collection(std::uint32_t generation, bool enabled) noexcept {
    const uncancelled meanwhile;
    const std::lock_guard lock(start_mutex);
    session* slot = find_session(generation);
    if (slot == nullptr || slot->collecting.load(std::memory_order_relaxed) == enabled) return;
    if (!enabled) collect_devices(*slot, false);
    slot->toggles.fetch_add(1, std::memory_order_release);  // pairs with who opens a chunk
    slot->collecting.store(enabled, std::memory_order_seq_cst);
    if (!enabled) return cut_off(generation);
    collect_devices(*slot, true);
    open_gates(*slot, global_generation().load(std::memory_order_relaxed) == generation);
    if (slot->devices.load(std::memory_order_relaxed)) follow_current_task();
}

stop_result stop_session(std::uint32_t generation) noexcept {
    const uncancelled meanwhile;
    bool tracked_live = false;
    stop_result stopped = stop_under_lock(generation, tracked_live);
    if (tracked_live) set_live_tracking(live_reason::needed, false);
    return stopped;
}

session_status session_health(std::uint32_t generation) noexcept {
    const std::lock_guard lock(start_mutex);
    session* slot = find_session(generation);
    if (slot == nullptr) return {session_state::stopped, "", 0, 0};
    session_status status{session_state::recording, message_of(asio_tracking()), 0, 0};
    status.lost_records = dropped_records(*slot, generation) + slot->store->overwritten_records();
    status.error_number = slot->store->write_error();
    if (status.error_number != 0) status.message = why_impaired(status.error_number);
    return status;
}

}  // namespace coroscope::runtime
