// SPDX-License-Identifier: Apache-2.0
#include "session_start.hpp"

#include <algorithm>
#include <cerrno>
#include <new>

#include <coroscope/detail/task_state.hpp>

#include "../base/clock.hpp"
#include "../base/container_processors.hpp"
#include "../base/own_threads.hpp"
#include "../devices/devices.hpp"
#include "../kernel/watcher.hpp"
#include "../scopes/kept_labels.hpp"
#include "../scopes/resource_holders.hpp"
#include "../store/trace_file.hpp"
#include "../tasks/overdue_resumes.hpp"
#include "../writer/executors.hpp"
#include "../writer/objects.hpp"
#include "../writer/recent_sites.hpp"
#include "../writer/registry.hpp"
#include "../writer/signal_stack.hpp"
#include "../writer/sites.hpp"
#include "calibration.hpp"
#include "crash_report.hpp"
#include "modules.hpp"
#include "option_checks.hpp"
#include "program_faults.hpp"
#include "retired_stores.hpp"
#include "sampling_options.hpp"

namespace coroscope::runtime::inline sessions {
namespace {

constinit std::uint32_t last_generation = 0;

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

chunk_store::settings store_settings(const session_plan& plan) noexcept {
    const profile_options& options = plan.options;
    chunk_store::settings settings;
    settings.path = plan.path;
    settings.limit_bytes = plan.limit.bytes;
    settings.when_large = plan.when_large;
    settings.large_bytes = options.rotate_bytes;
    settings.chunk_bytes = usable_chunk_bytes(options.chunk_bytes);
    settings.policy = static_cast<trace::overflow_policy>(options.policy);
    settings.task_table = options.policy == overflow::overwrite_oldest;
    settings.when_cut = take_limits;
    settings.when_begun = leave_thread_unobserved;
    settings.threads =
        options.all_threads ? std::clamp(threads_of_process(), 1U, most_threads_at_start) : 1;
    return settings;
}

void fill_header(trace::file_header& header, const session_plan& plan) noexcept {
    const profile_options& options = plan.options;
    header.clock = tick_source();
    header.container_bytes = plan.limit.container_bytes;
    header.processors = usable_processors();
    header.quota_percent = container_quota_percent();
    identify(header, options, plan.name);
    header.asio = static_cast<std::uint64_t>(asio_tracking());
    const asio_versions versions = tracked_asio_versions();
    header.asio_version = versions.asio;
    header.boost_asio_version = versions.boost_asio;
    describe_sampling(header, options);
    const recording_cost cost = measure_recording_cost();
    header.scope_cost_ticks = cost.scope_ticks_256;
    header.await_cost_ticks = cost.await_ticks_256;
}

constexpr bool stands_for_none(std::uint16_t session) noexcept {
    constexpr auto hidden = static_cast<std::uint16_t>(~detail::hidden_session);
    return session == 0 || session == hidden || session == detail::hidden_session ||
           session == detail::unknown_session;
}

void go_live(session& slot, const profile_options& options, chunk_store* store) noexcept {
    // The low 16 bits of a session's number must differ from the values that mark a task as unknown
    // to every session.
    do {
        ++last_generation;
    } while (stands_for_none(static_cast<std::uint16_t>(last_generation)));
    const std::uint32_t generation = last_generation;
    slot.store = store;
    slot.handle.store(generation, std::memory_order_relaxed);
    for (auto& earlier : slot.earlier) earlier.store(0, std::memory_order_relaxed);
    slot.earlier_losses.store(0, std::memory_order_relaxed);
    slot.devices.store(false, std::memory_order_relaxed);
    slot.features.store(asked_for(options), std::memory_order_relaxed);
    slot.without_data.store(without_data_at_first(options), std::memory_order_relaxed);
    slot.collecting.store(true, std::memory_order_relaxed);
    slot.reports_crashes.store(options.crash_report >= 0, std::memory_order_relaxed);
    recent_sites<site_kind::await>::forget();
    recent_sites<site_kind::coroutine>::forget();
    forget_holders(detail::refill_task_ids());  // a block that no thread has begun
    if (options.policy == overflow::overwrite_oldest) prepare_labels();
    slot.task_table.store(options.policy == overflow::overwrite_oldest, std::memory_order_relaxed);
    slot.late_records.store(0, std::memory_order_relaxed);
    slot.lost_records.store(0, std::memory_order_relaxed);
    slot.lost_unnamed.store(0, std::memory_order_relaxed);
    slot.departed_losses.store(0, std::memory_order_relaxed);
    slot.start_ticks.store(store->start_clock(), std::memory_order_relaxed);
    slot.generation.store(generation, std::memory_order_release);
    slot.takes_definitions.store(true,
                                 std::memory_order_release);  // of sites that are made from here on
    slot.live.store(true, std::memory_order_release);         // pairs with find_session()
    define_all_sites(*store);
    define_all_objects(*store);
    define_all_executors(*store);
    describe_modules(*store);
}

void report_crashes_of(const session& slot, const profile_options& options) noexcept {
    watch_crashes(number_of(slot), slot.store->header(), options.crash_report);
    if (detail::this_thread.record != nullptr) give_signal_stack(*detail::this_thread.record);
}

}  // namespace

start_result make_live(const session_plan& plan, session*& slot) noexcept {
    slot = nullptr;
    give_up_slots();
    reap_retired();
    session* const place = free_slot();
    if (place == nullptr) return {0, "Too many sessions record at once.", EBUSY};
    chunk_store::settings settings = store_settings(plan);
    if (settings.limit_bytes < trace::file_header_bytes + fewest_chunks * settings.chunk_bytes)
        return {0, "The limit leaves no room for a trace: give 1 MiB or more.", EINVAL};
    auto* store = new (std::nothrow) chunk_store;
    if (store == nullptr) return {0, "There is no memory for a session.", ENOMEM};
    if (plan.path != nullptr) settings.watched = &watch_file(number_of(*place));
    prepare_sampling(*place, plan.options, settings.budget);
    if (const int error = store->open(settings); error != 0) {
        unwatch(number_of(*place));
        delete store;
        return {0,
                plan.path != nullptr ? why_no_trace_file(error, plan.path)
                                     : "There is no memory for a trace.",
                error};
    }
    fill_header(store->header(), plan);
    go_live(*place, plan.options, store);
    slot = place;
    return {place->generation.load(std::memory_order_relaxed), "", 0};
}

void take_all_threads(session& slot) noexcept {
    {
        const std::lock_guard lock(registry_mutex());
        global_generation().store(slot.generation.load(std::memory_order_relaxed),
                                  std::memory_order_release);
    }
    if (slot.collecting.load(std::memory_order_relaxed)) open_gates(slot, true);
}

const char* begin_services(session& slot, const profile_options& options) noexcept {
    if (options.crash_report >= 0) report_crashes_of(slot, options);
    if (options.all_threads && options.thread_states) start_watching(*slot.store);
    return start_devices(slot, options);
}

}  // namespace coroscope::runtime::inline sessions
