// SPDX-License-Identifier: Apache-2.0
#include "switch_watch.hpp"

#include <cerrno>

#include "../base/clock.hpp"
#include "../base/own_threads.hpp"

namespace coroscope::runtime::inline kernel {
namespace {

constexpr std::int64_t round_ns = 1'000'000'000;
constexpr std::uint32_t sums_at_start = 64;  // the session's start may wait for them
constexpr std::uint32_t sums_per_turn = 16;  // some 4 µs each
constexpr std::uint32_t due_per_turn = 32;   // some 1 µs each
constexpr std::uint32_t sums_at_end = 2048;  // the session's stop waits for them
// Turns are at most 8 ms apart while threads run, so that each wait of 10 ms is looked at.
constexpr std::int64_t shortest_wait_ns = 2'000'000;
constexpr std::uint32_t looks_per_turn = 64;  // some 5 µs each

constexpr int most_listings = 4;

const char* why_refused(switch_rings::failure failed, int error) noexcept {
    if (failed == switch_rings::failure::memory)
        return "The kernel grants no memory for switches (perf_event_mlock_kb, RLIMIT_MEMLOCK).";
    switch (error) {
        case EACCES:
        case EPERM:
            return "perf_event_open is not permitted (kernel.perf_event_paranoid above 2, or a "
                   "filter).";
        case ENOSYS: return "The kernel has no perf_event_open.";
        case EMFILE:
        case ENFILE: return "There are too few file descriptors for perf_event_open.";
        default: return "perf_event_open has failed.";
    }
}

}  // namespace

const char* switch_watch::begin(std::uint32_t first, bool may_ask) noexcept {
    if (!may_ask)
        return "A seccomp filter might end the process for it (COROSCOPE_THREAD_STATES=switches).";
    const switch_rings::failure failed = rings_.open();
    if (failed != switch_rings::failure::none) return why_refused(failed, rings_.error());
    follow(first);
    follow_all();
    if (followed_ == 0) return why_refused(switch_rings::failure::event, follow_error_);
    files_.keep_at_most(rings_.spare_descriptors());
    sums_.turn(sums_at_start);
    next_round_ns_ = monotonic_now() + round_ns;
    return nullptr;
}

void switch_watch::follow(std::uint32_t thread) noexcept {
    watched_thread* const entry = threads_.find_or_add(thread);
    if (entry == nullptr || entry->is_followed) return;
    entry->is_ours = own_thread::has_id(thread);
    if (entry->is_ours) return;
    entry->has_changed = true;
    const int error = rings_.follow(thread);
    if (error == 0) {
        entry->is_followed = true;
        ++followed_;
        look_later(*entry);
    } else if (error != ESRCH) {
        ++unfollowed_;
        follow_error_ = error;
    }
}

// The thread may have left its processor before its switches arrived. If it waits and no switch
// comes, it has waited since then.
void switch_watch::look_later(watched_thread& thread) noexcept {
    thread.place = thread_place::waits;
    thread.since_ns = monotonic_now();
    threads_.list(thread);
}

// A thread may be created by one that is not followed yet: looks until there are no more.
void switch_watch::follow_all() noexcept {
    std::uint32_t before = 0;
    int listings = 0;
    do {
        before = followed_;
        unfollowed_ = 0;
        for_each_thread([this](std::uint32_t thread) noexcept {
            follow(thread);
            return true;
        });
    } while (followed_ != before && ++listings < most_listings);
}

void switch_watch::take(const context_switch& now) noexcept {
    watched_thread* const thread = threads_.find_or_add(now.thread);
    if (thread == nullptr) return;  // as many threads are watched already
    if (!thread->is_followed) {
        thread->is_followed = true;
        thread->is_ours = own_thread::has_id(now.thread);
        if (!now.created) read_later(*thread);
    }
    if (now.time_ns < thread->since_ns) {  // it has moved to another processor since
        if (!now.entered && !now.preempted) read_later(*thread);
        return;
    }
    if (now.entered && thread->place == thread_place::waits) read_later(*thread);
    thread->since_ns = now.time_ns;
    thread->has_changed = true;
    thread->place = now.entered     ? thread_place::on_processor
                    : now.preempted ? thread_place::preempted
                                    : thread_place::waits;
    threads_.unlist(*thread);
    if (thread->place == thread_place::waits && !thread->is_ours) threads_.list(*thread);
}

// Called when a wait has ended. The delay of the wake-up follows from the sums before and after it.
void switch_watch::read_later(watched_thread& thread) noexcept {
    if (thread.is_due || thread.is_ours || due_count_ == most_due) return;
    thread.is_due = true;
    due_[(first_due_ + due_count_++) % most_due] = thread.id;
}

void switch_watch::read_due(std::uint32_t most) noexcept {
    for (; most != 0 && due_count_ != 0; --most, --due_count_) {
        watched_thread* const thread = threads_.find(due_[first_due_]);
        first_due_ = (first_due_ + 1) % most_due;
        if (thread == nullptr || !thread->is_due) continue;
        thread->is_due = false;
        sums_.read(*thread, true);
    }
}

bool switch_watch::drain(bool is_last) noexcept {
    bool came = false;
    // What is left in the rings at the end is counted if the log has no place for it.
    rings_.drain([this, is_last]() noexcept { return log_.is_ready() || is_last; },
                 [this, &came](const context_switch& now) noexcept {
                     take(now);
                     const watched_thread* const thread = threads_.find(now.thread);
                     if (thread != nullptr && thread->is_ours) return;
                     came = true;
                     const std::uint32_t flags = (now.entered ? trace::processor_entered : 0U) |
                                                 (now.preempted ? trace::processor_preempted : 0U) |
                                                 (now.created ? trace::processor_created : 0U);
                     log_.switched(now.time_ns, now.thread, flags, now.processor);
                 },
                 [this](const lost_switches& lost) noexcept {
                     log_.lost(lost.until_ns, {lost.since_ns, lost.count});
                 });
    return came;
}

// The threads may go on meanwhile: of those for which switches have come since, nothing is written.
bool switch_watch::look_at_waits(std::int64_t now_ns) noexcept {
    trace::blocked_body found[looks_per_turn];
    std::int64_t seen_ns[looks_per_turn];
    std::uint32_t count = 0, looks = 0;
    watched_thread* thread = threads_.first_waiting();
    for (; thread != nullptr && looks < looks_per_turn; ++looks) {
        watched_thread* const next = threads_.next_waiting(*thread);
        if (now_ns - thread->since_ns < shortest_wait_ns) break;
        threads_.unlist(*thread);
        seen_ns[count] = monotonic_now();
        if (looks_.look(thread->id, found[count])) found[count++].since_ns = thread->since_ns;
        thread = next;
    }
    if (count == 0) return false;
    const bool came = drain();
    for (std::uint32_t at = 0; at < count; ++at) {
        const watched_thread* const waiter = threads_.find(found[at].thread);
        if (waiter != nullptr && waiter->place == thread_place::waits &&
            waiter->since_ns == found[at].since_ns)
            log_.blocked(seen_ns[at], found[at]);
    }
    return came;
}

bool switch_watch::turn(std::int64_t now_ns) noexcept {
    bool came = drain();
    read_due(due_per_turn);
    came |= look_at_waits(now_ns);
    if (now_ns >= next_round_ns_ && sums_.is_over()) {
        next_round_ns_ = now_ns + round_ns;
        follow_all();
        sums_.begin();
    }
    sums_.turn(sums_per_turn);
    return came;
}

void switch_watch::end() noexcept {
    drain(true);
    read_due(most_due);
    sums_.begin();
    sums_.turn(sums_at_end);
}

}  // namespace coroscope::runtime::inline kernel
