// SPDX-License-Identifier: Apache-2.0
#include "session.hpp"

#include <atomic>
#include <cerrno>
#include <span>

#include <coroscope/detail/task_state.hpp>

#include "../base/clock.hpp"
#include "../base/container_memory.hpp"
#include "../base/forks.hpp"
#include "../base/uncancelled.hpp"
#include "../devices/devices.hpp"
#include "../observers/observer_registry.hpp"
#include "../tasks/live_tasks.hpp"
#include "../writer/registry.hpp"
#include "copies.hpp"
#include "option_checks.hpp"
#include "program_faults.hpp"
#include "rotation.hpp"
#include "session_end.hpp"
#include "session_start.hpp"

namespace coroscope::runtime::inline sessions {
namespace {

constinit std::atomic<std::uint32_t> explained_session{0};
constinit std::atomic<const char*> explanation{already_enabled};

// The reason of a refusal while another session is enabled. The caller must hold sessions_mutex().
const char* why_already_enabled() noexcept {
    const std::uint32_t handle = explained_session.load(std::memory_order_acquire);
    const session* explained = handle != 0 ? find_session_of(handle) : nullptr;
    const std::uint32_t global = global_generation().load(std::memory_order_acquire);
    return explained != nullptr && explained->generation.load(std::memory_order_relaxed) == global
               ? explanation.load(std::memory_order_relaxed)
               : already_enabled;
}

const char* why_not_now(const profile_options& options, int& error) noexcept {
    detail::thread_state& thread = detail::this_thread;
    error = EPERM;
    if (!counter_may_be_read())
        return "The thread may not read the processor's counter (PR_SET_TSC).";
    error = ENOMEM;
    if (register_thread(thread) == nullptr) return "The thread is ending or memory is short.";
    error = EBUSY;
    if (is_enabled(thread)) return why_already_enabled();
    if (options.all_threads && global_generation().load(std::memory_order_acquire) != 0)
        return why_already_enabled();
    error = EINVAL;
    return why_no_session(options);
}

start_result start_under_lock(const profile_options& options, const trace_name& name,
                              bool tracks_live) noexcept {
    const std::lock_guard lock(sessions_mutex());
    int error = 0;
    if (const char* why = why_not_now(options, error); why != nullptr) return {0, why, error};
    session* slot = nullptr;
    const session_plan plan{
        options, name, options.output,
        limit_within(options.limit_bytes, default_limit_bytes, container_memory())};
    start_result started =
        options.rotate_bytes != 0 ? begin_rotation(plan, slot) : make_live(plan, slot);
    if (slot == nullptr) return started;
    if (options.all_threads) take_all_threads(*slot);
    slot->tracks_live.store(tracks_live, std::memory_order_relaxed);
    started.message = begin_services(*slot, options);
    return started;
}

stop_result stop_under_lock(std::uint32_t handle, bool& tracked_live) noexcept {
    const std::lock_guard lock(sessions_mutex());
    session* slot = find_session_of(handle);
    if (slot == nullptr) return {};
    tracked_live = slot->tracks_live.exchange(false, std::memory_order_relaxed);
    stop_devices(*slot);
    detach(*slot);
    const std::uint64_t earlier_losses =
        close_earlier_files(handle) + slot->earlier_losses.load(std::memory_order_relaxed);
    stop_result stopped = close_session(*slot);
    stopped.lost_records += earlier_losses;
    return stopped;
}

}  // namespace

void explain_refusals(std::uint32_t generation, const char* message) noexcept {
    explanation.store(message, std::memory_order_relaxed);
    explained_session.store(generation, std::memory_order_release);  // pairs with a refusal
}

bool is_enabled(const detail::thread_state& thread) noexcept {
    const std::uint32_t own = detail::carried_session(thread.carried);
    return find_session(detail::session_generation(own)) != nullptr ||
           find_session(global_generation().load(std::memory_order_acquire)) != nullptr ||
           observer_holds_slot();
}

start_result start_session(const profile_options& options) noexcept {
    const uncancelled meanwhile;
    start_what_was_put_off();  // the environment's session comes first, in a forked child, too
    const trace_name name = name_trace(options);
    // Not under the lock of sessions, because set_live_tracking() takes it.
    const bool tracks = options.crash_report >= 0 && set_live_tracking(live_reason::needed, true);
    const char* copies = look_for_copies();
    start_result started = start_under_lock(options, name, tracks);
    if (*started.message == '\0') started.message = copies;
    if (*started.message == '\0') started.message = what_is_replaced(options);
    if (tracks && started.generation == 0) set_live_tracking(live_reason::needed, false);
    return started;
}

void toggle_collection(std::uint32_t generation, bool enabled) noexcept {
    const uncancelled meanwhile;
    const std::lock_guard lock(sessions_mutex());
    session* slot = find_session_of(generation);
    if (slot == nullptr || slot->collecting.load(std::memory_order_relaxed) == enabled) return;
    if (!enabled) collect_devices(*slot, false);
    slot->toggles.fetch_add(1,
                            std::memory_order_release);  // pairs with the thread that opens a chunk
    slot->collecting.store(enabled, std::memory_order_seq_cst);
    const std::uint32_t now = slot->generation.load(std::memory_order_relaxed);
    if (!enabled) return cut_off(now);
    collect_devices(*slot, true);
    open_gates(*slot, global_generation().load(std::memory_order_relaxed) == now);
    if (slot->devices.load(std::memory_order_relaxed)) follow_current_task();
}

stop_result stop_session(std::uint32_t generation) noexcept {
    const uncancelled meanwhile;
    end_rotation(generation);
    bool tracked_live = false;
    stop_result stopped = stop_under_lock(generation, tracked_live);
    if (tracked_live) set_live_tracking(live_reason::needed, false);
    return stopped;
}

session_status session_health(std::uint32_t generation) noexcept {
    const std::lock_guard lock(sessions_mutex());
    session* slot = find_session_of(generation);
    if (slot == nullptr) return {session_state::stopped, "", 0, 0};
    session_status status{session_state::recording, message_of(asio_tracking()), 0, 0};
    status.lost_records = slot->earlier_losses.load(std::memory_order_relaxed) +
                          dropped_records(*slot) + slot->store->overwritten_records();
    status.error_number = slot->store->write_error();
    if (status.error_number != 0) status.message = why_impaired(status.error_number);
    return status;
}

namespace {

// No session continues in a forked child.
void end_sessions_after_fork() noexcept {
    for (session& each : std::span(session_table(), session_slots))
        if (each.generation.load(std::memory_order_relaxed) != 0 &&
            each.tracks_live.exchange(false, std::memory_order_relaxed))
            set_live_tracking(live_reason::needed, false);
    forget_sessions();
}

constinit fork_guest sessions_around_forks{.rank = fork_rank::sessions,
                                           .in_child = end_sessions_after_fork};
[[gnu::constructor(101)]] void join_sessions() noexcept { join_forks(sessions_around_forks); }

}  // namespace
}  // namespace coroscope::runtime::inline sessions
