// SPDX-License-Identifier: Apache-2.0
#include "rotation.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <pthread.h>

#include "../base/blocked_signals.hpp"
#include "../base/clock.hpp"
#include "../base/forks.hpp"
#include "../base/futex.hpp"
#include "../base/own_threads.hpp"
#include "../carried/feature_data.hpp"
#include "../devices/devices.hpp"
#include "../kernel/watcher.hpp"
#include "../store/trace_series.hpp"
#include "../writer/gate.hpp"
#include "../writer/registry.hpp"
#include "session_end.hpp"
#include "undestroyed.hpp"

namespace coroscope::runtime::inline sessions {
namespace {

constexpr std::int64_t second_ns = 1'000'000'000;
constexpr std::int64_t grace_ns = second_ns / 2;
// If files fill faster than they are closed, the oldest is closed after this time.
constexpr std::int64_t least_grace_ns = second_ns / 20;
constexpr std::uint64_t file_share = 2;  // a file may grow to this multiple of its size, at most
constexpr std::size_t most_ending = 4;

/// A file whose session has ended, and whose store is still open.
struct ending_file {
    session* slot = nullptr;
    std::int64_t due_ns = 0;
    std::uint64_t counted_losses = 0;  ///< those that the session counts already
};

// Guarded by sessions_mutex(), except the atomic members and `thread`.
struct rotation {
    std::atomic<std::uint32_t> bell{0};    // futex
    std::atomic<std::uint32_t> handle{0};  // of the session that rotates; 0: none
    std::atomic<bool> stopping{false};
    pthread_t thread{};
    char device[32]{};
    trace_name name{};
    trace_limit limit{};
    ending_file ending[most_ending];
    std::int64_t retry_ns = 0;
    trace_series series;
};
constinit rotation rotating{};

// The options of the rotating session. Its strings are copied below.
profile_options& kept_options() noexcept {
    struct of_the_rotation;
    return undestroyed<of_the_rotation, profile_options>();
}

void ring() noexcept { futex_signal(rotating.bell); }

session_plan plan_of_next() noexcept {
    return {kept_options(), rotating.name, rotating.series.next(), rotating.limit, ring};
}

ending_file* first_due() noexcept {
    return std::min_element(
        rotating.ending, rotating.ending + most_ending,
        [](const ending_file& one, const ending_file& other) { return one.due_ns < other.due_ns; });
}

// Returns the lost records that are not counted yet. Those that were late for their file are lost,
// because the session goes on.
std::uint64_t close_entry(ending_file& entry) noexcept {
    const ending_file closed = std::exchange(entry, {});
    const stop_result stopped = close_session(*closed.slot);
    const std::uint64_t lost = stopped.lost_records + stopped.late_records;
    return lost - std::min(lost, closed.counted_losses);
}

// The next session continues the one before: its name for profiles, its interval of requests, and
// the requests that it leaves out.
void inherit(session& next, const session& before) noexcept {
    next.handle.store(before.handle.load(std::memory_order_relaxed), std::memory_order_relaxed);
    next.earlier[0].store(before.generation.load(std::memory_order_relaxed),
                          std::memory_order_relaxed);
    for (std::size_t at = 1; at < kept_generations; ++at)
        next.earlier[at].store(before.earlier[at - 1].load(std::memory_order_relaxed),
                               std::memory_order_relaxed);
    next.request_interval.store(before.request_interval.load(std::memory_order_relaxed),
                                std::memory_order_relaxed);
    next.collecting.store(before.collecting.load(std::memory_order_relaxed),
                          std::memory_order_relaxed);
}

// Threads begin to record into `next` when its generation becomes the one of all threads. Those
// that have a chunk of `before` follow when detach() takes it.
void change_to(session& next, session& before, ending_file& entry) noexcept {
    inherit(next, before);
    stop_devices(before);
    take_all_threads(next);
    detach(before);
    limit_without_data(next, before.without_data.load(std::memory_order_relaxed));
    stop_watching(*before.store);
    next.tracks_live.store(before.tracks_live.exchange(false, std::memory_order_relaxed),
                           std::memory_order_relaxed);
    begin_services(next, kept_options());
    const std::uint64_t losses = dropped_records(before);
    next.earlier_losses.store(before.earlier_losses.load(std::memory_order_relaxed) + losses,
                              std::memory_order_relaxed);
    entry = {&before, monotonic_now() + grace_ns, losses};
    rotating.series.advance();
}

// If the next file cannot be made, for example on a full disk, recording goes on in the current
// one.
void rotate(session& current, ending_file& entry) noexcept {
    session* next = nullptr;
    make_live(plan_of_next(), next);
    if (next == nullptr) {
        rotating.retry_ns = monotonic_now() + second_ns;
        return;
    }
    change_to(*next, current, entry);
}

void close_due(session& current, std::int64_t now_ns) noexcept {
    for (ending_file& each : rotating.ending) {
        if (each.slot == nullptr || now_ns < each.due_ns) continue;
        current.earlier_losses.fetch_add(close_entry(each), std::memory_order_relaxed);
        rotating.series.trim();
    }
}

// Returns whether the session's next file is due.
bool is_large(const session& current) noexcept {
    return current.store->opened_bytes() >= kept_options().rotate_bytes &&
           monotonic_now() >= rotating.retry_ns;
}

// Returns the time until the next turn is due, in nanoseconds, if nothing rings.
long take_turn() noexcept {
    const std::lock_guard lock(sessions_mutex());
    session* const current = find_session_of(rotating.handle.load(std::memory_order_relaxed));
    if (current == nullptr) return second_ns - 1;
    const bool rotates = is_large(*current);
    const bool in_haste = rotates && first_due()->slot != nullptr;
    const std::int64_t now_ns = monotonic_now();
    close_due(*current, in_haste ? now_ns + grace_ns - least_grace_ns : now_ns);
    const bool waits = rotates && first_due()->slot != nullptr;
    if (rotates && !waits) rotate(*current, *first_due());
    std::int64_t due_ns = now_ns + (waits ? least_grace_ns / 10 : second_ns - 1);
    for (const ending_file& each : rotating.ending)
        if (each.slot != nullptr) due_ns = std::min(due_ns, each.due_ns);
    return static_cast<long>(std::max<std::int64_t>(due_ns - now_ns, 1));
}

void* run(void*) noexcept {
    const own_thread counted;
    ::pthread_setname_np(::pthread_self(), "coroscope-file");
    leave_thread_unobserved();
    while (!rotating.stopping.load(std::memory_order_relaxed)) {
        // Acquire: pairs with futex_signal(). Nothing may be locked before the session exists.
        const std::uint32_t seen = rotating.bell.load(std::memory_order_acquire);
        const bool rotates = rotating.handle.load(std::memory_order_acquire) != 0;
        const long pause_ns = rotates ? take_turn() : second_ns - 1;
        if (!rotating.stopping.load(std::memory_order_relaxed))
            futex_wait(rotating.bell, seen, pause_ns);
    }
    return nullptr;
}

void stop_thread() noexcept {
    rotating.stopping.store(true, std::memory_order_relaxed);
    ring();
    ::pthread_join(rotating.thread, nullptr);
}

int start_thread() noexcept {
    rotating.stopping.store(false, std::memory_order_relaxed);
    const blocked_signals inherited;
    return ::pthread_create(&rotating.thread, nullptr, run, nullptr);
}

void keep_options(const session_plan& plan) noexcept {
    kept_options() = plan.options;
    kept_options().output = nullptr;
    kept_options().trace_id = nullptr;
    if (const char* device = plan.options.use_device; device != nullptr) {
        std::strncpy(rotating.device, device, sizeof rotating.device - 1);
        kept_options().use_device = rotating.device;
    }
    rotating.name = plan.name;
    rotating.limit = {file_share * plan.options.rotate_bytes, 0};
    rotating.retry_ns = 0;
}

// A forked child has no such thread, and none of the parent's sessions.
constinit fork_guest rotation_around_forks{.rank = fork_rank::leftovers, .in_child = []() noexcept {
                                               rotating.handle.store(0, std::memory_order_relaxed);
                                               for (ending_file& each : rotating.ending) each = {};
                                           }};
[[gnu::constructor(101)]] void join_rotation() noexcept { join_forks(rotation_around_forks); }

}  // namespace

start_result begin_rotation(const session_plan& plan, session*& slot) noexcept {
    slot = nullptr;
    keep_options(plan);
    if (const int error = rotating.series.begin(plan.path, plan.options.keep_files); error != 0)
        return {0,
                error == EBUSY ? "Another session records into files of this name."
                               : "The path of the trace file is too long.",
                error};
    if (const int error = start_thread(); error != 0)
        return {0, "There is no thread that begins new files: raise ulimit -u.", error};
    const start_result started = make_live(plan_of_next(), slot);
    if (slot == nullptr) {
        stop_thread();
        return started;
    }
    rotating.series.advance();
    rotating.series.trim();
    rotating.handle.store(started.generation, std::memory_order_release);  // pairs with run()
    return started;
}

void end_rotation(std::uint32_t handle) noexcept {
    if (handle == 0 || rotating.handle.load(std::memory_order_relaxed) != handle) return;
    stop_thread();
}

std::uint64_t close_earlier_files(std::uint32_t handle) noexcept {
    if (handle == 0 || rotating.handle.load(std::memory_order_relaxed) != handle) return 0;
    std::uint64_t losses = 0;
    for (ending_file& each : rotating.ending)
        if (each.slot != nullptr) losses += close_entry(each);
    rotating.series.trim();
    rotating.handle.store(0, std::memory_order_relaxed);
    return losses;
}

}  // namespace coroscope::runtime::inline sessions
